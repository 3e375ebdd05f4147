"""Dask's arrays: the result of the array in memory, whoever computes, also when some of them are killed."""
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import demix

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
import demix.dask  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
METHODS = ["auto", "fastica", "picard", "fobi", "jade"]
KILLS = int(os.environ.get("KILLS", "10"))


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(1)
    S = rng.laplace(size=(100000, 6))
    S[:, ::2] = rng.uniform(-1, 1, size=S[:, ::2].shape)
    return S @ rng.normal(size=(6, 6)) + rng.normal(size=6)


def workers():
    return distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                                    silence_logs=50)


@pytest.fixture(scope="module")
def cluster():
    with workers() as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


# FastICA's last steps are computed in float (and auto takes it).
ROUNDING = {"auto": 2e-5, "fastica": 2e-5, "picard": 1e-6, "fobi": 1e-9, "jade": 1e-9}


def close(ica, other, rounding):
    np.testing.assert_allclose(ica.components_, other.components_, atol=rounding * np.abs(other.components_).max())


def text(ica):
    return ica.model_.to_json()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("method", METHODS)
def test_to_the_bit_for_whole_chunks(X, method, dtype):
    X = X.astype(dtype)
    in_memory = demix.ICA(method=method).fit(X)
    rows = demix.dask.chunk_multiple(6)
    for chunks, scheduler in [((rows, 6), "threads"), ((3 * rows, 2), "threads"), ((2 * rows, 6), "synchronous")]:
        with dask.config.set(scheduler=scheduler):
            ica = demix.dask.ICA(method=method).fit(da.from_array(X, chunks=chunks))
        assert isinstance(ica, demix.ICA)
        assert text(ica) == text(in_memory), chunks
        np.testing.assert_array_equal(ica.components_, in_memory.components_)


@pytest.mark.parametrize("method", METHODS)
def test_to_rounding_for_any_chunks(X, method):
    in_memory = demix.ICA(method=method).fit(X)
    for chunks in [17000, 999, (3, 50000, 49997)]:
        ica = demix.dask.ICA(method=method).fit(da.from_array(X, chunks=(chunks, 6)))
        close(ica, in_memory, ROUNDING[method])
        np.testing.assert_allclose(ica.kurtosis_, in_memory.kurtosis_, rtol=1e-4)
        assert ica.diagnosis_.expected == pytest.approx(in_memory.diagnosis_.expected, rel=0.01)
        again = demix.dask.ICA(method=method).fit(da.from_array(X, chunks=(chunks, 6)))
        assert text(again) == text(ica)


def test_against_numpy(X):
    ica = demix.dask.ICA(method="fobi").fit(da.from_array(X, chunks=(12345, 6)))
    Y = (X - X.mean(axis=0)) @ ica.components_.T
    np.testing.assert_allclose(np.cov(Y.T, bias=True), np.eye(6), atol=1e-10)
    Cz = (Y.T * (Y ** 2).sum(axis=1)) @ Y / len(Y)
    assert np.abs(Cz - np.diag(np.diag(Cz))).max() < 1e-8


def test_glitches_stability_components_and_whole_numbers(X):
    X = X.copy()
    X[54321] += 1e4
    x = da.from_array(X, chunks=(20000, 6))
    in_memory, ica = demix.ICA().fit(X), demix.dask.ICA().fit(x)
    assert "54322" in str(ica.diagnosis_) and "54322" in str(in_memory.diagnosis_)
    close(ica, in_memory, ROUNDING["auto"])
    options = dict(method="picard", stability=2, n_components=4, order="power", random_state=3)
    in_memory, ica = demix.ICA(**options).fit(X[:50000]), demix.dask.ICA(**options).fit(x[:50000])
    np.testing.assert_allclose(ica.stability_, in_memory.stability_, atol=1e-4)
    close(ica, in_memory, ROUNDING["picard"])
    whole = np.round(100 * X[:50000]).astype("i2")
    in_memory = demix.ICA(method="jade").fit(whole)
    ica = demix.dask.ICA(method="jade").fit(da.from_array(whole, chunks=9000))
    np.testing.assert_allclose(ica.components_, in_memory.components_, atol=1e-8)
    X[:, 3] = 0  # a channel that is switched off
    ica = demix.dask.ICA(method="fobi").fit(da.from_array(X, chunks=20000))
    assert len(ica.components_) == 5


