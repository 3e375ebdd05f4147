#!/usr/bin/python3
"""`demix stream --state`: signals, kills, restarts, damaged states. DEMIX_FULL=1 kills it 200 times instead of 16."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

import numpy as np

from streams import StreamTest, mixtures, run, start, wav

FULL = "DEMIX_FULL" in os.environ


class StreamState(StreamTest):
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
               saved.replace(b'"f64"', b'"f32"'), saved[:-1], saved[:len(kind) + 3],
               b"demix stream file 1\n" + saved[20:],
               refitted(read=900), refitted(read=1100), refitted(written=0), refitted(written=31968),
               refitted(written=16),
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
            # whole frames
            self.assertEqual(len(got) % 32 if name == "x.f64" else got[-1:], 0 if name == "x.f64" else b"\n")
            out = run(*command, "--state", state)
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertTrue(got + out.stdout == expected, "the joined output differs")
        with start(self.path("x.f64"), "--channels", 4) as p:  # nowhere to keep it: said
            time.sleep(1)
            p.send_signal(signal.SIGTERM)
            self.assertEqual(p.wait(20), 0)
            self.assertIn(b"missing", p.stderr.read())

    def kill_and_resume(self, options, kills, name):
        """The joined output of many lives is that of one."""
        x, y, whole, state = (self.path(n) for n in ("x." + name, "y." + name, "whole." + name, "state"))
        options = ["--save-every", 20000, *options]
        self.assertEqual(run(x, *options, "-o", whole).returncode, 0)
        rng = random.Random(3)
        command = [x, *options, "-o", y, "--state", state]
        killed = 0
        for _ in range(100 * kills):
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
        for file in (y, whole, state):
            os.remove(file)
        return killed

    def test_killed_at_any_moment(self):
        """In four formats, converging and tracking."""
        frames = 1000000 if FULL else 150000
        kills = 25 if FULL else 2
        X = mixtures(frames)
        X.astype("<f8").tofile(self.path("x.f64"))
        X.astype("<f4").tofile(self.path("x.f32"))
        np.savetxt(self.path("x.csv"), X[:frames // 5], delimiter=",", fmt="%.6g")
        self.write_bytes("x.wav", wav(mixtures(frames // 10, channels=24)))
        killed = 0
        for name in ("f32", "f64", "csv", "wav"):
            raw = ["--channels", 4] if name.startswith("f") else []
            rate = [] if name == "wav" else ["--rate", 8000]
            for track in ([], ["--track", 2]):
                killed += self.kill_and_resume([*raw, *rate, *track], kills, name)
        print(f"\n[  FIGURE  ] stream, four formats, converging and tracking: killed {killed} times with SIGKILL, "
              f"joined output equal byte for byte (bar: 200 times with DEMIX_FULL=1): {'met' if FULL else 'fewer'}")


if __name__ == "__main__":
    unittest.main()
