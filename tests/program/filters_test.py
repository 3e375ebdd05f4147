#!/usr/bin/env python3
"""Filters against SciPy's butter, iirnotch and sosfiltfilt."""
import os
import subprocess
import unittest

import numpy as np

from program import Program, needs

try:
    from scipy import signal
except ImportError:
    signal = None


@needs(signal, "python3-scipy is not installed")
class Filters(Program):
    def test_same_as_scipy(self):
        rng = np.random.default_rng(1)
        X = np.cumsum(rng.normal(size=(3, 5000)), axis=1)
        np.save(self.dir / "x.npy", X.T)
        for rate, highpass, lowpass, notch in ((128, 1, 0, 0), (128, 0, 40, 0), (512, 0, 0, 50), (500, 0.5, 45, 60)):
            sos = []
            if highpass:
                sos.append(signal.butter(4, highpass, "highpass", fs=rate, output="sos"))
            if lowpass:
                sos.append(signal.butter(4, lowpass, "lowpass", fs=rate, output="sos"))
            if notch:
                sos.append(signal.tf2sos(*signal.iirnotch(notch, 30, rate)))
            expected = signal.sosfiltfilt(np.vstack(sos), X, axis=1, padlen=3 * (2 * len(np.vstack(sos)) + 1))
            subprocess.run([os.environ["FILTER"], self.dir / "x.npy", self.dir / "y.npy",
                            *map(str, (rate, highpass, lowpass, notch))], check=True, timeout=120)
            got = np.load(self.dir / "y.npy").T
            worst = np.abs(got - expected).max() / np.abs(X).max()
            self.assertLess(worst, 1e-10, (rate, highpass, lowpass, notch))


if __name__ == "__main__":
    unittest.main()
