#!/usr/bin/env python3
"""EDF and BDF against mne, which has a reader of its own."""
import json
import os
import subprocess
import unittest
import warnings

import numpy as np

from program import Program, needs
from recordings import edf_plus, eeg, fields

try:
    import mne
    mne.set_log_level("ERROR")
except ImportError:
    mne = None

COPY = os.environ["CONVERT"]


def with_rates(path, signals, records, seconds=1):
    """EDF: (label, samples a record, physical limit, digital samples) each."""
    n = len(signals)
    labels, counts, limits, data = zip(*signals)
    head = ("0".ljust(8) + "X".ljust(80) + "X".ljust(80) + "02.03.0405.06.07" + fields([256 * (n + 1)], 8) + " " * 44
            + fields([records, seconds], 8) + fields([n], 4) + fields(labels, 16) + " " * 80 * n + fields(["uV"] * n, 8)
            + fields([-x for x in limits], 8) + fields(limits, 8) + fields([-2048] * n, 8) + fields([2047] * n, 8)
            + " " * 80 * n + fields(counts, 8) + " " * 32 * n)
    with open(path, "wb") as f:
        f.write(head.encode())
        for r in range(records):
            for count, samples in zip(counts, data):
                f.write(samples[r * count:(r + 1) * count].astype("<i2").tobytes())


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

    def test_signals_of_other_rates_are_copied(self):
        """As a night's recording has them; MNE reads each rate for itself."""
        rng = np.random.default_rng(2)
        rates = {"Fp1": 100, "Resp": 10, "Cz": 100, "SaO2": 1, "Oz": 100}
        digital = {name: rng.integers(-2048, 2048, size=30 * rate) for name, rate in rates.items()}
        source = self.dir / "night.edf"
        with_rates(source, [(name, 2 * rate, 204.75, digital[name]) for name, rate in rates.items()], 15, 2)
        self.ok("fit", source, "-o", self.dir / "m.json", "-m", "fobi")
        for kind in ("edf", "bdf"):
            target = self.dir / ("clean." + kind)
            done = self.ok("apply", self.dir / "m.json", source, "--remove", "1", "-o", target)
            self.assertIn("signals of other rates are copied as they are: Resp, SaO2", done.stderr)
            read = mne.io.read_raw_edf if kind == "edf" else mne.io.read_raw_bdf
            for name in ("Resp", "SaO2"):
                was = mne.io.read_raw_edf(source, include=[name], preload=True)
                now = read(target, include=[name], preload=True)
                self.assertEqual(now.info["sfreq"], rates[name])
                np.testing.assert_allclose(now.get_data(), was.get_data(), rtol=1e-12, atol=1e-18)
            was = mne.io.read_raw_edf(source, include=["Fp1", "Cz", "Oz"], preload=True)
            now = read(target, include=["Fp1", "Cz", "Oz"], preload=True)
            self.assertEqual(now.get_data().shape, was.get_data().shape)
            self.assertGreater(abs(now.get_data() - was.get_data()).max(), 1e-5)  # a component less
        self.ok("apply", self.dir / "m.json", source, "--remove", "none", "-o", self.dir / "same.edf")
        again = self.ok("apply", self.dir / "m.json", self.dir / "same.edf", "--remove", "none", "-o",
                        self.dir / "x.set")
        self.assertIn("does not hold the signals of other rates: Resp, SaO2; write .edf or .bdf", again.stderr)
        self.ok("separate", source, "-o", self.dir / "out", "-m", "fobi", "--no-report")
        self.assertNotIn("Resp", mne.io.read_raw_edf(self.dir / "out" / "sources.edf").ch_names)

    def test_a_bdf_of_several_rates_as_edf(self):
        """24 bits into 16: to half a step of these."""
        rng = np.random.default_rng(3)
        source = self.dir / "night.edf"
        with_rates(source, [(n, r, 100, rng.integers(-2048, 2048, size=20 * r)) for n, r in
                            (("Fp1", 50), ("Cz", 50), ("Resp", 5))], 20)
        head = bytearray(source.read_bytes()[:256 * 4])
        head[0:8], head[192:216] = b"\xffBIOSEMI", b"24BIT".ljust(24)
        digital = rng.integers(-8000000, 8000000, size=(20, 105)).astype("<i4")
        low, high = 256 + 120 * 3, 256 + 128 * 3
        head[low:low + 24], head[high:high + 24] = fields([-8388608] * 3, 8).encode(), fields([8388607] * 3, 8).encode()
        body = digital.reshape(-1, 1).view("u1").reshape(-1, 4)[:, :3].tobytes()
        (self.dir / "night.bdf").write_bytes(bytes(head) + body)
        self.ok("fit", self.dir / "night.bdf", "-o", self.dir / "m.json", "-m", "fobi")
        self.ok("apply", self.dir / "m.json", self.dir / "night.bdf", "--remove", "none", "-o", self.dir / "x.edf")
        was = mne.io.read_raw_bdf(self.dir / "night.bdf", include=["Resp"], preload=True).get_data()
        now = mne.io.read_raw_edf(self.dir / "x.edf", include=["Resp"], preload=True).get_data()
        self.assertLess(abs(now - was).max(), 0.51 * 200e-6 / 65535)

    def test_counts_of_records_that_are_wrong(self):
        """Too many, too few, none, or a last record that is cut off: the whole records, as MNE reads them."""
        digital = np.random.default_rng(1).integers(-30000, 30000, size=(3, 1000))
        edf_plus(self.dir / "good.edf", digital, 100, ["Fp1", "Fp2", "Cz"], ["uV"] * 3, 1638.35, [])
        good = (self.dir / "good.edf").read_bytes()
        for name, count, cut in (("many", 99, 0), ("few", 4, 0), ("none", 0, 0), ("open", -1, 0), ("cut", 10, 301),
                                 ("cut-few", 3, 301)):
            with self.subTest(name):
                bad = good[:236] + str(count).ljust(8).encode() + good[244:len(good) - cut]
                (self.dir / "bad.edf").write_bytes(bad)
                raw = self.open(self.dir / "bad.edf")
                self.copy(self.dir / "bad.edf", self.dir / "out.npy")
                ours = np.load(self.dir / "out.npy").T
                self.assertEqual(ours.shape, raw.get_data().shape)
                np.testing.assert_allclose(ours * 1e-6, raw.get_data(), rtol=1e-9, atol=1e-12)
                self.assertIn("whole", self.ok("info", self.dir / "bad.edf").stderr)

    def test_samples_of_a_real_recording(self):
        recording = eeg(self.dir)
        raw = self.open(recording)
        self.copy(recording, self.dir / "out.npy")
        ours = np.load(self.dir / "out.npy").T
        np.testing.assert_allclose(ours * 1e-6, raw.get_data(), rtol=1e-9, atol=1e-12)


if __name__ == "__main__":
    unittest.main()
