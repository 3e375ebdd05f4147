"""What `demix stream` learns from: some of the channels, and filtered frames. Beside SciPy."""
import json
import subprocess
import unittest
from pathlib import Path

import numpy as np
from scipy import signal

from program import needs
from recordings import DATA, edf_plus
from streams import DEMIX, StreamTest, run

RATE = 128
NAMES = ["Fp1", "Fz", "Cz", "Pz", "EOG", "Status"]


def drifting(seconds=60, seed=1):
    """Four channels of EEG that drift, an EOG, and a channel of status; microvolts, frames x channels."""
    rng = np.random.default_rng(seed)
    n = seconds * RATE
    t = np.arange(n) / RATE
    S = np.array([rng.laplace(size=n), rng.laplace(size=n), np.sign(rng.normal(size=n)), rng.uniform(-1, 1, n)])
    X = 20 * (rng.normal(size=(4, 4)) @ S) + 300 * np.sin(2 * np.pi * .05 * t + np.arange(4)[:, None])
    return np.vstack([X, 100 * rng.laplace(size=n), np.round(4 * rng.random(n))]).T


def amari(P):
    P = abs(P)
    rows, columns = (P / P.max(1, keepdims=True)).sum() - len(P), (P / P.max(0, keepdims=True)).sum() - len(P)
    return (rows + columns) / (2 * len(P) * (len(P) - 1))


