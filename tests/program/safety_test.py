#!/usr/bin/python3
"""Nothing is lost: messages that cannot be printed do no harm, and nothing half-written stays."""
import json
import os
import signal
import subprocess
import time
import unittest

import numpy as np

from program import DEMIX, Program, run


def laplace(frames=2000, channels=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.laplace(size=(frames, channels)) @ rng.standard_normal((channels, channels))


class Files(Program):
    def save(self, name, X):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".npy":
            np.save(path, X)
        elif path.suffix == ".csv":
            np.savetxt(path, X, delimiter=",")
        elif path.suffix == ".pgm":
            path.write_bytes(b"P5 40 50 255\n" + np.clip(128 + 20 * X[:, 0], 0, 255).astype("u1").tobytes())
        else:
            X.astype("<f8").tofile(path)
        return path


class Descriptors(Files):
    def shell(self, command, **kwargs):
        return subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, **kwargs)

    def test_messages_that_cannot_be_printed(self):
        x = self.save("x.csv", np.column_stack([laplace(300), np.ones(300)]))  # warned of
        commands = [(f"{DEMIX} info {self.dir}/nosuch.csv", 1), (f"{DEMIX} nonsense", 2), (f"{DEMIX} info {x}", 0),
                    (f"{DEMIX} fit {x} -o {self.dir}/m.json", 0), (f"{DEMIX} separate {x} -o {self.dir}/out", 0),
                    (f"{DEMIX} apply {self.dir}/m.json {x} -o {self.dir}/y.wav", 1),
                    (f"{DEMIX} stream {x} -o {self.dir}/y.csv --status 1 --state {self.dir}/s "
                     f"--model {self.dir}/n.json", 0)]
        for command, code in commands:
            for where in ("2>/dev/full", "2>&-", "2>/dev/null"):
                for name in ("s", "n.json"):
                    (self.dir / name).unlink(missing_ok=True)
                self.assertEqual(self.shell(f"{command} {where}").returncode, code, (command, where))
                if "--state" in command:
                    self.assertGreater((self.dir / "s").stat().st_size, 100)
                    self.assertTrue((self.dir / "n.json").exists())

    def test_nobody_reads_the_messages(self):
        x = self.save("x.csv", np.column_stack([laplace(300), np.ones(300)]))
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run([DEMIX, "separate", x, "-o", self.dir / "out"], stdout=subprocess.DEVNULL,
                                stderr=writer, timeout=60)
        os.close(writer)
        self.assertEqual(result.returncode, 0)
        self.assertTrue((self.dir / "out" / "summary.json").exists())

    def test_nobody_reads_the_results(self):
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run([DEMIX, "methods"], stdout=writer, stderr=subprocess.PIPE, timeout=60)
        os.close(writer)
        self.assertEqual((result.returncode, result.stderr), (-signal.SIGPIPE, b""))

    def test_nothing_to_read_leaves_no_output(self):
        result = self.shell(f"exec {DEMIX} stream - --format f64 --channels 2 -o {self.dir}/y.f64 <&-")
        self.assertEqual(result.returncode, 1)
        self.assertIn("closed", result.stderr)
        self.assertFalse((self.dir / "y.f64").exists())

    def test_json_is_ascii(self):
        named = self.dir / "named.csv"
        named.write_bytes(b"\x7fdelete,\xe2\x80\xaeturned\n1,2\n3,5\n4,4\n9,1\n")
        told = self.ok("info", named, "--json").stdout
        self.assertTrue(told.isascii() and "\x7f" not in told, told)
        self.assertEqual(json.loads(told)["channel"][0]["name"], "\x7fdelete")

    def test_a_failed_run_leaves_no_folder(self):
        bad = self.dir / "bad.csv"
        bad.write_text("1,2\n3,4\n5,nan\n7,8\n")
        for out in (self.dir / "new", self.dir / "a" / "b" / "c"):
            self.refused("NaN", "generate", "--from", bad, "-o", out)
            self.refused("", "separate", bad, "-o", out)
            self.assertFalse(out.exists() or (self.dir / "a").exists())

    def test_closed_descriptors(self):
        x = self.save("x.f64", laplace(300))
        start = time.monotonic()
        result = self.shell(f"exec {DEMIX} stream - --format f64 --channels 2 <&-")
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard input: cannot read", result.stderr)
        self.assertLess(time.monotonic() - start, 20)
        result = self.shell(f"exec {DEMIX} methods >&-")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write to stdout", result.stderr)
        for closed in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"):
            (self.dir / "y.f64").unlink(missing_ok=True)
            result = self.shell(f"exec {DEMIX} stream {x} --channels 2 -o {self.dir}/y.f64 {closed}")
            self.assertEqual(result.returncode, 0, (closed, result.stderr))
            self.assertEqual((self.dir / "y.f64").stat().st_size, x.stat().st_size)
            # no file of ours is taken for a standard one: nothing is printed into it
            self.shell(f"exec {DEMIX} fit {x} --channels 2 -o {self.dir}/m.json {closed}")
            json.loads((self.dir / "m.json").read_text())


