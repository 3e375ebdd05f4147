"""Dask's arrays: larger than memory, on one machine or many.

>>> ica = demix.dask.ICA(method="picard").fit(x)     # x: dask.array of shape (n_samples, n_features)
>>> s = ica.transform(x)                             # lazy, as x is

Every pass over the data is one task for each chunk of the array, which sums up what it holds, and a tree of tasks that
add the sums. The samples stay where they are; Dask's scheduler is the user's choice.
"""
import dask
import dask.array
import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _arguments as check
from . import _core
from ._ica import ICA as _ICA
from ._ica import TYPES
from ._progress import shown

__all__ = ["ICA", "chunk_multiple"]

METHODS = ["auto", "fastica", "picard", "fobi", "jade"]
TOGETHER = 8  # sums that one task adds


class ICA(_ICA):
    """`demix.ICA` that also takes Dask's arrays, of shape (n_samples, n_features) and float32 or float64.

    Fitted to an array in memory it is `demix.ICA`. Of a Dask array the methods are `auto`, `fastica`, `picard`, `fobi`
    and `jade`, without `sample_weight`; `n_jobs` is the number of threads of a task. The result is that of the array in
    memory to rounding, whatever its chunks, and the same to the bit if all but the last have a multiple of
    `chunk_multiple(n_features)` samples. `transform`, `inverse_transform` and `remove` of Dask's arrays are lazy.

    A chunk is loaded, or computed, anew in every pass: `x.persist()` keeps the array in the memory of the workers.
    """

    def fit(self, X, y=None, sample_weight=None):
        """Learns the unmixing.

        Parameters
        ----------
        X : dask.array.Array or array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Only if X is in memory.

        Returns
        -------
        self : ICA
        """
        if not _is_dask(X):
            return super().fit(X, y, sample_weight)
        if sample_weight is not None:
            raise ValueError("sample_weight: not with Dask's arrays")
        method, options = self._options()
        if method not in METHODS:
            raise ValueError(f"method: of Dask's arrays expected one of {', '.join(METHODS)}, got {method!r}")
        if self.whiten is False:
            raise ValueError("whiten: of Dask's arrays expected 'unit-variance' or 'arbitrary-variance', got False")
        jobs = check.jobs(self.n_jobs)
        X = _in_rows(_frames("X", X))
        if X.shape[1] < 2:
            raise ValueError(f"X: expected at least 2 features, got {X.shape[1]}")
        self.n_features_in_ = X.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        scale = X.shape[0] ** -0.5 if self.whiten == "arbitrary-variance" else 1
        with shown(self.progress) as told:
            core, why = _core.fit_remote(*X.shape, X.dtype == np.float32, _Passes(X, jobs), method, options, jobs, told)
        return self._learned(core, why, scale, False)

    def transform(self, X):
        """Sources of X.

        Parameters
        ----------
        X : dask.array.Array or array-like of shape (n_samples, n_features)

        Returns
        -------
        S : dask.array.Array or ndarray of shape (n_samples, n_components)
            As X is; a Dask array is lazy.
        """
        if not _is_dask(X):
            return super().transform(X)
        check_is_fitted(self)
        model, jobs = self._model(), self.n_jobs
        return self._mapped("X", X, self.n_features_in_, len(self.components_), lambda x: model.apply(x, jobs))

    def inverse_transform(self, S):
        """Features from sources.

        Parameters
        ----------
        S : dask.array.Array or array-like of shape (n_samples, n_components)

        Returns
        -------
        X : dask.array.Array or ndarray of shape (n_samples, n_features)
            As S is; a Dask array is lazy.
        """
        if not _is_dask(S):
            return super().inverse_transform(S)
        check_is_fitted(self)
        model, jobs = self._model(), self.n_jobs
        return self._mapped("S", S, len(self.components_), len(self.mean_), lambda s: model.invert(s, jobs))

    def remove(self, X, components):
        """X without these components, as for artefacts.

        Parameters
        ----------
        X : dask.array.Array or array-like of shape (n_samples, n_features)
        components : int or list of int
            Counted from 0.

        Returns
        -------
        X : dask.array.Array or ndarray of shape (n_samples, n_features)
            As X is; a Dask array is lazy.
        """
        if not _is_dask(X):
            return super().remove(X, components)
        check_is_fitted(self)
        components = [check.integer("components", k, least=0, most=len(self.components_) - 1)
                      for k in ([components] if np.isscalar(components) else components)]
        model, jobs = self._model(), self.n_jobs
        return self._mapped("X", X, self.n_features_in_, len(self.mean_), lambda x: model.remove(x, components, jobs))

    @staticmethod
    def _mapped(name, X, expected, features, function):
        X = _frames(name, X)
        if X.shape[1] != expected:
            raise ValueError(f"{name}: expected {expected} features, as fitted, got {X.shape[1]}")
        X = X.rechunk({1: -1})
        return X.map_blocks(lambda x: function(_aligned(x)), dtype=X.dtype, chunks=(X.chunks[0], (features,)),
                            meta=np.empty((0, 0), X.dtype))


def chunk_multiple(n_features):
    """Chunks of a multiple of so many samples give the result of the array in memory to the bit.

    Parameters
    ----------
    n_features : int

    Returns
    -------
    samples : int
    """
    return _core.chunk_frames(check.integer("n_features", n_features, least=1))


class _Passes:
    """One pass over an array: request -> sums, as bytes."""

    def __init__(self, X, jobs):
        self.blocks = X.to_delayed().ravel()
        self.firsts = [0, *np.cumsum(X.chunks[0]).tolist()]
        whole = chunk_multiple(X.shape[1])
        self.is_aligned = all(first % whole == 0 for first in self.firsts[:-1])
        self.jobs = jobs

    def __call__(self, request):
        request = dask.delayed(request)  # sent once, not with every task
        sums = [_block_sums(block, first, number, self.is_aligned, request, self.jobs)
                for number, (block, first) in enumerate(zip(self.blocks, self.firsts))]
        while len(sums) > 1:
            sums = [_joined_sums(request, sums[k:k + TOGETHER]) for k in range(0, len(sums), TOGETHER)]
        return sums[0].compute()


@dask.delayed(pure=False, traverse=False)
def _block_sums(block, first, number, is_aligned, request, jobs):
    return _core.block_sums(_aligned(block), first, number, is_aligned, request, jobs)


@dask.delayed(pure=False)
def _joined_sums(request, parts):
    return _core.joined_sums(request, parts)


def _is_dask(X):
    return isinstance(X, dask.array.Array)


def _aligned(x):
    """A chunk as the core takes it."""
    return np.require(np.asarray(x), requirements="A")


def _frames(name, X):
    """An array of two dimensions and a type of ours, its chunks of known lengths."""
    if X.ndim != 2:
        raise ValueError(f"{name}: expected 2 dimensions, (n_samples, n_features), got {X.ndim}")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"{name}: expected numbers, got {X.dtype}")
    if X.dtype not in TYPES:
        X = X.astype(np.float64)
    return X


def _in_rows(X):
    """Each chunk holds all features of some samples, how many is known."""
    if np.isnan(X.shape).any():
        X = X.compute_chunk_sizes()
    if len(X) == 0:
        raise ValueError("X: no samples")
    return X.rechunk({1: -1})