class StreamChannels(StreamTest):
    def setUp(self):
        super().setUp()
        self.X = drifting()
        np.savetxt(self.path("x.csv"), self.X, delimiter=",", header=",".join(NAMES), comments="", fmt="%.10g")
        self.X = np.loadtxt(self.path("x.csv"), delimiter=",", skiprows=1)

    def stream(self, *args, name="x.csv"):
        done = run(self.path(name), *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.decode()

    def refused(self, words, *args):
        done = run(self.path("x.csv"), "-o", self.path("no.f64"), *args)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(words, done.stderr.decode())
        self.assertFalse(Path(self.path("no.f64")).exists())

    def frames(self, name, columns):
        return np.fromfile(self.path(name)).reshape(-1, columns)

    def model(self, name):
        return json.loads(Path(self.path(name)).read_text())

    def test_picked_channels_are_a_stream_of_their_own(self):
        note = self.stream("--pick", "eeg,Pz", "--exclude", "Fz", "-o", self.path("some.f64"), "--model",
                           self.path("some.json"))
        self.assertIn("3 channels are not learned from: Fz (eeg), EOG (eog), Status (status)", note)
        self.assertEqual(self.model("some.json")["names"], ["Fp1", "Cz", "Pz"])
        self.X[:, [0, 2, 3]].tofile(self.path("alone.f64"))
        self.stream("--channels", 3, "-o", self.path("y.f64"), name="alone.f64")
        self.assertEqual(Path(self.path("y.f64")).read_bytes(), Path(self.path("some.f64")).read_bytes())

    def test_other_channels_pass_through(self):
        self.stream("--pick", "*z", "--remove", 1, "-o", self.path("clean.f64"))
        clean = self.frames("clean.f64", 6)
        np.testing.assert_array_equal(clean[:, [0, 4, 5]], self.X[:, [0, 4, 5]])
        self.assertGreater(abs(clean - self.X)[-1000:, 1:4].max(), 1)

    def test_files_of_eeg_are_learned_from_as_fit_does(self):
        edf_plus(Path(self.path("x.edf")), np.round(self.X.T / 1000 * 32767).astype(int), RATE, NAMES, ["uV"] * 6,
                 1000, [])
        note = self.stream("-o", self.path("y.f64"), "--model", self.path("m.json"), name="x.edf")
        self.assertIn("2 channels are not learned from: EOG (eog), Status (status)", note)
        self.assertEqual(self.model("m.json")["names"], NAMES[:4])
        # A model of some channels finds them by their names.
        self.stream("--start", self.path("m.json"), "--freeze", "--remove", 2, "-o", self.path("z.f64"), name="x.edf")
        self.assertEqual(self.frames("z.f64", 6).shape, self.X.shape)

    def test_filters_are_of_what_is_learned_from(self):
        options = ("--pick", "eeg,?z", "--rate", RATE, "--highpass", 1, "--lowpass", 50)
        self.stream(*options, "-o", self.path("y.f64"), "--model", self.path("m.json"))
        self.stream(*options, "--filter-output", "-o", self.path("f.f64"), "--model", self.path("f.json"))
        self.assertEqual(self.model("m.json")["unmixing"], self.model("f.json")["unmixing"])
        # SciPy's, begun as if the first frame had been there for ever.
        X = self.X[:, :4]
        sections = np.vstack([signal.butter(4, 1, "highpass", fs=RATE, output="sos"),
                              signal.butter(4, 50, "lowpass", fs=RATE, output="sos")])
        F = np.array([signal.sosfilt(sections, x, zi=signal.sosfilt_zi(sections) * x[0])[0] for x in X.T]).T
        F.tofile(self.path("filtered.f64"))
        self.stream("--channels", 4, "-o", self.path("g.f64"), "--model", self.path("g.json"), name="filtered.f64")
        # Rounding may decide on the order and signs of outputs.
        U, V = (np.array(self.model(name)["unmixing"]) for name in ("m.json", "g.json"))
        same = U @ np.linalg.inv(V)
        np.testing.assert_allclose(same, np.round(same), atol=1e-3)
        np.testing.assert_allclose(self.frames("f.f64", 4)[-1000:],
                                   self.frames("g.f64", 4)[-1000:] @ np.round(same).T, atol=.02)
        # What comes out is of the frames as they are: it drifts, and differs from the filtered by U (x - f) only.
        drift = self.frames("y.f64", 4)[-500:] - self.frames("f.f64", 4)[-500:]
        expected = (X - F)[-500:] @ U.T
        np.testing.assert_allclose(drift - drift.mean(0), expected - expected.mean(0), rtol=.05,
                                   atol=.05 * abs(expected).max())
        self.stream("--pick", "eeg,?z", "-o", self.path("p.f64"), "--model", self.path("p.json"))
        P = np.array(self.model("p.json")["unmixing"])
        A = np.linalg.pinv(V)
        self.assertGreater(amari(P @ A), .05)  # without filters the drift is what it finds

    @needs(DATA is not None, "no recordings: $DEMIX_DATA is not set")
    def test_raw_eeg_beside_picard_of_the_filtered_recording(self):
        """The figures of docs/streams.md."""
        eeg = Path(DATA) / "eeg_eeglab" / "eeglab_data.edf"
        fit = subprocess.run([DEMIX, "fit", eeg, "-o", self.path("p.json"), "--method", "picard", "--highpass", "1"],
                             capture_output=True, timeout=300)
        self.assertEqual(fit.returncode, 0, fit.stderr)
        A = np.linalg.inv(np.array(self.model("p.json")["unmixing"]))
        found = []
        for options in ((), ("--highpass", 1)):
            done = run(eeg, *options, "-o", self.path("y.f32"), "--model", self.path("m.json"))
            self.assertEqual(done.returncode, 0, done.stderr)
            found.append(amari(np.array(self.model("m.json")["unmixing"]) @ A))
        print(f"FIGURE raw EEG, Amari index between a stream and Picard above 1 Hz: {found[0]:.3f}, "
              f"with --highpass 1 {found[1]:.3f}")
        self.assertGreater(found[0], .15)
        self.assertLess(found[1], .1)

    def test_channels_without_some_outputs_are_filtered_too(self):
        options = ("--pick", "eeg,?z", "--rate", RATE, "--highpass", 1)
        self.stream(*options, "--filter-output", "--remove", 1, "-o", self.path("c.f64"))
        clean = self.frames("c.f64", 6)
        np.testing.assert_array_equal(clean[:, 4:], self.X[:, 4:])
        self.assertLess(clean[-1000:, :4].std(), .5 * self.X[-1000:, :4].std())

    def test_states_know_channels_and_filters(self):
        options = ("--pick", "?z,EOG", "--rate", RATE, "--highpass", 1)
        self.stream(*options, "-o", self.path("whole.f64"))
        half = "\n".join(Path(self.path("x.csv")).read_text().split("\n")[:3001]) + "\n"
        Path(self.path("part.csv")).write_text(half)
        self.stream(*options, "-o", self.path("y.f64"), "--state", self.path("s"), name="part.csv")
        for other in (("--pick", "?z,Fp1", *options[2:]), options[:4], (*options[:5], 2)):
            done = run(self.path("x.csv"), *other, "-o", self.path("y.f64"), "--state", self.path("s"))
            self.assertEqual(done.returncode, 1)
            self.assertIn("saved with other options or other channels", done.stderr.decode())
        self.stream(*options, "-o", self.path("y.f64"), "--state", self.path("s"))
        self.assertEqual(Path(self.path("y.f64")).read_bytes(), Path(self.path("whole.f64")).read_bytes())

    def test_what_cannot_be_is_refused(self):
        self.refused("--pick: no channel is of the type or name 'Q9'", "--pick", "Q9")
        self.refused("--highpass, --lowpass, --notch need to know the rate; give --rate", "--highpass", 1)
        self.refused("--highpass: 64 Hz is not between 0 and 64 Hz", "--highpass", 64, "--rate", RATE)
        self.refused("--filter-output goes with", "--filter-output")
        self.refused("only with --learn one-pass", "--highpass", 1, "--rate", RATE, "--learn", "replay")


if __name__ == "__main__":
    unittest.main()
