#!/usr/bin/python3
"""The page beside a stream: what it answers, what it refuses, and that the stream does not mind."""
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest
import urllib.request
from pathlib import Path

import numpy as np

from program import DEMIX, Program, needs
from watched import BUILT_IN, RATE, Watched, sources


@needs(BUILT_IN, "demix was built without cpp-httplib")
class Page(Program):
    def setUp(self):
        super().setUp()
        self.file = self.dir / "x.f64"
        rng = np.random.default_rng(5)
        self.X = sources(RATE * 60) @ rng.standard_normal((4, 4))
        self.X.astype("<f8").tofile(self.file)

    def watched(self, *args, **kwargs):
        if "-o" not in args:
            args = (*args, "-o", "/dev/null", "--output-format", "f64")
        return Watched(self.file, "--channels", 4, "--rate", RATE, "--realtime", *args, **kwargs)

    def test_the_output_is_the_same(self):
        for more in ([], ["--remove", "1,3"], ["--learn", "replay"]):
            plain, page = self.dir / "plain.f64", self.dir / "page.f64"
            command = [self.file, "--channels", 4, "--rate", RATE, *more]
            self.ok("stream", *command, "-o", plain)
            with Watched(*command, "-o", page) as w:
                w.process.wait(60)
            self.assertEqual(plain.read_bytes(), page.read_bytes())

    def test_on_a_terminal_the_output_may_be_left_out(self):
        main, terminal = os.openpty()
        process = subprocess.Popen([DEMIX, "stream", self.file, "--channels", "4", "--rate", str(RATE), "--page", "0"],
                                   stdout=terminal, stderr=subprocess.PIPE, text=True)
        os.close(terminal)
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("what comes out is not kept; -o FILE writes it", said)
        os.set_blocking(main, False)
        with self.assertRaises(OSError):  # nothing was written, and nobody has it open
            os.read(main, 1)
        os.close(main)

    def test_frames_are_those_of_the_file(self):
        with self.watched() as w:
            w.wait_for(lambda s: s["frames"] > 3000)
            code, answer = w.ask("frames", step=1, count=1000, **{"from": 1000})
            self.assertEqual((code, answer[:8]), (200, b"demixfr1"))
            first, step, end, frames, rows, each, row = struct.unpack("<qqqIIII", answer[8:48])
            self.assertEqual((first, step, frames, rows, each, row), (1000, 1, 1000, 8, 1, 0))
            self.assertGreaterEqual(end, 3000)
            np.testing.assert_allclose(np.frombuffer(answer[48:], "<f4").reshape(1000, 8)[:, :4], self.X[1000:2000],
                                       rtol=1e-6)
            answer = w.ask("frames", step=100, count=10, first=1, rows=2, **{"from": 1000})[1]
            pairs = np.frombuffer(answer[48:], "<f4").reshape(10, 2, 2)
            blocks = self.X[1000:2000, 1:3].reshape(10, 100, 2)
            np.testing.assert_allclose(pairs[..., 0].min(0), blocks.min((0, 1)), rtol=1e-6)
            np.testing.assert_allclose(pairs[..., 1].max(0), blocks.max((0, 1)), rtol=1e-6)

    def test_realtime_takes_its_time(self):
        short = self.dir / "short.f64"
        self.X[:2 * RATE].astype("<f8").tofile(short)
        start = time.monotonic()
        self.ok("stream", short, "--channels", 4, "--rate", RATE, "--realtime", "-o", self.dir / "y.f64")
        self.assertAlmostEqual(time.monotonic() - start, 2, delta=.6)
        self.refused("--rate", "stream", short, "--channels", 4, "--realtime", "-o", self.dir / "z.f64", code=2)

    def test_an_edf_file(self):
        with self.subTest("a file that cannot be streamed"):
            out = self.ok("stream", "/dev/null", "--format", "f32", "--channels", 2, "-o", self.dir / "n.f32")
            self.assertEqual(out.stdout, "")
        np.savez(self.dir / "x.npz", self.X[:5000])
        self.ok("stream", self.dir / "x.npz", "-o", self.dir / "npz.f64")
        self.X[:5000].astype("<f8").tofile(self.dir / "raw.f64")
        self.ok("stream", self.dir / "raw.f64", "--channels", 4, "-o", self.dir / "y.f64")
        self.assertEqual((self.dir / "npz.f64").read_bytes(), (self.dir / "y.f64").read_bytes())

    def test_mute_follows_within_a_tenth_of_a_second(self):
        with self.watched("-o", "-", stdout=subprocess.PIPE) as w:
            came = []  # (when, how many frames so far), and the frames
            data = bytearray()

            def read():
                while part := os.read(w.process.stdout.fileno(), 1 << 16):
                    data.extend(part)
                    came.append((time.monotonic(), len(data) // 32))

            reader = threading.Thread(target=read)
            reader.start()
            w.wait_for(lambda s: s["settled"])
            asked = time.monotonic()
            self.assertEqual(w.ask("mute", "POST", output=2)[0], 200)
            time.sleep(.5)
            w.ask("mute", "POST", output=2, on=0)
            time.sleep(.3)
            w.stop()
            reader.join()
            Y = np.frombuffer(bytes(data[:len(data) // 32 * 32])).reshape(-1, 4)
            silent = np.flatnonzero((Y[:, 1] == 0) & (Y[:, 0] != 0))
            self.assertGreater(len(silent), .3 * RATE)
            arrived = next(when for when, frames in came if frames > silent[0])
            print(f"FIGURE muted after {1e3 * (arrived - asked):.0f} ms")
            self.assertLess(arrived - asked, .1)
            self.assertNotEqual(Y[-1, 1], 0)
        said = "".join(w.said)
        self.assertIn("mute source 2", said)
        self.assertIn("unmute source 2", said)

    def test_mute_takes_a_source_out_of_the_channels(self):
        y = self.dir / "y.f64"
        with self.watched("--remove", "0", "-o", y) as w:
            w.wait_for(lambda s: s["settled"])
            w.ask("mute", "POST", output=1)
            time.sleep(.7)
            mixing = np.array(json.loads(w.ask("model.json")[1])["mixing"])
            w.stop()
        Y = np.fromfile(y).reshape(-1, 4)
        X = self.X[:len(Y)]
        self.assertTrue((Y[:100] == X[:100]).all())
        taken = (X - Y)[-500:]
        self.assertGreater(np.linalg.norm(taken), 0)
        along = np.abs(taken @ mixing[:, 0]) / np.linalg.norm(taken, axis=1) / np.linalg.norm(mixing[:, 0])
        self.assertGreater(np.median(along), .999)
        self.refused("outputs 1 to 4", "stream", self.file, "--channels", 4, "--remove", 0, "-o", self.dir / "z.f64",
                     code=2)

    def test_freeze_save_rename_mark(self):
        model = self.dir / "m.json"
        with self.watched("--model", model, "--status", 100, "--json") as w:
            pass
        with self.watched("--model", model) as w:
            w.wait_for(lambda s: s["rank"] == 4 and s["frames"] > 2000)
            w.ask("freeze", "POST")
            w.wait_for(lambda s: s["frozen"])
            time.sleep(.5)
            first = json.loads(w.ask("model.json")[1])["unmixing"]
            time.sleep(1)
            self.assertEqual(json.loads(w.ask("model.json")[1])["unmixing"], first)
            w.ask("freeze", "POST", on=0)
            time.sleep(1)
            self.assertNotEqual(json.loads(w.ask("model.json")[1])["unmixing"], first)
            self.assertEqual(w.ask("rename", "POST", output=3, name="blink")[0], 200)
            self.assertEqual(w.ask("mark", "POST", text="now")[0], 200)
            self.assertFalse(model.exists())
            self.assertEqual(w.ask("save", "POST")[0], 200)
            self.assertEqual(json.loads(model.read_text())["options"]["name of component 3"], "blink")
            with w.socket(w.get_line("events")) as events:
                w.ask("mark", "POST", text="then")
                heard = b""
                while b"event: action" not in heard:  # a status may tell of the mark before; else this times out
                    heard += events.recv(65536)
            self.assertLess(w.stop(), 1)
        for word in ("learning frozen", "learning resumed", "source 3 is called blink", "mark now", "model saved"):
            self.assertIn(word, "".join(w.said))
        self.assertEqual(json.loads(model.read_text())["options"]["name of component 3"], "blink")  # that of the end

    def test_the_example(self):
        with self.watched() as w:
            example = Path(__file__).resolve().parents[2] / "examples" / "05_watch.py"
            out = subprocess.run([sys.executable, example, w.url, "2"], capture_output=True, text=True, timeout=60,
                                 check=True)
            self.assertEqual(len(out.stdout.splitlines()), 2)
            self.assertIn("source 4", out.stdout)

    def test_a_port_in_use_and_other_refusals(self):
        with self.watched() as w:
            self.refused("is in use", "stream", self.file, "--channels", 4, "--page", f"127.0.0.1:{w.port}", "-o",
                         self.dir / "z.f64")
        self.refused("expected ADDRESS:PORT", "stream", "--page", self.file, "--channels", 4, code=2)
        self.refused("not an address in numbers", "stream", self.file, "--channels", 4, "--page", "nowhere:1", "-o",
                     self.dir / "z.f64")
        self.refused("--live", "demo", "--page", "1", code=2)

    def test_other_machines_are_warned_of(self):
        with Watched(self.file, "--channels", 4, "--rate", RATE, "--realtime", "-o", "/dev/null",
                     "--output-format", "f64", page="0.0.0.0:0") as w:
            time.sleep(.2)
            self.assertLess(w.stop(), 1)
            self.assertEqual(w.url.split("?")[0], f"http://0.0.0.0:{w.port}/")
        self.assertIn("can be reached from other machines", "".join(w.said))

    def test_what_is_not_answered(self):
        with self.watched() as w:
            for change in ({"key": ""}, {"key": "0" * 32}, {"key": w.key[:-1]}, {"headers": {"Host": "evil.example"}},
                           {"headers": {"Host": f"evil.example:{w.port}"}},
                           {"headers": {"Origin": "http://evil.example"}},
                           {"headers": {"Sec-Fetch-Site": "cross-site"}}):
                for path, method in (("status", "GET"), ("", "GET"), ("mute", "POST")):
                    code, body = w.ask(path, method, **change, output=1)
                    self.assertEqual(code, 403, (change, path))
                    self.assertNotIn(w.key.encode(), body)
            self.assertEqual(w.ask("mute", "GET", output=1)[0], 404)
            self.assertEqual(w.ask("etc/passwd")[0], 404)
            self.assertEqual(w.status()["muted"], [])
            self.assertLess(w.stop(), 1)

    def test_abuse(self):
        y = self.dir / "y.f64"
        with self.watched("-o", y) as w:
            w.wait_for(lambda s: s["rank"] == 4)
            before = w.memory()
            held = [w.socket() for _ in range(200)]  # say nothing
            start = time.monotonic()
            self.assertEqual(w.status()["rank"], 4)
            self.assertLess(time.monotonic() - start, 1)
            held += [w.socket(b"GET /status") for _ in range(50)]  # stop in the middle
            big = w.get_line("frames?step=1&count=4096")
            held += [w.socket(w.get_line("events")) for _ in range(8)]  # never read
            held += [w.socket(big * 8) for _ in range(8)]
            start = time.monotonic()
            self.assertEqual(w.status()["rank"], 4)
            self.assertLess(time.monotonic() - start, 2)
            rng = random.Random(1)
            good = w.get_line("status").replace(w.key.encode(), b"0" * 32)
            for n in range(10000):
                bad = bytearray(good)
                for _ in range(rng.randrange(1, 6)):
                    at = rng.randrange(len(bad))
                    bad[at:at + rng.randrange(3)] = bytes(rng.randrange(256) for _ in range(rng.randrange(4)))
                try:
                    with w.socket(bytes(bad)) as s:
                        if n % 50 == 0:
                            s.shutdown(socket.SHUT_WR)
                            self.assertNotIn(b" 200 ", s.recv(100))
                except OSError:
                    pass  # thrown out
            self.assertEqual(w.status()["rank"], 4)
            after = w.memory()
            print(f"FIGURE memory {before:.0f} MB before, {after:.0f} MB after")
            if "DEMIX_SANITIZED" not in os.environ:  # which keep what was freed
                self.assertLess(after - before, 60)
            self.assertLess(w.stop(), 1)
            for s in held:
                s.close()
        frames = y.stat().st_size // 32
        plain = self.dir / "plain.f64"
        self.X[:frames].tofile(self.dir / "short.f64")
        self.ok("stream", self.dir / "short.f64", "--channels", 4, "-o", plain)
        self.assertEqual(y.read_bytes(), plain.read_bytes())

    def test_demo(self):
        p = subprocess.Popen([DEMIX, "demo", "--live", "--page", "0"], stderr=subprocess.PIPE, text=True)
        with p:
            p.stderr.readline()
            page, key = p.stderr.readline().split()[-1].split("?key=")
            end = time.monotonic() + 30
            while time.monotonic() < end:
                status = json.loads(urllib.request.urlopen(f"{page}status?key={key}", timeout=5).read())
                if status["rank"] == 4:
                    break
                time.sleep(.1)
            self.assertEqual((status["rank"], status["rate"]), (4, 8000))
            p.send_signal(signal.SIGINT)
            start = time.monotonic()
            p.wait(20)
            self.assertLess(time.monotonic() - start, 1)


if __name__ == "__main__":
    unittest.main()
