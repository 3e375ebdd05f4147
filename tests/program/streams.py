"""What the tests of `demix stream` share: running it, and frames for it."""
import os
import struct
import subprocess
import tempfile
import unittest

import numpy as np

DEMIX = os.environ["DEMIX"]


def mixtures(frames, channels=4, seed=1):
    rng = np.random.default_rng(seed)
    sources = [np.sign(rng.standard_normal(frames)), np.sin(2 * np.pi * rng.random(frames)), rng.random(frames) - .5,
               rng.laplace(size=frames)]
    S = np.array([sources[k % 4] for k in range(channels)]).T
    return S @ rng.standard_normal((channels, channels)) + 3


def wav(X, rate=8000):
    """The bytes of a WAV file of 32-bit floats."""
    data = X.astype("<f4").tobytes()
    channels = X.shape[1]
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt "
            + struct.pack("<IHHIIHH", 16, 3, channels, rate, rate * 4 * channels, 4 * channels, 32)
            + b"data" + struct.pack("<I", len(data)) + data)


def run(*args, **kwargs):
    return subprocess.run([DEMIX, "stream", *map(str, args)], capture_output=True, timeout=300, **kwargs)


def start(*args, **kwargs):
    return subprocess.Popen([DEMIX, "stream", *map(str, args)], stdin=kwargs.pop("stdin", subprocess.PIPE),
                            stdout=kwargs.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, **kwargs)


class StreamTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, frames, dtype="<f8", **kwargs):
        X = mixtures(frames, **kwargs)
        X.astype(dtype).tofile(self.path(name))
        return X

    def write_bytes(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)
