"""Reports as a browser shows them: those named on the command line, or some that the program makes for it."""
import os
import subprocess
import sys
import tempfile
import unittest
import wave
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np

import browser
from program import needs

REPORTS = []
FOLDER = tempfile.TemporaryDirectory()  # of those that are made
SECONDS = {}  # of the sounds of a report, where they are known


def make_reports(folder):
    """One with sounds, one with pictures, one with many channels, and the truth."""
    rng = np.random.default_rng(0)

    def demix(*args):
        subprocess.run([os.environ["DEMIX"], *map(str, args)], check=True, capture_output=True)

    for k in range(2):
        with wave.open(str(folder / f"s{k}.wav"), "wb") as f:
            f.setparams((1, 2, 8000, 0, "NONE", ""))
            f.writeframes((3000 * rng.laplace(size=12000) ** (1 + 2 * k)).clip(-32000, 32000).astype("<i2").tobytes())
        (folder / f"p{k}.pgm").write_bytes(
            b"P5 90 60 255\n" + (255 * rng.random(5400) ** (1 + 4 * k)).astype(np.uint8).tobytes())
    demix("generate", "--from", folder / "s0.wav", folder / "s1.wav", "-o", folder / "sm")
    demix("generate", "--from", folder / "p0.pgm", folder / "p1.pgm", "-o", folder / "pm")
    names = ",".join(f"electrode {k} <&>" for k in range(24))
    np.savetxt(folder / "many.csv", rng.laplace(size=(3000, 24)) @ rng.normal(size=(24, 24)), delimiter=",",
               header=names, comments="")
    demix("separate", folder / "sm/mixture1.wav", folder / "sm/mixture2.wav", "-o", folder / "sound", "--truth",
          folder / "sm/source1.wav", "--truth", folder / "sm/source2.wav")
    demix("separate", folder / "pm/mixture1.pgm", folder / "pm/mixture2.pgm", "-o", folder / "pictures")
    demix("separate", folder / "many.csv", "-o", folder / "many")
    SECONDS[folder / "sound" / "report.html"] = [1.5] * 4
    return [folder / name / "report.html" for name in ("sound", "pictures", "many")]


def eeg_report():
    """Of generated EEG with blinks, positions by name."""
    from eeg_test import recording
    folder = Path(FOLDER.name) / "eeg"
    if not folder.exists():
        folder.mkdir()
        edf, _, _ = recording(folder)
        subprocess.run([os.environ["DEMIX"], "separate", edf, "-o", folder / "out"], check=True, capture_output=True)
    return folder / "out/report.html"


# A picture of 1 x 1, and 0.1 s of silence.
PICTURE = ("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
           "RU5ErkJggg==")
SOUND = ("data:audio/wav;base64,UklGRkQDAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YSADAACA" + "gICA" * 266 + "gA==")


@needs(not browser.MISSING, browser.MISSING)
class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._browser = browser.Browser()
        cls.browser = cls._browser.__enter__()
        cls._folder = tempfile.TemporaryDirectory()
        cls.dir = Path(cls._folder.name)

    @classmethod
    def tearDownClass(cls):
        cls._browser.__exit__()
        cls._folder.cleanup()

    def look(self, body):
        page = self.dir / "page.html"
        page.write_text(f"<!DOCTYPE html><title>test</title><body style='margin:0'>{body}</body>")
        return self.browser.look(page)


class Helper(BrowserTest):
    """What is wrong with a page is seen."""

    def test_a_good_page(self):
        found = self.look(f"<img src='{PICTURE}'><audio src='{SOUND}'></audio>")
        self.assertEqual((found["errors"], found["widths"], found["fetched"], found["overflow"]), ([], [1], [], 0))
        self.assertAlmostEqual(found["durations"][0], 0.1, places=3)

    def test_broken_media(self):
        found = self.look("<img src='data:image/png;base64,AAAA'><audio src='data:audio/wav;base64,AAAA'></audio>")
        self.assertEqual((found["widths"], found["durations"]), ([0], [None]))

    def test_a_script_that_fails(self):
        self.assertIn("oh no", str(self.look("<script>throw Error('oh no')</script>")["errors"]))

    def test_something_from_outside(self):
        self.assertTrue(self.look("<img src='http://example.org/a.png'>")["errors"])
        (self.dir / "a.css").write_text("")
        self.assertEqual(len(self.look("<link rel='stylesheet' href='a.css'>")["fetched"]), 1)

    def test_too_wide_for_a_phone(self):
        self.assertEqual(self.look("<div style='width:400px'>wide</div>")["overflow"], 25)

    def test_dark_and_print_are_asked_for(self):
        page = self.dir / "page.html"
        page.write_text("<!DOCTYPE html><title>test</title>")
        query = "return matchMedia('(prefers-color-scheme: dark)').matches + ',' + matchMedia('print').matches"
        for dark, media, expected in ((False, "screen", "false,false"), (True, "screen", "true,false"),
                                      (False, "print", "false,true")):
            self.browser.open(page, dark=dark, media=media)
            self.assertEqual(self.browser.run(query), expected)


BACKGROUND = "return getComputedStyle(document.body).backgroundColor"
BEYOND = """
const wide = document.documentElement.clientWidth;
return [...document.querySelectorAll('h1, h2, p, dd, .row, .row > *, audio, img, figcaption')]
  .filter(e => getComputedStyle(e).display !== 'none')
  .filter(e => e.getBoundingClientRect().right > wide + 1 || e.getBoundingClientRect().left < -1)
  .map(e => e.outerHTML.slice(0, 100))
"""
UNSEEN = """
return [...document.querySelectorAll('svg')].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width < 20 || box.height < 10;
}).length
"""


