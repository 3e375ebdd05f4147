"""The desk for EEG: positions, maps, suggestions, and the files of EEGLAB and AMICA, beside MNE, SciPy and NumPy."""
import importlib.util
import json
import math
import os
import subprocess
import unittest
from pathlib import Path

import numpy as np

from program import Program, needs
from recordings import DATA, edf_plus

HAS_MNE = importlib.util.find_spec("mne") is not None
if HAS_MNE:
    import mne
    mne.set_log_level("ERROR")

TOOL = os.environ.get("EEG_TOOL")
RATE = 128
NAMES = ("Fp1 Fpz Fp2 F7 F3 Fz F4 F8 FC5 FC1 FC2 FC6 T7 C3 Cz C4 T8 CP5 CP1 CP2 CP6 P7 P3 Pz P4 P8 O1 Oz O2").split()


def tool(*args, **kwargs):
    return subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, check=True, **kwargs).stdout


def positions_of(*args):
    rows = [line.split("\t") for line in tool(*args).splitlines()]
    return {row[0]: np.array(row[1:], float) for row in rows}


def directions(points):
    """From the centre of the sphere that fits them best."""
    left = np.column_stack([2 * points, np.ones(len(points))])
    centre = np.linalg.lstsq(left, (points**2).sum(1), rcond=None)[0][:3]
    return (points - centre) / np.linalg.norm(points - centre, axis=1, keepdims=True)


def sources(seed=3, seconds=60):
    """Blinks, and slow and fast noise of as many kinds as channels."""
    rng = np.random.default_rng(seed)
    t = np.arange(seconds * RATE) / RATE
    S = rng.laplace(size=(len(NAMES), len(t)))
    for k in range(1, len(S)):
        S[k] = np.convolve(S[k], 0.95 ** (np.arange(60) * (0.5 + k / 60)), "same")
        S[k] *= 1 + 0.9 * np.sin(2 * np.pi * t / (7 + k))
    S[0] *= 0.01
    for at in np.arange(2, seconds - 1, 4.3) + rng.uniform(-1, 1, len(np.arange(2, seconds - 1, 4.3))):
        S[0] += np.exp(-0.5 * ((t - at) / 0.08) ** 2)
    return S / S.std(axis=1, keepdims=True)


def recording(folder):
    """An EDF file whose first source is blinks; the EOG sees them. Returns the file and what was mixed."""
    standard = positions_of("standard")
    P = np.array([standard[name] for name in NAMES])
    rng = np.random.default_rng(4)
    S = sources()
    A = np.exp(-np.linalg.norm(P[:, None] - P[None], axis=2) / 0.03) * rng.uniform(5, 10, len(NAMES))
    A[:, 0] = 80 * np.exp(-np.linalg.norm(P - standard["Fpz"], axis=1) / 0.04)
    X = A @ S
    eog = -120 * S[0] + 5 * np.convolve(rng.normal(size=S.shape[1]), np.ones(20) / 4, "same")
    data = np.vstack([X, eog])
    events = [(2 * k + 0.5, None, "target" if k % 3 else "odd") for k in range(29)]
    edf_plus(folder / "eeg.edf", np.round(data / 3276.7 * 32767).astype(int), RATE, [*NAMES, "EOG"],
             ["uV"] * len(data), 3276.7, events)
    return folder / "eeg.edf", A, S


def entropy(y):
    m = int(math.sqrt(len(y)))
    v = np.sort(y)
    return np.log((v[m:] - v[:-m]) * (len(y) + 1) / m).mean()


