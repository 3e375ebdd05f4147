#!/usr/bin/python3
"""Whatever the file, the result is the same to the bit on any number of threads."""
import json
import os
import subprocess
import unittest

import numpy as np

from program import Program

CONVERT = os.environ["CONVERT"]
FRAMES = 150000  # enough for several threads


class Threads(Program):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(1)
        S = rng.laplace(size=(FRAMES, 3)) ** [[1, 3, 1]]
        S[:, 2] = rng.uniform(-1, 1, FRAMES)
        self.X = S @ rng.normal(size=(3, 3)) / 2e3  # within what FLAC and WAV can hold
        np.save(self.dir / "x.npy", self.X)

    def model(self, path, threads, *options):
        out = self.dir / f"m{threads}.json"
        self.ok("fit", path, *options, "--threads", threads, "-o", out)
        return json.loads(out.read_text())

    def same(self, path, *options):
        one = self.model(path, 1, *options)
        for threads in (2, 5):
            self.assertEqual(self.model(path, threads, *options), one, (path.name, threads))
        self.ok("apply", self.dir / "m1.json", path, "-o", self.dir / "sources.npy")
        Y = np.load(self.dir / "sources.npy")
        kurtosis = (Y ** 4).mean(axis=0) / (Y ** 2).mean(axis=0) ** 2
        if "--frame-weights" not in options and "--bad" not in options:
            np.testing.assert_allclose(kurtosis, one["kurtosis"], rtol=1e-4)

    def test_every_kind_of_file(self):
        for name in ("y.npy", "y.npz", "y.mat", "y.csv", "y.wav", "y.flac", "y.edf", "y.bdf", "y.set"):
            with self.subTest(name):
                path = self.dir / ("copy-" + name)
                result = subprocess.run([CONVERT, self.dir / "x.npy", path, "", "1000"], capture_output=True,
                                        text=True, timeout=120)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.same(path)

    def test_every_batch_method(self):
        for method in ("fobi", "fastica", "picard", "jade"):
            with self.subTest(method):
                self.same(self.dir / "x.npy", "--method", method)

    def test_floats_weights_and_bad_segments(self):
        np.save(self.dir / "f.npy", self.X.astype("f4"))
        np.save(self.dir / "w.npy", np.random.default_rng(2).uniform(size=(FRAMES, 1)))
        self.same(self.dir / "f.npy")
        self.same(self.dir / "f.npy", "--frame-weights", self.dir / "w.npy")
        self.same(self.dir / "f.npy", "--rate", 1000, "--bad", "3-20,100-110")

    def test_comparisons(self):
        common = ("compare", "--scenario", 1, "--frames", 2000, "--draws", 4, "--method", "stream,easi", "--json")
        self.assertEqual(self.ok(*common, "--threads", 1).stdout, self.ok(*common, "--threads", 4).stdout)


if __name__ == "__main__":
    unittest.main()
