"""The live estimator: the bits of the stream, whatever the split."""
import pickle

import numpy as np
import pytest
import sklearn.base

import demix


def splits(n, seed):
    rng = np.random.default_rng(seed)
    return np.unique(np.r_[0, rng.integers(0, n, 20), rng.integers(0, n, 5) + 1, n].clip(0, n))


def test_bits_of_the_program(speechlike, program, tmp_path):
    X = speechlike[2]
    X.tofile(tmp_path / "in.f64")
    for extra, options in [([], {}), (["--track", "5000", "--rate", "1"], {"memory": 5000})]:
        program("stream", tmp_path / "in.f64", "-o", tmp_path / "out.f64", "--channels", "8", *extra)
        expected = np.fromfile(tmp_path / "out.f64").reshape(-1, 8)
        np.testing.assert_array_equal(demix.StreamICA(**options).process(X), expected)
        (tmp_path / "out.f64").unlink()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_split_gives_the_same_bits(speechlike, kind, order):
    X = np.asarray(speechlike[2], dtype=kind, order=order)
    whole = demix.StreamICA()
    out = whole.process(X)
    assert out.dtype == kind
    for seed in range(3):
        at = splits(len(X), seed)
        parts = demix.StreamICA()
        learned = demix.StreamICA()
        joined = np.concatenate([parts.process(X[a:b]) for a, b in zip(at, at[1:])])
        for a, b in zip(at, at[1:]):
            learned.partial_fit(X[a:b])
        np.testing.assert_array_equal(joined, out)
        for name in "components_", "mixing_", "mean_":
            np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
            np.testing.assert_array_equal(getattr(learned, name), getattr(whole, name))
        assert parts.state() == whole.state() == learned.state()


def test_state_and_pickle_go_on(speechlike):
    X = speechlike[2]
    whole = demix.StreamICA(memory=5000).partial_fit(X)
    half = demix.StreamICA(memory=5000).partial_fit(X[:12345])
    for again in pickle.loads(pickle.dumps(half)), demix.StreamICA.from_state(half.state()):
        assert again.get_params() == {**half.get_params(), "random_state": again.random_state}
        again.partial_fit(X[12345:])
        assert again.state() == whole.state()
    frozen = demix.StreamICA(start=demix.ICA(method="fobi").fit(X).model_, freeze=True).partial_fit(X[:1000])
    again = demix.StreamICA.from_state(frozen.state())
    assert again.freeze
    copy = sklearn.base.clone(again).partial_fit(X)
    np.testing.assert_array_equal(copy.components_, frozen.components_)
    state = bytearray(half.state())
    state[len(state) // 2] ^= 1
    with pytest.raises(ValueError):
        demix.StreamICA.from_state(bytes(state))


def test_as_good_as_batch(speechlike):
    _, A, X = speechlike
    live = demix.StreamICA().partial_fit(X).finish()
    batch = demix.ICA(method="fastica").fit(X)
    assert demix.amari(live.components_, A) < 1.1 * demix.amari(batch.components_, A)
    status = live.status()
    assert status["frames"] == len(X) == live.n_frames_seen_
    assert status["rank"] == 8 and status["refused"] == 0 and len(live.kurtosis_) == 8
    model = live.model_
    np.testing.assert_allclose(model.unmixing, live.components_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(live.inverse_transform(live.transform(X)), X, atol=1e-6)
    assert live.diagnosis_.expected is not None


def test_what_is_not_known_is_none():
    for X in (np.random.default_rng(1).normal(size=(20, 3)), np.zeros((500, 3))):
        live = demix.StreamICA().partial_fit(X)
        status = live.status()
        assert status["expected_mse"] is None and status["condition"] is None
        assert status["rank"] == 0 and len(status["kurtosis"]) == 0


def test_starts_with_a_model(speechlike):
    X = speechlike[2]
    model = demix.ICA(method="fastica").fit(X[:20000]).model_
    frozen = demix.StreamICA(start=model, freeze=True)
    np.testing.assert_allclose(frozen.process(X), model.apply(X), atol=1e-9)
    with pytest.raises(ValueError):
        demix.StreamICA(start=model).partial_fit(X[:, :5])


def test_frames_that_cannot_be_used(speechlike):
    X = speechlike[2][:2000].copy()
    X[777, 3] = np.nan
    live = demix.StreamICA().partial_fit(X[:500])
    with pytest.warns(demix.RefusedFramesWarning, match="1 of these frames refused"):
        live.partial_fit(X[500:])
    assert live.status()["refused"] == 1
    with pytest.raises(ValueError, match="NaN"):
        demix.StreamICA().fit(X)
    with pytest.raises(ValueError, match="NaN"):
        live.transform(X)
