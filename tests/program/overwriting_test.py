#!/usr/bin/python3
"""No command replaces a file it reads: by any name, also those beside the file that is named."""
import os
import subprocess
import unittest
from pathlib import Path

import numpy as np

from program import DEMIX
from safety_test import Files, laplace


class InputsAreKept(Files):
    def untouched(self, files, *args, part="which is read", **kwargs):
        """Misuse, said in one line before any work, and every file as it was."""
        before = {f: f.read_bytes() for f in files}
        self.refused(part, *args, code=2, **kwargs)
        for file, content in before.items():
            self.assertEqual(file.read_bytes(), content, (file, args))

    def brainvision(self, header, data, markers=""):
        """A recording of two channels with names of the caller's choice; the files, header first."""
        files = [self.dir / name for name in (header, data, markers) if name]
        files[0].parent.mkdir(exist_ok=True)
        kind = "Brain Vision Data Exchange {} File, Version 1.0\n"
        files[0].write_text(kind.format("Header") + "[Common Infos]\n"
                            f"DataFile={Path(data).name}\nMarkerFile={Path(markers).name}\nDataFormat=BINARY\n"
                            "DataOrientation=MULTIPLEXED\nNumberOfChannels=2\nSamplingInterval=4000\n[Binary Infos]\n"
                            "BinaryFormat=IEEE_FLOAT_32\n[Channel Infos]\nCh1=Fp1,,1,uV\nCh2=Cz,,1,uV\n")
        laplace().astype("<f4").tofile(files[1])
        if markers:
            files[2].write_text(kind.format("Marker") + "[Marker Infos]\nMk1=Stimulus,S 1,10,1,0\n")
        return files

    def setUp(self):
        super().setUp()
        self.x = self.save("x.csv", laplace())
        self.model = self.dir / "m.json"
        self.ok("fit", self.x, "-o", self.model)

    def test_fit(self):
        weights = self.save("w.csv", np.ones((2000, 1)))
        self.untouched([self.x], "fit", self.x, "-o", self.x)
        self.untouched([self.x], "fit", self.x, "-o", self.dir / "." / ".." / self.dir.name / "x.csv")
        self.untouched([weights], "fit", self.x, "--frame-weights", weights, "-o", weights)
        self.untouched([self.x], "fit", "x.csv", "-o", self.x, cwd=self.dir)

    def test_apply_onto_its_model(self):
        self.untouched([self.model], "apply", self.model, self.x, "-o", self.model)

    def test_links(self):
        os.symlink(self.x, self.dir / "soft.csv")
        os.link(self.x, self.dir / "hard.csv")
        os.symlink(self.dir, self.dir / "folder")
        for name in ("soft.csv", "hard.csv", "folder/x.csv"):
            self.untouched([self.x], "fit", self.x, "-o", self.dir / name)
            self.untouched([self.x], "fit", self.dir / name, "-o", self.x)

    def test_apply(self):
        self.untouched([self.x], "apply", self.model, self.x, "-o", self.x)
        os.link(self.model, self.dir / "m.csv")
        self.untouched([self.model], "apply", self.model, self.x, "-o", self.dir / "m.csv")
        pictures = [self.save(f"p/y{k}.pgm", laplace(seed=k)) for k in (1, 2)]
        self.ok("fit", *pictures, "-o", self.dir / "p.json")
        self.untouched(pictures, "apply", self.dir / "p.json", *pictures, "-o", self.dir / "p" / "y.pgm")

    def test_separate(self):
        sources = self.save("sep/sources.csv", laplace())
        self.untouched([sources], "separate", sources, "-o", self.dir / "sep")
        pictures = [self.save(f"sep/source{k}.pgm", laplace(seed=k)) for k in (1, 2)]
        self.untouched(pictures, "separate", *pictures, "-o", self.dir / "sep")
        os.link(pictures[0], self.dir / "elsewhere.pgm")
        self.untouched(pictures, "separate", self.dir / "elsewhere.pgm", pictures[1], "-o", self.dir / "sep")
        truth = self.save("other/sources.csv", laplace(seed=2))
        self.untouched([truth], "separate", self.x, "--truth", truth, "-o", self.dir / "other")
        weights = self.save("weights/sources.csv", np.ones((2000, 1)))
        self.untouched([weights], "separate", self.x, "--frame-weights", weights, "-o", self.dir / "weights")
        self.ok("separate", self.x, "-o", self.dir / "sep", "--no-report")  # another input may

    def test_generate(self):
        sources = self.save("gs/sources.npy", laplace())
        self.untouched([sources], "generate", "--from", sources, "-o", self.dir / "gs")
        mixing = self.save("gs/mixing.npy", laplace())
        self.untouched([mixing], "generate", "--from", mixing, "-o", self.dir / "gs")
        pictures = [self.save(f"gs/mixture{k}.pgm", laplace(seed=k)) for k in (1, 2)]
        self.untouched(pictures, "generate", "--from", *pictures, "-o", self.dir / "gs")

    def test_experiments(self):
        runs = self.save("c/runs.csv", laplace())
        self.untouched([runs], "compare", "--data", runs, "-o", self.dir / "c")
        cells = self.save("c/cells.csv", laplace())
        self.untouched([cells], "tune", "--data", cells, "-o", self.dir / "c")
        (self.dir / "c" / "numbers.json").write_text('{"quick": {}, "full": {}}')
        numbers = self.dir / "c" / "numbers.json"
        self.untouched([numbers], "reproduce", "fig1a", "--quick", "--expect", numbers, "-o", self.dir / "c")

    def test_stream(self):
        y = self.save("x.f64", laplace())
        base = ("stream", y, "--channels", 2)
        self.untouched([y], *base, "-o", y)
        self.untouched([y], *base, "-o", self.dir / "o.f64", "--model", y)
        self.untouched([y], *base, "-o", self.dir / "o.f64", "--state", y)
        self.untouched([y], *base, "-o", self.dir / "o.f64", "--model", self.dir / "o.f64", part="named twice")
        os.link(y, self.dir / "hard.f64")
        with open(y, "rb") as stdin:
            self.untouched([y], "stream", "--format", "f64", "--channels", 2, "-o", self.dir / "hard.f64", stdin=stdin)

    def test_where_stdout_goes(self):
        for args in (("info", self.x), ("stream", self.x), ("score", "--truth", self.x, self.x)):
            before = self.x.read_bytes()
            with open(self.x, "a") as stdout:
                result = subprocess.run([DEMIX, *map(str, args)], stdout=stdout, stderr=subprocess.PIPE, text=True,
                                        timeout=60)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("which is read", result.stderr)
            self.assertEqual(self.x.read_bytes(), before)

    def test_files_that_a_header_names(self):
        """The readers tell what they open: no list of extensions does."""
        for header, data, markers in (("b.vhdr", "b.bin", "b.marks"), ("E.vhdr", "E.EEG", ""),
                                      ("U.VHDR", "U.eeg", "U.VMRK")):
            files = self.brainvision(header, data, markers)
            for out in files:
                self.untouched(files, "fit", files[0], "-o", out)
                self.untouched(files, "moments", files[0], "-o", out)
                self.untouched(files, "stream", files[0], "-o", out, "--output-format", "f32")
            os.link(files[1], self.dir / f"{header}.csv")
            self.untouched(files, "apply", self.model, files[0], "-o", self.dir / f"{header}.csv")
            self.untouched(files, "fit", self.x, "--frame-weights", files[0], "-o", files[1])
        files = self.brainvision("sep/b.vhdr", "sep/model.json")
        self.untouched(files, "separate", files[0], "-o", self.dir / "sep")
        self.untouched(files, "separate", self.x, "--truth", files[0], "-o", self.dir / "sep")
        self.ok("fit", files[0], "-o", self.dir / "elsewhere.json")
        files = self.brainvision("gen/b.vhdr", "gen/mixing.npy")
        self.untouched(files, "generate", "--from", files[0], "-o", self.dir / "gen")
        files = self.brainvision("cmp/b.vhdr", "cmp/runs.csv")
        self.untouched(files, "compare", "--data", files[0], "-o", self.dir / "cmp")
        files = self.brainvision("tune/b.vhdr", "tune/cells.csv")
        self.untouched(files, "tune", "--data", files[0], "-o", self.dir / "tune")

    def test_files_that_a_writer_adds(self):
        files = self.brainvision("b.vhdr", "y.eeg", "y.vmrk")
        self.ok("fit", files[0], "-o", self.dir / "b.json")
        for name in ("y.vhdr", "y.VHDR"):
            self.untouched(files, "apply", self.dir / "b.json", files[0], "-o", self.dir / name)

    def test_data_beside_a_dataset(self):
        import scipy.io
        eeg = {"nbchan": 2., "pnts": 2000., "trials": 1., "srate": 250., "data": "s3.fdt",
               "chanlocs": np.array([("Fp1",), ("Cz",)], dtype=[("labels", object)])}
        for name in ("s.set", "S3.SET"):
            fdt = self.save(name[:-3] + "fdt", laplace().astype("<f4"))
            laplace().astype("<f4").tofile(fdt)
            scipy.io.savemat(self.dir / name, {"EEG": eeg}, appendmat=False)
            self.untouched([fdt], "fit", self.dir / name, "-o", fdt)
            self.untouched([fdt], "stream", self.dir / name, "-o", fdt, "--output-format", "f32")

    def test_tables_of_bids(self):
        files = self.brainvision("bids/sub-01_eeg.vhdr", "bids/sub-01_eeg.eeg")
        tables = {"channels": "name\ttype\nFp1\tEEG\nCz\tEEG\n", "events": "onset\tduration\ttrial_type\n1\t0\ta\n",
                  "electrodes": "name\tx\ty\tz\nFp1\t0\t0.09\t0\nCz\t0\t0\t0.09\n"}
        for name, text in tables.items():
            files.append(self.dir / "bids" / f"sub-01_{name}.tsv")
            files[-1].write_text(text)
        self.ok("fit", files[0], "-o", self.dir / "b.json")
        for table in files[2:]:
            self.untouched(files, "fit", files[0], "-o", table)
            self.untouched(files, "apply", self.dir / "b.json", files[0], "-o", table)
        system = self.dir / "p_coordsystem.json"
        system.write_text('{"EEGCoordinateUnits": "m"}')
        electrodes = self.dir / "p_electrodes.tsv"
        electrodes.write_text(tables["electrodes"])
        for out in (electrodes, system):
            self.untouched([system, electrodes], "fit", files[0], "--positions", electrodes, "-o", out)
        (self.dir / "out").mkdir()
        os.rename(system, self.dir / "out" / "summary.json")
        os.symlink("out/summary.json", system)
        self.untouched([electrodes, system], "separate", files[0], "--positions", electrodes, "-o", self.dir / "out")

    def test_amica(self):
        amica = self.dir / "am"
        self.ok("fit", self.x, "-o", self.dir / "a.json", "--amica", amica)
        files = sorted(amica.iterdir())
        for file in files:
            self.untouched(files, "stream", self.x, "--start", amica, "-o", "/dev/null", "--model", file)
            self.untouched(files, "fit", self.x, "-o", file, "--amica", amica, part="named twice")
        self.untouched(files, "stream", self.x, "--start", amica, "-o", amica / "W", "--output-format", "f64")
        os.link(amica / "W", self.dir / "W.csv")
        self.untouched(files, "apply", amica, self.x, "-o", self.dir / "W.csv")
        self.refused("named twice", "fit", self.x, "-o", self.dir / "new" / "S", "--amica", self.dir / "new", code=2)
        weights = self.save("w.csv", np.ones((2000, 1)))
        (self.dir / "links").mkdir()
        os.link(weights, self.dir / "links" / "LLt")
        self.untouched([weights], "fit", self.x, "--frame-weights", weights, "-o", self.dir / "n.json",
                       "--amica", self.dir / "links")

    def test_moments_and_merge(self):
        parts = [self.save(f"x{k}.csv", laplace(seed=k)) for k in (1, 2)]
        sums = [self.dir / f"{k}.sums" for k in (1, 2)]
        for part, out in zip(parts, sums):
            self.ok("moments", part, "-o", out)
            self.untouched(parts, "moments", *parts, "-o", part)
            weights = self.save("w.csv", np.ones((2000, 1)))
            self.untouched([weights], "moments", part, "--frame-weights", weights, "-o", weights)
        for out in sums:
            self.untouched(sums, "merge", *sums, "-o", out)

    def test_where_messages_go(self):
        """They cannot be printed there: on stdout, unless that goes there, too."""
        bad = self.save("bad.csv", np.column_stack([laplace(20, 2), np.ones(20)]))
        for args in (("info", bad), ("fit", bad, "-o", self.dir / "m2.json"), ("separate", bad, "-o", self.dir / "out"),
                     ("stream", bad, "-o", self.dir / "y.csv"), ("merge", bad, "-o", self.dir / "m2.json")):
            before = bad.read_bytes()
            for both in (False, True):
                with open(bad, "a") as stderr:
                    result = subprocess.run([DEMIX, *map(str, args)], stdout=stderr if both else subprocess.PIPE,
                                            stderr=stderr, text=True, timeout=60)
                self.assertEqual(result.returncode, 2, args)
                self.assertEqual(bad.read_bytes(), before, args)
                self.assertIn("standard error goes to", result.stdout or "standard error goes to")
                self.assertTrue(result.stdout or both)

    def test_links_as_outputs_are_followed(self):
        target = self.dir / "real" / "model.json"
        target.parent.mkdir()
        os.symlink("real/model.json", self.dir / "soft.json")
        for _ in range(2):  # not there yet, then replaced
            self.ok("fit", self.x, "-o", self.dir / "soft.json")
            self.assertTrue((self.dir / "soft.json").is_symlink())
            self.assertEqual(target.read_bytes(), self.model.read_bytes())
        self.assertEqual([p.name for p in target.parent.iterdir()], ["model.json"])
        os.symlink("round.json", self.dir / "round.json")
        self.refused("Too many levels", "fit", self.x, "-o", self.dir / "round.json")
        os.mkfifo(self.dir / "fifo.json")
        self.refused("not a regular file", "fit", self.x, "-o", self.dir / "fifo.json")


if __name__ == "__main__":
    unittest.main()
