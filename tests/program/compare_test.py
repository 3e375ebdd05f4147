#!/usr/bin/python3
"""demix compare and demix tune as a person uses them."""
import csv
import json
import signal
import subprocess
import time
import unittest

import numpy as np

from program import DEMIX, Program


class Experiments(Program):
    def test_compare_writes_every_run(self):
        out = self.dir / "cmp"
        text = self.ok("compare", "--scenario", "1,3", "--method", "easi@1e-3,stream", "--draws", 3, "--frames", 20000,
                       "-o", out).stdout
        for word in ("scenario 1", "scenario 3", "easi@1e-3", "stream", "3/3", "0/3"):
            self.assertIn(word, text)
        rows = list(csv.DictReader((out / "runs.csv").read_text().splitlines()))
        whole = json.loads((out / "comparison.json").read_text())
        frames = whole["problems"][0]["frames"]
        self.assertEqual(len(rows), 2 * 2 * 3 * len(frames))
        self.assertEqual(frames[-1], 20000)
        # the summary again, from the rows
        last = [float(r["mse"]) for r in rows
                if r["problem"] == "scenario 1" and r["method"] == "stream" and r["frames"] == "20000"]
        summary = whole["problems"][0]["methods"][1]
        self.assertEqual(summary["method"], "stream")
        self.assertAlmostEqual(summary["mse"]["median"][-1], np.median(last), delta=1e-5 * np.median(last))
        self.assertEqual(summary["separated"], sum(v < 0.05 for v in last))
        self.assertTrue((out / "comparison.png").read_bytes().startswith(b"\x89PNG"))
        self.assertIn("stream  3/3", (out / "comparison.svg").read_text())  # separated, of all

    def test_compare_is_the_same_for_any_number_of_threads(self):
        args = ("compare", "--scenario", "2", "--method", "hj,amari,stream", "--draws", 4, "--frames", 3000, "--json")
        self.assertEqual(self.ok(*args, "--threads", 1).stdout, self.ok(*args, "--threads", 3).stdout)

    def test_compare_on_a_recording(self):
        self.ok("generate", "--sources", "sine,laplace,uniform", "--waveform", "--frames", 20000, "-o", self.dir / "g")
        text = self.ok("compare", "--data", self.dir / "g" / "sources.npy", "--method", "stream", "--draws", 2).stdout
        self.assertIn("in time order, 20000 frames", text)
        self.assertIn("2/2", text)
        self.ok("compare", "--data", self.dir / "g" / "sources.npy", "--shuffle", "--method", "orica", "--draws", 1)

    def test_compare_traces_the_networks(self):
        file = self.dir / "t.npz"
        text = self.ok("compare", "--scenario", "1,2", "--method", "sm-ica,sm-ica:published,easi", "--draws", 2,
                       "--frames", 5000, "--trace", file).stdout
        self.assertIn(str(file), text)
        with np.load(file) as trace:
            for problem in ("scenario 1", "scenario 2"):
                for method in ("sm-ica", "sm-ica:published"):
                    frame, W = trace[f"{problem}/{method}/frame"], trace[f"{problem}/{method}/W"]
                    self.assertEqual(W.shape, (len(frame), 3, 3))
                    stride = int(trace[f"{problem}/{method}/stride"])
                    self.assertTrue((np.diff(frame) == stride).all())
            self.assertEqual(len(trace.files), 4 * 8)
        for k in range(1, 5):
            self.assertTrue((self.dir / f"t-{k}.png").read_bytes().startswith(b"\x89PNG"))
        self.refused("no network", "compare", "--method", "easi", "--trace", file, code=2)
        self.refused(".npz", "compare", "--trace", self.dir / "t.csv", code=2)

    def test_misuse(self):
        self.refused("magic", "compare", "--method", "magic", code=2)
        self.refused("no form 'x'", "compare", "--method", "easi:x", code=2)
        self.refused("is a batch method", "compare", "--method", "fobi", "--frames", 100, code=2)
        self.refused("--scenario", "compare", "--scenario", 7, code=2)
        self.refused("--sources", "compare", "--scenario", 1, "--sources", "sine,sine", code=2)
        self.refused("at least two", "compare", "--sources", "sine", code=2)
        self.refused("nosuch.npy", "compare", "--data", self.dir / "nosuch.npy", code=1)
        self.refused("no learning rate", "tune", "--method", "stream", code=2)
        self.refused("tune takes one", "tune", "--scenario", "1,2", code=2)
        self.refused("--eta", "tune", "--eta", "0,1", code=2)
        self.refused("easi has none", "tune", "--method", "easi", "--tau", 1, code=2)
        self.refused("@ETA", "tune", "--method", "easi@1e-3", code=2)
        self.refused("given twice", "compare", "--method", "orica,stream,orica", "-o", self.dir / "new", code=2)
        self.refused("--whiten", "compare", "--whiten", "yes", code=2)
        self.refused("--condition", "compare", "--condition", 3, code=2)
        self.refused("method sm-ica:published@5: tau", "compare", "--method", "sm-ica:published@5", "-o",
                     self.dir / "new", code=1)

    def test_data_that_cannot_be_sources(self):
        rng = np.random.default_rng(1)
        good = rng.laplace(size=(500, 3))

        def refused(part, S):
            np.save(self.dir / "s.npy", S)
            self.refused(part, "compare", "--data", self.dir / "s.npy", "--method", "stream", "--draws", 1, code=1)
        holes = good.copy()
        holes[4, 1] = np.nan
        refused("channel 2, frame 5", holes)
        refused("constant", np.column_stack([good, np.ones(500)]))
        refused("independent", np.column_stack([good, good[:, 0]]))
        refused("at least 10", good[:5])

    def test_a_part_of_a_recording_is_measured_by_itself(self):
        rng = np.random.default_rng(2)
        S = np.column_stack([rng.laplace(size=20000), rng.uniform(-1, 1, 20000)])
        S[5000:] *= 5  # quiet, then loud
        np.save(self.dir / "s.npy", S)
        out = json.loads(self.ok("compare", "--data", self.dir / "s.npy", "--frames", 5000, "--method", "stream",
                                 "--draws", 3, "--json").stdout)
        self.assertEqual(out["problems"][0]["methods"][0]["separated"], 3)

    def test_tune(self):
        out = self.dir / "tune"
        args = ("tune", "--method", "sm-ica:published", "--scenario", 1, "--draws", 2, "--frames", 20000, "-o", out)
        text = self.ok(*args).stdout
        self.assertIn("median MSE", text)
        cells = (out / "cells.csv").read_text().splitlines()
        self.assertEqual(len(cells), 2 + 12 * 8)
        self.assertTrue((out / "surface.png").read_bytes().startswith(b"\x89PNG"))
        # stopped in the middle of a line, it goes on and comes to the same
        (out / "cells.csv").write_text("\n".join(cells[:40]) + "\n" + cells[40][:7])
        self.assertEqual(self.ok(*args).stdout, text)
        self.assertEqual(sorted((out / "cells.csv").read_text().splitlines()), sorted(cells))
        self.refused("not of this search", "tune", "--scenario", 3, "-o", out, code=1)
        best = json.loads(self.ok(*args, "--json").stdout)["best"]
        self.assertIn(f"best: eta {best['eta']:g}", text)
        with (out / "cells.csv").open("a") as f:
            f.write("0.001,0.5,2,zzz\n1e-3,nonsense\n")
        self.assertEqual(self.ok(*args).stdout, text)  # lines that are none are passed over
        # a repeated or unsorted value is one value, in order
        twice = json.loads(self.ok("tune", "--method", "psp", "--scenario", 1, "--frames", 2000, "--draws", 1, "--eta",
                                   "1e-2,1e-3,1e-2", "--tau", "1,1,.5", "--json").stdout)
        self.assertEqual([(c["tau"], c["eta"]) for c in twice["cells"]], [(.5, 1e-3), (.5, 1e-2), (1, 1e-3), (1, 1e-2)])
        # rates that are not allowed together fail in their cell, not in the search
        cells = json.loads(self.ok("tune", "--scenario", 1, "--frames", 2000, "--draws", 1, "--eta", "0.2", "--tau",
                                   "0.1,1", "--json").stdout)["cells"]
        self.assertEqual([c["diverged"] for c in cells], [1, 1])

    def test_tune_survives_a_kill(self):
        out = self.dir / "tune"
        args = ("tune", "--method", "easi", "--scenario", 1, "--draws", 4, "--frames", 100000, "--threads", 1,
                "-o", out)
        process = subprocess.Popen([DEMIX, *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(500):
            time.sleep(0.01)
            if (out / "cells.csv").exists() and (out / "cells.csv").read_text().count("\n") >= 4:
                break
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = set((out / "cells.csv").read_text().splitlines()[:-1])
        self.ok(*args)
        self.assertTrue(done <= set((out / "cells.csv").read_text().splitlines()))
        self.assertEqual(len((out / "cells.csv").read_text().splitlines()), 2 + 12)


if __name__ == "__main__":
    unittest.main()
