"""MNE's objects: fit demix, get an `mne.preprocessing.ICA`.

>>> ica = demix.mne.fit(raw)
>>> ica.exclude = ica.find_bads_eog(raw)[0]
>>> clean = ica.apply(raw.copy())
"""
import mne
import numpy as np

from . import _arguments as check
from ._ica import ICA
from ._model import Model

__all__ = ["fit", "from_model"]


def fit(inst, picks=None, n_components=None, method="auto", *, form=None, order=None, start=None, stop=None,
        decim=None, reject_by_annotation=True, max_iter=None, tol=None, random_state=None, n_jobs=None,
        progress=None):
    """Separates the channels of a recording.

    Parameters
    ----------
    inst : mne.io.Raw or mne.Epochs
        High-pass filtered at about 1 Hz, as for any ICA.
    picks : str, list or None, default=None
        Channels, as MNE takes them; None for all good data channels.
    n_components : int, float or None, default=None
        Of `demix.ICA`; None for the rank of the data, which an average reference or interpolated channels reduce.
    method, form, order, max_iter, tol, random_state, n_jobs, progress
        Of `demix.ICA`.
    start, stop : int, float or None
        Samples, or seconds, between which a Raw is learned from.
    decim : int or None
        Learn from every so many samples only.
    reject_by_annotation : bool, default=True
        Leave out what is annotated as bad (Raw).

    Returns
    -------
    ica : mne.preprocessing.ICA
        With all its methods. Components come in demix's order, so that its component 0 is the program's 1.
        `ica.demix_model_` is the `demix.Model`, in the units of MNE.
    """
    if not isinstance(inst, (mne.io.BaseRaw, mne.BaseEpochs)):
        raise TypeError(f"inst: expected Raw or Epochs of MNE, got {type(inst).__name__}")
    check.flag("reject_by_annotation", reject_by_annotation)
    decim = 1 if decim is None else check.integer("decim", decim, least=1)
    sel = _selected(inst.info, picks)
    if isinstance(inst, mne.io.BaseRaw):
        first, end = (_sample(name, at, inst.info["sfreq"]) for name, at in (("start", start), ("stop", stop)))
        data = inst.get_data(sel, first or 0, end, "omit" if reject_by_annotation else None)[:, ::decim]
        kind = "raw"
    else:
        if start is not None or stop is not None:
            raise ValueError("start, stop: these are of Raw; crop the epochs instead")
        if len(inst) == 0:
            raise ValueError("inst: no epochs")
        data = np.hstack(inst.get_data()[:, sel, ::decim])
        kind = "epochs"
    if data.shape[1] == 0:
        raise ValueError("inst: no samples are left to learn from")
    estimator = ICA(n_components, method=method, form=form, order=order, max_iter=max_iter, tol=tol,
                    random_state=random_state, n_jobs=n_jobs, progress=progress).fit(data.T)
    info = mne.pick_info(inst.info, sel)
    covariance = np.cov(data) if len(estimator.components_) < len(data) else None
    ica = _filled(estimator.model_, info, covariance, n_components, kind)
    ica.n_samples_ = data.shape[1]
    ica.n_iter_ = estimator.n_iter_
    return ica


def from_model(model, info, unit=1.0):
    """A model, of the program or of Python, as MNE's ICA.

    Parameters
    ----------
    model : demix.Model or path-like
    info : mne.Info
        Of as many channels as the model has, in its order.
    unit : float, default=1
        What 1 in the data of the model is in MNE's: 1e-6 for a model that the program made of a file in microvolts.

    Returns
    -------
    ica : mne.preprocessing.ICA
    """
    if not isinstance(model, Model):
        model = Model.load(model)
    if not isinstance(info, mne.Info):
        raise TypeError(f"info: expected mne.Info, got {type(info).__name__}")
    if len(info["ch_names"]) != len(model.mean):
        raise ValueError(f"info: expected the {len(model.mean)} channels of the model, got {len(info['ch_names'])}")
    unit = check.real("unit", unit, above=0)
    if unit != 1:
        model = Model(model.unmixing / unit, model.mixing * unit, model.mean * unit, model.names)
    return _filled(model, info, None, None, "unknown")


