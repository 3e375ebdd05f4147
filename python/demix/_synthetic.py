"""Sources and mixtures to test with, from a seed, the same numbers on every machine."""
from collections import namedtuple

from . import _arguments as check
from . import _core

Mixture = namedtuple("Mixture", ["sources", "mixing", "mixtures"])
Mixture.__doc__ = """Sources (n_samples, n), mixing A, and mixtures X = S A^T."""


def source_names():
    """The names `make_sources` knows.

    Returns
    -------
    names : list of str
    """
    return _core.source_names()


def make_sources(sources, n_samples, *, timing="iid", random_state=0):
    """Independent sources of variance 1.

    Parameters
    ----------
    sources : list of str
        'square', 'sine', 'sawtooth', 'laplace', 'uniform', 'nonnegative'.
    n_samples : int
    timing : {'iid', 'waveform'}, default='iid'
        Every sample independent, or waveforms over one second.
    random_state : int, RandomState or Generator, default=0

    Returns
    -------
    S : ndarray of shape (n_samples, len(sources))
    """
    if isinstance(sources, str):
        raise TypeError(f"sources: expected a list of names, got {sources!r}")
    return _core.make_sources([check.text("sources", s) for s in sources],
                              check.integer("n_samples", n_samples, least=1), check.text("timing", timing),
                              check.seed("random_state", random_state))


def make_mixing(d, *, condition=None, random_state=0):
    """A random mixing: Gaussian entries, or of a condition number.

    Parameters
    ----------
    d : int
    condition : float, optional
        Condition number; not given: entries are Gaussian.
    random_state : int, RandomState or Generator, default=0

    Returns
    -------
    A : ndarray of shape (d, d)
    """
    d = check.integer("d", d, least=1, most=8192)
    seed = check.seed("random_state", random_state)
    if condition is None:
        return _core.normal_mixing(d, seed)
    return _core.conditioned_mixing(d, check.real("condition", condition, least=1, most=1e12), seed)


def make_scenario(scenario, n_samples, *, timing="iid", random_state=0):
    """One of the four scenarios of the paper's appendix D.

    Parameters
    ----------
    scenario : int
        1, 2: square, sine, sawtooth; 3, 4: square, sine, Laplace. 1 and 3 come whitened, 2 and 4 as mixed.
    n_samples : int
    timing : {'iid', 'waveform'}, default='iid'
    random_state : int, RandomState or Generator, default=0

    Returns
    -------
    mixture : Mixture
        (sources, mixing, mixtures)
    """
    return Mixture(*_core.make_scenario(check.integer("scenario", scenario, least=1, most=4),
                                        check.integer("n_samples", n_samples, least=10),
                                        check.seed("random_state", random_state), check.text("timing", timing)))
