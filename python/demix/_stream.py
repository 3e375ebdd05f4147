"""The live estimator."""
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _arguments as check
from . import _core
from ._diagnosis import RefusedFramesWarning, diagnosis_of
from ._ica import TYPES, validated
from ._model import Model

_FAST = (np.dtype(np.float64), np.dtype(np.float32))


class StreamICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Independent component analysis of a stream, block by block, with nothing to tune.

    ``partial_fit`` over any split of the frames comes to the same, bit for bit, and to what batch FastICA finds in all
    of them. Memory does not grow.

    Parameters
    ----------
    n_components : int or None, default=None
        Outputs, the strongest principal components; None for one per channel.
    learn : {'one-pass', 'replay', 'frame'}, default='one-pass'
        What it learns from: running sums and a sample of the past, or the SM-ICA network on frames drawn from the
        past, or on the frame at hand.
    memory : float or None, default=None
        Frames after which one counts 1/e, to follow a mixing that moves; None: all count for ever.
    robust : bool, default=False
        Do not learn from frames of outlying size.
    saturation : float or None, default=None
        A frame with a value of this size or more is refused.
    replay : int, default=16384
        `learn='replay'`: frames kept to draw from.
    start : Model or None, default=None
        A model to begin with; its components are the first outputs.
    freeze : bool, default=False
        Stay with `start`.
    random_state : int, RandomState, Generator or None, default=None
        Seed; None is 0.

    Attributes
    ----------
    components_, mixing_, mean_ : ndarray
        Of now: sources are ``(X - mean_) @ components_.T``. Rows of outputs not in use are 0.
    kurtosis_ : ndarray
        Of the outputs in use.
    diagnosis_ : Diagnosis
        What there is to be said about it now. It takes longer than a block.
    model_ : Model
        What the stream has come to, to save and to apply with the program. The stream goes on.
    n_frames_seen_ : int
    n_features_in_ : int

    Notes
    -----
    ``process`` gives the sources of a block as a live program would: each frame by what was learned before it, then
    learned from. ``transform`` learns nothing, and uses what has been learned by now. Frames with NaN or Inf are
    refused by ``partial_fit`` (with a warning) and ``process``, and their outputs are 0; ``fit`` and ``transform``
    raise ValueError.

    Examples
    --------
    >>> import demix
    >>> S, A, X = demix.make_scenario(4, 20000)
    >>> live = demix.StreamICA()
    >>> for block in X.reshape(200, 100, 3):
    ...     sources = live.process(block)
    >>> round(demix.amari(live.components_ @ A), 2)
    0.01
    """

    def __init__(self, n_components=None, *, learn="one-pass", memory=None, robust=False, saturation=None,
                 replay=16384, start=None, freeze=False, random_state=None):
        self.n_components = n_components
        self.learn = learn
        self.memory = memory
        self.robust = robust
        self.saturation = saturation
        self.replay = replay
        self.start = start
        self.freeze = freeze
        self.random_state = random_state

    def fit(self, X, y=None):
        """Learns from X alone, and brings the unmixing up to date with its last frame.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : StreamICA
        """
        X = validated(self, X, reset=True, finite=True)
        self._stream = self._begin(X.shape[1])
        self._stream.learn(X)
        self._stream.finish()
        return self

    def partial_fit(self, X, y=None):
        """Learns from the next frames.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : StreamICA
        """
        stream, X = self._next(X)
        refused = stream.learn(X)
        if refused:
            self._warn(refused)
        return self

    def process(self, X):
        """Sources of the next frames as they come: each by what was learned before it, then learned from.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        S : ndarray of shape (n_samples, n_components)
            float32 if X is, else float64. 0 for the first frames of the stream, and for refused ones.
        """
        stream, X = self._next(X)
        return stream.process(X)

    def transform(self, X):
        """Sources of X by what has been learned by now; learns nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        S : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self, "_stream")
        X = validated(self, X, reset=False, finite=True)
        S = (X.astype(np.float64, copy=False) - self.mean_) @ self.components_.T
        return S.astype(X.dtype, copy=False)

    def inverse_transform(self, S):
        """Features from sources: ``mean_ + S @ mixing_.T``.

        Parameters
        ----------
        S : array-like of shape (n_samples, n_components)

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self, "_stream")
        S = check.frames("S", S)
        if S.shape[1] != self._stream.outputs:
            raise ValueError(f"S: expected {self._stream.outputs} columns, got {S.shape[1]}")
        return (self.mean_ + S @ self.mixing_.T).astype(S.dtype, copy=False)

    def finish(self):
        """Brings the unmixing up to date with every frame seen, for the end of a stream.

        Returns
        -------
        self : StreamICA
        """
        check_is_fitted(self, "_stream")
        self._stream.finish()
        return self

    def status(self):
        """How the stream is doing.

        Returns
        -------
        status : dict
            `frames` seen, `refused`, `outliers`, `rank`, `settled`, `moved`, `expected_mse`, `kurtosis`,
            `kurtosis_error`, `unresolved` pairs, `condition`, `changes` of the mixing, `last_change` (-1: never).
            `expected_mse` and `condition` are None, `kurtosis` and its error NaN, while they are not known.
        """
        check_is_fitted(self, "_stream")
        return self._stream.status()

    def state(self):
        """Everything, to go on later bit for bit as if never stopped.

        Returns
        -------
        state : bytes
            For `from_state`.
        """
        check_is_fitted(self, "_stream")
        return self._stream.state()

    @classmethod
    def from_state(cls, state):
        """The stream that ``state()`` came from.

        Parameters
        ----------
        state : bytes

        Returns
        -------
        stream : StreamICA
        """
        if not isinstance(state, bytes):
            raise TypeError(f"state: expected bytes, got {type(state).__name__}")
        stream = _core.Stream.restore(state)
        o = stream.options()
        self = cls(n_components=o["n_components"] or None, learn=o["learn"], memory=o["memory"] or None,
                   robust=o["robust"], saturation=o["saturation"] or None, replay=o["replay"], random_state=o["seed"])
        self._stream = stream
        self.n_features_in_ = stream.channels
        if stream.frozen():
            self.start, self.freeze = Model._of(stream.model()), True
        return self

    components_ = property(lambda self: self._fitted().unmixing, doc="Of now; (n_components, n_features).")
    mixing_ = property(lambda self: self._fitted().mixing, doc="Of now; (n_features, n_components).")
    mean_ = property(lambda self: self._fitted().mean, doc="Of the features.")
    kurtosis_ = property(lambda self: self._fitted().status()["kurtosis"], doc="Of the outputs in use.")
    n_frames_seen_ = property(lambda self: self._fitted().frames, doc="Refused ones too.")
    model_ = property(lambda self: Model._of(self._fitted().model()), doc="What the stream has come to.")

    @property
    def diagnosis_(self):
        """How far to trust it now."""
        out = diagnosis_of(self._fitted().model())
        out.expected = self._stream.status()["expected_mse"]
        return out

    @property
    def _n_features_out(self):
        return self._stream.outputs

    def _fitted(self):
        if "_stream" not in self.__dict__:
            raise AttributeError("this StreamICA has seen no frames yet")
        return self._stream

    def _begin(self, channels):
        components = 0 if self.n_components is None else check.integer("n_components", self.n_components, least=1)
        memory = 0 if self.memory is None else check.real("memory", self.memory, above=0)
        saturation = 0 if self.saturation is None else check.real("saturation", self.saturation, above=0)
        stream = _core.Stream(channels, check.choice("learn", self.learn, ["one-pass", "replay", "frame"]), components,
                              memory, check.flag("robust", self.robust), saturation,
                              check.integer("replay", self.replay, least=1),
                              check.seed("random_state", self.random_state))
        if self.start is not None:
            if not isinstance(self.start, Model):
                raise TypeError(f"start: expected a demix.Model, got {type(self.start).__name__}")
            stream.start(self.start._core, check.flag("freeze", self.freeze))
        elif check.flag("freeze", self.freeze):
            raise ValueError("freeze: there is no model to stay with; give one as start")
        return stream

    def _next(self, X):
        """The stream and X as it takes them."""
        own = self.__dict__
        if (type(X) is np.ndarray and X.dtype in _FAST and X.ndim == 2 and "_stream" in own
                and "feature_names_in_" not in own and X.shape[0] > 0 and X.shape[1] == self.n_features_in_
                and X.flags.aligned):
            return self._stream, X  # a block of a running stream needs no other checks than the core's
        first = "_stream" not in own
        check.numbers_only("X", X)
        X = self._validate_data(X, dtype=TYPES, order=None, copy=False, reset=first, force_all_finite=False)
        if first:
            if X.shape[1] == 1:
                raise ValueError("X: one channel: nothing to separate (n_features = 1)")
            self._stream = self._begin(X.shape[1])
        return self._stream, check.frames("X", X)

    def _warn(self, refused):
        status = self._stream.status()
        warnings.warn(RefusedFramesWarning(f"{refused} of these frames refused, {status['refused']} of "
                                           f"{status['frames']} so far: they hold NaN, Inf or saturated values"),
                      stacklevel=3)

    def __getstate__(self):
        state = super().__getstate__().copy()
        if "_stream" in state:
            state["_stream"] = self._stream.state()
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_stream" in state:
            self._stream = _core.Stream.restore(state["_stream"])

    def __sklearn_is_fitted__(self):
        return "_stream" in self.__dict__

    def _more_tags(self):
        return {"preserves_dtype": TYPES}
