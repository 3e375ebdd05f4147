"""Arrays without a copy, threads, forks, Ctrl-C."""
import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest
from joblib import Parallel, delayed

import demix

PEAK = """
import sys, warnings
import numpy as np
import demix
warnings.simplefilter("ignore")

def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024

rng = np.random.default_rng(0)
small = rng.laplace(size=(4000, 32))
demix.ICA(method=sys.argv[3]).fit(small)
demix.StreamICA().partial_fit(small)
X = np.empty((400000, 32), dtype=sys.argv[1], order=sys.argv[2])
A = rng.normal(size=(32, 32))
for first in range(0, len(X), 4000):
    X[first:first + 4000] = rng.laplace(size=(4000, 32)) @ A
open("/proc/self/clear_refs", "w").write("5")  # VmHWM from now on
before = peak()
if sys.argv[3] == "stream":
    demix.StreamICA().partial_fit(X)
else:
    demix.ICA(method=sys.argv[3], n_jobs=1).fit(X)
print(peak() - before, X.nbytes)
"""


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("method", ["fastica"])
def test_no_copy(python, kind, order, method):
    # What the diagnosis works with is some 16 MB at 32 channels, however long the recording.
    more, size = map(float, python(PEAK, kind, order, method).split())
    print(f"FIGURE {method} {kind} {order}: {more / 1e6:.1f} MB on top of {size / 1e6:.1f} MB")
    assert more < 20e6 + 0.02 * size


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(1)
    return rng.laplace(size=(30000, 6)) @ rng.normal(size=(6, 6))


def test_strides(mixed):
    X = mixed
    expected = demix.ICA(method="fastica").fit(X)
    wide = np.zeros((len(X), 20))
    wide[:, 3:15:2] = X
    backwards = X[::-1].copy()[::-1]
    tall = np.zeros((2 * len(X), 6))
    tall[::2] = X
    for view in np.asfortranarray(X), wide[:, 3:15:2], backwards, tall[::2], X[:, ::-1].copy()[:, ::-1]:
        ica = demix.ICA(method="fastica").fit(view)
        np.testing.assert_array_equal(ica.components_, expected.components_)
        np.testing.assert_array_equal(ica.transform(view), expected.transform(X))
    # Of other types, byte orders and alignments a copy is made.
    odd = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view("f8").reshape(X.shape)
    for other in X.astype(">f8"), odd, X.tolist():
        np.testing.assert_array_equal(demix.ICA(method="fastica").fit(other).components_, expected.components_)
    floats = demix.ICA(method="fastica").fit(X.astype(np.float16))
    np.testing.assert_allclose(floats.components_, expected.components_, atol=1e-2)


def test_readonly_is_not_written(mixed):
    X = mixed.copy()
    X.flags.writeable = False
    demix.ICA().fit(X).transform(X)
    np.testing.assert_array_equal(X, mixed)


def test_jobs_do_not_matter(mixed):
    one = demix.ICA().fit(mixed)
    for jobs in 2, 3, -1:
        many = demix.ICA(n_jobs=jobs).fit(mixed)
        np.testing.assert_array_equal(many.components_, one.components_)
        np.testing.assert_array_equal(many.transform(mixed), one.transform(mixed))


def arrays():
    rng = np.random.default_rng(5)
    return [rng.laplace(size=(60000, 8)) @ rng.normal(size=(8, 8)) for _ in range(4)]


def components(X):
    return demix.ICA(method="fastica", n_jobs=2).fit(X).components_


def test_threads_at_once():
    Xs = arrays()
    expected = [components(X) for X in Xs]
    found = [None] * len(Xs)

    def work(k):
        found[k] = components(Xs[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(Xs))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a, b)


def test_one_stream_from_many_threads():
    X = arrays()[0]
    live = demix.StreamICA().partial_fit(X[:100])
    threads = [threading.Thread(target=lambda: [live.partial_fit(X[k:k + 50]) for k in range(0, 20000, 50)])
               for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert live.n_frames_seen_ == 100 + 4 * 20000


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib(backend):
    Xs = arrays()
    expected = [components(X) for X in Xs]
    found = Parallel(n_jobs=2, backend=backend)(delayed(components)(X) for X in Xs)
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a, b)


def test_fork_after_a_fit():
    Xs = arrays()
    expected = [components(X) for X in Xs]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for a, b in zip(pool.map(components, Xs), expected):
            np.testing.assert_array_equal(a, b)


def test_gil_is_free():
    X = np.concatenate(arrays() * 4)
    counted = 0
    done = threading.Event()

    def fit():
        components(X)
        done.set()

    thread = threading.Thread(target=fit)
    thread.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    thread.join()
    assert counted > 5


@pytest.mark.parametrize("what", ["fit", "stream", "network", "transform"])
def test_interrupt(what):
    X = np.concatenate(arrays() * 10)
    calls = {
        "fit": lambda: demix.ICA(method="fastica", stability=100).fit(X),
        "stream": lambda: [demix.StreamICA().partial_fit(X) for _ in range(20)],
        "network": lambda: demix.NaturalNetwork(8).process(X),
        "transform": lambda: [demix.Model(np.eye(8)).apply(X) for _ in range(200)],
    }
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        calls[what]()
        pytest.fail("it was over before it was interrupted")
    assert time.monotonic() - start < 2


def test_progress():
    shares = []
    demix.ICA(method="fastica", progress=shares.append).fit(np.concatenate(arrays()))
    assert shares and all(0 <= s <= 1 for s in shares) and shares == sorted(shares)

    def stop(share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        demix.ICA(method="fastica", progress=stop, n_jobs=2).fit(np.concatenate(arrays()))
    demix.ICA(method="fastica", progress=True).fit(arrays()[0])
