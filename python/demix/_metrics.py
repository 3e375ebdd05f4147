"""How good a separation is, whatever the order, signs and, of most, scales of its outputs."""
import numpy as np

from . import _arguments as check
from . import _core


def _gain(P, A):
    P = check.matrix("P", P)
    if A is None:
        return P
    A = check.matrix("A", A)
    if P.shape[1] != A.shape[0]:
        raise ValueError(f"A: expected {P.shape[1]} rows, as the unmixing has columns, got {A.shape[0]}")
    return P @ A


def amari(P, A=None):
    """Moreau-Amari index: 0 for a scaled permutation, at most 1.

    Parameters
    ----------
    P : array-like of shape (d, d)
        Unmixing times mixing; or the unmixing, if the mixing A is given.
    A : array-like, optional

    Returns
    -------
    index : float
    """
    return _core.amari(_gain(P, A))


def md(P, A=None):
    """MD index (Ilmonen et al. 2010): 0 for a scaled permutation, at most 1.

    Parameters
    ----------
    P, A
        Of `amari`.

    Returns
    -------
    index : float
    """
    return _core.md(_gain(P, A))


def mse(S, Y):
    """The paper's error: mean squared error per source under the best permutation and signs.

    Parameters
    ----------
    S, Y : array-like of shape (n_samples, n_sources)
        True sources, and outputs.

    Returns
    -------
    error : float
    """
    return _core.mse(check.matrix("S", S), check.matrix("Y", Y))


def bss_eval(S, Y):
    """BSS Eval (Vincent, Gribonval, Fevotte 2006) with a gain per source as allowed distortion.

    Parameters
    ----------
    S, Y : array-like of shape (n_samples, n_sources)
        True sources, and outputs.

    Returns
    -------
    scores : dict
        `sdr`, `sir`, `sar`: in dB, one per source; `output`: which output belongs to each source; `sign`.
    """
    sdr, sir_, sar, output, sign = _core.bss_eval(check.matrix("S", S), check.matrix("Y", Y))
    return {"sdr": sdr, "sir": sir_, "sar": sar, "output": np.array(output), "sign": np.array(sign)}


def sir(S, Y):
    """Signal-to-interference ratio of each source; see `bss_eval`.

    Parameters
    ----------
    S, Y : array-like of shape (n_samples, n_sources)
        True sources, and outputs.

    Returns
    -------
    sir : ndarray of shape (n_sources,)
        In dB.
    """
    return bss_eval(S, Y)["sir"]


def mutual_information_reduction(unmixing, X):
    """Mutual information between the channels that an unmixing takes out (Delorme et al. 2012), nats per sample.

    Parameters
    ----------
    unmixing : array-like of shape (n_channels, n_channels)
    X : array-like of shape (n_samples, n_channels)

    Returns
    -------
    nats : float
        sum H(x_i) - sum H(y_i) + log |det unmixing|, entropies by spacings.
    """
    return _core.mutual_information_reduction(check.matrix("unmixing", unmixing), check.matrix("X", X))
