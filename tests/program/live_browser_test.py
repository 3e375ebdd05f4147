#!/usr/bin/python3
"""The page beside a stream, as a browser shows it."""
import json
import os
import signal
import subprocess
import time
import unittest

import numpy as np

import browser
from program import Program, needs
from watched import BUILT_IN, RATE, Watched, sources

BAD_NAME = "<img src=x onerror=document.title='bad'>"
DRAWN = "return window.demix && demix.drawn !== undefined ? demix.drawn : -1"
PIXELS = "return document.getElementById('traces').toDataURL()"


def family(pid):
    """A process and all that it has started."""
    found = [pid]
    for child in subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True,
                                text=True).stdout.split():
        found += family(int(child))
    return found


@needs(BUILT_IN, "demix was built without cpp-httplib")
@needs(not browser.MISSING, browser.MISSING)
class Page(Program):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser(host="127.0.0.1").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(5)
        X = sources(RATE * 60) @ rng.standard_normal((4, 4))
        self.file = self.dir / "x.csv"
        np.savetxt(self.file, X, delimiter=",", fmt="%.5g", header=f"{BAD_NAME},b,c,d", comments="")

    def watched(self, *args):
        return Watched(self.file, "--rate", RATE, "--realtime", "-o", "/dev/null", "--output-format", "f64", *args)

    def until(self, script, seconds=10, who=None):
        """Seconds until a script gives something true, and what."""
        start = time.monotonic()
        while time.monotonic() - start < seconds:
            if value := (who or self.browser).run(script):
                return time.monotonic() - start, value
            time.sleep(.02)
        self.fail(f"not within {seconds} s: {script}")

    def clean(self, w, who=None):
        who = who or self.browser
        self.assertEqual(who.errors(), [])
        fetched = who.run("return performance.getEntriesByType('resource').map(e => e.name)")
        self.assertEqual([f for f in fetched if not f.startswith(w.root + "/")], [])
        self.assertEqual(who.run(browser.OVERFLOW), 0)
        self.assertEqual(who.run("return document.images.length"), 0)

    def test_first_picture_and_moving_rows(self):
        with self.watched() as w:
            w.wait_for(lambda s: s["rank"] == 4)
            start = time.monotonic()
            self.browser.visit(w.url)
            self.until("return window.demix && demix.drawn > 0")
            first = time.monotonic() - start
            print(f"FIGURE first picture after {1e3 * first:.0f} ms")
            self.assertLess(first, 1)
            before, drawn = self.browser.run(PIXELS), self.browser.run(DRAWN)
            self.until(f"return demix.drawn > {drawn + 20}")
            self.assertNotEqual(self.browser.run(PIXELS), before)
            self.assertEqual(self.browser.run("return document.querySelector('.label').title"), BAD_NAME)
            self.assertNotIn("bad", self.browser.run("return document.title"))
            self.clean(w)

    def test_pause_holds_and_goes_back(self):
        with self.watched() as w:
            w.wait_for(lambda s: s["frames"] > 6 * RATE)
            self.browser.visit(w.url)
            self.until("return window.demix && demix.drawn > 0")
            self.browser.run("const w = document.getElementById('window'); w.value = 1; "
                             "w.dispatchEvent(new Event('change'))")
            self.until("return demix.drawn > 0 && demix.step < 5")
            self.browser.run("document.getElementById('pause').click()")
            self.until("return demix.hold !== null && document.getElementById('past').hidden === false")
            time.sleep(.3)
            held = self.browser.run(PIXELS)
            time.sleep(.7)
            self.assertEqual(self.browser.run(PIXELS), held)
            hold = self.browser.run("return demix.hold")
            self.browser.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}))")
            self.until(f"return demix.hold < {hold}")
            self.until(f"return document.getElementById('traces').toDataURL() !== '{held}'")
            self.browser.run("document.getElementById('live').click()")
            self.until(f"return demix.drawn > {hold}")
            self.clean(w)

    def test_actions(self):
        model = self.dir / "m.json"
        with self.watched("--model", model) as w:
            w.wait_for(lambda s: s["rank"] == 4)
            self.browser.visit(w.url)
            self.until("return window.demix && demix.drawn > 0")
            self.browser.run("[...document.querySelectorAll('.label button')].find(b => b.textContent === 'M').click()")
            self.until("return demix.status.muted.length === 1 && "
                       "document.querySelectorAll('.label.muted').length === 1")
            self.assertEqual(w.status()["muted"], [1])
            self.browser.run("document.querySelectorAll('.label')[5].click()")
            self.until("return !document.getElementById('detail').hidden && "
                       "document.getElementById('strongest').textContent")
            self.browser.run("document.getElementById('name').value = 'a <b>blink</b>';"
                             "document.getElementById('rename').requestSubmit()")
            self.until("return demix.status.names[1] === 'a <b>blink</b>'")
            self.browser.run("document.getElementById('mark').click(); document.getElementById('freeze').click()")
            self.until("return demix.status.marks.length === 1 && demix.status.frozen")
            self.browser.run("document.getElementById('save').click()")
            w.wait_for(lambda s: model.exists())
            self.assertEqual(json.loads(model.read_text())["options"]["name of component 2"], "a <b>blink</b>")
            self.clean(w)
            self.assertLess(w.stop(), 1)
            self.until("return demix.status.ended")

    def test_two_browsers_and_a_reload(self):
        with self.watched() as w, browser.Browser(host="127.0.0.1") as other:
            w.wait_for(lambda s: s["rank"] == 4)
            for who in (self.browser, other):
                who.visit(w.url)
            for who in (self.browser, other):
                self.until("return window.demix && demix.drawn > 0", who=who)
            self.browser.run("mute(2)")
            self.until("return demix.status.muted.length === 1", who=other)
            self.browser.run("location.reload()")
            self.until("return window.demix && demix.drawn > 0 && demix.status.muted.length === 1")
            for who in (self.browser, other):
                self.clean(w, who)

    def test_phone_and_dark(self):
        with self.watched() as w:
            w.wait_for(lambda s: s["rank"] == 4)
            for width in (320, browser.PHONE, 390, 800, 1600):
                for dark in (False, True):
                    self.browser.visit(w.url, width=width, dark=dark)
                    self.until("return window.demix && demix.drawn > 0")
                    self.browser.run("choose(6, true)")
                    self.until("return document.getElementById('strongest').textContent")
                    colour = self.browser.run("return getComputedStyle(document.body).backgroundColor")
                    self.assertEqual(sum(map(int, colour.strip("rgb()").split(","))) < 380, dark)
                    self.clean(w)

    def test_sound(self):
        file = self.dir / "x.f32"
        t = np.arange(16000 * 30) / 16000
        X = np.column_stack([np.sin(2 * np.pi * 440 * t), np.sign(np.sin(2 * np.pi * 3 * t))]) @ [[1, .5], [.3, 1]]
        X.astype("<f4").tofile(file)
        with Watched(file, "--channels", 2, "--rate", 16000, "--realtime", "-o", "/dev/null",
                     "--output-format", "f32") as w:
            self.browser.visit(w.url)
            self.until("return window.demix && demix.drawn > 0")
            self.browser.devtools("Runtime.evaluate", expression="listen(0)", userGesture=True)
            before = time.monotonic()
            self.until("return demix.listener.played > 16000")
            took = time.monotonic() - before
            self.assertGreater(took, .7)  # as fast as it was recorded
            self.assertEqual(self.browser.run("return demix.listener.context.state"), "running")
            self.clean(w)

    def test_a_browser_that_stands_still(self):
        with self.watched() as w, browser.Browser(host="127.0.0.1") as stuck:
            w.wait_for(lambda s: s["rank"] == 4)
            stuck.visit(w.url)
            self.until("return window.demix && demix.drawn > 0", who=stuck)
            processes = family(stuck.driver)[1:]
            self.assertGreater(len(processes), 1)
            for p in processes:
                os.kill(p, signal.SIGSTOP)
            try:
                before = w.status()["frames"]
                start = time.monotonic()
                time.sleep(3)
                moved = (w.status()["frames"] - before) / (time.monotonic() - start)
                self.assertAlmostEqual(moved, RATE, delta=.2 * RATE)
                self.browser.visit(w.url)
                self.until("return window.demix && demix.drawn > 0")
                self.assertLess(w.stop(), 1)
            finally:
                for p in processes:
                    os.kill(p, signal.SIGCONT)


if __name__ == "__main__":
    unittest.main()
