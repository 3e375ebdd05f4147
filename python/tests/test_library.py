"""Models, files, metrics, sources, functions."""
import copy
import importlib
import inspect
import json
import os
import pickle
import re

import numpy as np
import pytest
import sklearn.decomposition

import demix

pytestmark = pytest.mark.filterwarnings("ignore::demix.DemixWarning")


@pytest.fixture(scope="module")
def mixture():
    return demix.make_scenario(4, 20000, random_state=1)


def test_model_is_the_programs_byte_for_byte(mixture, program, tmp_path):
    S, A, X = mixture
    np.save(tmp_path / "x.npy", X)
    for method in "auto", "fastica", "jade":
        program("fit", tmp_path / "x.npy", "--method", method, "-o", tmp_path / "m.json")
        text = (tmp_path / "m.json").read_bytes()
        model = demix.Model.load(tmp_path / "m.json")
        model.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == text == model.to_json().encode()
        ours = demix.ICA(method=method).fit(X).model_
        assert ours.to_json().encode() == text
    assert pickle.loads(pickle.dumps(model)) == model == copy.deepcopy(model) == demix.Model.from_json(model.to_json())
    program("apply", tmp_path / "m.json", tmp_path / "x.npy", "-o", tmp_path / "s.npy")
    np.testing.assert_array_equal(model.apply(X), np.load(tmp_path / "s.npy"))
    program("apply", tmp_path / "m.json", tmp_path / "x.npy", "--remove", "2", "-o", tmp_path / "r.npy")
    np.testing.assert_array_equal(model.remove(X, 1), np.load(tmp_path / "r.npy"))


def test_model(mixture):
    _, A, X = mixture
    model = demix.Model(np.linalg.inv(A), names=["a", "b", "c"])
    np.testing.assert_allclose(model.mixing, A)
    assert model.names == ["a", "b", "c"] and model.kurtosis.shape == (3,)
    np.testing.assert_allclose(model.invert(model.apply(X)), X, atol=1e-12)
    np.testing.assert_allclose(model.remove(X, [0, 1, 2]), 0, atol=1e-9)
    assert model.apply(X.astype(np.float32)).dtype == np.float32
    assert "3 components of 3 channels" in repr(model)


def test_read(mixture, program, tmp_path):
    X = mixture[2]
    np.save(tmp_path / "x.npy", X)
    np.testing.assert_array_equal(demix.read(tmp_path / "x.npy").data, X)
    X.astype("<f4").tofile(tmp_path / "x.f32")
    np.testing.assert_array_equal(demix.read(str(tmp_path / "x.f32"), channels=3).data, X.astype("f4"))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    text = demix.read(tmp_path / "x.csv", rate=100)
    np.testing.assert_array_equal(text.data, X)
    assert text.names == ["a", "b", "c"] and text.rate == 100 and "3 channels, 100 Hz" in repr(text)
    two = demix.read(tmp_path / "x.npy", tmp_path / "x.csv")
    assert two.data.shape == (20000, 6)
    with pytest.raises(demix.FileError, match="no such|cannot"):
        demix.read(tmp_path / "none.npy")
    (tmp_path / "bad.wav").write_bytes(b"nothing")
    with pytest.raises(OSError) as e:
        demix.read(tmp_path / "bad.wav")
    assert isinstance(e.value, ValueError) and "bad.wav" in str(e.value) and "\n" not in str(e.value)


def test_separates_files_as_the_program(mixture, program, tmp_path):
    X = mixture[2] / np.abs(mixture[2]).max()
    np.save(tmp_path / "x.npy", X)
    program("separate", tmp_path / "x.npy", "-o", tmp_path / "theirs")
    shares = []
    out = demix.separate_files(tmp_path / "x.npy", tmp_path / "ours", progress=shares.append)
    for name in "sources.npy", "model.json":
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()
    assert out.sources == [tmp_path / "ours" / "sources.npy"] and out.report_file.exists()
    assert out.summary["method"] == out.model.method and len(out.strongest_on) == 3
    np.testing.assert_array_equal(out.model.apply(X), np.load(out.sources[0]))
    clean, = demix.apply_to_files(out.model, tmp_path / "x.npy", tmp_path / "clean.npy", remove=0)
    np.testing.assert_array_equal(np.load(clean), out.model.remove(X, 0))
    with pytest.raises(ValueError, match="x.npy"):
        demix.apply_to_files(out.model_file, tmp_path / "x.npy", tmp_path / "x.npy")
    with pytest.raises(ValueError, match="none.npy"):
        demix.separate_files(tmp_path / "none.npy", tmp_path / "more")
    assert not (tmp_path / "more").exists()