def _filled(model, info, covariance, n_components, kind):
    """MNE's ICA of a model: x / scale, then orthonormal directions, then a square unmixing."""
    k, n = model.unmixing.shape
    scale = _metric(model)
    left, values, right = np.linalg.svd(np.linalg.pinv(model.mixing / scale[:, None]), full_matrices=True)
    order = np.argsort(values)  # the strongest direction first
    basis = np.concatenate([right[:k][order], right[k:]])
    variance = np.concatenate([values[order] ** -2.0, np.zeros(n - k)])
    if covariance is not None:  # what was not separated, by its own principal components
        rest = basis[k:] / scale
        spread, turned = np.linalg.eigh(rest @ covariance @ rest.T)
        basis[k:] = turned.T[::-1] @ basis[k:]
        variance[k:] = np.maximum(spread[::-1], 0)

    ica = mne.preprocessing.ICA(n_components=n_components, method="infomax", fit_params=dict(extended=True))
    ica.method = "demix-" + model.method
    ica.fit_params = {}
    ica.info = info
    ica.ch_names = info["ch_names"]
    ica.current_fit = kind
    ica.n_components_ = k
    ica.n_pca_components = None
    ica.pre_whitener_ = scale[:, np.newaxis]
    ica.pca_mean_ = model.mean / scale
    ica.pca_components_ = basis
    ica.pca_explained_variance_ = variance
    ica.unmixing_matrix_ = left[:, order] * values[order]
    ica.mixing_matrix_ = (left[:, order] / values[order]).T
    ica._ica_names = [f"ICA{c:03d}" for c in range(k)]
    ica.n_samples_ = model.samples
    ica.n_iter_ = 0
    ica.reject_ = None
    ica.demix_model_ = model
    return ica


def _metric(model):
    """Scales s of the channels in which the directions that unmix are those that are mixed: unmixing = (A/s)^+ /s.

    demix whitens x/s, s being the deviations of the channels; if it keeps fewer components than the data has, those are
    principal ones in the units of the channels: s = 1. Of data of less than full rank the unmixing is then that of the
    model on the data, not beyond.
    """
    A, U = model.mixing, model.unmixing
    k, n = U.shape
    deviation = np.sqrt((A**2).sum(axis=1))
    deviation[deviation == 0] = 1
    if k == n or _agrees(np.linalg.pinv(A / deviation[:, None]) / deviation, U):
        return deviation
    beyond = np.linalg.svd((np.linalg.pinv(A) - U) * deviation, compute_uv=False)
    if (beyond > 1e-6 * np.linalg.norm(U * deviation)).sum() < n - k:
        return np.full(n, deviation.mean())
    raise ValueError("model: its mixing is not the inverse of its unmixing in any units of the channels, as MNE's ICA "
                     "needs it; fit by demix.mne.fit, or with as many components as channels")


def _agrees(a, b):
    return np.abs(a - b).max() <= 1e-6 * np.abs(b).max()


def _selected(info, picks):
    """Indices of the channels picked, in their order, as MNE picks them."""
    if picks is None:
        picks = "data"
    one = mne.io.RawArray(np.zeros((len(info["ch_names"]), 1)), mne.Info(info), verbose="error")
    try:
        names = one.pick(picks, exclude="bads", verbose="error").ch_names
    except TypeError:  # later versions of MNE
        names = one.pick(picks, exclude="bads").ch_names
    wanted = set(names)
    return [k for k, name in enumerate(info["ch_names"]) if name in wanted]


def _sample(name, at, rate):
    if at is None:
        return None
    if isinstance(at, (float, np.floating)):
        return int(round(check.real(name, at, least=0) * rate))
    return check.integer(name, at, least=0)
