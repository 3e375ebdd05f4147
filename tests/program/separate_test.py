#!/usr/bin/python3
"""demix separate, fit, apply, info and score on files, as people use them. Real recordings come from $DEMIX_DATA;
where there are none, made-up ones stand in."""
import ctypes
import json
import os
import resource
import subprocess
import unittest
import wave
from pathlib import Path

import numpy as np
from scipy import io as matlab
from scipy.signal import find_peaks

from program import DEMIX, Program, run
from recordings import eeg, foetal_ecg, real


def write_wav(path, x, rate=8000):
    with wave.open(str(path), "wb") as f:
        f.setparams((1, 2, rate, 0, "NONE", ""))
        f.writeframes((x / np.abs(x).max() * 32000).astype("<i2").tobytes())


class SoundInfo(ctypes.Structure):
    _fields_ = [("frames", ctypes.c_int64)] + [(name, ctypes.c_int) for name in
                                               ("rate", "channels", "format", "sections", "seekable")]


def write_mp3(path, x, rate):
    """By libsndfile: demix only reads it."""
    lib = ctypes.CDLL("libsndfile.so.1")
    lib.sf_open.restype = ctypes.c_void_p
    lib.sf_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(SoundInfo)]
    lib.sf_writef_double.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    lib.sf_close.argtypes = [ctypes.c_void_p]
    x = np.ascontiguousarray(x, float)
    info = SoundInfo(0, rate, x.shape[1], 0x230082, 0, 0)  # MPEG, layer III
    file = lib.sf_open(os.fsencode(path), 0x20, ctypes.byref(info))
    assert file, "libsndfile does not write MP3"
    lib.sf_writef_double(file, x.ctypes.data, len(x))
    lib.sf_close(file)


