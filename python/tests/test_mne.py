"""MNE's objects: a true ICA, equal to the program."""
import sys

import numpy as np
import pytest

import demix

mne = pytest.importorskip("mne")
import demix.mne  # noqa: E402

mne.set_log_level("error")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def path(data, program, tmp_path_factory):
    """EEG with blinks: a real recording, or a stand-in."""
    if data is not None:
        return data / "eeg_eeglab" / "eeglab_data.edf"
    print("NOTE no $DEMIX_DATA: a generated stand-in for EEG")
    rng = np.random.default_rng(0)
    n, rate = 20000, 128
    S = rng.laplace(size=(n, 16)) + np.sin(np.arange(n)[:, None] * np.linspace(0.1, 0.9, 16))
    S[:, 0] = 30 * np.convolve((rng.random(n) < 0.003).astype(float), np.hanning(40), "same")
    mixing = rng.normal(size=(16, 16))
    mixing[0] = 0.1
    mixing[0, [0, 1, 5]] = 3, 4, 4
    X = S @ mixing
    names = ["FPz", "EOG1", "F3", "Fz", "F4", "EOG2", "FC5", "FC1", "FC2", "FC6", "T7", "C3", "C4", "Cz", "T8", "CP5"]
    out = tmp_path_factory.mktemp("eeg") / "eeg.edf"
    np.savetxt(out.with_suffix(".csv"), X, delimiter=",", header=",".join(names), comments="")
    demix.Model(np.eye(16), names=names).save(out.with_suffix(".json"))  # as good as none, to write an EDF file by
    program("apply", out.with_suffix(".json"), out.with_suffix(".csv"), "--rate", rate, "--keep",
            ",".join(str(k + 1) for k in range(16)), "-o", out)
    return out


@pytest.fixture(scope="module")
def raw(path):
    raw = mne.io.read_raw_edf(path, preload=True)
    raw.set_channel_types({name: "eog" for name in raw.ch_names if name.startswith("EOG")})
    return raw.filter(1, None)


@pytest.fixture(scope="module")
def ica(raw):
    return demix.mne.fit(raw, method="picard")


def test_it_is_mnes(raw, ica, tmp_path):
    assert isinstance(ica, mne.preprocessing.ICA)
    model = ica.demix_model_
    X = raw.get_data(ica.ch_names).T
    np.testing.assert_allclose(ica.get_sources(raw).get_data().T, model.apply(X), atol=1e-9)
    removed = ica.apply(raw.copy(), exclude=[0, 3]).get_data(ica.ch_names).T
    np.testing.assert_allclose(removed, model.remove(X, [0, 3]), atol=1e-12 * np.abs(X).max())
    np.testing.assert_allclose(ica.get_components(), model.mixing / ica.pre_whitener_, atol=1e-9)
    ica.save(tmp_path / "x-ica.fif")
    again = mne.preprocessing.read_ica(tmp_path / "x-ica.fif")
    np.testing.assert_allclose(again.apply(raw.copy(), exclude=[0, 3]).get_data(ica.ch_names).T, removed,
                               atol=1e-9 * np.abs(X).max())
    assert "demix" in repr(again)
    assert ica.copy().n_components_ == ica.n_components_


def test_finds_blinks(raw, ica):
    found, scores = ica.find_bads_eog(raw)
    assert len(found) >= 1
    clean = ica.apply(raw.copy(), exclude=found)
    before, after = (r.get_data("FPz").std() for r in (raw, clean))
    assert after < 0.8 * before
    assert 0 < ica.get_explained_variance_ratio(raw, components=found)["eeg"] <= 1


def test_plots(raw, ica):
    import matplotlib
    matplotlib.use("Agg")
    ica = ica.copy()
    montage = mne.channels.make_standard_montage("standard_1020")
    kept = [name for name in ica.ch_names if name in montage.ch_names]
    part = raw.copy().pick(kept).set_montage(montage)
    placed = demix.mne.fit(part, n_components=6, method="fastica")
    assert placed.plot_components(show=False)
    assert placed.plot_properties(part, picks=[0], show=False)
    assert placed.plot_overlay(part, exclude=[0], show=False)
    assert placed.plot_sources(part, show=False)
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("n_components", [None, 8, 0.9])
def test_average_reference(raw, n_components):
    eeg = raw.copy().pick("eeg").set_eeg_reference("average")
    ica = demix.mne.fit(eeg, n_components=n_components, method="fobi")
    X = eeg.get_data().T
    assert ica.n_components_ < X.shape[1]
    assert ica.pca_components_.shape == (X.shape[1],) * 2
    expected = ica.demix_model_.remove(X, [0, 1])
    np.testing.assert_allclose(ica.apply(eeg.copy(), exclude=[0, 1]).get_data().T, expected,
                               atol=1e-12 * np.abs(X).max())
    other = demix.mne.from_model(ica.demix_model_, eeg.info)
    np.testing.assert_allclose(other.apply(eeg.copy(), exclude=[0, 1]).get_data().T, expected,
                               atol=1e-12 * np.abs(X).max())


