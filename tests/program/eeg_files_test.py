#!/usr/bin/env python3
"""EEG files of other programs against MNE and h5py, which have readers of their own."""
import json
import os
import re
import struct
import subprocess
import unittest
import warnings
from xml.etree import ElementTree

import numpy as np

from program import Program, needs
from recordings import real

try:
    import mne
    mne.set_log_level("ERROR")
except ImportError:
    mne = None

try:
    import h5py
except ImportError:
    h5py = None

COPY = os.environ["CONVERT"]
MICRO = {"V": 1e6, "mV": 1e3, "uV": 1, "\u00b5V": 1, "\u03bcV": 1, "nV": 1e-3}


@needs(mne, "python3-mne is not installed")
class EegFiles(Program):
    def convert(self, source, target="out.npy"):
        """As demix reads it: the samples, channels x frames, and what it says."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
        done = subprocess.run([COPY, source, self.dir / target], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(self.dir / "out.npy").T if target == "out.npy" else None, json.loads(done.stdout)

    def raw(self, path, **how):
        read = {".vhdr": "brainvision", ".edf": "edf", ".bdf": "bdf", ".gdf": "gdf", ".set": "eeglab"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(mne.io, "read_raw_" + read[path.suffix])(path, preload=True, **how)

    def same_values(self, ours, info, raw, eps=np.finfo(float).eps):
        """MNE computes volts: to its rounding, a few units in the last place of the largest value."""
        self.assertEqual(ours.shape, raw.get_data().shape)
        for i, name in enumerate(raw.ch_names):
            unit = (info["units"][i] if info["units"] else "") or ""
            value = raw.get_data()[i] / (MICRO.get(unit, 1e6) * 1e-6)
            if unit in ("uS", "\u00b5S"):
                value = raw.get_data()[i] * 1e6
            worst = np.abs(ours[i] - value).max() / max(np.abs(value).max(), 1e-300)
            self.assertLess(worst, 16 * eps, (name, unit))

    def same_events(self, info, raw, texts=True):
        ours = sorted((a["onset"], max(a["duration"], 0), a["text"]) for a in info["annotations"])
        theirs = sorted((a["onset"], a["duration"], a["description"]) for a in raw.annotations)
        self.assertEqual(len(ours), len(theirs))
        for (t, d, text), (onset, duration, description) in zip(ours, theirs):
            self.assertAlmostEqual(t, onset, places=9)
            self.assertAlmostEqual(d, duration, places=9)
            if texts:
                self.assertEqual(text, description)

    def folder(self):
        path = real("eeg_kinds", "EEG files of other programs")
        if path is None:
            self.skipTest("needs $DEMIX_DATA/eeg_kinds")
        return path


class BrainVision(EegFiles):
    def test_files_of_others(self):
        for name in ("test.vhdr", "test_old_layout_latin1_software_filter.vhdr"):
            raw = self.raw(self.folder() / name)
            ours, info = self.convert(self.folder() / name)
            self.same_values(ours, info, raw)
            self.assertEqual(info["names"], raw.ch_names)
            self.assertEqual(info["rate"], raw.info["sfreq"])
            self.same_events(info, raw)

    def test_positions_are_those_of_mne(self):
        raw = self.raw(self.folder() / "testv2.vhdr")
        _, info = self.convert(self.folder() / "testv2.vhdr")
        for channel, at in zip(raw.info["chs"], info["positions"]):
            place = channel["loc"][:3]
            self.assertEqual(at is None, not place.any() or np.isnan(place).any(), channel["ch_name"])
            if at is not None:
                np.testing.assert_allclose(at, place, atol=1e-9)

    def test_round_trip(self):
        was, before = self.convert(self.folder() / "testv2.vhdr")
        self.convert(self.folder() / "testv2.vhdr", "copy.vhdr")
        now, after = self.convert(self.dir / "copy.vhdr")
        np.testing.assert_array_equal(now, was)
        self.assertEqual(after["names"], before["names"])
        self.assertEqual(after["annotations"], before["annotations"])
        np.testing.assert_allclose([p for p in after["positions"] if p], [p for p in before["positions"] if p],
                                   atol=1e-12)
        self.same_values(now, after, self.raw(self.dir / "copy.vhdr"))

    def test_every_kind_of_numbers(self):
        rng = np.random.default_rng(1)
        for kind, dtype in (("INT_16", "<i2"), ("INT_32", "<i4"), ("IEEE_FLOAT_32", "<f4")):
            for order in ("MULTIPLEXED", "VECTORIZED"):
                X = (rng.normal(size=(3, 50)) * 1000).astype(dtype)
                (self.dir / "x.eeg").write_bytes((X.T if order == "MULTIPLEXED" else X).tobytes())
                (self.dir / "x.vmrk").write_text(
                    "Brain Vision Data Exchange Marker File, Version 1.0\n[Marker Infos]\n")
                (self.dir / "x.vhdr").write_text(
                    "Brain Vision Data Exchange Header File Version 1.0\n[Common Infos]\nDataFile=x.eeg\n"
                    "MarkerFile=x.vmrk\nDataFormat=BINARY\nNumberOfChannels=3\nSamplingInterval=2000\nDataPoints=50\n"
                    f"DataOrientation={order}\n[Binary Infos]\nBinaryFormat={kind}\n[Channel Infos]\n"
                    "Ch1=a\\1b,,0.1\nCh2=Cz,,0.5,mV\nCh3=x,,,V\n")
                ours, info = self.convert(self.dir / "x.vhdr")
                self.same_values(ours, info, self.raw(self.dir / "x.vhdr"))
                self.assertEqual(info["names"], ["a,b", "Cz", "x"])


class Edf(EegFiles):
    def test_files_of_others(self):
        for name in ("chtypes_edf.edf", "test_utf8_annotations.edf", "test_edf_overlapping_annotations.edf",
                     "test_bdf_stim_channel.bdf"):
            with self.subTest(name):
                raw = self.raw(self.folder() / name)
                ours, info = self.convert(self.folder() / name)
                self.assertEqual(info["names"], raw.ch_names)
                if name.endswith("bdf"):  # MNE shows the lowest 17 bits of it, as they are
                    status = ours[3].astype(int)
                    np.testing.assert_array_equal(status, ours[3])
                    ours[3] = (status & (2**17 - 1)) * 1e6
                    info["units"][3] = "uV"
                self.same_values(ours, info, raw)
                self.same_events(info, raw)
                if name.endswith("bdf"):
                    self.convert(self.folder() / name, "copy.bdf")
                    copy, _ = self.convert(self.dir / "copy.bdf")
                    np.testing.assert_array_equal(copy[3], status)

    def test_types(self):
        seen = json.loads(self.ok("info", self.folder() / "chtypes_edf.edf", "--json").stdout)
        raw = self.raw(self.folder() / "chtypes_edf.edf", infer_types=True)
        types = [c["type"] for c in seen["channel"]]
        self.assertEqual(len(types), len(raw.ch_names))
        for ours, theirs, name in zip(types, raw.get_channel_types(), seen["channel"]):
            if theirs in ("eog", "ecg", "emg"):
                self.assertEqual(ours, theirs, name)
        self.assertGreater(len(set(types)), 2)


class Gdf(EegFiles):
    def test_file_of_others(self):
        raw = self.raw(self.folder() / "test_1ch.gdf")
        ours, info = self.convert(self.folder() / "test_1ch.gdf")
        self.same_values(ours, info, raw, np.finfo(np.float32).eps)  # which MNE computes in, as it is stored
        self.assertEqual(info["names"], raw.ch_names)
        self.same_events(info, raw)


def xdf_streams(path):
    """A plain reader of XDF: {id: (XML, format, [time or None], [values], [(time, offset)])}."""
    data, at, streams = path.read_bytes(), 4, {}

    def length(at):
        width = data[at]
        return int.from_bytes(data[at + 1:at + 1 + width], "little"), at + 1 + width

    while at < len(data):
        size, at = length(at)
        tag, end = struct.unpack_from("<H", data, at)[0], at + size
        number = struct.unpack_from("<I", data, at + 2)[0] if tag in (2, 3, 4) else 0
        if tag == 2:
            xml = ElementTree.fromstring(data[at + 6:end].decode())
            streams[number] = (xml, [], [], [])
        elif tag == 4:
            streams[number][3].append(struct.unpack_from("<dd", data, at + 6))
        elif tag == 3:
            xml, times, values, _ = streams[number]
            kind = {"float32": "f", "double64": "d", "int32": "i", "int16": "h", "int8": "b", "int64": "q"}.get(
                xml.findtext("channel_format"))
            n = int(xml.findtext("channel_count"))
            count, k = length(at + 6)
            for _ in range(count):
                told, k = data[k], k + 1
                times.append(struct.unpack_from("<d", data, k)[0] if told else None)
                k += told
                if kind:
                    values.append(struct.unpack_from(f"<{n}{kind}", data, k))
                    k += struct.calcsize(f"<{n}{kind}")
                else:
                    text, k = length(k)
                    values.append(data[k:k + text].decode())
                    k += text
        at = end
    return streams


class Xdf(EegFiles):
    def test_samples_and_markers(self):
        for name in ("minimal.xdf", "clock_resets.xdf"):
            with self.subTest(name):
                streams = xdf_streams(self.folder() / name)
                ours, info = self.convert(self.folder() / name)
                numbers = [s for s in streams.values() if s[0].findtext("channel_format") != "string" and s[2]]
                theirs = max(numbers, key=lambda s: (s[0].findtext("type") == "EEG", len(s[2][0]), len(s[2])))
                np.testing.assert_array_equal(ours, np.array(theirs[2], float).T)
                self.assertEqual(info["rate"], float(theirs[0].findtext("nominal_srate")))
                marks = [v for s in streams.values() if s[0].findtext("channel_format") == "string" for v in s[2]]
                found = [a["text"] for a in info["annotations"] if a["text"] != "boundary"]
                self.assertEqual(sorted(found), sorted(marks))

    def test_markers_are_at_their_frames_across_a_reset_of_the_clock(self):
        """A stream whose clock runs 0.1 % fast and is set back in the middle; markers by the recorder's clock."""
        def chunk(tag, content):
            return b"\x04" + struct.pack("<IH", len(content) + 2, tag) + content

        def header(number, name, kind, channels, rate, values):
            return chunk(2, struct.pack("<I", number) + (
                f"<info><name>{name}</name><type>{kind}</type><channel_count>{channels}</channel_count><nominal_srate>"
                f"{rate}</nominal_srate><channel_format>{values}</channel_format></info>").encode())

        rate, n = 100, 6000
        true = 1000 + np.arange(n) / rate
        own = np.where(np.arange(n) < n // 2, true * 1.001 + 50, true * 1.001 - 900)  # set back by 950 s
        data = np.random.default_rng(1).integers(-99, 99, size=(n, 2))
        body = b"XDF:" + header(1, "amp", "EEG", 2, rate, "int16") + header(2, "marks", "Markers", 1, 0, "string")
        for t in range(0, n, 500):
            frames = b"".join(b"\x08" + struct.pack("<d2h", own[t + k], *data[t + k]) for k in range(500))
            body += chunk(4, struct.pack("<Idd", 1, own[t], true[t] - own[t]))
            body += chunk(3, struct.pack("<I", 1) + b"\x04" + struct.pack("<I", 500) + frames)
            body += chunk(4, struct.pack("<Idd", 1, own[t + 499], true[t + 499] - own[t + 499]))
        frames = [77, 2400, 3100, 5999]
        for k in frames:
            mark = b"\x08" + struct.pack("<d", true[k]) + b"\x01\x02m%d" % (k % 7)
            body += chunk(3, struct.pack("<I", 2) + b"\x01\x01" + mark)
        (self.dir / "reset.xdf").write_bytes(body)
        ours, info = self.convert(self.dir / "reset.xdf")
        np.testing.assert_array_equal(ours, data.T)
        onsets = [a["onset"] for a in info["annotations"] if a["text"] != "boundary"]
        np.testing.assert_allclose(onsets, np.array(frames) / rate, atol=1.01 / rate)


@needs(h5py, "python3-h5py is not installed")
class Matlab73(EegFiles):
    def test_set_of_others(self):
        with h5py.File(self.folder() / "test_raw_hdf5.set") as f:
            expected = f["EEG/data"][:].T.astype(float)
            names = ["".join(map(chr, f[r[0]][:, 0])) for r in f["EEG/chanlocs/labels"]]
            x = [f[r[0]][0, 0] if "MATLAB_empty" not in f[r[0]].attrs else np.nan for r in f["EEG/chanlocs/X"]]
            latencies = [f[r[0]][0, 0] for r in f["EEG/event/latency"]]
            rate = f["EEG/srate"][0, 0]
        ours, info = self.convert(self.folder() / "test_raw_hdf5.set")
        np.testing.assert_array_equal(ours, expected)
        self.assertEqual((info["names"], info["rate"]), (names, rate))
        np.testing.assert_allclose([a["onset"] for a in info["annotations"]], (np.array(latencies) - 1) / rate)
        nose = [np.nan if p is None else p[1] for p in info["positions"]]
        scale = np.nanmax(np.abs(x)) / np.nanmax(np.abs(nose))
        np.testing.assert_allclose(np.array(nose) * scale, x, rtol=1e-9, atol=1e-12)

    def test_matrices(self):
        X = np.random.default_rng(1).normal(size=(200, 3))
        with h5py.File(self.dir / "x.mat", "w", userblock_size=512) as f:
            f["x"] = X.T
            f["fs"] = np.array([[250.0]])
        ours, info = self.convert(self.dir / "x.mat")
        np.testing.assert_array_equal(ours, X.T)
        self.assertEqual(info["rate"], 250)
        with h5py.File(self.dir / "y.mat", "w") as f:
            f["x"] = X
        np.testing.assert_array_equal(self.convert(self.dir / "y.mat")[0], X.T)


class Desk(EegFiles):
    def test_one_command_each(self):
        """Every kind of file: separate, then apply; the cleaned file has every channel."""
        for name in ("test.vhdr", "test_old_layout_latin1_software_filter.vhdr", "test_raw_chanloc.set",
                     "test_raw_2021.set", "test_epochs_onefile.set", "chtypes_edf.edf",
                     "test_edf_overlapping_annotations.edf", "test_bdf_stim_channel.bdf"):
            with self.subTest(name):
                path = self.folder() / name
                self.ok("separate", path, "-o", self.dir / "out", "--method", "fobi", "--no-report")
                model = json.loads((self.dir / "out" / "model.json").read_text())
                clean = self.dir / ("clean" + path.suffix)
                self.ok("apply", self.dir / "out" / "model.json", path, "--remove", "1", "-o", clean)
                before, info = self.convert(path)
                after, clean_info = self.convert(clean)
                self.assertEqual(after.shape[0], before.shape[0])
                self.assertEqual(clean_info["names"], info["names"])
                for i, channel in enumerate(info["names"]):
                    if channel not in model["names"]:
                        step = np.ptp(before[i]) / 65535  # of EDF
                        np.testing.assert_allclose(after[i], before[i], atol=step, rtol=1e-6)

    def test_kinds_that_are_only_read_come_out_as_one_that_holds_their_rate(self):
        path = self.folder() / "clock_resets.xdf"
        before, info = self.convert(path)
        self.ok("separate", path, "-o", self.dir / "out", "--method", "fobi")
        sources, out = self.convert(self.dir / "out" / "sources.vhdr")
        self.assertEqual((sources.shape, out["rate"]), (before.shape, info["rate"]))
        page = (self.dir / "out" / "report.html").read_text()
        command = re.search(r'id="removal">([^<]*)<', page).group(1).split()
        self.assertEqual(command[-1], "clean.vhdr")
        self.ok(*command[1:-1], self.dir / "clean.vhdr")
        clean, out = self.convert(self.dir / "clean.vhdr")
        self.assertEqual((clean.shape, out["rate"]), (before.shape, info["rate"]))
        self.refused("reads XDF but does not write it; use .vhdr or .set", "apply", self.dir / "out" / "model.json",
                     path, "--remove", "1", "-o", self.dir / "x.xdf")

    def test_a_constant_channel_is_no_components_strongest(self):
        """Fp1 is constant in it; and the table and the weights of the report name the same channels."""
        done = self.ok("separate", self.folder() / "test_raw_chanloc.set", "-o", self.dir / "out", "--method", "fobi")
        self.assertIn("constant: Fp1\n", done.stderr)
        strongest = json.loads((self.dir / "out" / "summary.json").read_text())["strongest_on"]
        self.assertGreater(len(set(strongest)), 10)
        self.assertNotIn("Fp1", strongest)
        page = (self.dir / "out" / "report.html").read_text()
        weights = re.findall(r'weights of source(\d+): [-−\d.e]+ on ([^"]*)"', page)
        self.assertGreater(len(weights), 10)
        for k, channel in weights:
            self.assertEqual(channel, strongest[int(k) - 1], k)

    def test_status_and_eog_are_left_out_unless_picked(self):
        path = self.folder() / "test_bdf_stim_channel.bdf"
        note = self.ok("fit", path, "-o", self.dir / "m.json", "--method", "fobi").stderr
        self.assertIn("1 channel is not learned from: Status (status)", note)
        self.assertEqual(json.loads((self.dir / "m.json").read_text())["names"], ["C3", "C4", "Cz"])
        self.ok("separate", path, "-o", self.dir / "out", "--method", "fobi")
        page = (self.dir / "out" / "report.html").read_text()
        self.assertIn("1 channel is not learned from: Status (status)", page)
        self.assertNotIn("scalp maps", page)  # of three electrodes there are none
        self.ok("fit", path, "-o", self.dir / "m.json", "--method", "fobi", "--pick", "C*", "--exclude", "cz")
        self.assertEqual(json.loads((self.dir / "m.json").read_text())["names"], ["C3", "C4"])
        self.refused("no channel is of the type or name 'P9'", "fit", path, "-o", self.dir / "n.json", "--pick", "P9")


def eeg_with_drift(seed=3, frames=128 * 60, channels=10):
    """Bursts under slow drifts, one flat and one loud channel, an eye blinking, a loud second."""
    rng = np.random.default_rng(seed)
    S = rng.laplace(size=(channels, frames)) * (1 + np.abs(np.sin(np.arange(frames) / 200))) ** 2
    X = (rng.normal(size=(channels, channels)) @ S)
    return X, X + 300 * np.cumsum(rng.normal(size=(channels, frames)), axis=1) / 20


class HalfPrecision(EegFiles):
    def test_every_value(self):
        values = np.arange(65536, dtype="<u2").view("<f2")
        values = values[np.isfinite(values)]
        for kind in ("<f2", ">f2"):
            np.save(self.dir / "x.npy", values.reshape(-1, 2).astype(kind))
            np.testing.assert_array_equal(self.convert(self.dir / "x.npy")[0].T, values.reshape(-1, 2).astype(float))


class Bids(EegFiles):
    def test_tables_beside_the_file(self):
        from recordings import edf_plus
        folder = self.dir / "sub-01" / "eeg"
        folder.mkdir(parents=True)
        digital = np.random.default_rng(1).integers(-30000, 30000, size=(4, 1000))
        edf = folder / "sub-01_task-rest_eeg.edf"
        edf_plus(edf, digital, 100, ["A", "B", "C", "D"], ["uV"] * 4, 3276.7, [(0.5, None, "of the file")])
        (folder / "sub-01_task-rest_channels.tsv").write_text(
            "name\ttype\tunits\tstatus\nA\tEEG\tuV\tgood\nB\tVEOG\tuV\tgood\nC\tEEG\tuV\tbad\nD\tEEG\tuV\tgood\n")
        (folder / "sub-01_task-rest_events.tsv").write_text(
            "onset\tduration\ttrial_type\n1.5\t0.25\tgo\n3\tn/a\tstop\n")
        (folder / "sub-01_electrodes.tsv").write_text("name\tx\ty\tz\nA\t85\t0\t0\nD\t0\t0\t85\nB\tn/a\tn/a\tn/a\n")
        done = self.ok("info", edf, "--json")
        info = json.loads(done.stdout)
        self.assertEqual([c["type"] for c in info["channel"]], ["eeg", "eog", "eeg", "eeg"])
        self.assertEqual([(a["onset"], a["duration"], a["text"]) for a in info["annotations"]],
                         [(1.5, 0.25, "go"), (3, -1, "stop")])
        self.assertIn("calls channels bad", done.stderr)
        self.ok("fit", edf, "-o", self.dir / "m.json", "--method", "fobi")
        self.assertEqual(json.loads((self.dir / "m.json").read_text())["names"], ["A", "C", "D"])
        (folder / "sub-01_electrodes.tsv").write_text("name\tx\ty\nA\t85\t0\n")
        self.assertIn("has no column z; its positions are not used", self.ok("info", edf).stderr)


class BeforeTheFit(EegFiles):
    def write(self, X, names, rate=128):
        path = self.dir / "x.vhdr"
        X.T.astype("<f4").tofile(self.dir / "x.eeg")
        path.write_text("Brain Vision Data Exchange Header File Version 1.0\n[Common Infos]\nDataFile=x.eeg\n"
                        f"DataFormat=BINARY\nNumberOfChannels={len(X)}\nSamplingInterval={1e6 / rate}\n"
                        "DataOrientation=MULTIPLEXED\n[Binary Infos]\nBinaryFormat=IEEE_FLOAT_32\n[Channel Infos]\n"
                        + "".join(f"Ch{k + 1}={n},,1,µV\n" for k, n in enumerate(names)))
        return path

    def model(self):
        return json.loads((self.dir / "m.json").read_text())

    def test_filters_are_for_the_fit_only(self):
        from scipy import signal
        clean, X = eeg_with_drift()
        path = self.write(X, [f"E{k}" for k in range(10)])
        self.ok("fit", path, "-o", self.dir / "m.json", "--method", "fobi", "--highpass", "2")
        m = self.model()
        X32 = X.astype("f4").astype(float)
        np.testing.assert_allclose(m["mean"], X32.mean(axis=1), rtol=1e-9, atol=1e-9)
        self.assertEqual(m["options"]["highpass"], "2")
        # The sources of the filtered recording are white; those of the recording as it is are what apply gives.
        filtered = signal.sosfiltfilt(signal.butter(4, 2, "highpass", fs=128, output="sos"), X32, axis=1, padlen=15)
        W = np.array(m["unmixing"])
        np.testing.assert_allclose(np.cov(W @ filtered), np.eye(10), atol=1e-3)
        self.ok("apply", self.dir / "m.json", path, "-o", self.dir / "y.npy")
        np.testing.assert_allclose(np.load(self.dir / "y.npy").T, W @ (X32 - X32.mean(axis=1, keepdims=True)),
                                   atol=1e-6)
        self.ok("separate", path, "-o", self.dir / "out", "--method", "fobi", "--highpass", "2", "--filter-output",
                "--no-report")
        ours, _ = self.convert(self.dir / "out" / "sources.vhdr")
        np.testing.assert_allclose(ours, W @ filtered, atol=1e-4)

    def test_average_reference(self):
        X, _ = eeg_with_drift()
        path = self.write(X, [f"E{k}" for k in range(10)])
        done = self.ok("fit", path, "-o", self.dir / "m.json", "--method", "fobi", "--reference", "average")
        self.assertNotIn("independent signals", done.stderr)  # one less is what the option does
        m = self.model()
        W, A = np.array(m["unmixing"]), np.array(m["mixing"])
        self.assertEqual(W.shape, (9, 10))
        np.testing.assert_allclose(W @ A, np.eye(9), atol=1e-9)
        np.testing.assert_allclose(A.mean(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(W.sum(axis=1), 0, atol=1e-9)

    def test_bad_channels_and_stretches(self):
        X, _ = eeg_with_drift()
        X[3] = 1e-6 * X[3]
        X[7] *= 40
        X[:, 128 * 20:128 * 21] *= 100
        path = self.write(X, [f"E{k}" for k in range(10)])
        note = self.ok("fit", path, "-o", self.dir / "m.json", "--method", "fobi", "--bad-channels", "auto", "--bad",
                       "auto").stderr
        self.assertIn("E3 is not learned from: it is flat", note)
        self.assertIn("E7 is not learned from: it is", note)
        self.assertIn("1 segment with extreme values, 1.0 s in all", note)
        self.assertEqual(len(self.model()["names"]), 8)
        self.assertEqual(self.model()["samples"], 128 * 59)

    def test_decimate(self):
        _, X = eeg_with_drift()
        path = self.write(X, [f"E{k}" for k in range(10)])
        self.ok("fit", path, "-o", self.dir / "m.json", "--method", "fobi", "--decimate", "4", "--highpass", "1")
        self.assertEqual(self.model()["samples"], 128 * 15)


if __name__ == "__main__":
    unittest.main()