def test_files_with_options_as_the_program(mixture, program, tmp_path):
    X = mixture[2]
    X = np.hstack([X, np.random.default_rng(0).laplace(size=(len(X), 1))])
    lines = ["time;a;b;c;d"] + [";".join(f"{v:.6f}".replace(".", ",") for v in (k / 100, *row))
                                for k, row in enumerate(X[:6000])]
    for k, part in enumerate([lines[:3001], lines[:1] + lines[3001:]]):
        (tmp_path / f"{k}.csv").write_text("\n".join(part))
    parts = [tmp_path / "0.csv", tmp_path / "1.csv"]
    program("separate", *parts, "--join", "frames", "--exclude", "d", "--bad", "1-2.5", "--highpass", 1,
            "--method", "fastica", "-o", tmp_path / "theirs")
    out = demix.separate_files(parts, tmp_path / "ours", join="frames", exclude="d", bad=[(1, 2.5)], highpass=1,
                               method="fastica")
    for name in "sources.csv", "model.json":
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()
    assert out.model.names == ["a", "b", "c"] and out.model.suggestions == []
    read = demix.read(*parts, join="frames")
    assert read.data.shape == (6000, 4) and demix.read(parts[0], time_column=0, rate=1).data.shape == (3000, 5)


def test_suggestions(tmp_path):
    text = demix.Model(np.eye(2)).to_json()
    assert demix.Model.from_json(text).suggestions == []


def test_reads_real_files(data):
    if data is None:
        return print("NOTE no $DEMIX_DATA: test_read has generated files")
    eeg = demix.read(data / "eeg_eeglab" / "eeglab_data.edf")
    assert eeg.data.shape == (30464, 32) and eeg.rate == 128 and eeg.names[0] == "FPz"


def test_metrics(mixture):
    S, A, X = mixture
    P = np.diag([2.0, -3, 1])[[1, 2, 0]]
    assert demix.amari(P) == demix.md(P) == 0
    assert demix.amari(np.linalg.inv(A), A) == pytest.approx(0, abs=1e-12)
    assert demix.mse(S, -S[:, ::-1]) == pytest.approx(0, abs=1e-12)
    noisy = S + 0.1 * np.roll(S, 1, axis=1)
    np.testing.assert_allclose(demix.sir(S, noisy), 20, atol=1)
    assert list(demix.bss_eval(S, noisy[:, [2, 0, 1]])["output"]) == [1, 2, 0]
    # Sources are independent: unmixing takes out what the mixing put in; of them nothing can be taken.
    mir = demix.mutual_information_reduction(np.linalg.inv(A), X)
    assert mir == pytest.approx(-demix.mutual_information_reduction(A, S), rel=1e-6) and mir > 0.5
    assert demix.mutual_information_reduction(np.diag([3.0, 0.1, -2]), X) == pytest.approx(0, abs=1e-6)


def test_sources():
    S = demix.make_sources(["laplace", "uniform", "square"], 100000, random_state=5)
    np.testing.assert_allclose(S.var(axis=0), 1, rtol=0.05)
    np.testing.assert_allclose((S**4).mean(axis=0), [6, 1.8, 1], rtol=0.1)
    assert set(demix.source_names()) >= {"laplace", "uniform", "square"}
    np.testing.assert_allclose(np.linalg.cond(demix.make_mixing(5, condition=7)), 7)
    S, A, X = demix.make_scenario(1, 1000)
    np.testing.assert_allclose(X, S @ A.T)
    np.testing.assert_allclose(np.cov(X.T, bias=True), np.eye(3), atol=1e-3)
    np.testing.assert_array_equal(X, demix.make_scenario(1, 1000).mixtures)


