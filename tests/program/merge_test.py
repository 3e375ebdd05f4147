#!/usr/bin/python3
"""demix moments and merge: parts summed up anywhere give the model of the whole."""
import itertools
import json
import unittest

import numpy as np

from program import Program

FRAMES = 60000


class Merge(Program):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(5)
        S = rng.laplace(size=(FRAMES, 6)) ** [1, 3, 1, 1, 1, 1]
        S[:, 2] = rng.uniform(-1, 1, FRAMES)
        S[:, 3] = np.sign(S[:, 3]) * np.abs(S[:, 3]) ** 0.5
        S[:, 4] = np.sin(np.arange(FRAMES))
        S[:, 5] = rng.normal(size=FRAMES)
        # Channels that are much alike, in units far apart, off zero, on a drifting base line.
        A = rng.normal(size=(6, 6)) + 5 * np.ones((6, 6))
        self.alike_units = S @ A.T + np.linspace(0, 10, FRAMES)[:, None] + 300 * np.arange(6)
        self.X = self.alike_units * [1e-6, 1e-6, 1, 1, 1e4, 1]
        self.save("all.npy", self.X)

    def save(self, name, X):
        np.save(self.dir / name, X)
        return self.dir / name

    def parts(self, *options):
        self.cuts = [0, 7000, 20001, 20500, 51000, FRAMES]
        files = []
        for k, (a, b) in enumerate(itertools.pairwise(self.cuts)):
            files.append(self.dir / f"part{k}.sums")
            self.ok("moments", self.save(f"part{k}.npy", self.X[a:b]), *options, "-o", files[-1])
        return files

    def model(self, command, *arguments):
        out = self.dir / "model.json"
        out.unlink(missing_ok=True)
        self.ok(command, *arguments, "-o", out)
        return json.loads(out.read_text())

    def alike(self, merged, whole, digits=1e-7):
        size = np.abs(whole["unmixing"]).max(axis=0)
        np.testing.assert_allclose(np.array(merged["unmixing"]) / size, np.array(whole["unmixing"]) / size, atol=digits)
        np.testing.assert_allclose(merged["mean"], whole["mean"], rtol=1e-9)
        np.testing.assert_allclose(merged["kurtosis"], whole["kurtosis"], rtol=1e-4)  # the whole's: of floats
        for name in ("method", "samples", "options", "names"):
            self.assertEqual(merged.get(name), whole.get(name))

    def test_constant_channels(self):
        """What is wrong with the data is said of the files, not of X."""
        files = []
        for value in (1, 2):
            np.savetxt(self.dir / f"{value}.csv", np.full((50, 2), value), delimiter=",")
            files.append(self.dir / f"{value}.sums")
            self.ok("moments", self.dir / f"{value}.csv", "-o", files[-1])
        self.refused(f"{files[0]}: every channel is constant", "merge", files[0], "-o", self.dir / "m.json")

    def test_the_model_of_the_whole(self):
        files = self.parts()
        for method in ("fobi", "jade", "sm-ica-offline"):
            for more in ((), ("--order", "power")):
                if method == "sm-ica-offline" and more:
                    continue  # the whole's has no other order
                with self.subTest(method=method, more=more):
                    self.alike(self.model("merge", *files, "-m", method, *more),
                               self.model("fit", self.dir / "all.npy", "-m", method, *more))
        whole = self.model("fit", self.dir / "all.npy", "-m", "jade", "--form", "k-jade")
        self.alike(self.model("merge", *files, "-m", "jade", "--form", "k-jade"), whole)

    def test_fewer_components(self):
        self.X = self.alike_units
        self.save("all.npy", self.X)
        files = self.parts()
        for method, components in (("fobi", "4"), ("jade", "3"), ("sm-ica-offline", "4"), ("fobi", "0.99")):
            with self.subTest(method=method, components=components):
                self.alike(self.model("merge", *files, "-m", method, "--components", components),
                           self.model("fit", self.dir / "all.npy", "-m", method, "--components", components))

    def test_exact_moments(self):
        """Against NumPy: FOBI's eigenvectors of the whole."""
        files = self.parts()
        model = self.model("merge", *files)
        X = self.X - self.X.mean(axis=0)
        Y = X @ np.array(model["unmixing"]).T
        np.testing.assert_allclose(np.cov(Y.T, bias=True), np.eye(6), atol=1e-8)
        Cz = (Y.T * (Y ** 2).sum(axis=1)) @ Y / FRAMES
        self.assertLess(np.abs(Cz - np.diag(np.diag(Cz))).max(), 1e-7 * Cz.max())
        np.testing.assert_allclose((Y ** 4).mean(axis=0), model["kurtosis"], rtol=1e-8)

    def test_any_order_gives_the_same_bytes(self):
        files = self.parts("-m", "jade")
        first = None
        for order in (files, files[::-1], files[2:] + files[:2]):
            self.model("merge", *order)
            text = (self.dir / "model.json").read_text()
            first = first or text
            self.assertEqual(text, first)
        self.assertEqual(json.loads(first)["method"], "jade")

    def test_several_files_in_one_and_threads(self):
        self.parts()
        names = [self.dir / f"part{k}.npy" for k in range(5)]
        made = []
        for threads in (1, 3):
            self.ok("moments", *names, "--threads", threads, "-o", self.dir / "one.sums")
            made.append((self.dir / "one.sums").read_bytes())
        self.assertEqual(made[0], made[1])
        self.alike(self.model("merge", self.dir / "one.sums"), self.model("fit", self.dir / "all.npy", "-m", "fobi"))

    def test_weights_and_bad_segments(self):
        w = np.random.default_rng(1).uniform(0, 2, FRAMES)
        w[1000:3000] = 0
        files = []
        for k, part in enumerate((slice(0, 25000), slice(25000, FRAMES))):
            files.append(self.dir / f"{k}.sums")
            self.ok("moments", self.save("x.npy", self.X[part]), "--frame-weights", self.save("w.npy", w[part, None]),
                    "-o", files[-1])
        self.save("w.npy", w[:, None])
        whole = self.model("fit", self.dir / "all.npy", "-m", "fobi", "--frame-weights", self.dir / "w.npy")
        self.alike(self.model("merge", *files), whole)
        self.ok("moments", self.dir / "all.npy", "--rate", 100, "--bad", "3-20,100-110.5", "-o", self.dir / "bad.sums")
        whole = self.model("fit", self.dir / "all.npy", "-m", "fobi", "--rate", 100, "--bad", "3-20,100-110.5")
        self.alike(self.model("merge", self.dir / "bad.sums"), whole)

    def test_fewer_directions_than_channels(self):
        self.X = np.column_stack([self.X, self.X[:, 0] - 2 * self.X[:, 1], np.full(FRAMES, 3.0)])
        self.save("all.npy", self.X)
        result = self.ok("merge", *self.parts(), "-o", self.dir / "model.json")
        self.assertIn("8 channels hold only 6 independent signals; constant: channel 8", result.stderr)
        self.alike(json.loads((self.dir / "model.json").read_text()),
                   self.model("fit", self.dir / "all.npy", "-m", "fobi"))

    def test_what_is_not_known_is_said(self):
        result = self.ok("merge", *self.parts(), "-o", self.dir / "model.json")
        self.assertIn("crosstalk to expect: cannot tell: needs the frames", result.stderr)
        self.ok("apply", self.dir / "model.json", self.dir / "all.npy", "-o", self.dir / "y.npy")

    def test_warnings_that_sums_allow(self):
        """As fit gives them: of what is alike, as good as Gaussian, on at the same times; none where all is well."""
        rng = np.random.default_rng(7)
        uniform, laplace, normal = rng.uniform(-1, 1, (FRAMES, 2)), rng.laplace(size=(FRAMES, 2)), rng.normal(
            size=(FRAMES, 2))
        on = (rng.uniform(size=(FRAMES // 100, 1)) < 0.3).repeat(100, axis=0)
        alike = np.column_stack([uniform, laplace[:, 0]])
        gaussian = np.column_stack([uniform[:, 0], laplace[:, 0], normal])
        together = np.column_stack([on * normal, uniform[:, 0], laplace[:, 0] ** 3])
        well = np.column_stack([uniform[:, 0], laplace[:, 0], laplace[:, 1] ** 3])
        for S, methods in ((alike, ("fobi", "sm-ica-offline")), (gaussian, ("fobi", "jade", "sm-ica-offline")),
                           (together, ("jade",)), (well, ("fobi", "jade", "sm-ica-offline"))):
            self.X = S @ rng.normal(size=(S.shape[1], S.shape[1]))
            self.save("all.npy", self.X)
            files = self.parts()
            for method in methods:
                def warnings(*command):
                    model = self.model(*command, "-m", method)
                    return sorted((w["kind"], w["components"]) for w in model["warnings"])
                merged = warnings("merge", *files)
                whole = [w for w in warnings("fit", self.dir / "all.npy") if w[0] not in ("convolved", "clipped")]
                self.assertEqual(merged, whole, method)
                self.assertEqual(merged == [], S is well, method)

    def test_refused(self):
        files = self.parts()
        out = ("-o", self.dir / "m.json")
        good = files[0].read_bytes()
        for name, data, part in (("cut", good[:-8], "damaged"), ("flipped", good[:-3] + b"x" + good[-2:], "damaged"),
                                 ("none", b"hello", "not sums"), ("empty", b"", "not sums"),
                                 ("new", good.replace(b"sums 1\n", b"sums 9\n"), "written by another version")):
            (self.dir / f"{name}.sums").write_bytes(data)
            self.refused(f"{name}.sums: {part}", "merge", files[1], self.dir / f"{name}.sums", *out)
        self.refused("none-such", "merge", files[1], self.dir / "none-such.sums", *out)
        (self.dir / "again.sums").write_bytes(good)
        self.refused("would count twice", "merge", *files, self.dir / "again.sums", *out)
        self.ok("moments", self.save("five.npy", self.X[:, :5]), "-o", self.dir / "five.sums")
        self.refused("five.sums: its channels are not those of", "merge", *files, self.dir / "five.sums", *out)
        self.ok("moments", self.dir / "part0.npy", "-m", "jade", "-o", self.dir / "jade.sums")
        self.refused("is for jade where", "merge", files[1], self.dir / "jade.sums", *out)
        self.refused("form", "merge", *files, "-m", "sm-ica-offline", "--form", "published", *out, code=2)
        self.refused("is read", "merge", *files, "-o", files[0], code=2)
        self.X[5, 2] = np.nan
        self.refused("value NaN in channel 3, frame 6", "moments", self.save("nan.npy", self.X),
                     "-o", self.dir / "n.sums")
        self.X[5, 2] = 0
        self.X[:, 1] *= 1e200
        self.refused("large", "moments", self.save("big.npy", self.X), "-o", self.dir / "n.sums")
        wide = self.save("wide.npy", np.random.default_rng(0).normal(size=(500, 97)))
        self.refused("97 channels are too many for sums, which take 96", "moments", wide, "-o", self.dir / "n.sums")
        self.refused("nothing to separate", "moments", self.save("single.npy",
                                                                 np.random.default_rng(0).normal(size=(500, 1))), "-o",
                     self.dir / "n.sums")


if __name__ == "__main__":
    unittest.main()
