"""Sound signals, and files of them in the formats the trial needs."""
import json
import struct

import numpy as np


def mixtures(frames, channels=3, seed=1):
    random = np.random.default_rng(seed)
    sources = np.stack([random.laplace(size=frames) if k % 2 else random.uniform(-1, 1, frames)
                        for k in range(channels)], axis=1)
    return sources @ random.normal(size=(channels, channels)) + 1


def csv(path, X, names=None):
    np.savetxt(path, X, delimiter=",", fmt="%.9g", header=",".join(names) if names else "", comments="")


def npy_header(shape, kind="<f8"):
    text = str({"descr": kind, "fortran_order": False, "shape": tuple(shape)}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def wav(X, claimed=None, rate=8000):
    """32-bit float. `claimed`: bytes of data the header speaks of."""
    X = np.asarray(X, "<f4")
    channels = X.shape[1]
    data = X.tobytes()
    size = len(data) if claimed is None else claimed
    form = struct.pack("<HHIIHH", 3, channels, rate, rate * 4 * channels, 4 * channels, 32)
    return (b"RIFF" + struct.pack("<I", (36 + size) & 0xffffffff) + b"WAVEfmt " + struct.pack("<I", 16) + form +
            b"data" + struct.pack("<I", size) + data)


def brainvision(path, X, data, markers, rate=250):
    """A header, and the files of numbers and markers under the names it gives them."""
    kind = "Brain Vision Data Exchange {} File, Version 1.0\n"
    channels = "".join(f"Ch{k + 1}=C{k + 1},,1,uV\n" for k in range(X.shape[1]))
    path.write_text(kind.format("Header") + f"[Common Infos]\nDataFile={data}\nMarkerFile={markers}\n"
                    "DataFormat=BINARY\n"
                    f"DataOrientation=MULTIPLEXED\nNumberOfChannels={X.shape[1]}\nSamplingInterval={1000000 // rate}\n"
                    f"[Binary Infos]\nBinaryFormat=IEEE_FLOAT_32\n[Channel Infos]\n{channels}")
    X.astype("<f4").tofile(path.parent / data)
    (path.parent / markers).write_text(kind.format("Marker") + "[Marker Infos]\nMk1=Stimulus,S 1,10,1,0\n")


def stream_input(path, X, rate=8000):
    """What `demix stream` reads, by the name's ending: f32, f64, wav or csv."""
    if path.suffix == ".csv":
        csv(path, X)
    elif path.suffix == ".wav":
        path.write_bytes(wav(X, rate=rate))
    else:
        X.astype("<f4" if path.suffix == ".f32" else "<f8").tofile(path)


def edf(labels, records=3, samples=4, claimed=None):
    def text(size, *values):
        return b"".join(str(v).ljust(size)[:size].encode("latin-1") for v in values)

    n = len(labels)
    data = (np.arange(records * n * samples) % 251).astype("<i2").tobytes()
    return b"".join([
        b"0       ", text(80, "X X X X", "Startdate 02-JAN-2024 X X X"), text(8, "02.01.24", "03.04.05", 256 * (n + 1)),
        text(44, ""), text(8, records if claimed is None else claimed, 1), text(4, n), text(16, *labels),
        text(80, *[""] * n), text(8, *["uV"] * n), text(8, *[-1000] * n), text(8, *[1000] * n), text(8, *[-32768] * n),
        text(8, *[32767] * n), text(80, *[""] * n), text(8, *[samples] * n), text(32, *[""] * n), data])


def is_finite(path):
    """Of a file the program wrote: no NaN, no Inf."""
    data = path.read_bytes()
    if path.suffix == ".json":
        return "NaN" not in data.decode() and "Infinity" not in data.decode() and json.loads(data) is not None
    if path.suffix == ".npy":
        return bool(np.isfinite(np.load(path)).all())
    if path.suffix in (".f64", ".f32"):
        return bool(np.isfinite(np.frombuffer(data, "<f8" if path.suffix == ".f64" else "<f4")).all())
    if path.suffix == ".csv":
        words = data.decode().lower().replace("\n", ",").split(",")
        return not any(word.strip().lstrip("+-") in ("nan", "inf", "infinity") for word in words)
    return True