class Positions(Program):
    @needs(HAS_MNE, "MNE is not installed")
    def test_the_system_is_that_of_mne(self):
        """Theirs is on a measured head; from its middle the directions are alike."""
        ours = positions_of("standard")
        theirs = mne.channels.make_standard_montage("standard_1005").get_positions()["ch_pos"]
        names = [name for name in theirs if name in ours]
        self.assertGreaterEqual(len(names), 335)
        u = directions(np.array([theirs[name] for name in names]))
        v = np.array([ours[name] / np.linalg.norm(ours[name]) for name in names])
        angle = np.degrees(np.arccos(np.clip((u * v).sum(1), -1, 1)))
        self.assertLess(np.median(angle), 6)
        self.assertLess(angle.max(), 22)

    @needs(HAS_MNE, "MNE is not installed")
    def test_files_are_read_as_by_mne(self):
        rng = np.random.default_rng(1)
        points = rng.normal(size=(12, 3))
        points[:, 2] = abs(points[:, 2])
        points *= 0.09 / np.linalg.norm(points, axis=1, keepdims=True)
        names = [f"E{k + 1}" for k in range(12)]
        angle = np.degrees(np.arctan2(points[:, 0], points[:, 1]))
        radius = np.degrees(np.arctan2(np.hypot(points[:, 0], points[:, 1]), points[:, 2])) / 180
        rows = list(zip(names, points))
        (self.dir / "a.locs").write_text("".join(f"{k + 1}\t{angle[k]:.9f} {radius[k]:.9f}\t  {names[k]}\n"
                                                 for k in range(12)))
        (self.dir / "a.sfp").write_text("".join("%s\t%.9f\t%.9f\t%.9f\n" % (n, *(100 * p)) for n, p in rows))
        (self.dir / "a.elc").write_text("# ASA\nReferenceLabel\tavg\nUnitPosition\tmm\n"
                                        "NumberPositions=\t12\nPositions\n"
                                        + "".join("%.6f\t%.6f\t%.6f\n" % tuple(1000 * p) for p in points)
                                        + "Labels\n" + "\n".join(names) + "\n")
        for name in ("a.locs", "a.sfp", "a.elc"):
            with self.subTest(name):
                theirs = mne.channels.read_custom_montage(self.dir / name, head_size=0.09).get_positions()["ch_pos"]
                ours = positions_of("electrodes", self.dir / name)
                self.assertEqual(list(ours), list(theirs))
                for n in names:
                    np.testing.assert_allclose(ours[n] / np.linalg.norm(ours[n]),
                                               theirs[n] / np.linalg.norm(theirs[n]), atol=1e-6)

    def test_bids(self):
        (self.dir / "sub-1_electrodes.tsv").write_text("name\ttype\tx\ty\tz\nA\tcup\t80\t10\t20\n"
                                                       "B\tcup\tn/a\tn/a\tn/a\n"
                                                       "C\tcup\t0\t-70\t50\n")
        system = {"EEGCoordinateSystem": "CTF", "EEGCoordinateUnits": "mm"}
        (self.dir / "sub-1_coordsystem.json").write_text(json.dumps(system))
        found = positions_of("electrodes", self.dir / "sub-1_electrodes.tsv")
        self.assertEqual(list(found), ["A", "C"])
        np.testing.assert_allclose(found["A"], [-0.01, 0.08, 0.02])  # CTF: +x to the nose, +y to the left
        np.testing.assert_allclose(found["C"], [0.07, 0, 0.05])

    def test_what_is_wrong_is_said(self):
        edf, _, _ = recording(self.dir)
        for name, text, part in (("a.loc", "1 0 x Cz\n", "line 1: expected a number, an angle"),
                                 ("a.sfp", "Cz 1 2\n", "line 1: expected x, y and z"),
                                 ("a.elc", "UnitPosition\tinch\n", "line 1: expected m, cm or mm"),
                                 ("electrodes.tsv", "name\tx\ty\n", "line 1: has no column z"),
                                 ("b.loc", "1 0 0.5 Q1\n", "none of its electrodes has the name of a channel"),
                                 ("a.loc", "", "holds no electrodes"), ("a.xyz", "", "not a known file of electrodes")):
            (self.dir / name).write_text(text)
            with self.subTest(name):
                self.refused(part, "fit", edf, "-o", self.dir / "m.json", "--positions", self.dir / name, "-m", "fobi")