def darkness(colour):
    """0 is white, 1 is black; of rgb(...)."""
    return 1 - sum(int(c) for c in colour.strip("rgb()").split(",")[:3]) / (3 * 255)


class Report(BrowserTest):
    def each(self, check):
        if not REPORTS:
            REPORTS.extend(make_reports(Path(FOLDER.name)))
        for report in REPORTS:
            with self.subTest(report=str(report)):
                check(report)

    def test_is_xml_with_a_heading_and_nothing_to_run(self):
        def check(report):
            page = ElementTree.parse(report).getroot()
            names = [element.tag.split("}")[-1] for element in page.iter()]
            self.assertEqual(names.count("h1"), 1)
            self.assertNotIn("script", names)

        self.each(check)

    def test_of_eeg_nothing_is_fetched(self):
        """Its one script is its own, and it is XML all the same."""
        page = ElementTree.parse(eeg_report()).getroot()
        names = [element.tag.split("}")[-1] for element in page.iter()]
        self.assertEqual((names.count("h1"), names.count("script")), (1, 1))
        found = self.browser.look(eeg_report())
        self.assertEqual((found["errors"], found["fetched"], found["overflow"]), ([], [], 0))
        for width in (320, browser.PHONE, 800, 1600):
            self.browser.open(eeg_report(), width=width)
            self.assertEqual(self.browser.run(browser.OVERFLOW), 0, width)
            self.assertEqual(self.browser.run(BEYOND), [], width)
            self.assertEqual(self.browser.run(UNSEEN), 0, width)

    def test_eeg_shows_what_a_removal_does(self):
        """The numbers behind the canvas: marking, scrolling and zooming change them; the command follows."""
        run = self.browser.run
        self.browser.open(eeg_report())
        shown = lambda: run("return document.getElementById('viewer').dataset.shown").split(",")
        frame = "await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));"
        click = "return (async () => { document.querySelector(%s).click(); " + frame + " })()"
        begin, span = map(int, shown()[:2])
        self.assertEqual(span, 1280)  # ten seconds, with the largest blink in the middle
        marked = shown()[2].split()
        self.assertEqual(len(marked), 1)
        self.assertIn(f"--remove {int(marked[0]) + 1} ", run("return document.getElementById('removal').textContent"))
        colours = """
const canvas = document.querySelector('#viewer canvas');
const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
const seen = new Set();
for (let i = 0; i < pixels.length; i += 4)
  if (pixels[i + 3] > 250) seen.add([pixels[i], pixels[i + 1], pixels[i + 2]].join());
return [...seen]"""
        self.assertTrue({"213,94,0", "26,26,26"} <= set(run(colours)))  # before and after
        top = colours.replace("canvas.width, canvas.height", "canvas.width, 2")
        self.assertNotIn("213,94,0", run(top))  # the blink is not cut off
        run(click % f"'#sorted input[value=\"{marked[0]}\"]'")
        self.assertEqual(shown()[2], "")
        self.assertNotIn("213,94,0", run(colours))
        self.assertIn("--remove none", run("return document.getElementById('removal').textContent"))
        run(click % "'[data-do=on]'")
        self.assertEqual(int(shown()[0]), min(begin + 1024, 60 * 128 - 1280))
        run(click % "'[data-do=in]'")
        self.assertEqual(shown()[1], "640")
        run(click % "'#show-sources'")
        order = "return [...document.querySelectorAll('#sorted tbody tr')].map(r => +r.cells[2].textContent)"
        run(click % "'#sorted th:nth-child(3) button'")
        self.assertEqual(run(order), sorted(run(order), reverse=True))
        run(click % "'#sorted th:nth-child(3) button'")
        self.assertEqual(run(order), sorted(run(order)))
        ours = "getImageData"  # what this test asks of the canvas is not the page's fault
        self.assertEqual([e for e in self.browser.errors() if ours not in e], [])

    def test_everything_in_it_loads(self):
        def check(report):
            found = self.browser.look(report)
            self.assertEqual(found["errors"], [])
            beside = report.resolve().parent.as_uri() + "/"  # sounds too long for the page
            self.assertEqual([f for f in found["fetched"] if not f.startswith(beside)], [])
            self.assertTrue(all(duration and duration > 0 for duration in found["durations"]), found["durations"])
            for duration, expected in zip(found["durations"], SECONDS.get(report, found["durations"]), strict=True):
                self.assertAlmostEqual(duration, expected, places=3)
            self.assertTrue(all(width > 0 for width in found["widths"]), found["widths"])

        self.each(check)

    def test_fits_a_phone_and_a_desk(self):
        def check(report):
            for width in (320, browser.PHONE, 800, 1600):
                self.browser.open(report, width=width)
                self.assertEqual(self.browser.run(browser.OVERFLOW), 0, width)
                self.assertEqual(self.browser.run(BEYOND), [], width)
                self.assertEqual(self.browser.run(UNSEEN), 0, width)

        self.each(check)

    def test_is_dark_where_that_is_wanted_but_not_on_paper(self):
        def check(report):
            for dark, media, expected in ((False, "screen", False), (True, "screen", True), (True, "print", False)):
                self.browser.open(report, dark=dark, media=media)
                self.assertEqual(darkness(self.browser.run(BACKGROUND)) > 0.5, expected, (dark, media))

        self.each(check)


if __name__ == "__main__":
    REPORTS += [Path(name) for name in sys.argv[1:] if name.endswith(".html")]
    unittest.main(argv=[a for a in sys.argv if not a.endswith(".html")])
