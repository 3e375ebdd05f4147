#!/usr/bin/python3
"""Array files (.npz, .mat, .set) against those who made the formats known: NumPy, SciPy and MNE."""
import json
import os
import random
import struct
import subprocess
import tempfile
import unittest
import warnings
import zipfile
from pathlib import Path

import numpy as np
import scipy.io

from program import needs

try:
    import mne
    mne.set_log_level("ERROR")
except ImportError:
    mne = None

CONVERT = os.environ["CONVERT"]
LIMIT = "" if "DEMIX_SANITIZED" in os.environ else "ulimit -v 2000000; "  # sanitizers map all there is
DATA = Path(os.environ.get("DEMIX_DATA", "/nowhere"))
TYPES = ["f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def numbers(samples, channels, dtype="f8", seed=1):
    values = np.random.default_rng(seed).standard_normal((samples, channels)) * 30
    return (abs(values) if dtype[-2] == "u" else values).astype(dtype)


class Arrays(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def run_convert(self, source, target, variable="", rate=0):
        return subprocess.run([CONVERT, str(source), str(target), variable, str(rate)], capture_output=True,
                              text=True, timeout=120)

    def convert(self, *args):
        result = self.run_convert(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def read(self, source, variable="", rate=0):
        """What demix makes of a file: (samples, channels) and the facts."""
        facts = self.convert(source, self.dir / "read.npy", variable, rate)
        return np.load(self.dir / "read.npy"), facts

    def refused(self, part, source, variable="", target=None):
        result = self.run_convert(source, target or self.dir / "refused.npy", variable)
        self.assertEqual(result.returncode, 1, result)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(part, result.stderr)
        return result.stderr

    def expect_survives_damage(self, path, times=150):
        """Damaged anywhere: an answer or one line. 2 GiB of memory is all there is."""
        good = path.read_bytes()
        rng = random.Random(5)
        for k in range(times):
            bad = bytearray(good)
            if k % 3 == 0:
                bad = bad[:rng.randrange(len(bad))]
            else:
                for _ in range(3):
                    bad[rng.randrange(len(bad))] = rng.randrange(256)
            path.write_bytes(bad)
            result = subprocess.run(["bash", "-c", LIMIT + 'exec "$@"', "-", CONVERT, path,
                                     self.dir / "damaged.npy"], capture_output=True, text=True, timeout=60)
            self.assertIn(result.returncode, (0, 1), (k, result))
            if result.returncode == 1:
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        path.write_bytes(good)


class Npz(Arrays):
    def test_reads_what_numpy_writes(self):
        for save in (np.savez, np.savez_compressed):
            for dtype in TYPES + [">f8", ">i2"]:
                for order in "CF":
                    X = np.asarray(numbers(300, 3, dtype), order=order)
                    save(self.dir / "x.npz", signals=X)
                    Y, facts = self.read(self.dir / "x.npz", "", 50)
                    np.testing.assert_array_equal(Y, X.astype(float))
                    self.assertEqual(facts["rate"], 50)

    def test_the_array_asked_for_or_the_only_one_with_signals(self):
        x, y = numbers(100, 2), numbers(50, 4)
        path = self.dir / "x.npz"
        np.savez_compressed(path, x=x, y=y, label="text", cube=np.zeros((2, 2, 2)))
        for name, X in {"x": x, "y": y}.items():
            np.testing.assert_array_equal(self.read(path, name)[0], X)
        self.assertIn("x (100 x 2), y (50 x 4)", self.refused("choose one with `variable`", path))
        self.refused("has no array 'z'; it holds x (100 x 2), y (50 x 4), label, cube", path, "z")
        self.refused("array 'cube': expected a two-dimensional array", path, "cube")
        np.savez(path, x=x[:, 0], fs=100, label="text")
        np.testing.assert_array_equal(self.read(path)[0], x[:, :1])

    def test_zip64(self):
        array = self.dir / "x.npy"
        np.save(array, numbers(100, 2))
        with zipfile.ZipFile(self.dir / "x.npz", "w") as z:
            with z.open("x.npy", "w", force_zip64=True) as member:
                member.write(array.read_bytes())
        np.testing.assert_array_equal(self.read(self.dir / "x.npz")[0], numbers(100, 2))

    def test_a_file_of_more_than_4_gib(self):
        """Sparse: it takes no room on the disk."""
        path, channels, frames = self.dir / "x.npz", 2, 300_000_000  # 4.8 GB
        head = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118)
        shape = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (frames, channels)
        head += shape.ljust(117) + b"\n"
        size = len(head) + 8 * frames * channels
        with open(path, "wb") as f:
            extra = struct.pack("<HHQQ", 1, 16, size, size)
            fields = (45, 0, 0, 0, 0x21, 0, 0xffffffff, 0xffffffff, 5, len(extra))
            f.write(b"PK\3\4" + struct.pack("<HHHHHLLLHH", *fields) + b"x.npy" + extra + head)
            f.seek(8 * frames * channels, 1)
            at = f.tell()
            entry = b"PK\1\2" + struct.pack("<HHHHHHLLLHH", 45, *fields) + bytes(14) + b"x.npy" + extra
            f.write(entry + b"PK\6\6" + struct.pack("<QHHLLQQQQ", 44, 45, 45, 0, 0, 1, 1, len(entry), at))
            f.write(b"PK\6\7" + struct.pack("<LQL", 0, at + len(entry), 1))
            f.write(b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, 1, 1, len(entry), 0xffffffff, 0))
        with zipfile.ZipFile(path) as z:
            self.assertEqual(z.infolist()[0].file_size, size)
        self.refused("has no array 'y'; it holds x (%d x %d)" % (frames, channels), path, "y")

    def test_numpy_reads_what_demix_writes(self):
        X = numbers(1234, 5)
        np.save(self.dir / "x.npy", X)
        self.convert(self.dir / "x.npy", self.dir / "y.npz")
        with np.load(self.dir / "y.npz") as file:
            self.assertEqual(file.files, ["data"])
            np.testing.assert_array_equal(file["data"], X)
        with zipfile.ZipFile(self.dir / "y.npz") as file:
            self.assertIsNone(file.testzip())

    def test_damage(self):
        for save in (np.savez, np.savez_compressed):
            save(self.dir / "x.npz", x=numbers(40, 2))
            self.expect_survives_damage(self.dir / "x.npz")

    def test_a_changed_compressed_array_is_noticed(self):
        path = self.dir / "x.npz"
        np.savez_compressed(path, x=np.zeros((1000, 2)))
        with zipfile.ZipFile(path) as z:
            crc = struct.pack("<L", z.infolist()[0].CRC)
        path.write_bytes(path.read_bytes().replace(crc, b"\0\0\0\0"))
        self.refused("does not hold what the zip directory says", path)

    def test_a_bomb_is_not_unpacked(self):
        """An array that holds more than it says: 400 MB behind 1 KB."""
        path = self.dir / "x.npz"
        np.save(self.dir / "x.npy", np.zeros((10, 2)))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("x.npy", (self.dir / "x.npy").read_bytes() + bytes(400_000_000))
        self.refused("announces 10 x 2 values", path)


class Mat(Arrays):
    def save(self, name="x.mat", compressed=False, **variables):
        path = self.dir / name
        scipy.io.savemat(path, variables, do_compression=compressed)
        return path

    def test_reads_what_scipy_writes(self):
        for compressed in (False, True):
            for dtype in TYPES:
                X = numbers(300, 3, dtype)
                Y, facts = self.read(self.save(compressed=compressed, x=X, fs=250.0, title="a recording"))
                np.testing.assert_array_equal(Y, X.astype(float))
                self.assertEqual(facts["rate"], 250)
                self.assertEqual(facts["notes"], [])
                Y, facts = self.read(self.save(compressed=compressed, x=X.T, Fs=np.uint16(44100)))
                np.testing.assert_array_equal(Y, X.astype(float))
                self.assertEqual(facts["rate"], 44100)
                self.assertIn("'x': has 3 rows and 300 columns; the rows are taken as channels", facts["notes"][0])

    def test_logical_and_single_column(self):
        X = numbers(100, 1) > 0
        np.testing.assert_array_equal(self.read(self.save(x=X))[0], X)
        np.testing.assert_array_equal(self.read(self.save(x=X.T))[0], X)

    def test_most_significant_byte_first(self):
        """An element after the other, as the format's description has them."""
        def element(kind, data):
            return struct.pack(">LL", kind, len(data)) + data + bytes(-len(data) % 8)
        X = numbers(20, 3)
        matrix = element(6, struct.pack(">LL", 6, 0)) + element(5, struct.pack(">ll", 20, 3)) + element(1, b"x")
        matrix += element(9, X.T.astype(">f8").tobytes())
        head = b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + b"\x01\x00MI"
        (self.dir / "x.mat").write_bytes(head + element(14, matrix))
        np.testing.assert_array_equal(scipy.io.loadmat(self.dir / "x.mat")["x"], X)
        np.testing.assert_array_equal(self.read(self.dir / "x.mat")[0], X)

    def test_the_variable_asked_for(self):
        for compressed in (False, True):
            x, y = numbers(100, 2), numbers(50, 4)
            path = self.save(compressed=compressed, x=x, y=y, s={"a": 1}, c=np.array([1, "b"], dtype=object),
                             z=x * 1j, p=scipy.sparse.eye(4), cube=np.zeros((2, 3, 4)), t="text")
            np.testing.assert_array_equal(self.read(path, "y")[0], y)
            self.assertIn("x (100 x 2), y (50 x 4);", self.refused("choose one with `variable`", path))
            for name, reason in {"s": "is a struct", "c": "is a cell array", "z": "is complex", "p": "is sparse",
                                 "cube": "is 2 x 3 x 4", "t": "is text", "no": "has no array 'no'"}.items():
                self.refused(reason, path, name)

    def test_other_versions_are_refused(self):
        scipy.io.savemat(self.dir / "x.mat", {"x": numbers(10, 2)}, format="4")
        self.refused("not a MATLAB file of version 5 to 7; save it with -v7", self.dir / "x.mat")
        (self.dir / "x.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n" + bytes(100))
        self.refused("is not read by HDF5; it is cut off or damaged", self.dir / "x.mat")

    def test_scipy_reads_what_demix_writes(self):
        X = numbers(1234, 5)
        path = self.save(x=X, fs=250.5)
        self.convert(path, self.dir / "y.mat")
        there = scipy.io.loadmat(self.dir / "y.mat")
        np.testing.assert_array_equal(there["data"], X)
        self.assertEqual(there["fs"], 250.5)
        self.assertEqual(scipy.io.whosmat(self.dir / "y.mat"),
                         [("data", (1234, 5), "double"), ("fs", (1, 1), "double")])

    def test_damage(self):
        for compressed in (False, True):
            self.expect_survives_damage(self.save(compressed=compressed, x=numbers(40, 2), s={"a": 1}, fs=3))


def recording():
    """An EEG (microvolts, channels x samples), its rate and names: recorded if it is there, else made up."""
    path = DATA / "eeg_eeglab" / "eeglab_data.edf"
    if mne and path.exists():
        raw = mne.io.read_raw_edf(path)
        return raw.get_data()[:, :5000] * 1e6, raw.info["sfreq"], raw.ch_names
    return numbers(5000, 32).T, 128.0, ["E%d" % k for k in range(32)]


class Eeglab(Arrays):
    def setUp(self):
        super().setUp()
        data, self.rate, self.names = recording()
        self.X = data.astype("f4")

    def dataset(self, data, trials=1, **others):
        chanlocs = np.array([(name, 1.5) for name in self.names], dtype=[("labels", "O"), ("theta", "O")])
        event = np.array([("square", 129, 2), (7, 257.5, []), ("rt", [], 1)],
                         dtype=[("type", "O"), ("latency", "O"), ("duration", "O")])
        return {"setname": "made by a test", "nbchan": len(self.names), "trials": trials,
                "pnts": self.X.shape[1] // trials, "srate": self.rate, "xmin": 0.0, "chanlocs": chanlocs,
                "event": event, "data": data, "icawinv": [], "ref": "common", **others}

    def save(self, dataset, compressed=False, flat=False):
        path = self.dir / "x.set"
        scipy.io.savemat(path, dataset if flat else {"EEG": dataset}, appendmat=False, do_compression=compressed)
        return path

    def check(self, path, dtype="f4"):
        Y, facts = self.read(path)
        np.testing.assert_array_equal(Y.T, self.X.astype(dtype))
        self.assertEqual(facts["rate"], self.rate)
        self.assertEqual(facts["names"], self.names)
        self.assertEqual(facts["units"], ["uV"] * len(self.names))
        self.assertEqual([a for a in facts["annotations"] if a["text"] != "boundary"], [
            {"onset": 128 / self.rate, "duration": 2 / self.rate, "text": "square"},
            {"onset": 256.5 / self.rate, "duration": -1, "text": "7"}])
        self.assertIn("1 events without a latency", facts["notes"][0])
        return facts

    def test_data_inside(self):
        for compressed in (False, True):
            for flat in (False, True):
                self.check(self.save(self.dataset(self.X), compressed, flat))
                self.check(self.save(self.dataset(self.X.astype("f8")), compressed, flat))

    def test_data_beside(self):
        path = self.save(self.dataset("x.fdt"), True)
        self.X.T.astype("<f4").tofile(self.dir / "x.fdt")
        self.check(path)
        # Renamed since.
        self.check(self.save(self.dataset("C:\\old\\name.fdt")))
        with open(self.dir / "x.fdt", "r+b") as f:
            f.truncate(1000)
        self.refused("cut off, or of another dataset", path)
        (self.dir / "x.fdt").unlink()
        self.refused("'name.fdt', which is not beside it; neither is x.fdt", path)
        self.refused("'a?b.fdt', which is not beside it", self.save(self.dataset("a\nb.fdt")))
        self.refused("'x.dat', which is not supported", self.save(self.dataset("x.dat")))

    def test_epochs(self):
        self.X = self.X[:, :4800]
        cube = self.X.reshape(len(self.names), 400, 12, order="F")
        facts = self.check(self.save(self.dataset(cube, 12), True))
        self.assertIn("12 epochs of 400 frames are taken one after the other", facts["notes"][1])
        self.assertEqual([a["onset"] for a in facts["annotations"] if a["text"] == "boundary"],
                         [400 * k / self.rate for k in range(1, 12)])

    def test_what_is_wrong_is_said(self):
        self.refused("EEG.data is", self.save(self.dataset(self.X[:, 1:])))
        self.refused("EEG.nbchan is not a whole number", self.save(self.dataset(self.X, nbchan=1.5)))
        self.refused("EEG.srate", self.save(self.dataset(self.X, srate=[])))
        self.refused("is complex", self.save(self.dataset(self.X * 1j)))

    @needs(mne, "python3-mne is not installed")
    def test_mne_reads_what_demix_writes(self):
        for channels in (len(self.names), 1):
            self.names, self.X = self.names[:channels], self.X[:channels]
            self.convert(self.save(self.dataset(self.X)), self.dir / "y.set")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it is read at once
                raw = mne.io.read_raw_eeglab(self.dir / "y.set")
            np.testing.assert_allclose(raw.get_data() * 1e6, self.X, rtol=1e-6)
            self.assertEqual(raw.info["sfreq"], self.rate)
            self.assertEqual(raw.ch_names, self.names)
            self.assertEqual(list(raw.annotations.description), ["square", "7"])
            np.testing.assert_allclose(raw.annotations.onset, [128 / self.rate, 256.5 / self.rate], atol=1e-6)

    def test_scipy_reads_what_demix_writes(self):
        np.save(self.dir / "x.npy", self.X.T)
        self.convert(self.dir / "x.npy", self.dir / "y.set", "", 100)
        eeg = scipy.io.loadmat(self.dir / "y.set", squeeze_me=True, appendmat=False)["EEG"]
        np.testing.assert_array_equal(eeg["data"].item(), self.X)
        self.assertEqual((eeg["pnts"].item(), eeg["srate"].item()), (self.X.shape[1], 100))
        self.refused("needs a rate", self.dir / "x.npy", target=self.dir / "z.set")

    def test_damage(self):
        self.names, self.X = self.names[:3], self.X[:3, :20]
        for compressed in (False, True):
            self.expect_survives_damage(self.save(self.dataset(self.X), compressed))


if __name__ == "__main__":
    unittest.main()
