"""What a separation learned, as the program saves it."""
import numpy as np

from . import _arguments as check
from . import _core
from ._diagnosis import diagnosis_of


class Model:
    """What a separation learned: enough to separate new data, to undo it, and to judge it.

    ``Model.load`` and ``save`` read and write what the program does (`model.json`), byte for byte.

    Parameters
    ----------
    unmixing : array-like of shape (n_components, n_channels)
        Sources are ``unmixing @ (x - mean)``.
    mixing : array-like of shape (n_channels, n_components), optional
        Its inverse, ``unmixing @ mixing = I``; the pseudo-inverse if not given.
    mean : array-like of shape (n_channels,), optional
        Of the channels; 0 if not given.
    names : list of str, optional
        Of the channels.

    Attributes
    ----------
    unmixing, mixing, mean : ndarray
    kurtosis : ndarray of shape (n_components,)
        Of each component; Gaussian = 3.
    stability : ndarray
        Of each component, if it was asked for.
    method : str
    options : dict
    names : list of str
    samples : int
        Frames it was learned from.
    diagnosis : Diagnosis
    suggestions : list of (component, kind, reason)
        What the program would remove from an EEG, and why; components are counted from 0.
    """

    def __init__(self, unmixing, mixing=None, mean=None, names=None):
        unmixing = check.matrix("unmixing", unmixing)
        mixing = None if mixing is None else check.matrix("mixing", mixing)
        mean = None if mean is None else np.asarray(check.reals("mean", mean), dtype=np.float64)
        names = [] if names is None else [check.text("names", n) for n in names]
        self._core = _core.CoreModel(unmixing, mixing, mean, None, names)
        self._why = ""

    @classmethod
    def _of(cls, core, why=""):
        self = cls.__new__(cls)
        self._core = core
        self._why = why
        return self

    @classmethod
    def load(cls, path):
        """The model in a file that ``save`` or the program wrote.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        model : Model
        """
        return cls._of(_core.CoreModel.load(check.path("path", path)))

    @classmethod
    def from_json(cls, text):
        """The model in a string, as ``to_json`` gives it.

        Parameters
        ----------
        text : str

        Returns
        -------
        model : Model
        """
        return cls._of(_core.CoreModel.from_json(check.text("text", text)))

    def save(self, path):
        """Writes the model to a file, complete or not at all.

        Parameters
        ----------
        path : path-like
        """
        self._core.save(check.path("path", path))

    def to_json(self):
        """What ``save`` writes.

        Returns
        -------
        text : str
        """
        return self._core.to_json()

    def apply(self, X, n_jobs=None):
        """Sources of data: ``(X - mean) @ unmixing.T``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_channels)
        n_jobs : int, optional
            Threads; None = 1, -1 = all cores. The result does not depend on it.

        Returns
        -------
        S : ndarray of shape (n_samples, n_components)
            float32 if X is, else float64.
        """
        return self._core.apply(self._frames("X", X, len(self._core.mean)), check.jobs(n_jobs))

    def invert(self, S, n_jobs=None):
        """Channels from sources: ``mean + S @ mixing.T``.

        Parameters
        ----------
        S : array-like of shape (n_samples, n_components)
        n_jobs : int, optional

        Returns
        -------
        X : ndarray of shape (n_samples, n_channels)
        """
        return self._core.invert(self._frames("S", S, len(self._core.kurtosis)), check.jobs(n_jobs))

    def remove(self, X, components, n_jobs=None):
        """The channels without these components (counted from 0). What the model does not describe is kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_channels)
        components : int or list of int
        n_jobs : int, optional

        Returns
        -------
        X : ndarray of shape (n_samples, n_channels)
        """
        which = [components] if np.isscalar(components) else components
        which = [check.integer("components", k) for k in which]
        return self._core.remove(self._frames("X", X, len(self._core.mean)), which, check.jobs(n_jobs))

    @staticmethod
    def _frames(name, X, channels):
        X = check.frames(name, X)
        if X.shape[1] != channels:
            raise ValueError(f"{name}: expected {channels} columns, got {X.shape[1]}")
        return X

    unmixing = property(lambda self: self._core.unmixing, doc="Components x channels.")
    mixing = property(lambda self: self._core.mixing, doc="Channels x components.")
    mean = property(lambda self: self._core.mean, doc="Of the channels.")
    kurtosis = property(lambda self: self._core.kurtosis, doc="Of each component; Gaussian = 3.")
    stability = property(lambda self: self._core.stability, doc="Of each component, if it was asked for.")
    method = property(lambda self: self._core.method, doc="Name in the table of methods.")
    options = property(lambda self: self._core.options, doc="What the method was called with.")
    version = property(lambda self: self._core.version, doc="Of the library that made it.")
    samples = property(lambda self: self._core.samples, doc="Frames it was learned from.")
    names = property(lambda self: self._core.names, doc="Of the channels, or [].")
    suggestions = property(lambda self: self._core.suggestions, doc="(component, kind, reason) of what to remove.")
    diagnosis = property(lambda self: diagnosis_of(self._core, self._why), doc="How far to trust it.")

    def __repr__(self):
        return (f"<demix.Model: {len(self._core.kurtosis)} components of {len(self._core.mean)} channels, "
                f"{self.method}>")

    def __eq__(self, other):
        return isinstance(other, Model) and self.to_json() == other.to_json()

    __hash__ = None

    def __getstate__(self):
        return {"json": self.to_json(), "why": self._why}

    def __setstate__(self, state):
        self._core = _core.CoreModel.from_json(state["json"])
        self._why = state["why"]
