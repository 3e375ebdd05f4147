#!/usr/bin/python3
"""`demix stream` as a program among others: pipes, formats, models, status."""
import json
import os
import select
import subprocess
import time
import unittest

import numpy as np

from streams import DEMIX, StreamTest, mixtures, run, start, wav


class Stream(StreamTest):
    def test_separates_and_writes_a_model(self):
        X = self.write("x.f64", 50000)
        out = run(self.path("x.f64"), "--channels", 4, "-o", self.path("y.f64"), "--model", self.path("m.json"))
        self.assertEqual(out.returncode, 0, out.stderr)
        Y = np.fromfile(self.path("y.f64")).reshape(-1, 4)
        self.assertEqual(Y.shape, X.shape)
        with open(self.path("m.json")) as f:
            model = json.load(f)
        final = (X - np.array(model["mean"])) @ np.array(model["unmixing"]).T
        for k in range(4):  # what came out late is what the model makes of it
            self.assertGreater(np.corrcoef(final[-5000:, k], Y[-5000:, k])[0, 1], .999)
        self.assertEqual(model["method"], "stream")
        self.assertEqual(model["samples"], 50000)

    def test_traces_the_network(self):
        self.write("x.f64", 5000)
        trace = self.path("t.npz")
        out = run(self.path("x.f64"), "--channels", 4, "-o", self.path("y.f64"), "--learn", "replay", "--trace", trace)
        self.assertEqual(out.returncode, 0, out.stderr)
        with np.load(trace) as t:
            self.assertEqual(t["M"].shape[1:], (4, 4))
            np.testing.assert_allclose(t["modulator"], (t["y"] ** 2).sum(1), rtol=1e-9)
        self.assertTrue(os.path.exists(self.path("t.png")))
        refused = run(self.path("x.f64"), "--channels", 4, "-o", self.path("z.f64"), "--trace", trace)
        self.assertEqual(refused.returncode, 2)

    def test_start_from_a_model(self):
        X = self.write("x.f64", 40000)
        self.assertEqual(run(self.path("x.f64"), "--channels", 4, "-o", self.path("y.f64"), "--model",
                             self.path("m.json")).returncode, 0)
        with open(self.path("m.json")) as f:
            model = json.load(f)
        expected = (X - np.array(model["mean"])) @ np.array(model["unmixing"]).T
        warm = ["--channels", 4, "--start", self.path("m.json")]
        frozen = np.frombuffer(run(self.path("x.f64"), *warm, "--freeze").stdout).reshape(-1, 4)
        np.testing.assert_allclose(frozen, expected, atol=1e-9)
        learning = np.frombuffer(run(self.path("x.f64"), *warm).stdout).reshape(-1, 4)
        np.testing.assert_allclose(learning[:10000], expected[:10000], atol=1e-9)  # from the first frame on
        for k in range(4):  # and in the same places later
            self.assertGreater(np.corrcoef(learning[-1000:, k], expected[-1000:, k])[0, 1], .999)
        # A model of another mixing is given up.
        other = mixtures(40000, seed=7)
        other.astype("<f8").tofile(self.path("other.f64"))
        run(self.path("other.f64"), "--channels", 4, "-o", self.path("z.f64"), "--model", self.path("o.json"))
        with open(self.path("o.json")) as f:
            right = json.load(f)
        late = ((other - np.array(right["mean"])) @ np.array(right["unmixing"]).T)[-5000:]
        Y = np.frombuffer(run(self.path("other.f64"), *warm).stdout).reshape(-1, 4)[-5000:]
        best = np.abs(np.corrcoef(Y.T, late.T)[:4, 4:]).max(axis=1)
        self.assertGreater(best.min(), .99)
        refused = run(self.path("x.f64"), "--channels", 2, "--start", self.path("m.json"))
        self.assertEqual(refused.returncode, 2)
        self.assertIn(b"4", refused.stderr)

    def test_apply_on_a_pipe_is_apply_on_the_file(self):
        self.write("x.f64", 5000)
        self.assertEqual(run(self.path("x.f64"), "--channels", 4, "-o", self.path("y.f64"), "--model",
                             self.path("m.json")).returncode, 0)
        for clean in ([], ["--remove", "1,3"], ["--keep", "2"]):
            file = subprocess.run([DEMIX, "apply", self.path("m.json"), self.path("x.f64"), "--channels", "4", "-o",
                                   self.path("file.f64"), *clean], capture_output=True)
            self.assertEqual(file.returncode, 0, file.stderr)
            with open(self.path("x.f64"), "rb") as pipe:
                piped = subprocess.run([DEMIX, "apply", self.path("m.json"), "-", "--format", "f64", "-o", "-", *clean],
                                       stdin=pipe, capture_output=True)
            self.assertEqual(piped.returncode, 0, piped.stderr)
            np.testing.assert_allclose(np.frombuffer(piped.stdout), np.fromfile(self.path("file.f64")), atol=1e-9)
        refused = subprocess.run([DEMIX, "apply", self.path("m.json"), "-", "-o", "-"], stdin=subprocess.DEVNULL,
                                 capture_output=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(b"--format", refused.stderr)

    def test_removes_outputs(self):
        X = self.write("x.f64", 40000)
        sources = np.frombuffer(run(self.path("x.f64"), "--channels", 4).stdout).reshape(-1, 4)
        clean = np.frombuffer(run(self.path("x.f64"), "--channels", 4, "--remove", "1,3").stdout).reshape(-1, 4)
        late = slice(20000, None)
        left = np.corrcoef(clean[late].T, sources[late].T)[:4, 4:]
        self.assertLess(np.abs(left[:, [0, 2]]).max(), .05)
        # What is left is what the other two and the mean make.
        A = np.column_stack([sources[late][:, [1, 3]], np.ones(20000)])
        rest = clean[late] - A @ np.linalg.lstsq(A, clean[late], rcond=None)[0]
        self.assertLess(np.std(rest), .05 * np.std(X))
        self.assertEqual(run(self.path("x.f64"), "--channels", 4, "--remove", "5").returncode, 2)

    def test_whole_numbers(self):
        X = mixtures(20000)
        X /= 2 * np.abs(X).max()
        expected = run("-", "--format", "f64", "--channels", 4, "--remove", 1,
                       input=(np.round(X * 2**15) / 2**15).astype("<f8").tobytes()).stdout
        expected = np.frombuffer(expected).reshape(-1, 4)
        for name, dtype, scale in (("s16", "<i2", 2**15), ("s32", "<i4", 2**31)):
            raw = (np.round(X * 2**15) * (scale // 2**15)).astype(dtype).tobytes()
            out = run("-", "--format", name, "--channels", 4, "--remove", 1, input=raw)
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertEqual(out.stderr, b"")
            got = np.frombuffer(out.stdout, dtype).reshape(-1, 4) / scale
            np.testing.assert_allclose(got, expected, atol=1 / 2**15)
            sources = run("-", "--format", name, "--channels", 4, input=raw).stdout  # f32 or f64, unless asked for
            self.assertEqual(len(sources), len(raw) * 2)

    def test_sources_as_sound(self):
        """Sources of unit variance have 1/16 of full scale as whole numbers and in WAV, also on a pipe."""
        X = self.write("x.f64", 30000)
        Y = np.frombuffer(run(self.path("x.f64"), "--channels", 4).stdout).reshape(-1, 4)
        base = (self.path("x.f64"), "--channels", 4, "--rate", 8000)
        for name, dtype, scale in (("s16", "<i2", 2**15), ("s32", "<i4", 2**31), ("wav", "<f4", 1)):
            out = run(*base, "--output-format", name)
            self.assertEqual((out.returncode, out.stderr), (0, b""))
            file = run(*base, "-o", self.path("y." + name))
            self.assertEqual((file.returncode, file.stderr), (0, b""))
            with open(self.path("y." + name), "rb") as f:
                in_file = f.read()
            header = 58 if name == "wav" else 0
            self.assertEqual(in_file[header:], out.stdout[header:])
            got = np.frombuffer(in_file[header:], dtype).reshape(-1, 4) / scale
            np.testing.assert_allclose(got, Y / 16, atol=1e-7 if name == "wav" else .51 / scale)
            self.assertTrue(.05 < got[-10000:].std() < .07)

    def test_loud_sources_as_whole_numbers_are_told(self):
        X = mixtures(30000)
        X[20000:20010] *= 1000
        out = run("-", "--format", "f64", "--channels", 4, "--output-format", "s16", input=X.astype("<f8").tobytes())
        self.assertEqual(out.returncode, 0)
        self.assertEqual(out.stderr.count(b"\n"), 1, out.stderr)
        self.assertIn(b"standard output: 40 values were beyond full scale", out.stderr)
        Y = np.frombuffer(out.stdout, "<i2").reshape(-1, 4)
        self.assertEqual(set(Y[20000:20010].ravel()), {-32768, 32767})

    def test_removing_keeps_units_and_scale(self):
        """What is written of an output's removal is exactly the input's kind of number, whatever it is."""
        X = mixtures(30000)
        X /= 2 * np.abs(X).max()
        S = np.round(X * 2**15).astype("<i2")
        # No output is what the first frames hold: they come out as they are.
        for name, raw in (("s16", S.tobytes()), ("s32", (S.astype("<i4") << 16).tobytes())):
            out = run("-", "--format", name, "--channels", 4, "--remove", 2, input=raw).stdout
            self.assertEqual(out[:1024 // 32 * 4 * (2 if name == "s16" else 4)],
                             raw[:1024 // 32 * 4 * (2 if name == "s16" else 4)])
        clean = np.frombuffer(run("-", "--format", "s16", "--channels", 4, "--remove", 2, input=S.tobytes()).stdout,
                              "<i2").reshape(-1, 4)
        self.write_bytes("x.wav", wav(S / 2**15))
        for to in ("wav", "s16"):
            out = run(self.path("x.wav"), "-o", self.path("y." + to), "--remove", 2)
            self.assertEqual((out.returncode, out.stderr), (0, b""))
            with open(self.path("y." + to), "rb") as f:
                data = f.read()
            got = np.frombuffer(data[58:], "<f4") * 2**15 if to == "wav" else np.frombuffer(data, "<i2")
            np.testing.assert_allclose(got.reshape(-1, 4), clean, atol=1.01)
        loud = run("-", "--format", "f64", "--channels", 4, "--remove", 2, "--output-format", "s16",
                   input=(100 * X).astype("<f8").tobytes())  # microvolts, say: no full scale
        self.assertEqual(loud.returncode, 0)
        self.assertIn(b"beyond full scale", loud.stderr)

    def test_status_as_json(self):
        self.write("x.f64", 30000)
        out = run(self.path("x.f64"), "--channels", 4, "-o", self.path("y.f64"), "--status", 100, "--json")
        lines = [json.loads(line) for line in out.stderr.decode().splitlines()]
        self.assertEqual(lines[-1]["frames"], 30000)
        self.assertEqual(lines[-1]["rank"], 4)
        self.assertTrue(0 < lines[-1]["expected_error"] < 1e-2)
        self.assertEqual(lines[-1]["may_be_mixed"], [])
        self.assertEqual(lines[-1]["last_change"], None)
        self.assertGreater(lines[-1]["frames_per_second"], 0)

    def test_what_is_not_known_is_null_or_left_out(self):
        x = mixtures(20)
        one = np.outer(np.random.default_rng(1).laplace(size=2000), [1, 2, 3, 4])
        cases = [(x, 0), (np.zeros((500, 4)), 0), (np.full((500, 4), np.nan), 0), (one, 1)]
        for X, rank in cases:
            for more in (["--json"], []):
                out = run("-", "--format", "f64", "--channels", 4, "--status", 100, *more,
                          input=X.astype("<f8").tobytes())
                lines = [w for w in out.stderr.decode().splitlines() if " frames," in w or w.startswith("{")]
                self.assertEqual(len(lines), 1, out.stderr)
                if not more:
                    self.assertNotIn("expected error", lines[0])
                    self.assertEqual("condition" in lines[0], rank > 0)
                    self.assertNotIn("nan", lines[0])
                    continue
                told = json.loads(lines[0])
                self.assertEqual(told["rank"], rank)
                self.assertIsNone(told["expected_error"])
                self.assertEqual(told["condition"], None if rank == 0 else 1)
                self.assertEqual(told["may_be_mixed"], [])
                self.assertEqual(len(told["kurtosis"]), rank)

    def test_formats_agree(self):
        X = self.write("x.f32", 20000, "<f4").astype("<f4")
        np.savetxt(self.path("x.csv"), X.astype(float), delimiter=",", fmt="%.9g")
        raw = run(self.path("x.f32"), "--channels", 4, "--rate", 1000).stdout
        Y = np.frombuffer(raw, "<f4").reshape(-1, 4)
        text = run(self.path("x.csv")).stdout.decode()
        Z = np.array([[float(v) for v in line.split(",")] for line in text.splitlines()])
        np.testing.assert_allclose(Z, Y, atol=2e-3)
        sound = run(self.path("x.f32"), "--channels", 4, "--rate", 1000, "--output-format", "wav").stdout
        self.assertEqual(sound[:4], b"RIFF")
        np.testing.assert_array_equal(np.frombuffer(sound[-len(raw):], "<f4").reshape(-1, 4), Y / 16)

    def test_a_frame_comes_out_before_the_next_goes_in(self):
        X = mixtures(600)
        with start("--format", "f64", "--channels", 4) as p:
            for x in X:
                p.stdin.write(x.astype("<f8").tobytes())
                p.stdin.flush()
                ready, _, _ = select.select([p.stdout], [], [], 20)
                self.assertTrue(ready, "no output for a frame while the next had not come")
                self.assertEqual(len(os.read(p.stdout.fileno(), 32)), 32)
            p.stdin.close()
            self.assertEqual(p.wait(20), 0)
            p.stderr.close()

    def test_a_slow_reader_loses_nothing(self):
        self.write("x.f64", 60000)
        expected = run(self.path("x.f64"), "--channels", 4).stdout
        with start(self.path("x.f64"), "--channels", 4) as p:
            got = b""
            while True:
                part = os.read(p.stdout.fileno(), 1 << 17)
                if not part:
                    break
                got += part
                time.sleep(.01)
            self.assertEqual(p.wait(20), 0)
        self.assertEqual(got, expected)

    def test_a_closed_pipe_ends_it_cleanly(self):
        self.write("x.f64", 200000)
        with start(self.path("x.f64"), "--channels", 4, "--model", self.path("m.json")) as p:
            os.read(p.stdout.fileno(), 1000)
            p.stdout.close()
            words = p.stderr.read()
            self.assertEqual(p.wait(20), 0, words)
        self.assertTrue(os.path.exists(self.path("m.json")))

    def test_misuse_is_one_line(self):
        self.write("x.f64", 1000)
        good = self.path("x.f64")
        with open(self.path("not.state"), "w") as f:
            f.write("something else\n")
        cases = [
            ((good,), "channels"),
            ((good, "--channels", 3), "ends with 8 bytes"),
            ((self.path("none.wav"),), "cannot open"),
            (("--channels", 4), "--format"),
            ((good, "--channels", 4, "--track", 1), "--rate"),
            ((good, "--channels", 4, "--track", 1, "--rate", 10), "--track"),
            ((good, "--channels", 4, "--learn", "frame", "--robust"), "one-pass"),
            ((good, "--channels", 4, "--model", self.path("no/m.json")), "cannot write"),
            ((good, "--channels", 4, "--state", self.path("no/state")), "cannot write"),
            ((good, "--channels", 4, "-o", good), "which is read"),
            ((good, "--channels", 4, "--state", self.path("not.state")), "not a state"),
            ((good, "--channels", 4, "--components", 5), "components"),
            ((good, "--channels", 4, "-o", self.path("no/folder.f64")), "No such file"),
        ]
        for args, words in cases:
            args = args if "-o" in args else (*args, "-o", self.path("out.f64"))
            out = run(*args, stdin=subprocess.DEVNULL)
            misused = not any(w in words for w in ("cannot", "ends with", "No such", "not a state"))
            self.assertEqual(out.returncode, 2 if misused else 1, (args, out.stderr))
            self.assertEqual(out.stderr.count(b"\n"), 1, out.stderr)
            self.assertIn(words.encode(), out.stderr)
        self.assertTrue(os.path.getsize(good) == 32000)

    def test_what_came_before_a_bad_line_is_kept(self):
        X = mixtures(3000)
        with open(self.path("x.csv"), "w") as f:
            f.writelines(",".join(map(str, x)) + "\n" for x in X)
            f.write("1,2,oops,4\n")
        out = run(self.path("x.csv"), "-o", self.path("y.csv"), "--state", self.path("s"), "--model", self.path("m"))
        self.assertEqual(out.returncode, 1)
        self.assertIn(b"line 3001", out.stderr)
        with open(self.path("y.csv")) as f:
            self.assertEqual(len(f.readlines()), 3000)
        self.assertTrue(os.path.exists(self.path("s")) and os.path.exists(self.path("m")))

    def test_refused_frames_are_told(self):
        X = mixtures(5000)
        X[::5] = np.nan
        X.astype("<f8").tofile(self.path("x.f64"))
        out = run(self.path("x.f64"), "--channels", 4, "-o", self.path("y.f64"))
        self.assertEqual(out.returncode, 0)
        self.assertEqual(out.stderr.count(b"1000 of 5000 frames were refused"), 1)
        out = run(self.path("x.f64"), "--channels", 4, "-o", self.path("y.f64"), "--model", self.path("m.json"))
        self.assertEqual(out.stderr.count(b"1000 of 5000 frames were refused"), 1)
        with open(self.path("m.json")) as f:
            warnings = json.load(f)["warnings"]
        self.assertIn("refused_frames", [w["kind"] for w in warnings])
        self.assertTrue(any("1000 of 5000" in w["text"] for w in warnings))
        self.write_bytes("nan.wav", wav(np.full((500, 2), np.nan)))
        for more in ((), ("--model", self.path("n.json"))):
            out = run(self.path("nan.wav"), "-o", self.path("y.wav"), "--state", self.path("s"), *more)
            self.assertEqual(out.returncode, 1)
            self.assertEqual(out.stderr.count(b"\n"), 1, out.stderr)
            self.assertIn(b"nan.wav: all 500 frames were refused", out.stderr)
            self.assertEqual(os.path.getsize(self.path("y.wav")), 58 + 4000)
            self.assertFalse(os.path.exists(self.path("n.json")))
            os.remove(self.path("s"))


if __name__ == "__main__":
    unittest.main()
