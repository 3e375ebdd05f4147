"""scikit-learn's own checks, none left out, and its habits."""
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import demix


@parametrize_with_checks([demix.ICA(), demix.StreamICA()])
def test_estimator(estimator, check):
    check(estimator)


# picard and jade put components of equal kurtosis, as some checks have them, in an order that rounding decides.
@parametrize_with_checks([demix.ICA(method="fastica"), demix.ICA(method="fobi")])
def test_methods(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def mixture():
    return demix.make_scenario(4, 20000)


def test_sources_are_found(mixture):
    S, A, X = mixture
    ica = demix.ICA().fit(X)
    assert demix.amari(ica.components_ @ A) < 0.01
    Y = ica.transform(X)
    assert demix.mse(S, Y) < 1e-3
    np.testing.assert_allclose(Y, (X - ica.mean_) @ ica.components_.T, atol=1e-12)
    np.testing.assert_allclose(ica.inverse_transform(Y), X, atol=1e-12)
    np.testing.assert_allclose(Y.var(axis=0), 1, rtol=1e-4)
    np.testing.assert_allclose(ica.components_ @ ica.mixing_, np.eye(3), atol=1e-12)
    kurtosis = (Y**4).mean(axis=0)
    np.testing.assert_allclose(ica.kurtosis_, kurtosis, rtol=1e-3)
    assert (np.diff(ica.kurtosis_) < 0).all()


@pytest.mark.parametrize("method", ["auto", "fastica", "picard", "jade", "fobi", "sm-ica-offline", "sm-ica", "stream",
                                    "recursive-fobi", "infomax", "orica"])
@pytest.mark.filterwarnings("ignore::demix.DemixWarning")
def test_methods_of_the_table(mixture, method):
    _, A, X = mixture
    online = next(row["online"] for row in demix.methods() if row["name"] == method)
    ica = demix.ICA(method=method, passes=4 if online else 1, shuffle=online).fit(X)
    assert demix.amari(ica.components_ @ A) < 0.1
    assert ica.n_iter_ >= 1
    assert ica.model_.method == ("fastica" if method == "auto" else method)


def test_pipeline_clone_pickle(mixture):
    _, A, X = mixture
    pipe = make_pipeline(StandardScaler(), demix.ICA(2, order="power")).fit(X)
    assert pipe.transform(X).shape == (20000, 2)
    assert list(pipe.get_feature_names_out()) == ["ica0", "ica1"]
    again = pickle.loads(pickle.dumps(pipe))
    np.testing.assert_array_equal(again.transform(X), pipe.transform(X))
    copy = clone(pipe[-1])
    assert copy.get_params() == pipe[-1].get_params()
    with pytest.raises(NotFittedError):
        copy.transform(X)


def test_frames_with_names(mixture):
    pandas = pytest.importorskip("pandas")
    _, _, X = mixture
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    for estimator in demix.ICA(), demix.StreamICA():
        out = estimator.set_output(transform="pandas").fit(frame).transform(frame)
        assert list(out.columns) == [f"{type(estimator).__name__.lower()}{k}" for k in range(3)]
        assert list(estimator.feature_names_in_) == ["a", "b", "c"]
        with pytest.raises(ValueError, match="feature names"):
            estimator.transform(frame[["b", "a", "c"]])
    assert demix.ICA().fit(frame).model_.names == ["a", "b", "c"]


def test_weights_are_counts(mixture):
    _, _, X = mixture
    X = X[:3000]
    w = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = demix.ICA(method="fastica").fit(X, sample_weight=w)
    repeated = demix.ICA(method="fastica").fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="no option sample_weight"):
        demix.ICA(method="sm-ica").fit(X, sample_weight=w)


def test_whiten(mixture):
    S, A, X = mixture
    unit = demix.ICA(method="fastica").fit(X)
    arbitrary = demix.ICA(method="fastica", whiten="arbitrary-variance").fit(X)
    np.testing.assert_allclose(arbitrary.transform(X) * np.sqrt(len(X)), unit.transform(X), atol=1e-12)
    np.testing.assert_allclose(arbitrary.inverse_transform(arbitrary.transform(X)), X, atol=1e-10)
    L = np.linalg.cholesky(np.linalg.inv(np.cov(X.T)))
    white = (X - X.mean(axis=0)) @ L
    rotation = demix.ICA(method="fastica", whiten=False).fit(white)
    np.testing.assert_allclose(rotation.components_ @ rotation.components_.T, np.eye(3), atol=1e-12)
    assert demix.mse(S, rotation.transform(white)) < 1e-3
    with pytest.raises(ValueError, match="expected white data"):
        demix.ICA(method="fastica", whiten=False).fit(X)


def test_warnings_have_classes(mixture):
    _, _, X = mixture
    with pytest.warns(demix.ReducedRankWarning):
        ica = demix.ICA().fit(np.c_[X, X[:, 0]])
    assert ica.components_.shape == (3, 4)
    noise = np.random.default_rng(0).normal(size=(2000, 3))
    with pytest.warns(demix.DemixWarning) as seen:
        demix.ICA(method="fastica").fit(noise)
    assert any(issubclass(w.category, (demix.GaussianWarning, demix.UnresolvedWarning)) for w in seen)
    with pytest.warns(ConvergenceWarning):
        demix.ICA(method="fastica", max_iter=1, tol=1e-12).fit(noise)


def test_diagnosis(mixture):
    S, A, X = mixture
    d = demix.ICA(method="fastica").fit(X).diagnosis_
    assert 0 < d.expected < d.bound < 1e-2
    assert d.pairs.shape == (3, 3) and d.converged and not d.warnings
    assert "crosstalk" in str(d) and "dB" in str(d)


def test_grid_search(mixture):
    _, _, X = mixture
    search = GridSearchCV(demix.ICA(method="fastica"), {"form": ["logcosh", "exp"]}, cv=2,
                          scoring=lambda e, X, y=None: np.abs((e.transform(X)**4).mean(axis=0) - 3).sum())
    assert search.fit(X[:2000]).best_estimator_.form in ("logcosh", "exp")


def test_stability_and_components(mixture):
    _, _, X = mixture
    ica = demix.ICA(method="fastica", stability=3).fit(X)
    assert (ica.stability_ > 0.9).all()
    share = demix.ICA(n_components=0.5).fit(X)
    assert len(share.components_) < 3
