#!/usr/bin/env python3
"""EDF and BDF against mne, which has a reader of its own."""
import json
import os
import subprocess
import unittest
import warnings

import numpy as np

from program import Program, needs
from recordings import edf_plus, eeg

try:
    import mne
    mne.set_log_level("ERROR")
except ImportError:
    mne = None

COPY = os.environ["CONVERT"]


@needs(mne, "python3-mne is not installed")
class EdfTest(Program):
    def open(self, path):
        read = mne.io.read_raw_bdf if str(path).endswith(".bdf") else mne.io.read_raw_edf
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read(path, preload=True)

    def copy(self, source, target):
        subprocess.run([COPY, source, target], check=True, timeout=120)

    def same(self, source, target, levels):
        a, b = self.open(source), self.open(target)
        self.assertEqual(a.ch_names, b.ch_names)
        self.assertEqual(a.info["sfreq"], b.info["sfreq"])
        self.assertEqual(a.n_times, b.n_times)
        self.assertEqual(a.info["meas_date"], b.info["meas_date"])
        step = np.ptp(a.get_data(), axis=1) / levels
        # Half a step, and the little by which the limits in the header are wider than the data.
        self.assertTrue(np.all(np.abs(a.get_data() - b.get_data()).max(axis=1) <= 0.52 * step))
        np.testing.assert_allclose(a.annotations.onset, b.annotations.onset, atol=1e-4)
        np.testing.assert_allclose(a.annotations.duration, b.annotations.duration, atol=1e-4)
        self.assertEqual(list(a.annotations.description), list(b.annotations.description))
        return b

    def test_written_files_are_read_alike(self):
        digital = np.random.default_rng(1).integers(-30000, 30000, size=(3, 1000))
        source = self.dir / "in.edf"
        edf_plus(source, digital, 100, ["Fp1", "Fp2", "EOG left"], ["uV", "uV", "mV"], 1638.35,
                 [(0.5, None, "stimulus"), (2.25, 1.5, "blink"), (9, 0.5, "caf\u00e9")])
        for target, levels in (("out.edf", 65535), ("out.bdf", 2**24 - 1)):
            self.copy(source, self.dir / target)
            got = self.same(source, self.dir / target, levels)
            self.assertEqual(list(got.annotations.description), ["stimulus", "blink", "caf\u00e9"])

    def test_real_recording(self):
        recording = eeg(self.dir)
        raw = self.open(recording)
        info = json.loads(self.ok("info", recording, "--json").stdout)
        self.assertEqual(info["channels"], len(raw.ch_names))
        self.assertEqual(info["frames"], raw.n_times)
        self.assertEqual(info["rate"], raw.info["sfreq"])
        for target, levels in (("out.edf", 65535), ("out.bdf", 2**24 - 1)):
            self.copy(recording, self.dir / target)
            self.same(recording, self.dir / target, levels)

    def test_samples_of_a_real_recording(self):
        recording = eeg(self.dir)
        raw = self.open(recording)
        self.copy(recording, self.dir / "out.npy")
        ours = np.load(self.dir / "out.npy").T
        np.testing.assert_allclose(ours * 1e-6, raw.get_data(), rtol=1e-9, atol=1e-12)


if __name__ == "__main__":
    unittest.main()
