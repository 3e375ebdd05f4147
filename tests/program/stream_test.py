#!/usr/bin/python3
"""`demix stream` as a program among others: pipes, signals, restarts. DEMIX_FULL=1 kills it 50 times instead of 8."""
import json
import os
import random
import select
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import numpy as np

DEMIX = os.environ["DEMIX"]
FULL = "DEMIX_FULL" in os.environ


def mixtures(frames, channels=4, seed=1):
    rng = np.random.default_rng(seed)
    sources = [np.sign(rng.standard_normal(frames)), np.sin(2 * np.pi * rng.random(frames)), rng.random(frames) - .5,
               rng.laplace(size=frames)]
    S = np.array([sources[k % 4] for k in range(channels)]).T
    return S @ rng.standard_normal((channels, channels)) + 3


def run(*args, **kwargs):
    return subprocess.run([DEMIX, "stream", *map(str, args)], capture_output=True, timeout=300, **kwargs)


def start(*args, **kwargs):
    return subprocess.Popen([DEMIX, "stream", *map(str, args)], stdin=kwargs.pop("stdin", subprocess.PIPE),
                            stdout=kwargs.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, **kwargs)


class Stream(unittest.TestCase):
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

    def test_formats_agree(self):
        X = self.write("x.f32", 20000, "<f4").astype("<f4")
        np.savetxt(self.path("x.csv"), X.astype(float), delimiter=",", fmt="%.9g")
        raw = run(self.path("x.f32"), "--channels", 4, "--rate", 1000).stdout
        Y = np.frombuffer(raw, "<f4").reshape(-1, 4)
        text = run(self.path("x.csv")).stdout.decode()
        Z = np.array([[float(v) for v in line.split(",")] for line in text.splitlines()])
        np.testing.assert_allclose(Z, Y, atol=2e-3)
        wav = run(self.path("x.f32"), "--channels", 4, "--rate", 1000, "--output-format", "wav").stdout
        self.assertEqual(wav[:4], b"RIFF")
        self.assertEqual(wav[-len(raw):], raw)

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

    def test_sigterm_saves_and_the_rest_follows(self):
        X = self.write("x.f64", 30000)
        expected = run(self.path("x.f64"), "--channels", 4).stdout
        got = b""
        at = 0
        for end in (7001, 18013, 30000):
            with start("--format", "f64", "--channels", 4, "--state", self.path("s")) as p:
                while at < end:  # less at a time than the pipes hold
                    part = X[at:min(at + 1000, end)]
                    p.stdin.write(part.astype("<f8").tobytes())
                    p.stdin.flush()
                    at += len(part)
                    while len(got) < at * 32:
                        got += os.read(p.stdout.fileno(), 1 << 16)
                p.send_signal(signal.SIGTERM)
                self.assertEqual(p.wait(20), 0)
                p.stdin.close()
        self.assertEqual(got, expected)

    def kill_and_resume(self, options, kills, name):
        """The joined output of many lives is that of one."""
        x, y, whole, state = (self.path(n) for n in ("x." + name, "y." + name, "whole." + name, "state"))
        self.assertEqual(run(x, *options, "-o", whole).returncode, 0)
        rng = random.Random(3)
        command = [x, *options, "-o", y, "--state", state, "--save-every", 20000]
        killed = 0
        for life in range(100 * kills):
            p = start(*command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            if killed < kills:
                time.sleep(rng.uniform(0, .06))
            else:
                p.wait(300)
            p.kill()
            words = p.stderr.read()
            p.stderr.close()
            code = p.wait(20)
            killed += code == -signal.SIGKILL
            self.assertIn(code, (0, -signal.SIGKILL), words)
            if code == 0 and killed < kills:  # done too early: once more from the start
                os.remove(state)
                os.remove(y)
            elif code == 0:
                break
        self.assertGreaterEqual(killed, kills)
        with open(y, "rb") as a, open(whole, "rb") as b:
            self.assertTrue(a.read() == b.read(), "the joined output differs")
        print(f"\n[  FIGURE  ] {name}: killed {killed} times with SIGKILL, joined output equal byte for byte")

    def test_killed_at_any_moment(self):
        self.write("x.f64", 4000000 if FULL else 600000)
        self.kill_and_resume(["--channels", 4], 50 if FULL else 8, "f64")

    def test_killed_with_many_channels_into_wav(self):
        self.write("x.f32", 60000, "<f4", channels=24)
        os.rename(self.path("x.f32"), self.path("x.wav"))
        with open(self.path("x.wav"), "r+b") as f:  # as WAV: the header in front
            data = f.read()
            f.seek(0)
            f.write(b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt "
                    + struct.pack("<IHHIIHH", 16, 3, 24, 8000, 8000 * 96, 96, 32) + b"data" + struct.pack("<I", len(data)))
            f.write(data)
        self.kill_and_resume(["--track", "2"], 10 if FULL else 3, "wav")

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
            ((good, "--channels", 4, "--learn", "frame", "--robust"), "moments"),
            ((good, "--channels", 4, "--model", self.path("no/m.json")), "cannot write"),
            ((good, "--channels", 4, "--state", self.path("no/state")), "cannot write"),
            ((good, "--channels", 4, "-o", good), "named twice"),
            ((good, "--channels", 4, "--state", self.path("not.state")), "not a state"),
            ((good, "--channels", 4, "--components", 5), "components"),
            ((good, "--channels", 4, "-o", self.path("no/folder.f64")), "No such file"),
        ]
        for args, words in cases:
            args = args if "-o" in args else (*args, "-o", self.path("out.f64"))
            out = run(*args, stdin=subprocess.DEVNULL)
            misused = not any(w in words for w in ("cannot", "ends with", "No such", "twice", "not a state"))
            self.assertEqual(out.returncode, 2 if misused else 1, (args, out.stderr))
            self.assertEqual(out.stderr.count(b"\n"), 1, out.stderr)
            self.assertIn(words.encode(), out.stderr)
        self.assertTrue(os.path.getsize(good) == 32000)

    def test_the_input_is_never_overwritten(self):
        self.write("x.f64", 1000)
        os.link(self.path("x.f64"), self.path("link.f64"))
        with open(self.path("x.f64")) as f:
            out = run("--format", "f64", "--channels", 4, "-o", self.path("x.f64"), stdin=f)
        self.assertEqual(out.returncode, 1, out.stderr)
        self.assertEqual(run(self.path("x.f64"), "--channels", 4, "-o", self.path("link.f64")).returncode, 1)
        self.assertEqual(os.path.getsize(self.path("x.f64")), 32000)

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

    def test_a_state_of_other_options_is_refused(self):
        self.write("x.f64", 1000)
        base = (self.path("x.f64"), "--channels", 4, "-o", self.path("y.f64"), "--state", self.path("s"))
        self.assertEqual(run(*base).returncode, 0)
        with open(self.path("s"), "rb") as f:
            saved = f.read()
        out = run(*base, "--robust")
        self.assertEqual(out.returncode, 1)
        self.assertIn(b"other options", out.stderr)
        with open(self.path("s"), "rb") as f:
            self.assertEqual(f.read(), saved)
        with open(self.path("s"), "wb") as f:
            f.write(saved[:-1] + b"?")
        self.assertIn(b"damaged", run(*base).stderr)


if __name__ == "__main__":
    unittest.main()
