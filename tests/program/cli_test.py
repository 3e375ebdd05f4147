#!/usr/bin/python3
"""The program as a person uses it: every command, and what it says when the input is bad."""
import json
import subprocess
import unittest
from pathlib import Path

import numpy as np

from program import DEMIX, Program, run


class Cli(Program):
    def save(self, name, array):
        np.save(self.dir / name, array)
        return self.dir / name

    def write(self, name, text):
        (self.dir / name).write_text(text)
        return self.dir / name

    def test_help_and_version(self):
        self.assertIn("separate", self.ok("--help").stdout)
        self.assertRegex(self.ok("--version").stdout, r"^demix \d+\.\d+\.\d+\n$")
        for command in ("demo", "methods", "generate", "separate", "score", "fit", "apply", "info", "moments",
                        "merge", "compare", "tune", "stream"):
            self.assertIn("--", self.ok(command, "--help").stdout)

    def test_help_fits_110_columns(self):
        commands = [line.split()[0] for line in self.ok("--help").stdout.split("\nCommands:\n")[1].split("\n\n")[0]
                    .splitlines() if line[2] != " "]
        self.assertIn("completion", commands)
        for words in [["--help"], ["methods"], *([c, "--help"] for c in commands)]:
            for line in self.ok(*words).stdout.splitlines():
                self.assertLessEqual(len(line), 110, (words, line))

    def test_help_names_values(self):
        for command, value in (("stream", "--page [ADDRESS:PORT] "), ("demo", "--page ADDRESS:PORT "),
                               ("separate", "--trace FILE.npz "), ("separate", "--bad FROM-TO,... "),
                               ("apply", "--remove K,... "), ("fit", "--variable NAME "), ("fit", "--rate HZ ")):
            self.assertIn(value, self.ok(command, "--help").stdout, command)
        self.assertIn("[ADDRESS:PORT]", self.ok("completion", "man").stdout)

    def test_a_wrong_value_suggests_the_nearest(self):
        self.refused("--method: unknown value 'fastca'; did you mean fastica?", "fit", "x", "-o", "y", "--method",
                     "fastca", code=2)
        self.refused("--join: unknown value 'x'; give one of channels, frames", "fit", "x", "-o", "y", "--join", "x",
                     code=2)
        self.refused("did you mean fastica?", "compare", "--method", "sm-ica,fastca", code=2)

    def test_misuse_is_exit_2(self):
        self.refused("unknown command", "frobnicate", code=2)
        self.refused("no command given; start with demix demo (see demix --help)", code=2)
        self.refused("--output", "generate", code=2)
        self.refused("--scenario", "generate", "--scenario", 9, "-o", self.dir / "g", code=2)
        self.refused("--method", "separate", "x.npy", "--method", "magic", "-o", self.dir / "o", code=2)
        self.refused("--nonsense", "methods", "--nonsense", code=2)
        self.refused("unexpected argument 'first'", "tune", "first", "second", code=2)
        self.refused("did you mean separate? (see demix --help)", "seperate", "x.npy", code=2)
        self.refused("did you mean --components? (see demix fit --help)", "fit", "x.npy", "--componets", 3, code=2)
        self.refused("did you mean --components?", "fit", "x.npy", "-o", "m.json", "--comp=3", code=2)
        self.refused("(see demix stream --help)", "stream", "--freeze", "--format", "wav", code=2)
        self.assertNotIn("did you mean", run("frobnicate").stderr + run("fit", "--nonsense", "x").stderr)

    def test_old_spellings_name_the_new(self):
        for command in ("separate", "fit"):
            for old, new in (("--weight", "--activity-weight"), ("--weights", "--frame-weights")):
                p = run(command, "x.npy", "-o", "y", old, "log")
                self.assertEqual(p.returncode, 2)
                self.assertIn(f"{old}: is called {new} now", p.stderr)
            self.assertNotIn("--weights ", run(command, "--help").stdout)

        for command, old, new in (("separate", "--live", "--online-output"), ("demo", "--samples", "--frames"),
                                  ("generate", "--samples", "--frames"), ("generate", "--white", "--whiten yes"),
                                  ("compare", "--methods", "--method"), ("compare", "--white", "--whiten yes"),
                                  ("compare", "--samples", "--frames"), ("compare", "--seeds", "--draws"),
                                  ("tune", "--seeds", "--draws"), ("tune", "--samples", "--frames")):
            self.refused(f"{old}: is called {new} now", command, old, 3, code=2)

    def test_methods(self):
        table = self.ok("methods").stdout
        listed = json.loads(self.ok("methods", "--json").stdout)
        names = {m["name"] for m in listed}
        self.assertLessEqual({"fobi", "jade", "sm-ica-offline", "sm-ica", "stream", "recursive-fobi", "hj", "easi",
                              "nonlinear-oja",
                              "infomax", "amari", "eghr", "bcm", "oja-subspace", "psp", "bio-nica", "orica"}, names)
        self.assertEqual({m["name"] for m in listed if m["local"] == "yes"}, {"hj", "eghr", "bcm", "psp", "bio-nica"})
        network = next(m for m in listed if m["name"] == "sm-ica")
        self.assertEqual({f["name"]: f["local"] for f in network["forms"]}, {"natural": "synapses", "local": "yes",
                                                                               "published": "yes"})
        self.assertEqual({m["name"] for m in listed if m["needs_whitening"]}, {"nonlinear-oja", "eghr", "bcm"})
        page = Path(__file__).resolve().parents[2] / "docs" / "methods.md"
        self.assertEqual(page.read_text(), self.ok("methods", "--markdown").stdout)  # the docs are this table
        for m in listed:
            self.assertIn(m["name"], table)

    def test_demo(self):
        result = self.ok("demo", "-o", self.dir / "pictures")
        self.assertNotIn("warning", result.stderr)  # of signals that are separated as well as can be
        for word in ("square", "sine", "sawtooth", "laplace", "mixture 4", "kurtosis", "picture: "):
            self.assertIn(word, result.stdout)
        self.assertGreater((self.dir / "pictures" / "separation.png").stat().st_size, 10000)
        self.assertIn("<svg", (self.dir / "pictures" / "separation.svg").read_text())
        numbers = json.loads(run("demo", "--json", "-o", self.dir / "pictures").stdout)
        self.assertLess(numbers["mse"], 0.005)

    def test_generate_separate_score(self):
        data = self.dir / "data"
        self.ok("generate", "--scenario", 4, "--frames", 50000, "--seed", 3, "-o", data)
        S, X, A = (np.load(data / f"{n}.npy") for n in ("sources", "mixtures", "mixing"))
        self.assertEqual(X.shape, (50000, 3))
        np.testing.assert_allclose(X, S @ A.T, atol=1e-12)
        for method in ("fobi", "sm-ica-offline", "sm-ica"):
            out = self.dir / method
            report = json.loads(self.ok("separate", data / "mixtures.npy", "--method", method, "-o", out,
                                        "--json").stdout)
            self.assertEqual(report["components"], 3)
            Y = np.load(out / "sources.npy")
            model = json.loads((out / "model.json").read_text())
            W, mean = np.array(model["unmixing"]), np.array(model["mean"])
            np.testing.assert_allclose(Y, (X - mean) @ W.T, atol=1e-9)
            np.testing.assert_allclose(W @ np.array(model["mixing"]), np.eye(3), atol=1e-9)
            self.assertEqual(sorted(report["kurtosis"], reverse=True), report["kurtosis"])
            score = json.loads(self.ok("score", "--truth", data / "sources.npy", out / "sources.npy", "--mixing",
                                       data / "mixing.npy", "--model", out / "model.json", "--json").stdout)
            self.assertLess(score["mse"], 0.01)
            self.assertLess(score["amari"], 0.1)
            self.assertGreater(min(s["sir"] for s in score["sources"]), 20)
            # the score again, from NumPy
            best = 0
            Sz, Yz = ((v - v.mean(0)) / v.std(0) for v in (S, Y))
            for s in score["sources"]:
                best += np.mean((Sz[:, s["source"] - 1] - s["sign"] * Yz[:, s["output"] - 1]) ** 2) / 3
            self.assertAlmostEqual(score["mse"], best, places=9)
            self.assertIn("mean", self.ok("score", "--truth", data / "sources.npy", out / "sources.npy").stdout)

    def test_the_network_with_the_papers_settings(self):
        data = self.dir / "data"
        self.ok("generate", "--scenario", 1, "--frames", 20000, "-o", data)
        self.ok("separate", data / "mixtures.npy", "--method", "sm-ica", "--form", "published", "--eta", 1e-3,
                "--tau", 0.75, "--lambda", "1,1.5,1.8", "--passes", 10, "--shuffle", "-o", self.dir / "out")
        score = json.loads(self.ok("score", "--truth", data / "sources.npy", self.dir / "out" / "sources.npy",
                                   "--json").stdout)
        self.assertLess(score["mse"], 0.05)

    def test_fit_apply_info(self):
        data = self.dir / "data"
        self.ok("generate", "--sources", "sine,laplace,square", "--frames", 30000, "-o", data)
        X = np.load(data / "mixtures.npy")
        model_file = self.dir / "m.json"
        self.assertEqual(self.ok("fit", data / "mixtures.npy", "-o", model_file).stdout, f"{model_file}\n")
        model = json.loads(model_file.read_text())
        B, A, mean = (np.array(model[k]) for k in ("unmixing", "mixing", "mean"))
        self.ok("separate", data / "mixtures.npy", "-o", self.dir / "out")
        np.testing.assert_array_equal(B,
                                      np.array(json.loads((self.dir / "out" / "model.json").read_text())["unmixing"]))

        self.ok("apply", model_file, data / "mixtures.npy", "-o", self.dir / "y.npy")
        np.testing.assert_allclose(np.load(self.dir / "y.npy"), (X - mean) @ B.T, atol=1e-9)
        self.ok("apply", model_file, data / "mixtures.npy", "-o", self.dir / "x.npy", "--remove", "1,3")
        without = np.load(self.dir / "x.npy")
        np.testing.assert_allclose(without, X - (X - mean) @ B[[0, 2]].T @ A[:, [0, 2]].T, atol=1e-9)
        self.ok("apply", model_file, data / "mixtures.npy", "-o", self.dir / "k.npy", "--keep", "2")
        np.testing.assert_array_equal(np.load(self.dir / "k.npy"), without)
        self.refused("components 1 to 3, not 4", "apply", model_file, data / "mixtures.npy", "-o", self.dir / "z.npy",
                     "--remove", 4)
        self.refused("has 2 channels", "apply", model_file, self.save("two.npy", X[:, :2]), "-o", self.dir / "z.npy")
        self.refused("excludes", "apply", model_file, data / "mixtures.npy", "-o", self.dir / "z.npy",
                     "--keep", 1, "--remove", 1, code=2)
        self.refused("unknown kind", "apply", model_file, data / "mixtures.npy", "-o", self.dir / "z.magic")

        info = json.loads(self.ok("info", data / "mixtures.npy", "--json").stdout)
        self.assertEqual((info["channels"], info["frames"], info["rank"], info["bad_values"]), (3, 30000, 3, 0))
        z = (X - X.mean(0)) / X.std(0)
        for c, k, sd in zip(info["channel"], (z ** 4).mean(0), X.std(0)):
            self.assertAlmostEqual(c["kurtosis"], k, places=9)
            self.assertAlmostEqual(c["deviation"], sd, places=9)
        bad = X.copy()
        bad[5, 1] = np.nan
        bad[:, 2] = 7
        text = self.ok("info", self.save("bad.npy", bad)).stdout
        self.assertIn("1 values are no numbers", text)
        self.assertIn("constant", text)

    def test_rules(self):
        data = self.dir / "data"
        self.ok("generate", "--sources", "sine,laplace,uniform", "--frames", 50000, "-o", data)
        mixtures = data / "mixtures.npy"

        def mse(*args):
            self.ok("separate", mixtures, "-o", self.dir / "out", *args)
            return json.loads(self.ok("score", "--truth", data / "sources.npy", self.dir / "out" / "sources.npy",
                                      "--json").stdout)["mse"]
        self.assertLess(mse("--method", "orica"), 0.02)
        self.assertLess(mse("--method", "orica", "--sub-gaussian", 2), 0.02)
        self.assertLess(mse("--method", "infomax"), 0.05)
        self.refused("expected 0 to 3, got 9", "separate", mixtures, "--method", "orica", "--sub-gaussian", 9, "-o",
                     self.dir / "new")
        result = self.ok("separate", mixtures, "--method", "easi", "-o", self.dir / "out")
        self.assertIn("warning: components", result.stderr)  # cubic: not for these
        self.assertIn("still hold about", result.stderr)
        alike = self.dir / "alike"  # a cubic rule stops halfway between two Laplace sources
        self.ok("generate", "--sources", "laplace,laplace", "--frames", 50000, "-o", alike)
        for method in ("easi", "amari", "hj"):
            result = self.ok("separate", alike / "mixtures.npy", "--method", method, "--whiten", "yes", "-o",
                             self.dir / "out")
            self.assertIn("still hold about", result.stderr, method)
        result = self.ok("separate", alike / "mixtures.npy", "--method", "orica", "-o", self.dir / "out")
        self.assertNotIn("warning", result.stderr)
        self.assertIn("crosstalk to expect: cannot tell", result.stderr)
        self.refused("needs white input", "separate", mixtures, "--method", "nonlinear-oja", "-o", self.dir / "new")
        self.ok("separate", mixtures, "--method", "nonlinear-oja", "--whiten", "yes", "-o", self.dir / "out")
        self.refused("no form 'magic'; it has cubic", "separate", mixtures, "--method", "easi", "--form", "magic", "-o",
                     self.dir / "new", code=2)
        self.refused("no option --sub-gaussian", "separate", mixtures, "--method", "easi", "--sub-gaussian", 1, "-o",
                     self.dir / "new", code=2)
        self.refused("no option --whiten", "separate", mixtures, "--whiten", "yes", "-o", self.dir / "new", code=2)
        self.refused("(give --whiten yes", "separate", mixtures, "--method", "amari", "--components", 2, "-o",
                     self.dir / "new")
        self.refused("diverged at frame", "separate", mixtures, "--method", "amari", "--eta", 10,
                     "-o", self.dir / "new")

    def test_divergence_is_reported(self):
        self.ok("generate", "--scenario", 3, "--frames", 50000, "-o", self.dir / "data")
        self.refused("diverged at frame", "separate", self.dir / "data" / "mixtures.npy", "--method", "sm-ica",
                     "--form",
                     "published", "--eta", 5e-3, "--tau", 0.75, "--lambda", "1,1.5,6.07", "-o", self.dir / "out")

    def test_the_seed_decides(self):
        for name, seed in (("a", 1), ("b", 1), ("c", 2)):
            self.ok("generate", "--frames", 100, "--seed", seed, "-o", self.dir / name)
        a, b, c = ((self.dir / n / "mixtures.npy").read_bytes() for n in "abc")
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)

    def test_csv_in_csv_out(self):
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.laplace(size=3000), rng.uniform(size=3000)]) @ [[1, 0.5], [0.3, 1]]
        path = self.dir / "x.csv"
        np.savetxt(path, X, delimiter=",", header="left,right", comments="")
        self.ok("separate", path, "-o", self.dir / "out")
        lines = (self.dir / "out" / "sources.csv").read_text().splitlines()
        self.assertEqual(lines[0], "source1,source2")
        self.assertEqual(len(lines), 3001)
        model = json.loads((self.dir / "out" / "model.json").read_text())
        self.assertEqual(model["names"], ["left", "right"])

    def test_dependent_channels_are_said(self):
        rng = np.random.default_rng(0)
        x = rng.laplace(size=(5000, 2))
        path = self.save("x.npy", np.column_stack([x, x[:, 0], np.ones(5000)]))
        result = self.ok("separate", path, "-o", self.dir / "out")
        self.assertIn("only 2 independent signals", result.stderr)
        self.assertEqual(np.load(self.dir / "out" / "sources.npy").shape, (5000, 2))

    def test_equal_kurtosis_is_said(self):
        self.ok("generate", "--sources", "laplace,laplace,square", "--frames", 20000, "-o", self.dir / "d")
        result = self.ok("separate", self.dir / "d" / "mixtures.npy", "--method", "fobi", "-o", self.dir / "out")
        self.assertIn("components 1 and 2 are too alike to tell apart with 20000 frames", result.stderr)

    def test_bad_input(self):
        out = self.dir / "out"
        good = self.save("good.npy", np.random.default_rng(0).normal(size=(100, 3)))

        def refused(part, path, *options):
            self.refused(part, "separate", path, "-o", out, *options)

        refused("cannot open", self.dir / "missing.npy")
        refused("empty", self.write("empty.npy", ""))
        refused("no numbers", self.write("empty.csv", ""))
        refused("line 3 has 1 values where 2", self.write("ragged.csv", "1,2\n3,4\n5\n"))
        refused("'x' is not a number", self.write("words.csv", "1,2\n3,x\n"))
        refused("1 frames of 3 channels", self.save("one.npy", np.ones((1, 3))), "--orientation", "frames")
        refused("more frames than channels", self.save("wide.npy", np.random.default_rng(1).normal(size=(4, 9))),
                "--orientation", "frames")
        refused("empty", self.save("nochannels.npy", np.ones((5, 0))))
        refused("dimensions", self.save("cube.npy", np.ones((5, 5, 5))))
        refused("every channel is constant", self.save("flat.npy", np.ones((50, 3))))
        bad = np.random.default_rng(0).normal(size=(100, 3))
        bad[41, 1] = np.nan
        refused("NaN in channel 2, frame 42", self.save("nan.npy", bad))
        bad[41, 1] = np.inf
        refused("Inf in channel 2, frame 42", self.save("inf.npy", bad))
        refused("NaN in channel 1, frame 2", self.write("nan.csv", "1,2\nnan,4\n5,7\n6,5\n"))
        refused("not supported", self.save("complex.npy", np.ones((9, 2), complex)))
        (self.dir / "cut.npy").write_bytes(good.read_bytes()[:-100])
        refused("cut off", self.dir / "cut.npy")
        refused("unknown kind of file", self.write("x.xyz", "1"))
        self.refused("must be alike", "score", "--truth", good, self.save("short.npy", np.ones((50, 3))))
        self.refused("has no option --passes", "separate", good, "--passes", 3, "-o", out, code=2)
        self.refused("--eta in its form natural", "separate", good, "--method", "sm-ica", "--eta", 0.1, "-o", out,
                     code=2)
        self.refused("lambda", "separate", good, "--method", "sm-ica", "--lambda", "1,2", "-o", out)
        # a folder that cannot be made, because a file has its name
        self.refused("cannot make this folder", "separate", good, "-o", good)

    def test_extreme_values(self):
        rng = np.random.default_rng(0)
        X = rng.laplace(size=(5000, 3)) ** [[1, 3, 1]] @ rng.standard_normal((3, 3))
        for factor, part in ((1e160, "too large"), (1e-200, "too small")):
            Z = X.copy()
            Z[:, 1] *= factor
            self.refused(f"channel 2 are {part}", "separate", self.save("x.npy", Z), "-o", self.dir / "out")
        # glitches, offsets and scales: a finite result that the program itself accepts, or a clear refusal
        for name, Z in (("scaled", X * [1e-100, 1, 1e100]), ("offset", X + 1e9), ("glitch", np.r_[X, [[1e12] * 3], X]),
                        ("tiny glitch", np.r_[X, [[1e6] * 3], X])):
            for method in ("fobi", "sm-ica", "sm-ica-offline"):
                out = self.dir / name / method
                result = run("separate", self.save("x.npy", Z), "--method", method, "-o", out)
                self.assertIn(result.returncode, (0, 1), (name, method, result.stderr))
                if result.returncode == 0:
                    self.assertTrue(np.isfinite(np.load(out / "sources.npy")).all(), (name, method))
                    self.assertNotIn("null", (out / "model.json").read_text())
                    self.assertNotIn("nan", result.stdout)
                else:
                    self.assertFalse(out.exists())

    def test_all_files_or_none(self):
        good = self.save("x.npy", np.random.default_rng(0).laplace(size=(1000, 2)))
        (self.dir / "out" / "model.json").mkdir(parents=True)
        self.refused("a folder has that name", "separate", good, "-o", self.dir / "out")
        # a header in an old encoding is kept as well as it can be
        (self.dir / "latin.csv").write_bytes(b"\xb5V,b\n" + b"1,2\n3,5\n9,1\n2,2\n" * 50)
        self.ok("separate", self.dir / "latin.csv", "-o", self.dir / "latin")
        self.assertEqual(json.loads((self.dir / "latin" / "model.json").read_text())["names"], ["\u00b5V", "b"])

    def test_score_is_of_one_matching(self):
        rng = np.random.default_rng(0)
        S = rng.laplace(size=(4000, 3))
        B = np.array([[.906, -.419, .056], [.266, .868, -.419], [-.965, -.259, .048]])
        truth, estimate = self.save("s.npy", S), self.save("y.npy", S @ B.T)
        score = json.loads(self.ok("score", "--truth", truth, estimate, "--json").stdout)
        Sz, Yz = ((v - v.mean(0)) / v.std(0) for v in (S, S @ B.T))
        for s in score["sources"]:
            y, t = Yz[:, s["output"] - 1], Sz[:, s["source"] - 1]
            target = (y @ t) / (t @ t) * t
            self.assertAlmostEqual(s["sdr"], 10 * np.log10((target @ target) / ((y - target) @ (y - target))), places=4)
        perfect = json.loads(self.ok("score", "--truth", truth, truth, "--json").stdout)
        self.assertGreater(perfect["sources"][0]["sdr"], 150)
        nothing = json.loads(self.ok("score", "--truth", truth, self.save("c.npy", np.full((4000, 3), .1)),
                                     "--json").stdout)
        self.assertLess(nothing["sources"][0]["sdr"], -150)
        self.assertAlmostEqual(nothing["mse"], 1, places=6)

    def test_words_that_are_no_numbers(self):
        good = self.save("x.npy", np.random.default_rng(0).laplace(size=(1000, 2)))
        for word in ("nan", "0", "-1", "inf", "x"):
            self.refused("--eta", "separate", good, "--method", "sm-ica", "--form", "published", "--eta", word, "-o",
                         self.dir / "out", code=2)
        self.refused("--sources", "generate", "--sources", "triangle", "-o", self.dir / "out", code=2)
        self.refused("too few to whiten", "generate", "--scenario", 1, "--frames", 2, "-o", self.dir / "out")

    def test_a_full_disk_is_noticed(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([DEMIX, "methods"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write to stdout", result.stderr)

    def test_an_existing_result_survives_a_failed_run(self):
        good = self.save("x.npy", np.random.default_rng(0).laplace(size=(1000, 2)))
        self.ok("separate", good, "-o", self.dir / "out")
        before = (self.dir / "out" / "sources.npy").read_bytes()
        np.save(good, np.full((1000, 2), np.nan))
        self.assertEqual(run("separate", good, "-o", self.dir / "out").returncode, 1)
        self.assertEqual(before, (self.dir / "out" / "sources.npy").read_bytes())


if __name__ == "__main__":
    unittest.main()
