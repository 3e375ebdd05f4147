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

    def test_traces_the_network(self):
        self.write("x.f64", 5000)
        trace = self.path("t.npz")
        self.assertEqual(run(self.path("x.f64"), "--channels", 4, "-o", self.path("y.f64"), "--learn", "replay", "--trace",
                             trace).returncode, 0)
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
            np.testing.assert_allclose(np.frombuffer(out.stdout, dtype).reshape(-1, 4) / scale, expected, atol=1 / 2**15)
            sources = run("-", "--format", name, "--channels", 4, input=raw).stdout  # as f32 or f64: they do not fit
            self.assertEqual(len(sources), len(raw) * 2)

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
            f.write(saved[:-1] + bytes([saved[-1] ^ 1]))
        self.assertIn(b"damaged", run(*base).stderr)

    def test_all_of_the_state_is_checked(self):
        self.write("x.f64", 1000)
        base = (self.path("x.f64"), "--channels", 4, "-o", self.path("y.f64"), "--state", self.path("s"))
        self.assertEqual(run(*base).returncode, 0)
        with open(self.path("s"), "rb") as f:
            saved = f.read()
        with open(self.path("y.f64"), "rb") as f:
            output = f.read()
        kind, checksum, where, rest = saved.split(b"\n", 3)
        forged = json.loads(where)
        self.assertEqual((forged["read"], forged["written"]), (1000, 32000))

        def refitted(**changes):  # the checksum fits: only what it says can be wrong
            body = json.dumps({**forged, **changes}).encode() + b"\n" + rest
            value = 0xcbf29ce484222325
            for byte in body:
                value = (value ^ byte) * 0x100000001b3 % 2**64
            return b"\n".join([kind, b"%016x" % value, body])

        bad = [saved.replace(b'"read":1000', b'"read":1100'), saved.replace(b'"written":32000', b'"written":0'),
               saved.replace(b'"f64"', b'"f32"'), saved[:-1], saved[:len(kind) + 3], b"demix stream file 1\n" + saved[20:],
               refitted(read=900), refitted(read=1100), refitted(written=0), refitted(written=31968), refitted(written=16),
               refitted(written=64000), refitted(read=-1), refitted(read="x"), refitted(unwritten=8),
               refitted(unwritten=1 << 40), refitted(written=None), refitted(format=3), refitted(format="csv")]
        for state in bad:
            with open(self.path("s"), "wb") as f:
                f.write(state)
            out = run(*base)
            self.assertEqual(out.returncode, 1, (state[:200], out.stderr))
            self.assertEqual(out.stderr.count(b"\n"), 1, out.stderr)
            self.assertNotIn(b"exception", out.stderr)
            with open(self.path("y.f64"), "rb") as f:
                self.assertTrue(f.read() == output, "the output was changed")
            with open(self.path("s"), "rb") as f:
                self.assertEqual(f.read(), state)
        with open(self.path("s"), "wb") as f:
            f.write(b"demix stream file 1\n" + saved[20:])
        self.assertIn(b"another version", run(*base).stderr)
        with open(self.path("s"), "wb") as f:
            f.write(refitted())
        self.assertEqual(run(*base).returncode, 0)

    def test_lines_of_text_are_counted(self):
        X = mixtures(1000)
        np.savetxt(self.path("x.csv"), X, delimiter=",")
        base = (self.path("x.csv"), "-o", self.path("y.csv"), "--state", self.path("s"))
        self.assertEqual(run(*base).returncode, 0)
        with open(self.path("y.csv")) as f:
            text = f.read()
        with open(self.path("y.csv"), "w") as f:  # as long as before, but with a line less
            f.write(text.replace("\n", " ", 1))
        out = run(*base)
        self.assertEqual(out.returncode, 1, out.stderr)
        self.assertIn(b"does not belong to the state", out.stderr)

    def test_one_state_at_a_time(self):
        self.write("x.f64", 1000)
        options = ("--format", "f64", "--channels", 4, "--state", self.path("s"))
        os.symlink("s", self.path("link"))
        with start(*options) as p:
            p.stdin.write(mixtures(10).astype("<f8").tobytes())
            p.stdin.flush()
            self.assertEqual(len(os.read(p.stdout.fileno(), 1)), 1)
            for name in ("s", "link"):
                out = run(self.path("x.f64"), "--channels", 4, "-o", self.path("y.f64"), "--state", self.path(name))
                self.assertEqual(out.returncode, 1)
                self.assertIn(b"in use by process %d" % p.pid, out.stderr)
                self.assertFalse(os.path.exists(self.path("y.f64")))
            p.stdin.close()
            p.stdout.read()
            self.assertEqual(p.wait(20), 0, p.stderr.read())
        self.assertEqual(sorted(os.listdir(self.folder)), ["link", "s", "x.f64"])
        with start(*options) as p:  # killed: nobody holds it
            p.stdin.write(mixtures(10).astype("<f8").tobytes())
            p.stdin.flush()
            os.read(p.stdout.fileno(), 1)
            p.kill()
        self.assertEqual(run(*options, input=b"").returncode, 0)

    def test_sigterm_while_the_reader_stalls(self):
        """It stops, and what the reader had not taken comes first in the next life."""
        self.write("x.f64", 60000)
        np.savetxt(self.path("x.csv"), mixtures(20000), delimiter=",")
        for name in ("x.f64", "x.csv"):
            command = (self.path(name), *(("--channels", 4) if name == "x.f64" else ()))
            expected = run(*command).stdout
            state = self.path("state." + name)
            with start(*command, "--state", state) as p:
                time.sleep(1)  # the pipe is full by now
                self.assertIsNone(p.poll())
                p.send_signal(signal.SIGTERM)
                self.assertEqual(p.wait(20), 0)
                got = p.stdout.read()
            self.assertLess(len(got), len(expected))
            self.assertEqual(len(got) % 32 if name == "x.f64" else got[-1:], 0 if name == "x.f64" else b"\n")  # whole frames
            out = run(*command, "--state", state)
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertTrue(got + out.stdout == expected, "the joined output differs")
        with start(self.path("x.f64"), "--channels", 4) as p:  # nowhere to keep it: said
            time.sleep(1)
            p.send_signal(signal.SIGTERM)
            self.assertEqual(p.wait(20), 0)
            self.assertIn(b"missing", p.stderr.read())

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
        np.full((500, 2), np.nan, "<f4").tofile(self.path("nan.f32"))
        with open(self.path("nan.f32"), "rb") as f:
            data = f.read()
        with open(self.path("nan.wav"), "wb") as f:
            f.write(b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt "
                    + struct.pack("<IHHIIHH", 16, 3, 2, 8000, 64000, 8, 32) + b"data" + struct.pack("<I", len(data)) + data)
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