class Separate(Program):
    def summary(self, *args):
        return json.loads(self.ok("separate", *args, "--json").stdout)

    def sound(self):
        """Two recordings: speech where there is one, bursts of noise and a buzz elsewhere."""
        if speech := real("speech_tsp", "speech"):
            return [speech / "FA01_03.wav", speech / "MA02_04.wav"]
        rng = np.random.default_rng(0)
        t = np.arange(16000)
        write_wav(self.dir / "a.wav", rng.normal(size=16000) * np.maximum(0, np.sin(t / 900)) ** 3)
        write_wav(self.dir / "b.wav", np.sin(t / 9) + np.sin(t / 5.3))
        return [self.dir / "a.wav", self.dir / "b.wav"]

    def test_trace_dynamics_and_autapses(self):
        self.ok("generate", "--sources", "square,sine,sawtooth", "--frames", 20000, "--seed", 4, "-o", self.dir / "g")
        mixtures = self.dir / "g" / "mixtures.npy"
        published = ("--method", "sm-ica", "--form", "published", "--eta", "1e-3", "--tau", "0.5", "--whiten", "yes")
        solved = {}
        for name, how in (("solve", ()), ("iterate", ("--dynamics", "iterate")),
                          ("no-autapses", ("--dynamics", "iterate", "--autapses", "no"))):
            out, file = self.dir / name, self.dir / f"{name}.npz"
            text = self.ok("separate", mixtures, "-o", out, "--no-report", *published, *how, "--trace", file).stdout
            self.assertIn(str(file), text)
            with np.load(file) as t:
                solved[name] = {k: t[k] for k in t.files}
            self.assertIn("potentiation", file.with_suffix(".svg").read_text())
        s = solved["solve"]
        self.assertEqual(set(s), {"frame", "stride", "W", "M", "c", "y", "modulator", "ltp"})
        self.assertLess(len(s["frame"]), 2049)
        self.assertTrue((np.diff(s["frame"]) == s["stride"]).all())
        np.testing.assert_allclose(s["modulator"], (s["y"] ** 2).sum(1), rtol=1e-9)
        self.assertTrue(((0 <= s["ltp"]) & (s["ltp"] <= 1)).all())
        for name in ("iterate", "no-autapses"):  # the same rest, so the same course
            np.testing.assert_allclose(solved[name]["W"], s["W"], atol=1e-8)
        # with natural steps: c = M y before M learns from it
        self.ok("separate", mixtures, "-o", self.dir / "n", "--method", "sm-ica", "--trace", self.dir / "n.npz")
        with np.load(self.dir / "n.npz") as t:
            self.assertEqual(t["W"].shape[1:], (3, 3))
        self.refused("no option --trace", "separate", mixtures, "--method", "fobi", "--trace", self.dir / "f.npz",
                     code=2)
        self.refused("no option --dynamics in its form natural", "separate", mixtures, "--method", "sm-ica",
                     "--dynamics", "iterate", code=2)
        self.refused("unless its dynamics are iterated", "separate", mixtures, *published, "--autapses", "no", code=2)

    def test_sound(self):
        self.ok("generate", "--from", *self.sound(), "-o", self.dir / "mix")
        mixtures = [self.dir / "mix" / f"mixture{k}.wav" for k in (1, 2)]
        s = self.summary(*mixtures, "-o", self.dir / "out")
        self.assertEqual([Path(p).name for p in s["sources"]], ["source1.wav", "source2.wav"])
        self.assertIn(s["method"], ("fobi", "fastica"))
        self.assertTrue(s["why"])
        score = json.loads(self.ok("score", *s["sources"], "--truth", self.dir / "mix" / "source1.wav", "--truth",
                                   self.dir / "mix" / "source2.wav", "--json").stdout)
        self.assertLess(score["mse"], 0.02)
        # As loud as can be, and the gain told: model.apply times the gain is what the file holds.
        self.ok("fit", *mixtures, "-o", self.dir / "model.json")
        self.ok("apply", self.dir / "model.json", *mixtures, "-o", self.dir / "y.npy")
        y = np.load(self.dir / "y.npy")
        for k, path in enumerate(s["sources"]):
            self.ok("apply", self.dir / "model.json", *mixtures, "-o", self.dir / "y.f32")
            x = self.read_float_wav(path)
            self.assertAlmostEqual(np.abs(x).max(), 0.9, places=5)
            np.testing.assert_allclose(x, y[:, k] * s["gains"][k], atol=1e-6)

    @staticmethod
    def read_float_wav(path):
        data = Path(path).read_bytes()
        return np.frombuffer(data[data.index(b"data") + 8:], "<f4")

    def test_sound_of_other_kinds_and_channels(self):
        self.ok("generate", "--from", *self.sound(), "-o", self.dir / "mix")
        self.ok("generate", "--sources", "laplace,uniform", "--frames", 4000, "-o", self.dir / "made")
        made = self.dir / "made" / "mixtures.npy"
        self.ok("fit", made, "-o", self.dir / "m.json")
        for kind, tolerance in (("wav", 1e-6), ("flac", 1e-6), ("aiff", 1e-6), ("ogg", 0.2)):
            path = self.dir / f"all.{kind}"
            self.ok("apply", self.dir / "m.json", made, "--rate", 8000, "-o", path)
            info = json.loads(self.ok("info", path, "--json").stdout)
            self.assertEqual((info["channels"], info["frames"], info["rate"]), (2, 4000, 8000), kind)
            self.assertAlmostEqual(max(-info["channel"][0]["least"], info["channel"][0]["most"]), 0.9, delta=tolerance)
        self.refused("whole number of frames per second", "apply", self.dir / "m.json", made, "-o", self.dir / "x.flac")

    def test_mp3(self):
        """Written by libsndfile itself; sources come as .wav."""
        t = np.arange(16000) / 8000
        x = np.column_stack([0.5 * np.sin(2 * np.pi * 440 * t), 0.3 * np.sin(2 * np.pi * 97 * t) ** 3])
        write_mp3(self.dir / "x.mp3", x @ np.array([[1, 0.4], [0.5, 1]]), 8000)
        info = json.loads(self.ok("info", self.dir / "x.mp3", "--json").stdout)
        self.assertEqual((info["channels"], info["frames"], info["rate"]), (2, 16000, 8000))
        self.ok("separate", self.dir / "x.mp3", "-o", self.dir / "out", "--method", "fobi", "--no-report")
        sources = np.array([self.read_float_wav(self.dir / "out" / f"source{k}.wav") for k in (1, 2)])
        r = abs(np.corrcoef(sources, x.T)[:2, 2:])
        self.assertGreater(min(r.max(axis=0)), 0.99)
        self.refused("reads MP3 but does not write it; use .wav", "apply", self.dir / "out/model.json",
                     self.dir / "x.mp3", "-o", self.dir / "y.mp3")

    def test_files_together_must_agree(self):
        rng = np.random.default_rng(1)
        write_wav(self.dir / "a.wav", rng.normal(size=4000))
        write_wav(self.dir / "short.wav", rng.normal(size=3000))
        write_wav(self.dir / "other.wav", rng.normal(size=4000), rate=16000)
        a = self.dir / "a.wav"
        self.refused("shorter", "separate", a, self.dir / "short.wav", "-o", self.dir / "out")
        self.refused("longer", "separate", self.dir / "short.wav", a, "-o", self.dir / "out")
        self.refused("16000 frames per second", "separate", a, self.dir / "other.wav", "-o", self.dir / "out")
        cut = self.dir / "cut.wav"
        cut.write_bytes(a.read_bytes()[:5000])
        self.refused("cut off", "separate", a, cut, "-o", self.dir / "out")

    def test_pictures(self):
        if photographs := real("images_free", "photographs"):
            originals = sorted(photographs.glob("*_256x512.pgm"))
        else:
            rng = np.random.default_rng(2)
            originals = []
            for k in range(3):
                y, x = np.mgrid[:60, :80]
                picture = [np.sin(x / 3) * 60 + 100, (np.hypot(x - 40, y - 30) < 20) * 150,
                           rng.integers(0, 255, (60, 80))][k]
                originals.append(self.dir / f"p{k}.pgm")
                originals[k].write_bytes(b"P5 80 60 255\n" + picture.astype(np.uint8).tobytes())
        self.ok("generate", "--from", *originals, "-o", self.dir / "mix")
        mixtures = sorted((self.dir / "mix").glob("mixture*.pgm"))
        s = self.summary(*mixtures, "-o", self.dir / "out")
        truth = [w for p in sorted((self.dir / "mix").glob("source*.pgm")) for w in ("--truth", p)]
        score = json.loads(self.ok("score", *s["sources"], *truth, "--json").stdout)
        self.assertLess(score["mse"], 0.05)
        for path in s["sources"]:
            info = json.loads(self.ok("info", path, "--json").stdout)
            self.assertEqual((info["channel"][0]["least"], info["channel"][0]["most"]), (0, 1))

    def test_foetal_heartbeat(self):
        """A component of its own that beats evenly, and faster than the mother's heart does in the same recording."""
        s = self.summary(foetal_ecg(self.dir), "-o", self.dir / "out")
        self.assertEqual((s["channels"], s["samples"]), (8, 2500))
        Y = np.loadtxt(s["sources"])
        hearts = {}
        for k in range(8):
            for sign in (1, -1):
                y = sign * Y[:, k] / Y[:, k].std()
                beats, _ = find_peaks(y, height=2.5, distance=50)
                if len(beats) < 10:
                    continue
                periods = np.diff(beats) / 250
                if periods.std() < 0.08 * periods.mean():
                    hearts.setdefault(round(float(np.median(periods)), 1), []).append((k, len(beats)))
        self.assertEqual(sorted(hearts), [0.4, 0.7])  # 134 and 81 beats a minute
        self.assertEqual({n for _, n in hearts[0.4]}, {22})
        self.assertFalse({k for k, _ in hearts[0.4]} & {k for k, _ in hearts[0.7]})

    def test_eeg(self):
        edf = eeg(self.dir)
        s = self.summary(edf, "-o", self.dir / "out", "--method", "fobi", "--pick", "all")
        self.assertEqual((s["channels"], Path(s["sources"]).name), (32, "sources.edf"))
        info = json.loads(self.ok("info", s["sources"], "--json").stdout)
        self.assertEqual((info["channels"], info["rate"], info["frames"]), (32, 128, s["samples"]))
        self.assertEqual(info["channel"][0]["name"], "source1")

        # The same recording as EEGLAB keeps it, by SciPy: the same model.
        self.ok("apply", self.dir / "out" / "model.json", edf, "--keep", ",".join(map(str, range(1, 33))), "-o",
                self.dir / "x.npy")
        X = np.load(self.dir / "x.npy")
        names = json.loads(Path(s["model"]).read_text())["names"]
        locations = np.array([(n,) for n in names], dtype=[("labels", object)])
        matlab.savemat(self.dir / "eeg.set", {"EEG": {"data": X.T.astype("f4"), "srate": 128.0, "nbchan": 32.0,
                                                      "trials": 1.0,
                                                       "pnts": float(len(X)), "chanlocs": locations}}, appendmat=False)
        t = self.summary(self.dir / "eeg.set", "-o", self.dir / "set", "--method", "fobi", "--pick", "all")
        a, b = (json.loads(Path(x["model"]).read_text()) for x in (s, t))
        self.assertEqual(a["names"], b["names"])
        A, B = np.array(a["unmixing"]), np.array(b["unmixing"])
        self.assertLess(np.abs(A - B).max() / np.abs(A).max(), 1e-4)  # .set holds 32-bit floats

        # Without a component: channels again, with their names and units.
        self.ok("apply", s["model"], edf, "--remove", "1", "-o", self.dir / "clean.edf")
        was, now = (json.loads(self.ok("info", p, "--json").stdout) for p in (edf, self.dir / "clean.edf"))
        self.assertEqual([(c["name"], c["unit"]) for c in was["channel"]],
                         [(c["name"], c["unit"]) for c in now["channel"]])
        self.assertLess(now["channel"][0]["deviation"], was["channel"][0]["deviation"])

    def test_time_column(self):
        rng = np.random.default_rng(3)
        t = np.arange(500) / 250
        X = rng.laplace(size=(500, 3))
        np.savetxt(self.dir / "x.txt", np.column_stack([t, X]), fmt="%.6g")
        result = run("info", self.dir / "x.txt", "--json")
        self.assertIn("taken as the time", result.stderr)
        info = json.loads(result.stdout)
        self.assertEqual((info["channels"], info["rate"]), (3, 250))
        told = json.loads(self.ok("info", self.dir / "x.txt", "--time-column", 0, "--json").stdout)
        self.assertEqual((told["channels"], told["rate"]), (4, None))
        np.savetxt(self.dir / "y.txt", np.column_stack([X, t]), fmt="%.6g")
        last = json.loads(self.ok("info", self.dir / "y.txt", "--time-column", 4, "--json").stdout)
        self.assertEqual((last["channels"], last["rate"]), (3, 250))

    def test_components_as_a_share(self):
        rng = np.random.default_rng(4)
        S = rng.laplace(size=(5000, 5)) * [10, 8, 6, 0.1, 0.1]
        np.save(self.dir / "x.npy", S @ np.linalg.qr(rng.normal(size=(5, 5)))[0])
        s = self.summary(self.dir / "x.npy", "--components", 0.99, "-o", self.dir / "out")
        self.assertEqual(s["components"], 3)
        self.refused("whole number of components", "separate", self.dir / "x.npy", "--components", "2.5", code=2)

    def test_bad_segments_and_weights(self):
        rng = np.random.default_rng(8)
        x = rng.laplace(size=(20000, 3)) @ rng.normal(size=(3, 3))
        np.save(self.dir / "clean.npy", np.delete(x, np.s_[5000:7000], axis=0))
        spoilt = x.copy()
        spoilt[5000:7000] = np.nan
        np.save(self.dir / "spoilt.npy", spoilt)
        np.savetxt(self.dir / "w.csv", np.r_[np.ones(5000), np.zeros(2000), np.ones(13000)])
        fitted = []
        for options in ((), ("--bad", "5000-6000,5500-7000"), ("--frame-weights", self.dir / "w.csv")):
            file = "spoilt.npy" if options else "clean.npy"
            self.ok("fit", self.dir / file, *options, "-m", "fastica", "-o", self.dir / "m.json")
            model = json.loads((self.dir / "m.json").read_text())
            self.assertEqual(model["samples"], 18000)
            self.assertTrue(model["convergence"]["converged"])
            fitted.append(np.array(model["unmixing"]))
        np.testing.assert_allclose(fitted[1], fitted[0], atol=1e-9)
        np.testing.assert_allclose(fitted[2], fitted[0], rtol=1e-2, atol=1e-2)  # the same frames, other chunks
        for wrong in ("7-5", "x", "5"):
            self.assertEqual(run("fit", self.dir / "spoilt.npy", "--bad", wrong, "-o", self.dir / "m.json").returncode,
                             2)
        self.refused("one for each of the 18000 frames, got 20000", "fit", self.dir / "clean.npy",
                     "--frame-weights", self.dir / "w.csv", "-o", self.dir / "x.json")
        self.refused("no annotation", "fit", self.dir / "clean.npy", "--bad", "annotations", "-o", self.dir / "x.json")
        self.assertFalse((self.dir / "x.json").exists())
        # Text does not say how long it is before it was read.
        np.savetxt(self.dir / "clean.csv", np.load(self.dir / "clean.npy"))
        self.refused("one for each of the 18000 frames, got 20000", "fit", self.dir / "clean.csv",
                     "--frame-weights", self.dir / "w.csv", "-o", self.dir / "x.json")
        self.refused("frame 4999; remove or repair frames with NaN or Inf first (counted without the bad frames)",
                     "fit", self.dir / "spoilt.npy", "--bad", "0-2", "-o", self.dir / "x.json")
        self.refused("--online-output", "separate", self.dir / "clean.npy", "-m", "stream", "--online-output",
                     "--bad", "0-2", "-o", self.dir / "out", code=2)

    def test_order_stability_and_threads(self):
        rng = np.random.default_rng(9)
        np.save(self.dir / "x.npy", rng.laplace(size=(20000, 3)) @ rng.normal(size=(3, 3)))
        one = self.summary(self.dir / "x.npy", "-o", self.dir / "out", "-m", "picard", "--order", "power",
                           "--stability", "4", "--threads", "1", "--no-report")
        two = self.summary(self.dir / "x.npy", "-o", self.dir / "out", "-m", "picard", "--order", "power",
                           "--stability", "4", "--no-report")
        self.assertEqual(one, two)
        self.assertGreater(min(one["stability"]), 0.9)
        self.assertTrue(one["converged"])

    @unittest.skipIf("DEMIX_SANITIZED" in os.environ,
                     "sanitizers map all the memory there is: the plain build has this")
    def test_larger_than_memory(self):
        """Reading in blocks: 96 MB of 32-bit numbers with less memory than they take as doubles."""
        rng = np.random.default_rng(5)
        part = (rng.laplace(size=(30000, 8)) ** [[1, 1, 1, 1, 3, 3, 3, 3]] @ rng.normal(size=(8, 8))).astype("<f4")
        big = self.dir / "big.f32"
        with open(big, "wb") as f:
            for _ in range(100):
                part.tofile(f)

        def limited(*args):
            # of what it may ask the system for; a good deal less than the file's samples take
            limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (180 << 20, 180 << 20))
            return subprocess.run([DEMIX, *map(str, args)], capture_output=True, text=True, timeout=300,
                                  preexec_fn=limit)

        for method in ("fobi", "stream"):
            result = limited("separate", big, "--channels", 8, "--method", method, "-o", self.dir / method,
                             "--no-report")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual((self.dir / method / "sources.f32").stat().st_size, big.stat().st_size)
        clean = limited("apply", self.dir / "fobi" / "model.json", big, "--channels", 8, "--remove", "2",
                        "-o", self.dir / "c.f32")
        self.assertEqual(clean.returncode, 0, clean.stderr)
        # The same as if it had been read at once.
        np.save(self.dir / "part.npy", part)
        self.ok("fit", self.dir / "part.npy", "--method", "fobi", "-o", self.dir / "part.json")
        a, b = (np.array(json.loads((self.dir / p).read_text())["unmixing"]) for p in ("fobi/model.json", "part.json"))
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7 * np.abs(b).max())

    def test_bad_files(self):
        out = self.dir / "out"
        (self.dir / "x.xyz").write_text("1 2")
        self.refused("unknown kind of file", "separate", self.dir / "x.xyz", "-o", out)
        (self.dir / "x.f32").write_bytes(b"\0" * 10)
        self.refused("give --channels", "separate", self.dir / "x.f32", "-o", out)
        self.refused("whole number of", "separate", self.dir / "x.f32", "--channels", 2, "-o", out)
        for kind in ("wav", "flac", "edf", "png", "jpg", "tif", "npz", "mat", "set", "pgm"):
            path = self.dir / f"x.{kind}"
            path.write_bytes(b"this is not what it says it is, whatever it says" * 20)
            self.refused(str(path), "separate", path, "-o", out)
            self.refused(str(path), "info", path)
            path.unlink()
            path.mkdir()
            self.refused("folder", "info", path)

    def test_report(self):
        self.ok("generate", "--sources", "laplace,uniform,square", "--frames", 5000, "-o", self.dir / "d")
        s = self.summary(self.dir / "d" / "mixtures.npy", "--truth", self.dir / "d" / "sources.npy",
                         "-o", self.dir / "o")
        import xml.etree.ElementTree as xml
        page = Path(s["report"]).read_text()
        xml.fromstring(page.split("\n", 1)[1] if page.startswith("<!") else page)
        self.assertIn("demix separate", page)
        self.assertNotIn("http://", page.replace("http://www.w3.org/", ""))
        self.assertNotIn("https://", page)
        self.ok("separate", self.dir / "d" / "mixtures.npy", "-o", self.dir / "bare", "--no-report")
        self.assertFalse((self.dir / "bare" / "report.html").exists())

    def test_completion_and_man_page(self):
        bash = self.ok("completion", "bash").stdout
        (self.dir / "demix.bash").write_text(bash)
        ask = ("source %s; COMP_WORDS=(demix separate --meth); COMP_CWORD=2; _demix; echo ${COMPREPLY[*]};"
               "COMP_WORDS=(demix separate --method fo); COMP_CWORD=3; _demix; echo ${COMPREPLY[*]};"
               "COMP_WORDS=(demix sep); COMP_CWORD=1; _demix; echo ${COMPREPLY[*]}") % (self.dir / "demix.bash")
        told = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(told, ["--method", "fobi", "separate"])
        man = self.ok("completion", "man").stdout
        help_text = self.ok("separate", "--help").stdout
        self.assertIn("Separate the channels of files into independent sources", man)
        for option in ("--method", "--components", "--truth", "--time-column"):
            self.assertIn(option, help_text)
            self.assertIn(option.replace("-", "\\-"), man)
        self.assertIn("\\fB\\-\\-json\\fR\n", man)  # takes nothing
        self.assertIn("#compdef demix", self.ok("completion", "zsh").stdout)


if __name__ == "__main__":
    unittest.main()
