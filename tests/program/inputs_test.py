#!/usr/bin/python3
"""What comes in: arrays of either orientation, files that shrink, pipes, bombs, names that would move a terminal."""
import json
import os
import random
import struct
import subprocess
import time
import unicodedata
import unittest
import zlib

import numpy as np
import scipy.io

from program import DEMIX, Program, run

LIMIT = "" if "DEMIX_SANITIZED" in os.environ else "ulimit -v 2000000; "  # sanitizers map all there is


def limited(*args):
    """With 2 GB of memory."""
    return subprocess.run(["bash", "-c", LIMIT + 'exec "$@"', "-", DEMIX, *map(str, args)], capture_output=True,
                          text=True, timeout=60)


class StandardInput(Program):
    """"-" is as the file is."""

    def test_text_and_numbers(self):
        rng = np.random.default_rng(7)
        X = rng.laplace(size=(3000, 3)) @ rng.normal(size=(3, 3))
        np.savetxt(self.dir / "x.csv", X, "%.9g", ",", header="a,b,c", comments="")
        np.savetxt(self.dir / "x.tsv", X, "%.9g", "\t")
        X.astype("<f8").tofile(self.dir / "x.f64")
        for name, more in (("x.csv", []), ("x.csv", ["--format", "csv"]), ("x.tsv", []), ("x.tsv", ["--format", "tsv"]),
                           ("x.f64", ["--format", "f64", "--channels", 3])):
            with self.subTest((name, more)):
                piped = lambda *args: subprocess.run([DEMIX, *map(str, args)], input=(self.dir / name).read_bytes(),
                                                     capture_output=True, timeout=60)
                size = more[2:]
                done = piped("info", "-", "--json", *more)
                self.assertEqual(done.returncode, 0, done.stderr)
                ours, theirs = json.loads(done.stdout), json.loads(run("info", self.dir / name, "--json", *size).stdout)
                self.assertEqual({**ours, "file": "", "kind": ""}, {**theirs, "file": "", "kind": ""})
                self.assertEqual(piped("fit", "-", "-o", self.dir / "p.json", "-m", "fobi", *more).returncode, 0)
                self.ok("fit", self.dir / name, "-o", self.dir / "f.json", "-m", "fobi", *size)
                self.assertEqual((self.dir / "p.json").read_bytes(), (self.dir / "f.json").read_bytes())
                done = piped("separate", "-", "-o", self.dir / "out", "-m", "fobi", *more)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue((self.dir / "out" / f"sources.{'csv' if not more else more[1]}").exists())

    def test_what_is_wrong_is_said(self):
        for text, args, part, code in ((b"", ("info", "-"), b"is empty", 1),
                                       (b"\0\1\2\3", ("info", "-"), b"give --format f32", 2),
                                       (b"1,2\n3,x\n", ("info", "-"), b"standard-input.csv", 1),
                                       (b"1,2\n", ("info", "-", "-"), b"only once", 2)):
            done = subprocess.run([DEMIX, *args], input=text, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(part, done.stderr)
        self.refused("--format is of standard input", "info", __file__, "--format", "csv", code=2)


class Orientation(Program):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(1)
        self.X = rng.laplace(size=(8, 3000)) * np.arange(1, 9)[:, None]
        np.save(self.dir / "tall.npy", self.X.T)
        np.save(self.dir / "wide.npy", self.X)

    def info(self, name, *options):
        result = run("info", self.dir / name, "--json", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        told = json.loads(result.stdout)
        told.pop("file")
        told.pop("kind")
        return told, result.stderr

    def test_channels_in_rows_are_the_same_recording_with_a_note(self):
        tall, quiet = self.info("tall.npy")
        self.assertEqual(quiet, "")
        np.savez(self.dir / "wide.npz", x=self.X)
        np.savez_compressed(self.dir / "packed.npz", x=np.asfortranarray(self.X))
        scipy.io.savemat(self.dir / "wide.mat", {"x": self.X}, do_compression=True)
        np.savetxt(self.dir / "wide.csv", self.X, "%.17g", ",")
        np.savetxt(self.dir / "wide.txt", self.X, "%.17g")
        self.X.tofile(self.dir / "wide.f64")
        for name in ("wide.npy", "wide.npz", "packed.npz", "wide.mat", "wide.csv", "wide.txt"):
            told, note = self.info(name)
            self.assertEqual(told, tall, name)
            self.assertEqual(note.count("\n"), 1, note)
            self.assertIn("has 8 rows and 3000 columns; the rows are taken as channels", note)
            told, note = self.info(name, "--orientation", "channels")
            self.assertEqual((told, note), (tall, ""), name)
        told, note = self.info("wide.f64", "--orientation", "channels", "--channels", 8)
        self.assertEqual((told, note), (tall, ""))

    def test_fit_apply_and_score_take_either(self):
        model = self.dir / "m.json"
        self.ok("fit", self.dir / "wide.npy", "-o", model)
        self.ok("apply", model, self.dir / "wide.npy", "-o", self.dir / "a.npy")
        self.ok("apply", model, self.dir / "tall.npy", "-o", self.dir / "b.npy")
        np.testing.assert_array_equal(np.load(self.dir / "a.npy"), np.load(self.dir / "b.npy"))
        scores = [json.loads(self.ok("score", "--truth", self.dir / truth, self.dir / "a.npy", "--json").stdout)
                  for truth in ("wide.npy", "tall.npy")]
        self.assertEqual(scores[0], scores[1])

    def test_a_mixing_matrix_is_not_turned(self):
        """Of fewer channels than sources, too."""
        self.ok("fit", self.dir / "tall.npy", "-o", self.dir / "m.json")
        np.save(self.dir / "mixing.npy", np.ones((3, 5)))
        self.refused("mixing.npy: 3 channels, but the model", "score", "--truth", self.dir / "tall.npy",
                     self.dir / "tall.npy", "--mixing", self.dir / "mixing.npy", "--model", self.dir / "m.json")

    def test_too_many_channels_are_refused_at_once(self):
        np.save(self.dir / "x.npy", np.zeros((32, 30504), "f4"))
        began = time.monotonic()
        self.refused("x.npy: 30504 channels are too many; at most 8192 are read", "fit", self.dir / "x.npy", "-o",
                     self.dir / "m.json", "--orientation", "frames")
        self.assertLess(time.monotonic() - began, 2)

    def test_the_option_takes_two_words(self):
        self.refused("--orientation", "info", self.dir / "tall.npy", "--orientation", "rows", code=2)


class Unusual(Program):
    def test_pipes_are_refused(self):
        for name in ("x.csv", "x.npy", "x.wav", "x.mat", "x.npz", "x.png", "x.edf", "x.flac", "x.f32"):
            pipe = self.dir / name
            os.mkfifo(pipe)
            for command in (["info", pipe], ["fit", pipe, "-o", self.dir / "m.json"],
                            ["separate", pipe, "-o", self.dir / "out"], ["score", "--truth", pipe, pipe]):
                self.refused(name + ": is a pipe or a device, which cannot be read twice; save it to a file", *command)

    def test_devices_are_refused(self):
        for name in ("x.png", "m.json", "x.npy", "s.state"):
            (self.dir / name).symlink_to("/dev/zero")
        (self.dir / "x.csv").write_text("1,2\n3,4\n5,7\n")
        self.refused("x.png: is a pipe or a device", "info", self.dir / "x.png")
        self.refused("x.npy: is a pipe or a device", "info", self.dir / "x.npy")
        self.refused("s.state: is a pipe or a device, not a file", "stream", self.dir / "x.csv", "-o",
                     self.dir / "y.csv", "--state", self.dir / "s.state")
        self.refused("m.json: is a pipe or a device, not a file", "apply", self.dir / "m.json", self.dir / "x.csv",
                     "-o", self.dir / "y.csv")

    def test_a_cut_wav_is_refused_in_the_same_words(self):
        path, sources = self.dir / "x.wav", self.dir / "y.wav"
        samples = (np.random.default_rng(1).standard_normal((4000, 2)) * 3000).astype("<i2").tobytes()
        head = b"RIFF" + struct.pack("<L", 36 + len(samples)) + b"WAVEfmt " + struct.pack(
            "<LHHLLHH", 16, 1, 2, 8000, 32000, 4, 16) + b"data" + struct.pack("<L", len(samples))
        path.write_bytes((head + samples)[:-400])
        told = "demix: %s: ends 400 bytes before its header says; it is cut off\n" % path
        result = run("info", path)
        self.assertEqual((result.returncode, result.stderr), (1, told))
        result = run("stream", path, "-o", sources)
        self.assertEqual((result.returncode, result.stderr), (1, told))
        self.assertEqual(len(sources.read_bytes()), 58 + 3900 * 8)  # what there was is separated
        with open(path, "rb") as file:  # who writes to a pipe may be stopped
            result = subprocess.run(["bash", "-c", 'cat | "$0" stream - --format wav -o "$1"', DEMIX, sources],
                                    stdin=file, capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_whole_numbers_are_read_as_streams_read_them(self):
        X = np.random.default_rng(1).integers(-30000, 30000, (4000, 2))
        (self.dir / "x.s16").write_bytes(X.astype("<i2").tobytes())
        (self.dir / "x.s32").write_bytes((X * 2**16).astype("<i4").tobytes())
        np.save(self.dir / "x.npy", X / 2**15)
        for kind in ("s16", "s32"):
            run("fit", self.dir / f"x.{kind}", "--channels", 2, "-o", self.dir / f"{kind}.json")
            run("fit", self.dir / "x.npy", "-o", self.dir / "npy.json")
            self.assertEqual((self.dir / f"{kind}.json").read_text(), (self.dir / "npy.json").read_text())
        result = run("separate", self.dir / "x.s16", "--channels", 2, "-o", self.dir / "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.dir / "out" / "sources.npy").exists())  # sources do not fit into -1 to 1

    def test_a_law_is_read(self):
        law = b"\xd5\x55\xaa\x2a" * 2000
        head = b"RIFF" + struct.pack("<L", 38 + len(law)) + b"WAVEfmt " + struct.pack(
            "<LHHLLHHH", 18, 6, 2, 8000, 16000, 2, 8, 0) + b"data" + struct.pack("<L", len(law))
        (self.dir / "a.wav").write_bytes(head + law)
        result = run("info", "--json", self.dir / "a.wav")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["frames"], 4000)

    def test_a_file_that_shrinks_is_told(self):
        """Cut while it is being unpacked; earlier or later, it is cut off or whole."""
        values = np.random.default_rng(1).integers(0, 100, (400000, 8)).astype("f8")
        np.savez_compressed(self.dir / "x.npz", x=values)
        scipy.io.savemat(self.dir / "x.mat", {"x": values}, do_compression=True)
        for name in ("x.npz", "x.mat"):
            good = (self.dir / name).read_bytes()
            for wait in (0, 0.005, 0.01, 0.02, 0.04, 0.08):
                (self.dir / name).write_bytes(good)
                process = subprocess.Popen([DEMIX, "info", self.dir / name], stdout=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE, text=True)
                time.sleep(wait)
                os.truncate(self.dir / name, 10000)
                _, told = process.communicate(timeout=60)
                self.assertIn(process.returncode, (0, 1), told)
                self.assertEqual(told.count("\n"), process.returncode, told)

    def test_values_whose_squares_overflow(self):
        path = self.dir / "x.csv"
        for large in ("1e200,1\n-1e200,2\n3e199,5\n4,5\n1,7\n", "1.7e308,1\n-1.7e308,2\n1.7e308,5\n4,5\n1,7\n",
                      "1e-200,1e-200\n-1e-200,2e-200\n3e-199,5e-200\n4e-200,5e-200\n1e-200,7e-200\n"):
            path.write_text(large)
            self.assertIn("how many of them are independent cannot be told", self.ok("info", path).stdout)
            told = json.loads(self.ok("info", path, "--json").stdout)
            self.assertIsNone(told["rank"])
            self.assertTrue(all(c["kurtosis"] > 1 for c in told["channel"]), told)


class Bombs(Program):
    def refused_with_little_memory(self, part, path):
        result = limited("info", path)
        self.assertEqual(result.returncode, 1, result)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn("%s: " % path, result.stderr)
        self.assertIn(part, result.stderr)

    def npz(self, rows, packed_bytes):
        """An array of zeros whose directory claims all of it, of which so many bytes are there."""
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 2), }" % rows
        head = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.ljust(117) + b"\n"
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(head + bytes(1 << 20)) + packer.flush()
        packed = packed.ljust(packed_bytes, b"\0")
        size = len(head) + 16 * rows
        extra = struct.pack("<HHQQ", 1, 16, size, len(packed))
        fields = (45, 0, 8, 0, 0x21, 0, 0xffffffff, 0xffffffff, 5, len(extra))
        local = b"PK\3\4" + struct.pack("<HHHHHLLLHH", *fields) + b"x.npy" + extra + packed
        entry = b"PK\1\2" + struct.pack("<HHHHHHLLLHH", 45, *fields) + bytes(14) + b"x.npy" + extra
        end = b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, 1, 1, len(entry), len(local), 0)
        (self.dir / "x.npz").write_bytes(local + entry + end)
        return self.dir / "x.npz"

    def test_npz(self):
        self.refused_with_little_memory("array 'x': 2000 compressed bytes cannot hold the 160000128 it announces",
                                        self.npz(10_000_000, 2000))
        self.refused_with_little_memory("array 'x': unpacks to 6103 MiB; at most 4096 are unpacked into memory",
                                        self.npz(400_000_000, 7_000_000))
        if LIMIT:  # 3.2 GB where there are 2
            self.refused_with_little_memory("array 'x': there is not enough memory to unpack it",
                                            self.npz(200_000_000, 4_000_000))

    def test_mat(self):
        path = self.dir / "x.mat"
        scipy.io.savemat(path, {"x": np.zeros((1000, 2))}, do_compression=True)
        whole = path.read_bytes()
        matrix = bytearray(zlib.decompress(whole[136:]))
        matrix[4:8] = struct.pack("<L", 2_000_000_000)
        packed = zlib.compress(matrix)
        path.write_bytes(whole[:128] + struct.pack("<LL", 15, len(packed)) + packed)
        self.refused_with_little_memory("'x': %d compressed bytes cannot hold the 2000000008 it announces" %
                                        len(packed), path)
        matrix[4:8] = struct.pack("<L", 1_000_000_000)
        packed = zlib.compress(matrix).ljust(2_000_000, b"\0")
        path.write_bytes(whole[:128] + struct.pack("<LL", 15, len(packed)) + packed)
        self.refused_with_little_memory("'x'", path)