def test_transform_is_lazy(X, cluster):
    x = da.from_array(X.astype("f4"), chunks=(30000, 3))
    ica = demix.dask.ICA(method="fobi").fit(x)
    s = ica.transform(x)
    assert isinstance(s, da.Array) and s.dtype == np.float32 and s.shape == x.shape
    in_memory = ica.transform(X.astype("f4"))
    assert isinstance(in_memory, np.ndarray)
    np.testing.assert_array_equal(s.compute(scheduler="threads"), in_memory)
    np.testing.assert_array_equal(cluster.compute(s).result(), in_memory)
    back = ica.inverse_transform(s)
    np.testing.assert_allclose(back.compute(scheduler="threads"), X, atol=1e-4)
    np.testing.assert_array_equal(ica.remove(x, [0, 2]).compute(scheduler="threads"),
                                  ica.remove(X.astype("f4"), [0, 2]))
    assert ica.fit_transform(x).shape == x.shape
    again = pickle.loads(pickle.dumps(ica))
    np.testing.assert_array_equal(again.transform(x).compute(scheduler="threads"), in_memory)
    few = demix.dask.ICA(2, method="fobi", whiten="arbitrary-variance").fit(x)
    assert few.transform(x).compute(scheduler="threads").shape == (len(X), 2)
    np.testing.assert_allclose(few.components_, demix.ICA(2, method="fobi",
                                                          whiten="arbitrary-variance").fit(X).components_,
                               rtol=1e-4, atol=1e-7)


def test_processes_give_the_same_bits(X, cluster):
    for method in ("picard", "auto"):
        with cluster.as_current():
            ica = demix.dask.ICA(method=method).fit(da.from_array(X, chunks=(demix.dask.chunk_multiple(6), 6)))
        assert text(ica) == text(demix.ICA(method=method).fit(X))


def test_chunks_of_unknown_length(X):
    x = da.from_array(X, chunks=(20000, 6))
    some = x[x[:, 0] > 0]
    ica = demix.dask.ICA(method="jade").fit(some)
    np.testing.assert_allclose(ica.components_, demix.ICA(method="jade").fit(X[X[:, 0] > 0]).components_, atol=1e-8)


def test_misuse(X):
    x = da.from_array(X, chunks=(20000, 6))
    for message, call in [("method: of Dask's arrays expected", lambda: demix.dask.ICA(method="sm-ica").fit(x)),
                          ("method: of Dask's arrays", lambda: demix.dask.ICA(method="sm-ica-offline").fit(x)),
                          ("sample_weight: not with", lambda: demix.dask.ICA().fit(x, sample_weight=np.ones(len(X)))),
                          ("whiten", lambda: demix.dask.ICA(whiten=False).fit(x)),
                          ("expected 2 dimensions", lambda: demix.dask.ICA().fit(x[:, 0])),
                          ("at least 2 features", lambda: demix.dask.ICA().fit(x[:, :1])),
                          ("no samples", lambda: demix.dask.ICA().fit(x[:0])),
                          ("more frames than channels", lambda: demix.dask.ICA().fit(x[:5])),
                          ("expected 6 features", lambda: demix.dask.ICA().fit(x).transform(x[:, :3]))]:
        with pytest.raises(ValueError, match=message):
            call()
    bad = X.copy()
    bad[70001, 2] = np.nan
    with pytest.raises(ValueError, match="value NaN in channel 3, frame 70002"):
        demix.dask.ICA(method="fobi").fit(da.from_array(bad, chunks=(20000, 6)))


def slow(block):
    time.sleep(0.1)
    return block


def test_a_worker_killed_in_the_middle(X):
    """Of two, at random moments: Dask computes again what was lost."""
    rows = demix.dask.chunk_multiple(6)
    expected = text(demix.ICA(method="picard").fit(X))
    rng = np.random.default_rng(2)
    killed = 0
    for _ in range(KILLS):
        with workers() as cluster, distributed.Client(cluster, set_as_default=False) as client:
            pids = list(client.run(os.getpid).values())
            x = da.from_array(X, chunks=(rows, 6)).map_blocks(slow, dtype=X.dtype)
            fits = []

            def fit():
                with client.as_current():
                    fits.append(demix.dask.ICA(method="picard").fit(x))

            thread = threading.Thread(target=fit)
            thread.start()
            time.sleep(rng.uniform(0.2, 1.5))
            assert thread.is_alive()
            os.kill(pids[rng.integers(len(pids))], signal.SIGKILL)
            killed += 1
            thread.join(timeout=120)
            assert fits and text(fits[0]) == expected
    assert killed == KILLS


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