def test_equals_the_program(path, program, tmp_path):
    """demix fit and apply --remove 1 on the file, and this, to rounding of the file written."""
    raw = mne.io.read_raw_edf(path, preload=True)
    program("fit", path, "--pick", "all", "--method", "picard", "-o", tmp_path / "m.json")
    program("apply", tmp_path / "m.json", path, "--remove", "1", "-o", tmp_path / "clean.npy")
    unit = np.abs(raw.get_data()).max() / np.abs(demix.read(path).data).max()  # microvolts, if the file says so
    expected = unit * np.load(tmp_path / "clean.npy")
    ica = demix.mne.fit(raw, picks="all", method="picard")
    scale = np.abs(expected).max()
    found = ica.apply(raw.copy(), exclude=[0]).get_data().T
    print(f"FIGURE cleaned by MNE's apply and by the program: differ by {np.abs(found - expected).max() / scale:.1e}")
    np.testing.assert_allclose(found, expected, atol=1e-5 * scale)  # where Picard stops
    taken = demix.mne.from_model(tmp_path / "m.json", raw.info, unit=unit)
    np.testing.assert_allclose(taken.apply(raw.copy(), exclude=[0]).get_data().T, expected, atol=1e-9 * scale)


def test_epochs_annotations_picks(raw):
    marked = raw.copy()
    marked.set_annotations(mne.Annotations([10], [20], ["bad"]))
    some = demix.mne.fit(marked, n_components=5, method="fobi")
    all_ = demix.mne.fit(marked, n_components=5, method="fobi", reject_by_annotation=False)
    assert all_.n_samples_ - some.n_samples_ == pytest.approx(20 * raw.info["sfreq"], abs=2)
    assert demix.mne.fit(raw, n_components=5, method="fobi", start=0.0, stop=30.0, decim=2).n_samples_ == \
        pytest.approx(15 * raw.info["sfreq"], abs=2)
    assert "EOG1" not in some.ch_names
    marked.info["bads"] = ["F3"]
    assert "F3" not in demix.mne.fit(marked, n_components=5, method="fobi").ch_names
    assert demix.mne.fit(raw, picks=["Fz", "Cz", "F3", "EOG1"], method="fobi").n_components_ == 4
    epochs = mne.make_fixed_length_epochs(raw, 2.0, preload=True)
    ica = demix.mne.fit(epochs, n_components=5, method="fastica")
    assert ica.n_samples_ == epochs.get_data().shape[0] * epochs.get_data().shape[2]
    assert len(ica.apply(epochs.copy(), exclude=[0])) == len(epochs)


def test_mnes_own_picard_can_be_ours(raw, monkeypatch):
    """MNE calls picard.picard; demix's has its signature."""
    monkeypatch.setitem(sys.modules, "picard", demix)
    ours = mne.preprocessing.ICA(n_components=8, method="picard", fit_params=dict(ortho=True, extended=True))
    ours.fit(raw, picks="eeg")
    S = ours.get_sources(raw).get_data()
    np.testing.assert_allclose(np.cov(S), np.eye(8), atol=1e-2)


def test_misuse(raw):
    with pytest.raises(TypeError, match="expected Raw or Epochs"):
        demix.mne.fit(np.zeros((10, 3)))
    with pytest.raises(TypeError, match="mne.Info"):
        demix.mne.from_model(demix.Model(np.eye(3)), 3)
    with pytest.raises(ValueError, match="3 channels"):
        demix.mne.from_model(demix.Model(np.eye(3)), raw.info)
    with pytest.raises(ValueError, match="crop the epochs"):
        demix.mne.fit(mne.make_fixed_length_epochs(raw, 2.0, preload=True), start=3)
    with pytest.raises(ValueError, match="method"):
        demix.mne.fit(raw, method="no such")