class NothingHalfWritten(Files):
    def parts(self):
        return [p.name for p in self.dir.rglob("*") if ".part" in p.name]

    def long_run(self):
        """`separate` that has begun to write: sources for which there is a long page to make."""
        x = self.dir / "x.f64"
        if not x.exists():
            self.save("x.f64", laplace(400000, 4))
        before = set(self.parts())
        p = subprocess.Popen([DEMIX, "separate", x, "--channels", "4", "-o", self.dir / "out"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while set(self.parts()) <= before and time.monotonic() < end and p.poll() is None:
            time.sleep(.002)
        self.assertFalse(set(self.parts()) <= before, "it was over too soon")
        return p

    def test_signals(self):
        for sig in (signal.SIGINT, signal.SIGTERM):
            p = self.long_run()
            p.send_signal(sig)
            self.assertEqual(p.wait(20), -sig)
            self.assertEqual(self.parts(), [])
            self.assertFalse((self.dir / "out").exists())

    def test_left_overs_are_removed(self):
        p = self.long_run()
        p.kill()
        p.wait(20)
        self.assertNotEqual(self.parts(), [])
        left = self.parts()
        alive = self.long_run()  # removes them; what it writes itself is not taken for one by others
        time.sleep(.05)
        os.kill(alive.pid, signal.SIGSTOP)
        own = self.parts()
        self.assertFalse(set(own) & set(left))
        other = self.save("other.f64", laplace(300, 4))
        self.ok("separate", other, "--channels", 4, "-o", self.dir / "out")
        self.assertEqual(sorted(own), sorted(self.parts()))
        os.kill(alive.pid, signal.SIGCONT)
        self.assertEqual(alive.wait(60), 0)
        self.assertEqual(self.parts(), [])

    def test_the_same_process_number_again(self):
        """In a container every run may be process 1: a left-over does not block the next."""
        x = self.save("x.f64", laplace(300000))
        container = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
        if subprocess.run([*container, "true"], capture_output=True).returncode != 0:
            container = []  # not allowed here: left-overs all the same
        command = [*container, DEMIX, "stream", str(x), "--channels", "2", "-o", str(self.dir / "y.f64"), "--state",
                   str(self.dir / "s"), "--save-every", "1"]
        for _ in range(100):
            p = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            while not self.parts() and p.poll() is None:
                pass
            p.kill()
            _, said = p.communicate(timeout=60)
            self.assertNotIn("demix:", said)
            time.sleep(.05)
            if self.parts():
                break
        self.assertNotEqual(self.parts(), [])
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.parts(), [])
        self.assertEqual((self.dir / "y.f64").stat().st_size, x.stat().st_size)

    def test_pictures(self):
        """A folder for gnuplot is no exception."""
        gnuplot = self.dir / "bin" / "gnuplot"
        gnuplot.parent.mkdir()
        gnuplot.write_text("#!/bin/sh\nexec sleep 30\n")
        gnuplot.chmod(0o755)
        p = subprocess.Popen([DEMIX, "demo", "--frames", "1000", "-o", self.dir / "out"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, env={**os.environ,
                                                             "PATH": f"{gnuplot.parent}:{os.environ['PATH']}"},
                             start_new_session=True)
        end = time.monotonic() + 60
        while not self.parts() and time.monotonic() < end:
            time.sleep(.01)
        os.killpg(p.pid, signal.SIGTERM)
        self.assertEqual(p.wait(20), -signal.SIGTERM)
        self.assertEqual(self.parts(), [])


class FramesThatAreNoNumbers(Files):
    """`apply` does the same with them from a file and from a pipe."""

    def setUp(self):
        super().setUp()
        X = laplace()
        self.model = self.dir / "m.json"
        self.ok("fit", self.save("x.csv", X), "-o", self.model)
        self.bad = [3, 1000, 1999]
        X[self.bad] = [[np.nan, 1], [np.inf, 0], [1, 1e80]]
        self.X, self.x = X, self.save("n.f64", X)

    def piped(self, *args):
        with open(self.x, "rb") as stdin:
            result = subprocess.run([DEMIX, "apply", self.model, "-", "--format", "f64", *map(str, args), "-o",
                                     self.dir / "p.f64"], stdin=stdin, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def test_sources_are_zero(self):
        told = "3 of 2000 frames hold NaN, Inf or values beyond 1e75: their sources are 0\n"
        result = self.ok("apply", self.model, self.x, "--channels", 2, "-o", self.dir / "y.f64")
        self.assertEqual(result.stderr, f"warning: {self.x}: {told}")
        self.assertEqual(self.piped(), f"warning: standard input: {told}")
        Y, P = (np.fromfile(self.dir / name).reshape(-1, 2) for name in ("y.f64", "p.f64"))
        np.testing.assert_allclose(Y, P, rtol=1e-9, atol=1e-12)
        self.assertEqual(np.flatnonzero((Y == 0).all(1)).tolist(), self.bad)
        for name in ("y.wav", "y.npy"):  # scaled by the frames that are numbers
            self.ok("apply", self.model, self.x, "--channels", 2, "--rate", 100, "-o", self.dir / name)
        self.assertTrue(np.isfinite(np.load(self.dir / "y.npy")).all())
        peak = np.abs(np.frombuffer((self.dir / "y.wav").read_bytes()[-2000 * 8:], "<f4")).max()
        self.assertAlmostEqual(peak, .9, places=5)

    def test_channels_stay(self):
        told = "3 of 2000 frames hold NaN, Inf or values beyond 1e75: they are written as they are\n"
        result = self.ok("apply", self.model, self.x, "--channels", 2, "--remove", 1, "-o", self.dir / "y.f64")
        self.assertEqual(result.stderr, f"warning: {self.x}: {told}")
        self.assertEqual(self.piped("--remove", 1), f"warning: standard input: {told}")
        Y, P = (np.fromfile(self.dir / name).reshape(-1, 2) for name in ("y.f64", "p.f64"))
        np.testing.assert_allclose(Y, P, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(Y[self.bad], self.X[self.bad])

    def test_nothing_but_such(self):
        told = "all 20 frames hold NaN, Inf or values beyond 1e75"
        nan = self.save("nan.f64", np.full((20, 2), np.nan))
        self.refused(told, "apply", self.model, nan, "--channels", 2, "-o", self.dir / "y.f64")
        with open(nan, "rb") as stdin:
            self.refused(told, "apply", self.model, "-", "--format", "f64", "-o", "/dev/null", stdin=stdin)

    def test_another_number_of_channels(self):
        with open(self.x, "rb") as stdin:
            self.refused(f"standard input: has 4 channels, the model {self.model} needs 2", "apply", self.model, "-",
                         "--format", "f64", "--channels", 4, "-o", self.dir / "y.f64", stdin=stdin, code=2)
        self.refused(f"{self.x}: has 4 channels, the model {self.model} needs 2", "stream", self.x, "--channels", 4,
                     "--start", self.model, "-o", self.dir / "y.f64", code=2)
        self.refused("--start: only with --learn one-pass", "stream", self.x, "--channels", 2, "--start", self.model,
                     "--learn", "replay", "-o", self.dir / "y.f64", code=2)
        self.refused(f"--components: the model {self.model} has 2, not 1", "stream", self.x, "--channels", 2, "--start",
                     self.model, "--components", 1, "-o", self.dir / "y.f64", code=2)


class StreamsWithoutAResult(Files):
    def test_one_channel(self):
        x = self.save("x.csv", laplace()[:, :1])
        for command in (("stream", x, "-o", self.dir / "y.csv"), ("fit", x, "-o", self.dir / "m.json")):
            self.refused(f"{x}: one channel: nothing to separate", *command)

    def test_nothing_separated(self):
        few, constant = self.save("few.csv", laplace(7)), self.save("constant.csv", np.ones((5000, 2)))
        for x, frames in ((few, 7), (constant, 5000)):
            for more in ((), ("--learn", "replay")):
                result = self.ok("stream", x, *more, "-o", self.dir / "y.csv")
                self.assertIn(f"warning: {x}: nothing was separated in {frames} frames", result.stderr)
        result = self.ok("stream", self.save("x.csv", laplace(5000)), "-o", self.dir / "y.csv")
        self.assertEqual(result.stderr, "")

    def test_an_output_without_a_frame_is_removed(self):
        bad = self.dir / "bad.csv"
        for text in ("a,b\n1,x\n", "a,b\n1,2,3\n"):
            bad.write_text(text)
            before = sorted(self.dir.iterdir())
            self.assertEqual(run("stream", bad, "-o", self.dir / "out.csv").returncode, 1)
            self.assertEqual(sorted(self.dir.iterdir()), before)
        os.symlink("target.csv", self.dir / "link.csv")
        self.assertEqual(run("stream", bad, "-o", self.dir / "link.csv").returncode, 1)
        self.assertFalse((self.dir / "target.csv").exists())
        bad.write_text("1,2\n3,4\n5,6\nx,y\n")  # what came before is kept
        self.assertEqual(run("stream", bad, "-o", self.dir / "out.csv").returncode, 1)
        self.assertEqual(len((self.dir / "out.csv").read_text().splitlines()), 3)


class Words(Files):
    def test_numbers_out_of_range(self):
        for command, option, most in (("fit", "--stability", 10000), ("compare", "--draws", 1000000)):
            for word in ("99999999999999999999", "-99999999999999999999", "x"):
                self.refused(f"{option}: expected a whole number from {int(option == '--draws')} to {most}, got {word}",
                             command, f"{option}={word}",
                             *([] if command == "compare" else ["x.csv", "-o", "m.json"]), code=2)
        for word in ("18446744073709551616", "-1", "99999999999999999999999", "1.5", "x"):
            self.refused("--seed: expected a whole number from 0 to 18446744073709551615", "generate", "--seed", word,
                         "-o", self.dir / "g", code=2)
        self.ok("generate", "--seed", 18446744073709551615, "--frames", 100, "-o", self.dir / "g")
        self.refused("--frames", "generate", "--frames", 9223372036854775808, "-o", self.dir / "h", code=2)
        self.refused("--remove", "apply", "m.json", "x.csv", "-o", "y.csv", "--remove", "1,9223372036854775809", code=2)

    def test_expected_numbers(self):
        for text in ("", "{", "[1]", '"x"', '{"quick": 3}', '{"full": {}}', '{"quick": {"a": 1}}',
                     '{"quick": {"a": {"value": []}}}',
                     '{"quick": {"fig1a.mse": {"value": 1}}}', '{"quick": {"a": [{"value": 1, "tolerance": "x"}]}}',
                     '{"quick": {"a": {"value": 1, "tolerance": 0, "data": 5}}}', "\xff"):
            (self.dir / "e.json").write_text(text)
            before = list(self.dir.iterdir())
            result = run("reproduce", "fig1a", "--quick", "--expect", self.dir / "e.json", "-o", self.dir / "out")
            self.assertEqual(result.returncode, 1, text)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn("e.json: not expected numbers", result.stderr)
            self.assertNotIn("exception", result.stderr)
            self.assertNotIn("json.", result.stderr.replace("e.json", ""))
            self.assertEqual(list(self.dir.iterdir()), before)  # before any work

    def test_what_a_stream_cannot_write(self):
        x = self.save("x.csv", laplace(300))
        for name in ("y.npy", "y.mat", "y.flac", "y.edf", "y.png"):
            self.refused("stream writes .f32, .f64, .s16, .s32, .wav, .csv or .tsv", "stream", x,
                         "-o", self.dir / name, code=2)
        self.ok("stream", x, "-o", self.dir / "y.npy", "--output-format", "csv")
        self.ok("stream", x, "-o", self.dir / "y.txt")
        self.assertIn("\t", (self.dir / "y.txt").read_text())
        self.ok("stream", x, "-o", self.dir / "y.out")
        self.assertEqual((self.dir / "y.npy").read_bytes(), (self.dir / "y.out").read_bytes())


if __name__ == "__main__":
    unittest.main()
