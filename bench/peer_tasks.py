"""peer_tasks.py TASK ...: what compare-peers measures of scikit-learn, MNE and NumPy, as JSON on stdout. The
environment says how many threads their BLAS has."""
import json
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def timed(work, repeats):
    """Seconds and result of each run."""
    seconds, results = [], []
    for k in range(repeats):
        start = time.perf_counter()
        results.append(work(k))
        seconds.append(time.perf_counter() - start)
    return seconds, results


def sklearn_fastica(file, dtype, tol, repeats):
    """Seconds, iterations and unmixing of each run, each from another start."""
    from sklearn.decomposition import FastICA
    warnings.simplefilter("ignore")
    X = np.load(file).astype(dtype)  # one row per frame
    iterations = []

    def run(seed):
        ica = FastICA(whiten="unit-variance", whiten_solver="eigh", tol=float(tol), max_iter=2000, random_state=seed)
        ica.fit(X)
        iterations.append(int(ica.n_iter_))
        return ica.components_.astype(float).tolist()

    seconds, unmixings = timed(run, int(repeats))
    return {"seconds": seconds, "iterations": iterations, "unmixings": unmixings}


def mne_infomax(file, repeats):
    """Extended Infomax on white data, as mne.preprocessing.ICA runs it; the whitening is timed, too."""
    import mne
    mne.set_log_level("ERROR")
    X = np.load(file)
    X = X - X.mean(axis=0)

    def run(seed):
        values, vectors = np.linalg.eigh(X.T @ X / len(X))
        whitener = (vectors / np.sqrt(values)).T
        return (mne.preprocessing.infomax(X @ whitener.T, extended=True, random_state=seed,
                                          max_iter=500) @ whitener).tolist()

    seconds, unmixings = timed(run, int(repeats))
    return {"seconds": seconds, "unmixings": unmixings}


def numpy_fobi(file, repeats):
    X = np.load(file)

    def run(_):
        mean = X.mean(axis=0)
        Z = X - mean
        values, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
        whitener = (vectors / np.sqrt(values)).T
        H = Z @ whitener.T
        length = np.einsum("ti,ti->t", H, H)
        _, U = np.linalg.eigh((H * length[:, None]).T @ H / len(H))
        return (U.T @ whitener).tolist()

    seconds, unmixings = timed(run, int(repeats))
    return {"seconds": seconds, "unmixings": unmixings}


def gemm_and_copy(rows, frames, repeats):
    """Of a product of rows x rows by rows x frames: multiply-adds per second; and bytes per second that copying, on
    two threads, reads and writes."""
    A = np.random.default_rng(0).standard_normal((int(rows), int(rows)))
    X = np.random.default_rng(1).standard_normal((int(rows), int(frames)))
    Y = np.empty_like(X)
    product, _ = timed(lambda _: np.dot(A, X, out=Y), int(repeats))
    halves = list(zip(np.split(Y.reshape(-1), 2), np.split(X.reshape(-1), 2)))
    with ThreadPoolExecutor(2) as threads:
        copy, _ = timed(lambda _: list(threads.map(lambda half: np.copyto(*half), halves)), int(repeats))
    return {"gemm": int(rows) ** 2 * int(frames) / min(product), "copy": 2 * X.nbytes / min(copy)}


if __name__ == "__main__":
    tasks = [sklearn_fastica, mne_infomax, numpy_fobi, gemm_and_copy]
    print(json.dumps({f.__name__: f for f in tasks}[sys.argv[1]](*sys.argv[2:])))