class Maps(Program):
    @needs(HAS_MNE, "MNE is not installed")
    def test_are_those_of_mne(self):
        """At the electrodes and between them, to 1e-6 of the largest value."""
        from mne.channels.interpolation import _make_interpolation_matrix
        standard = positions_of("standard")
        P = np.array([standard[name] for name in NAMES])
        rng = np.random.default_rng(5)
        between = rng.normal(size=(500, 3))
        between[:, 2] = abs(between[:, 2])
        to = np.vstack([P, between])
        numbers = "\n".join(" ".join(map(repr, map(float, p))) for p in np.vstack([P, to]))
        ours = np.array([line.split() for line in tool("spline", len(P), input=numbers).splitlines()], float)
        theirs = _make_interpolation_matrix(P, to)
        values = rng.normal(size=(len(P), 20))
        self.assertLess(abs(ours @ values - theirs @ values).max() / abs(values).max(), 1e-6)


class Desk(Program):
    def setUp(self):
        super().setUp()
        self.edf, self.A, self.S = recording(self.dir)

    def fit(self):
        """Of the EEG channels alone."""
        self.ok("fit", self.edf, "-o", self.dir / "m.json", "-m", "picard")
        return json.loads((self.dir / "m.json").read_text())

    def test_the_blinks_are_suggested_and_removed(self):
        out = self.ok("separate", self.edf, "-o", self.dir / "out")
        summary = json.loads((self.dir / "out/summary.json").read_text())
        kinds = {s["component"]: s["kind"] for s in summary["suggestions"]}
        blinks = [k for k, kind in kinds.items() if kind == "blink"]
        self.assertEqual(len(blinks), 1, kinds)
        self.assertEqual(set(kinds.values()), {"blink"})
        reason = summary["suggestions"][0]["reason"]
        self.assertRegex(reason, r"^r = \.9\d with EOG, frontal")
        command = next(line.strip() for line in out.stdout.splitlines() if "demix apply" in line)
        self.assertEqual(command, f"demix apply {self.dir}/out/model.json {self.edf} --remove {blinks[0]} -o clean.edf")
        self.ok(*command.replace("clean.edf", str(self.dir / "a.edf")).split()[1:])
        self.ok("apply", self.dir / "out/model.json", self.edf, "--remove", "blink", "-o", self.dir / "b.edf")
        self.assertEqual((self.dir / "a.edf").read_bytes(), (self.dir / "b.edf").read_bytes())
        self.ok("apply", self.dir / "out/model.json", self.edf, "--remove", "suggested", "-o", self.dir / "c.edf")
        self.assertEqual((self.dir / "a.edf").read_bytes(), (self.dir / "c.edf").read_bytes())
        # What is not suggested is told, and the rest done: a loop over subjects goes on.
        note = self.ok("apply", self.dir / "out/model.json", self.edf, "--remove", "blink,heart", "-o",
                       self.dir / "d.edf")
        self.assertIn("suggests no 'heart': its suggestions are of blink; none is removed", note.stderr)
        self.assertEqual((self.dir / "a.edf").read_bytes(), (self.dir / "d.edf").read_bytes())
        self.ok("apply", self.dir / "out/model.json", self.edf, "--remove", "heart", "-o", self.dir / "e.npy")
        self.ok("apply", self.dir / "out/model.json", self.edf, "--remove", "none", "-o", self.dir / "f.npy")
        self.assertEqual((self.dir / "e.npy").read_bytes(), (self.dir / "f.npy").read_bytes())
        self.refused("suggests no 'hart': its suggestions are of blink; kinds are", "apply",
                     self.dir / "out/model.json", self.edf, "--remove", "hart", "-o", self.dir / "x.edf")
        self.refused("suggests no 'heart'", "apply", self.dir / "out/model.json", self.edf, "--keep", "heart",
                     "-o", self.dir / "x.edf")
        self.refused("has components 1 to", "apply", self.dir / "out/model.json", self.edf, "--remove", "99",
                     "-o", self.dir / "d.edf")

    @needs(HAS_MNE, "MNE is not installed")
    def test_eeglab_gets_the_model_and_the_positions(self):
        import scipy.io
        model = self.fit()
        U, A = np.array(model["unmixing"]), np.array(model["mixing"])
        self.ok("apply", self.dir / "m.json", self.edf, "--remove", "2,3", "-o", self.dir / "x.set")
        kept = [k for k in range(len(U)) if k not in (1, 2)]
        eeg = scipy.io.loadmat(self.dir / "x.set", squeeze_me=True, struct_as_record=False)["EEG"]
        np.testing.assert_allclose(eeg.icaweights @ eeg.icasphere, U[kept], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(eeg.icawinv, A[:, kept], rtol=1e-12)
        names = [c.labels for c in eeg.chanlocs]
        self.assertEqual([names[int(i) - 1] for i in eeg.icachansind], model["names"])
        # All components: what MNE makes of it gives our sources.
        self.ok("apply", self.dir / "m.json", self.edf, "--remove", "none", "-o", self.dir / "all.set")
        self.ok("apply", self.dir / "m.json", self.edf, "-o", self.dir / "s.npy")
        ica = mne.preprocessing.read_ica_eeglab(self.dir / "all.set")
        raw = mne.io.read_raw_eeglab(self.dir / "all.set", preload=True)
        ours = np.load(self.dir / "s.npy").T
        raw.pick(model["names"])
        theirs = ica.get_sources(raw).get_data()
        for y, z in zip(ours, theirs, strict=True):
            self.assertGreater(np.corrcoef(y, z)[0, 1], 1 - 1e-9)
        # And the dataset is a model here.
        self.ok("apply", self.dir / "all.set", self.edf, "-o", self.dir / "again.npy")
        again = np.load(self.dir / "again.npy").T
        np.testing.assert_allclose(again - again.mean(1, keepdims=True), ours - ours.mean(1, keepdims=True), atol=1e-9)

    def test_an_ica_that_does_not_fit_is_left_out(self):
        import scipy.io
        eeg = {"data": np.zeros((2, 5), np.float32) + np.arange(5), "nbchan": 2.0, "pnts": 5.0, "trials": 1.0,
               "srate": 10.0,
               "icaweights": np.ones((2, 3)), "icasphere": np.eye(2), "icachansind": np.array([[1.0, 2]])}
        scipy.io.savemat(self.dir / "x.set", {"EEG": eeg})
        self.assertIn("icaweights and EEG.icasphere do not fit", self.ok("info", self.dir / "x.set").stderr)
        self.refused("holds no ICA", "apply", self.dir / "x.set", self.dir / "x.set", "-o", self.dir / "y.npy")

    @needs(HAS_MNE, "MNE is not installed")
    def test_positions_go_to_eeglab_and_come_back(self):
        import scipy.io
        points = positions_of("standard")
        chanlocs = np.array([(n, 1000 * points[n][1], -1000 * points[n][0], 1000 * points[n][2]) for n in NAMES],
                            dtype=[("labels", object), ("X", object), ("Y", object), ("Z", object)])
        X = self.A @ self.S
        scipy.io.savemat(self.dir / "in.set", {"EEG": {
            "data": X.astype(np.float32), "nbchan": float(len(X)), "pnts": float(X.shape[1]), "trials": 1.0,
            "srate": float(RATE), "xmin": 0.0, "chanlocs": chanlocs, "event": np.zeros((0, 0)),
            "icawinv": np.zeros((0, 0)),
            "icasphere": np.zeros((0, 0)), "icaweights": np.zeros((0, 0)), "icachansind": np.zeros((0, 0)),
            "setname": "x"}})
        self.ok("fit", self.dir / "in.set", "-o", self.dir / "m.json", "-m", "fobi")
        self.ok("apply", self.dir / "m.json", self.dir / "in.set", "--remove", "none", "-o", self.dir / "out.set")
        eeg = scipy.io.loadmat(self.dir / "out.set", squeeze_me=True, struct_as_record=False)["EEG"]
        for c in eeg.chanlocs:
            np.testing.assert_allclose([-c.Y / 1000, c.X / 1000, c.Z / 1000], points[c.labels], atol=1e-9)
            away = np.degrees(np.arctan2(np.hypot(*points[c.labels][:2]), points[c.labels][2])) / 180
            self.assertAlmostEqual(c.radius, away, places=9)
        before = mne.io.read_raw_eeglab(self.dir / "in.set").get_montage().get_positions()["ch_pos"]
        after = mne.io.read_raw_eeglab(self.dir / "out.set").get_montage().get_positions()["ch_pos"]
        for name in NAMES:
            np.testing.assert_allclose(after[name], before[name], atol=1e-9)

    def test_amica_s_folder(self):
        """Read as EEGLAB's loader reads it; likelihoods by SciPy's generalized Gaussian."""
        import scipy.stats
        X = (self.A @ self.S).T
        np.save(self.dir / "x.npy", X)
        self.ok("fit", self.dir / "x.npy", "--rate", RATE, "-o", self.dir / "m.json", "-m", "picard", "--amica",
                self.dir / "amica")
        model = json.loads((self.dir / "m.json").read_text())
        U, mean = np.array(model["unmixing"]), np.array(model["mean"])
        n = len(mean)
        load = {name: np.fromfile(self.dir / "amica" / name) for name in
                ("gm", "W", "S", "mean", "c", "alpha", "mu", "sbeta", "rho", "LL", "LLt")}
        W, S = load["W"].reshape(n, n, order="F"), load["S"].reshape(n, n, order="F")
        np.testing.assert_allclose(W @ S, U, atol=1e-9 * abs(U).max())
        np.testing.assert_array_equal(np.fromfile(self.dir / "amica/comp_list", "<i4"), np.arange(1, n + 1))
        covariance = np.cov(X.T)
        np.testing.assert_allclose(S @ covariance @ S.T, np.eye(n), atol=1e-2)
        Y = (X - load["mean"]) @ (W @ S).T - load["c"]
        log_likelihood = np.linalg.slogdet(W @ S)[1] + scipy.stats.gennorm.logpdf(
            Y, load["rho"], loc=load["mu"], scale=1 / load["sbeta"]).sum(1)
        Lt = load["LLt"].reshape(2, -1, order="F")
        np.testing.assert_allclose(Lt[0], log_likelihood, rtol=1e-9)
        np.testing.assert_allclose(Lt[1], Lt[0])
        self.assertAlmostEqual(load["LL"][0], log_likelihood.mean() / n, places=9)
        kurtosis = scipy.stats.gennorm.stats(load["rho"], moments="k") + 3
        np.testing.assert_allclose(kurtosis, model["kurtosis"], rtol=1e-6)
        # The folder is a model here.
        for name in ("m.json", "amica"):
            self.ok("apply", self.dir / name, self.dir / "x.npy", "--rate", RATE, "-o", self.dir / f"{name}.npy")
        np.testing.assert_allclose(np.load(self.dir / "amica.npy"), np.load(self.dir / "m.json.npy"), atol=1e-8)

    def test_amica_s_folder_is_of_the_channels_that_were_learned_from(self):
        """It does not name them: the recording has an EOG besides, which was left out."""
        self.ok("fit", self.edf, "-o", self.dir / "m.json", "-m", "fobi", "--amica", self.dir / "amica")
        for name in ("m.json", "amica"):
            self.ok("apply", self.dir / name, self.edf, "-o", self.dir / f"{name}.npy")
            self.ok("apply", self.dir / name, self.edf, "--remove", "2", "-o", self.dir / f"{name}-clean.npy")
        for end in (".npy", "-clean.npy"):
            ours, theirs = (np.load(self.dir / (name + end)) for name in ("m.json", "amica"))
            np.testing.assert_allclose(theirs, ours, atol=1e-8 * abs(ours).max())
        scores = [json.loads(self.ok("score", "--recording", self.edf, "--model", self.dir / name, "--json").stdout)
                  ["mutual_information_reduction"] for name in ("m.json", "amica")]
        self.assertAlmostEqual(scores[0], scores[1], places=6)

    def test_models_of_fewer_components_than_channels_are_scored_on_what_they_span(self):
        self.ok("fit", self.edf, "-o", self.dir / "m.json", "-m", "fobi", "--reference", "average")
        done = self.ok("score", "--recording", self.edf, "--model", self.dir / "m.json")
        self.assertIn(f"of the {len(NAMES) - 1} principal components of what the model spans", done.stdout)
        U = np.array(json.loads((self.dir / "m.json").read_text())["unmixing"])
        self.ok("apply", self.dir / "m.json", self.edf, "--remove", "none", "-o", self.dir / "x.npy")
        X = np.load(self.dir / "x.npy").T[:len(NAMES)]
        X -= X.mean(axis=0)  # the average reference, which has as many dimensions as there are components
        V = np.linalg.svd(X - X.mean(axis=1, keepdims=True), full_matrices=False)[0][:, :len(U)]
        Z, W = V.T @ X, U @ V
        expected = sum(map(entropy, Z)) - sum(map(entropy, W @ Z)) + np.linalg.slogdet(W)[1]
        done = self.ok("score", "--recording", self.edf, "--model", self.dir / "m.json", "--json")
        self.assertAlmostEqual(json.loads(done.stdout)["mutual_information_reduction"], expected, places=4)

    def test_amica_with_models_and_centres(self):
        """Two models, of which the second is likelier, fewer components than channels, and c."""
        rng = np.random.default_rng(8)
        k, n = 3, 5
        W, S = rng.normal(size=(2, k, k)), rng.normal(size=(n, n))
        mean, c = rng.normal(size=n), rng.normal(size=(2, k))
        folder = self.dir / "amica"
        folder.mkdir()
        for name, value in (("gm", [0.3, 0.7]), ("W", np.stack(W, -1).ravel("F")), ("S", S.ravel("F")), ("mean", mean),
                            ("c", c.T.ravel("F"))):
            np.asarray(value, float).tofile(folder / name)
        X = rng.normal(size=(200, n))
        np.save(self.dir / "x.npy", X)
        self.ok("apply", folder, self.dir / "x.npy", "-o", self.dir / "y.npy")
        expected = (X - mean) @ S[:k].T @ W[1].T - c[1] @ W[1].T
        np.testing.assert_allclose(np.load(self.dir / "y.npy"), expected, atol=1e-9)
        (folder / "S").write_bytes(b"\0" * 12)
        self.refused("is not whole doubles", "apply", folder, self.dir / "x.npy", "-o", self.dir / "z.npy")

    def test_models_are_scored_without_a_truth(self):
        X = (self.A @ self.S).T
        np.save(self.dir / "x.npy", X)
        scores = {}
        for method in ("picard", "fobi"):
            self.ok("fit", self.dir / "x.npy", "--rate", RATE, "-o", self.dir / f"{method}.json", "-m", method)
            text = self.ok("score", "--recording", self.dir / "x.npy", "--rate", RATE, "--model",
                           self.dir / f"{method}.json", "--json").stdout
            scores[method] = json.loads(text)
        U = np.array(json.loads((self.dir / "picard.json").read_text())["unmixing"])

        expected = (sum(map(entropy, X.T)) - sum(map(entropy, (X @ U.T).T)) + np.linalg.slogdet(U)[1])
        self.assertAlmostEqual(scores["picard"]["mutual_information_reduction"], expected, places=4)
        self.assertAlmostEqual(scores["picard"]["kbit_per_s"], expected / math.log(2) * RATE / 1000, places=4)
        self.assertGreater(expected, scores["fobi"]["mutual_information_reduction"])
        self.refused("--recording needs --model", "score", "--recording", self.dir / "x.npy", code=2)
        self.refused("--truth is required", "score", self.dir / "x.npy", code=2)


@needs(DATA and (DATA / "eeg_eeglab").exists(), "no EEG in $DEMIX_DATA")
class Recorded(Program):
    """EEGLAB's recording: 32 channels, of which two are of the eyes."""

    def test_the_blink_component_is_named_and_no_other(self):
        for more in ((), ("--positions", DATA / "eeg_eeglab/eeglab_chan32.locs")):
            self.ok("separate", DATA / "eeg_eeglab/eeglab_data.edf", "--highpass", 1, "-o", self.dir / "out", *more)
            summary = json.loads((self.dir / "out/summary.json").read_text())
            self.assertEqual([s["kind"] for s in summary["suggestions"]], ["blink"])
            self.assertIn("EOG1", summary["suggestions"][0]["reason"])
            blink = summary["suggestions"][0]["component"]
            self.assertEqual(summary["strongest_on"][blink - 1], "FPz")


if __name__ == "__main__":
    unittest.main()
