"""The batch estimator."""
import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _arguments as check
from . import _core
from ._diagnosis import diagnosis_of
from ._model import Model
from ._progress import shown

TYPES = [np.float64, np.float32]


def validated(estimator, X, *, reset, finite=False):
    """X as the core takes it, by scikit-learn's checks; NaN and Inf are left to the core unless `finite`."""
    check.numbers_only("X", X)
    X = estimator._validate_data(X, dtype=TYPES, order=None, copy=False, reset=reset, force_all_finite=finite,
                                 ensure_min_samples=2 if reset else 1)
    if X.shape[1] == 1 and reset:
        raise ValueError("X: one channel: nothing to separate (n_features = 1)")
    return check.frames("X", X)


class ICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Independent component analysis, with a diagnosis.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Principal components to keep: a count, the least count that holds this share of the power (0.99), or None
        for as many as the data has (dependent channels reduce it).
    method : str or class, default='auto'
        `auto` chooses among `fastica` (or `picard`), `fobi` and `jade` the one that leaves the least dependence.
        Any other name of `demix.methods()`, online ones too, or a rule of one's own (`demix.Rule`).
    form : str or None, default=None
        A form of the method: `exp` of `fastica`, `free` of `picard`, ...; None for its default.
    whiten : {'unit-variance', 'arbitrary-variance', True, False}, default='unit-variance'
        As in scikit-learn: components of variance 1, or of 1 / n_samples; False: X is white already, and
        `components_` is a rotation. Of online methods: True whitens their input first, False does not.
    order : {'kurtosis', 'power'} or None, default=None
        What components come in order of, the largest first; None is kurtosis.
    max_iter : int or None, default=None
        At most so many iterations; None for what the method has.
    tol : float or None, default=None
        When to stop, as the method defines it (`fastica`: 1 - |cos| of what a row has still to turn).
    eta, tau : float or None, default=None
        Learning rates of online methods and of `sm-ica-offline`.
    lambda_ : list of float or None, default=None
        Of SM-ICA, as the paper's tables give them.
    weight : str or None, default=None
        How the activity of a frame counts in `fobi` and SM-ICA.
    passes : int, default=1
        Online methods: times over the data.
    shuffle : bool, default=False
        Online methods: a new random order in every pass.
    stability : int, default=0
        Times the method is run again on two random halves of the frames, for `stability_`.
    start : array-like of shape (n_components, n_features) or None, default=None
        `fastica`, `picard`: an unmixing to go on from.
    random_state : int, RandomState, Generator or None, default=None
        Seed of online methods and of `stability`; the others depend on no chance. None is 0.
    n_jobs : int or None, default=None
        Threads, as scikit-learn counts them: None is 1, -1 all cores. Results do not depend on it.
    progress : callable, bool or None, default=None
        Called with the share done, 0 to 1; True shows a bar if tqdm is there.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The unmixing: sources are ``(X - mean_) @ components_.T``.
    mixing_ : ndarray of shape (n_features, n_components)
        What each source adds to the features; ``components_ @ mixing_ = I``.
    mean_ : ndarray of shape (n_features,)
    kurtosis_ : ndarray of shape (n_components,)
        Of the sources; Gaussian = 3.
    diagnosis_ : Diagnosis
        The crosstalk to expect, and every doubt; ``print(ica.diagnosis_)``.
    n_iter_ : int
        Iterations; 1 for methods in closed form.
    model_ : Model
        To save, and to apply with the program.
    stability_ : ndarray of shape (n_components,)
        Only if `stability` is above 0.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    C- and F-ordered arrays of float32 and float64 are not copied. Doubts are issued as warnings, all subclasses of
    `demix.DemixWarning`; one about convergence is a `ConvergenceWarning` of scikit-learn's as well. Ctrl-C stops a fit.

    Examples
    --------
    >>> import demix
    >>> S, A, X = demix.make_scenario(4, 10000)
    >>> ica = demix.ICA(n_components=0.99).fit(X)
    >>> round(demix.amari(ica.components_ @ A), 2)
    0.01
    """

    def __init__(self, n_components=None, *, method="auto", form=None, whiten="unit-variance", order=None,
                 max_iter=None, tol=None, eta=None, tau=None, lambda_=None, weight=None, passes=1, shuffle=False,
                 stability=0, start=None, random_state=None, n_jobs=None, progress=None):
        self.n_components = n_components
        self.method = method
        self.form = form
        self.whiten = whiten
        self.order = order
        self.max_iter = max_iter
        self.tol = tol
        self.eta = eta
        self.tau = tau
        self.lambda_ = lambda_
        self.weight = weight
        self.passes = passes
        self.shuffle = shuffle
        self.stability = stability
        self.start = start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X, y=None, sample_weight=None):
        """Learns the unmixing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts, 0 or more (methods `auto`, `fastica`, `picard`, `fobi`, `jade`).

        Returns
        -------
        self : ICA
        """
        method, options = self._options()
        jobs = check.jobs(self.n_jobs)
        X = validated(self, X, reset=True)
        if sample_weight is not None:
            sample_weight = np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
        scale, rotation = self._scaling(method, X, jobs)
        with shown(self.progress) as told:
            core, why, _ = _core.fit(X, method, options, sample_weight, jobs, told)
        return self._learned(core, why, scale, rotation)

    def _learned(self, core, why, scale, rotation):
        """What was found, as attributes."""
        if self.feature_names_in is not None:
            core.names = [str(name) for name in self.feature_names_in]
        self.model_ = Model._of(core, why)
        self.diagnosis_ = diagnosis_of(core, why)
        self.components_ = core.unmixing
        self.mixing_ = core.mixing
        self.mean_ = core.mean
        self.kurtosis_ = core.kurtosis
        self.n_iter_ = max(1, core.iterations)
        if self.stability:
            self.stability_ = core.stability
        self._is_model = scale == 1 and not rotation
        if scale != 1:
            self.components_ *= scale
            self.mixing_ /= scale
        if rotation:  # the rotation next to it
            self.components_ = nearest_rotation(self.components_)
            self.mixing_ = self.components_.T.copy()
            self.mean_ = np.zeros_like(self.mean_)
        self.diagnosis_.warn()
        return self

    def transform(self, X):
        """Sources of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        S : ndarray of shape (n_samples, n_components)
            float32 if X is, else float64.
        """
        check_is_fitted(self)
        X = validated(self, X, reset=False)
        return self._model()._core.apply(X, check.jobs(self.n_jobs))

    def inverse_transform(self, S):
        """Features from sources.

        Parameters
        ----------
        S : array-like of shape (n_samples, n_components)

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self._model().invert(S, self.n_jobs)

    def remove(self, X, components):
        """X without these components (counted from 0), as for artefacts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        components : int or list of int

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self._model().remove(validated(self, X, reset=False), components, self.n_jobs)

    @property
    def feature_names_in(self):
        return getattr(self, "feature_names_in_", None)

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def _model(self):
        return self.model_ if self._is_model else Model(self.components_, self.mixing_, self.mean_)

    def _options(self):
        """The method and its options, all checked."""
        method = self.method
        if not (isinstance(method, str) or isinstance(method, type)):
            raise TypeError(f"method: expected a name or a rule's class, got {method!r}")
        out = {"seed": check.seed("random_state", self.random_state)}
        out.update(check.components(self.n_components))
        for name, key, kind in [("form", "form", check.text), ("weight", "weight", check.text),
                                ("order", "order", check.text)]:
            value = getattr(self, name)
            if value is not None:
                out[key] = kind(name, value)
        if self.max_iter is not None:
            out["max_iterations"] = check.integer("max_iter", self.max_iter, least=1)
        if self.tol is not None:
            out["tolerance"] = check.real("tol", self.tol, above=0)
        for name in ("eta", "tau"):
            if getattr(self, name) is not None:
                out[name] = check.real(name, getattr(self, name), above=0)
        if self.lambda_ is not None:
            out["lambda"] = check.reals("lambda_", self.lambda_)
        if self.start is not None:
            out["start"] = check.matrix("start", self.start)
        out["passes"] = check.integer("passes", self.passes, least=1)
        out["shuffle"] = check.flag("shuffle", self.shuffle)
        out["stability"] = check.integer("stability", self.stability, least=0)
        if not isinstance(method, str):
            out["rule"] = method
        if not isinstance(self.whiten, (bool, np.bool_)):
            check.choice("whiten", self.whiten, ["unit-variance", "arbitrary-variance"])
        elif _is_online(method):
            out["whiten"] = bool(self.whiten)
        return method, out

    def _scaling(self, method, X, jobs):
        """What the components are multiplied by, and whether they are to be a rotation."""
        if isinstance(self.whiten, str) and self.whiten == "arbitrary-variance":
            return len(X) ** -0.5, False
        if self.whiten is False and not _is_online(method):
            require_white(X, jobs)
            return 1, True
        return 1, False

    def __sklearn_is_fitted__(self):
        return hasattr(self, "model_")

    def _more_tags(self):
        return {"preserves_dtype": TYPES}


def require_white(X, jobs):
    """X has about the identity as its covariance, as whiten=False says, or ValueError."""
    mean, _, dewhitener, rank = _core.whiten(X, 0, 0, jobs)
    off = np.abs(dewhitener @ dewhitener.T - np.eye(len(mean))).max()
    if rank < len(mean) or off > 0.05 + 3 * len(mean) / np.sqrt(len(X)):
        raise ValueError("X: expected white data, as whiten=False says, got a covariance that differs from "
                         f"the identity by {off:.3g}")


def nearest_rotation(U):
    left, _, right = np.linalg.svd(U, full_matrices=False)
    return left @ right


def _is_online(method):
    if not isinstance(method, str):
        return True
    return any(row["name"] == method and row["online"] for row in _core.methods())