class Terminal(Program):
    HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b1m\u202e\x7f"

    def check(self, text):
        for c in text:
            self.assertTrue(c == "\n" or (unicodedata.category(c) != "Cc" and c != "\u202e"), ascii(text))

    def test_names_do_not_move_the_terminal(self):
        path = self.dir / "x.csv"
        rows = "".join("%g,%g\n" % tuple(v) for v in np.random.default_rng(1).laplace(size=(500, 2)))
        path.write_text(self.HOSTILE + ",b\n" + rows)
        told = self.ok("info", path).stdout
        self.check(told)
        self.assertIn("\\x1b]0;owned\\x07\\x1b[2J\\u009b1m\\u202e\\x7f", told)
        name = json.loads(self.ok("info", path, "--json").stdout)["channel"][0]["name"]
        self.assertEqual(name, self.HOSTILE)
        result = self.ok("separate", path, "-o", self.dir / "out")
        self.check(result.stdout + result.stderr)

    def test_random_bytes_are_refused_in_own_words(self):
        """Also as names, and as so many of them that memory would not do."""
        rng, path = random.Random(1), self.dir / "x.csv"
        for k in range(30):
            noise = rng.randbytes(rng.choice((10, 1000))) if k % 2 else b",".join(
                bytes(rng.choice(b"ab\xff\xed\xa0\x80\xc0\x1b\0\xf4\x90") for _ in range(5)) for _ in range(2))
            path.write_bytes(noise + b"\n1,2\n3,4\n5,7\n")
            result = run("info", path)
            self.check(result.stdout + result.stderr)
            self.assertEqual(result.stderr.count("\n"), result.returncode, result.stderr)
            for foreign in ("json", "std::", "vector", "basic_string", "utf"):
                self.assertNotIn(foreign, result.stderr)
        path.write_bytes(b"a" + b"," * 8_000_000 + b"\n1,2\n")
        result = limited("info", path)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1), result)
        self.assertIn("x.csv: 8000001 channels are too many", result.stderr)

    def test_file_names_and_fields_do_not_move_the_terminal(self):
        path = self.dir / (self.HOSTILE.replace("/", "") + "\n.csv")
        result = run("info", path)
        self.check(result.stderr)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1))
        path.write_bytes(b"1,2\n3,4\n5,\x1b[2J\x9b\xff\n")
        result = run("info", path)
        self.check(result.stderr)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1))


if __name__ == "__main__":
    unittest.main()
