#!/usr/bin/env python3
"""EDF and BDF against mne, which has a reader of its own."""
import json
import os
import subprocess
import unittest
import warnings

import numpy as np

from program import Program

try:
    import mne
    mne.set_log_level("ERROR")
except ImportError:
    mne = None

COPY = os.environ["CONVERT"]
DATA = os.environ.get("DEMIX_DATA")
REAL = os.path.join(DATA, "eeg_eeglab", "eeglab_data.edf") if DATA else None


def fields(values, width):
    return "".join(str(v).ljust(width) for v in values)


def edf_plus(path, digital, rate, names, units, physical, annotations):
    """EDF+ by the book: records of a second; annotations (onset, duration or None, text), one a record."""
    n, frames = digital.shape
    records, room = frames // rate, 40
    signals = n + 1
    head = ("0".ljust(8) + "X X X X".ljust(80) + "Startdate 02-MAR-2004 X X X".ljust(80) + "02.03.0405.06.07"
            + fields([256 * (signals + 1)], 8) + "EDF+C".ljust(44) + fields([records, 1], 8)
            + fields([signals], 4)
            + fields([*names, "EDF Annotations"], 16) + " " * 80 * signals + fields([*units, ""], 8)
            + fields([-physical] * n + [-1], 8) + fields([physical] * n + [1], 8)
            + fields([-32768] * signals, 8) + fields([32767] * signals, 8) + " " * 80 * signals
            + fields([rate] * n + [room], 8) + " " * 32 * signals)
    with open(path, "wb") as f:
        f.write(head.encode("ascii"))
        for r in range(records):
            f.write(digital[:, r * rate:(r + 1) * rate].astype("<i2").tobytes())
            tal = b"+%d\x14\x14\0" % r
            if r < len(annotations):
                onset, duration, text = annotations[r]
                lasts = "" if duration is None else "\x15%g" % duration
                tal += ("+%g%s\x14%s\x14\0" % (onset, lasts, text)).encode()
            f.write(tal.ljust(2 * room, b"\0"))


@unittest.skipIf(mne is None, "python3-mne is not installed")
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

    @unittest.skipUnless(REAL and os.path.exists(REAL), "DEMIX_DATA is not set or has no EDF file")
    def test_real_recording(self):
        raw = self.open(REAL)
        info = json.loads(self.ok("info", REAL, "--json").stdout)
        self.assertEqual(info["channels"], len(raw.ch_names))
        self.assertEqual(info["frames"], raw.n_times)
        self.assertEqual(info["rate"], raw.info["sfreq"])
        for target, levels in (("out.edf", 65535), ("out.bdf", 2**24 - 1)):
            self.copy(REAL, self.dir / target)
            self.same(REAL, self.dir / target, levels)

    @unittest.skipUnless(REAL and os.path.exists(REAL), "DEMIX_DATA is not set or has no EDF file")
    def test_samples_of_a_real_recording(self):
        raw = self.open(REAL)
        self.copy(REAL, self.dir / "out.npy")
        ours = np.load(self.dir / "out.npy").T
        np.testing.assert_allclose(ours * 1e-6, raw.get_data(), rtol=1e-9, atol=1e-12)


if __name__ == "__main__":
    unittest.main()
