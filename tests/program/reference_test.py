#!/usr/bin/python3
"""demix against an independent FOBI, FastICA and JADE, written with NumPy and SciPy from their papers."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from scipy import linalg, stats

DEMIX = os.environ["DEMIX"]


def fobi_rotation(X):
    """(samples, channels) -> white components in the order of FOBI's eigenvalues."""
    x = X - X.mean(0)
    h = x @ linalg.fractional_matrix_power(x.T @ x / len(x), -0.5).real
    z = np.linalg.norm(h, axis=1, keepdims=True) * h
    _, U = linalg.eigh(z.T @ z / len(z))
    return h @ U


def fobi(X):
    """(samples, channels) -> components by descending kurtosis, up to sign."""
    y = fobi_rotation(X)
    return y[:, np.argsort(-stats.kurtosis(y, fisher=False))]


def fastica(y):
    """Symmetric FastICA with tanh, from white sources (samples, components) on, until it rests."""
    W = np.eye(y.shape[1])
    for _ in range(2000):
        g = np.tanh(y @ W.T)
        u, _, v = np.linalg.svd(g.T @ y / len(y) - np.diag((1 - g ** 2).mean(0)) @ W)
        last, W = W, u @ v
        if np.abs(1 - np.abs(np.sum(W * last, 1))).max() < 1e-13:
            break
    return y @ W.T


def jade(y, k):
    """(k-)JADE from white sources (samples, components) on: every cumulant matrix on its own, and each pair turned to
    the leading eigenvector of what Cardoso and Souloumiac call G, until it rests."""
    d = y.shape[1]
    E = np.eye(d)
    C = []
    for i in range(d):
        for j in range(d):
            if abs(i - j) < k:
                M = np.outer(E[i], E[j])
                C.append((y * (y[:, i] * y[:, j])[:, None]).T @ y / len(y) - M - M.T - np.trace(M) * E)
    V = np.eye(d)
    turned = True
    while turned:
        turned = False
        for p in range(d):
            for q in range(p + 1, d):
                g = np.array([[c[p, p] - c[q, q], c[p, q] + c[q, p]] for c in C])
                a, b = np.linalg.eigh(g.T @ g)[1][:, -1]
                if a < 0:
                    a, b = -a, -b
                angle = np.arctan2(b, a) / 2
                if abs(angle) > 1e-10:
                    turned = True
                    R = np.eye(d)
                    R[p, p] = R[q, q] = np.cos(angle)
                    R[q, p] = np.sin(angle)
                    R[p, q] = -R[q, p]
                    C = [R.T @ c @ R for c in C]
                    V = V @ R
    return y @ V


class Reference(unittest.TestCase):
    def test_fastica(self):
        rng = np.random.default_rng(3)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            for d, T in ((2, 2000), (6, 20000)):
                S = np.column_stack([rng.laplace(size=T) if k % 2 else rng.uniform(-1, 1, T) for k in range(d)])
                np.save(folder / "x.npy", X := S @ rng.standard_normal((d, d)).T + 3)
                subprocess.run([DEMIX, "separate", folder / "x.npy", "-o", folder / "out", "--method", "fastica"],
                               check=True, capture_output=True)
                Y = np.load(folder / "out" / "sources.npy")
                expected = fastica(fobi(X))
                match = Y.T @ expected / T  # a permutation with signs
                order = np.abs(match).argmax(1)
                self.assertEqual(sorted(order), list(range(d)))
                sign = np.sign(match[np.arange(d), order])
                np.testing.assert_allclose(Y * sign, expected[:, order], atol=2e-2)

    def test_jade(self):
        rng = np.random.default_rng(4)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            for d, T in ((2, 500), (5, 5000), (7, 3000)):
                S = np.column_stack([rng.laplace(size=T) if k % 2 else rng.uniform(-1, 1, T) for k in range(d)])
                np.save(folder / "x.npy", X := S @ rng.standard_normal((d, d)).T + 3)
                for form, k in (("jade", d), ("k-jade", 2)):
                    subprocess.run([DEMIX, "separate", folder / "x.npy", "-o", folder / "out", "--method", "jade",
                                    "--form", form],
                                   check=True, capture_output=True)
                    Y = np.load(folder / "out" / "sources.npy")
                    expected = jade(fobi_rotation(X), k)
                    match = Y.T @ expected / T  # a permutation with signs
                    order = np.abs(match).argmax(1)
                    self.assertEqual(sorted(order), list(range(d)))
                    sign = np.sign(match[np.arange(d), order])
                    np.testing.assert_allclose(Y * sign, expected[:, order], atol=1e-6, err_msg=f"d={d} {form}")

    def test_fobi(self):
        rng = np.random.default_rng(1)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            for d, T in ((2, 500), (5, 20000), (12, 30000)):
                S = np.column_stack([np.sign(u := rng.standard_normal(T)) * np.abs(u) ** p
                                     for p in np.linspace(0.3, 2.0, d)])
                X = S @ rng.standard_normal((d, d)).T + rng.standard_normal(d) * 10
                for dtype, tolerance in ((np.float64, 1e-8), (np.float32, 1e-3)):
                    np.save(folder / "x.npy", X.astype(dtype))
                    subprocess.run([DEMIX, "separate", folder / "x.npy", "-o", folder / "out", "--method", "fobi"],
                                   check=True, capture_output=True)
                    Y = np.load(folder / "out" / "sources.npy")
                    expected = fobi(X.astype(dtype).astype(float))
                    sign = np.sign((Y * expected).sum(0))
                    np.testing.assert_allclose(Y * sign, expected, atol=tolerance, err_msg=f"d={d} {dtype}")

    def test_kurtosis(self):
        rng = np.random.default_rng(2)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            np.save(folder / "x.npy", rng.laplace(size=(4000, 3)) ** [[1, 3, 1]] @ rng.standard_normal((3, 3)))
            subprocess.run([DEMIX, "separate", folder / "x.npy", "-o", folder / "out", "--method", "fobi"], check=True,
                           capture_output=True)
            import json
            model = json.loads((folder / "out" / "model.json").read_text())
            Y = np.load(folder / "out" / "sources.npy")
            np.testing.assert_allclose(model["kurtosis"], stats.kurtosis(Y, fisher=False), rtol=1e-9)


if __name__ == "__main__":
    unittest.main()