@pytest.mark.parametrize("whiten", ["unit-variance", "arbitrary-variance", False])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_fastica_as_scikit_learns(mixture, whiten, fun):
    S, A, X = mixture
    if whiten is False:
        X = (X - X.mean(axis=0)) @ np.linalg.cholesky(np.linalg.inv(np.cov(X.T, bias=True)))
    K, W, Y, *more = demix.fastica(X, whiten=whiten, fun=fun, return_X_mean=True, return_n_iter=True)
    K1, W1, Y1, *more1 = sklearn.decomposition.fastica(X, whiten=whiten, fun=fun, return_X_mean=True,
                                                       return_n_iter=True, random_state=0, tol=1e-10, max_iter=1000)
    assert len(more) == len(more1) == 2 and more[1] >= 1
    if whiten is False:
        assert K is None is K1
        np.testing.assert_allclose(Y, X @ W.T, atol=1e-9)
    else:
        assert K.shape == K1.shape
        np.testing.assert_allclose(np.abs(K), np.abs(K1), rtol=1e-6, atol=1e-6 * np.abs(K1).max())
        np.testing.assert_allclose(Y, (X - X.mean(axis=0)) @ (W @ K).T, atol=1e-9)
        np.testing.assert_allclose(W @ W.T, W1 @ W1.T, rtol=1e-6, atol=1e-6 * (W1**2).sum())
    np.testing.assert_allclose(Y.var(axis=0), Y1.var(axis=0), rtol=1e-6)
    match = np.abs(np.corrcoef(Y.T, Y1.T)[:3, 3:]).max(axis=0)
    np.testing.assert_allclose(match, 1, atol=1e-5)


def test_functions_more(mixture):
    S, A, X = mixture
    K, W, Y = demix.fastica(X, 2, algorithm="deflation", compute_sources=False)
    assert K.shape == (2, 3) and Y is None
    K, W, _ = demix.fastica(X)
    again = demix.fastica(X, w_init=W, return_n_iter=True)
    assert again[-1] <= 3
    for ortho in True, False:
        K, W, Y, mean, n = demix.picard(X.T, ortho=ortho, return_X_mean=True, return_n_iter=True)
        assert Y.shape == (3, len(X)) and demix.mse(S, Y.T) < 1e-3
        np.testing.assert_allclose(Y, W @ K @ (X.T - mean[:, None]), atol=1e-9)
    K, W, Y = demix.picard(X.T, whiten=False, ortho=False)
    assert K is None and demix.amari(W, A) < 0.01
    np.testing.assert_allclose(Y, W @ (X - X.mean(axis=0)).T, atol=1e-9)
    K, W, Y, mean = demix.picard(X.T + 5, centering=False, return_X_mean=True)
    np.testing.assert_allclose(Y, W @ K @ (X.T + 5), atol=1e-9)
    assert not mean.any()
    with pytest.raises(ValueError, match="expected white data"):
        demix.picard(X.T, whiten=False)
    white = demix.picard(X.T)[2]
    K, W, Y = demix.picard(white, whiten=False)
    np.testing.assert_allclose(W @ W.T, np.eye(3), atol=1e-9)


def documented(name, function):
    """The docstring names every parameter, and what is returned."""
    text = function.__doc__ or ""
    assert len(text) > 20, name
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters if p not in ("self", "cls")]
    if parameters:
        assert re.search(r"\n *Parameters\n *-+\n", text), name
    for parameter in parameters:
        assert re.search(rf"\n[ \w*,]*\b{parameter}\b", text), f"{name}: {parameter}"
    if re.search(r"^ +return \w", inspect.getsource(function), re.M):
        assert re.search(r"\n *Returns\n *-+\n", text), name


@pytest.mark.parametrize("module", ["demix", "demix.mne", "demix.dask"])
def test_everything_public_has_a_docstring(module):
    module = importlib.import_module(module)
    for name in set(module.__all__) - {"__version__"}:
        thing = getattr(module, name)
        if inspect.isfunction(thing):
            documented(name, thing)
            continue
        assert thing.__doc__ and len(thing.__doc__) > 20, name
        if isinstance(thing, type) and not issubclass(thing, BaseException):
            for member, value in vars(thing).items():
                if not member.startswith("_") and inspect.isfunction(getattr(value, "__func__", value)):
                    documented(f"{name}.{member}", getattr(value, "__func__", value))
