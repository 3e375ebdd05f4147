"""Networks and learning rules, one frame at a time, and comparisons of them."""
import types

import numpy as np

from . import _arguments as check
from . import _core
from ._progress import shown


def methods():
    """The table of methods.

    Returns
    -------
    rows : list of dict
        `name`, `online`, `local`, `input`, `finds`, `sources`, `cannot`, `reference`, `square`, and `forms`, a list of
        (name, default eta; 0 = nothing to choose).
    """
    return _core.methods()


class _Stepping:
    """What all networks share: `process`, `step`, `trace`."""

    def process(self, X):
        """Outputs of the next frames, each by the weights of before, then learned from.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)

        Returns
        -------
        Y : ndarray of shape (n_samples, n_outputs)
        """
        return self._core.process(check.frames("X", X))

    def step(self, x):
        """One frame: outputs, then learning.

        Parameters
        ----------
        x : array-like of shape (n_inputs,)

        Returns
        -------
        y : ndarray of shape (n_outputs,)
        """
        try:
            x = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError("x: expected a vector of numbers") from None
        if x.ndim != 1:
            raise ValueError(f"x: expected one dimension, got {x.ndim}")
        return self._core.process(x[np.newaxis])[0]

    def trace(self, X, every=100):
        """`process`, with the weights noted every so many frames.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
        every : int, default=100

        Returns
        -------
        trace : namespace
            `Y`; `frames`, where the rest was noted; `unmixing` and, of networks that have them, `W`, `M`, each with
            the notes along the first axis.
        """
        X = check.frames("X", X)
        every = check.integer("every", every, least=1)
        names = [n for n in ("W", "M", "unmixing") if hasattr(self, n)]
        out, frames, notes = [], [], {n: [] for n in names}
        for first in range(0, len(X), every):
            out.append(self._core.process(X[first:first + every]))
            frames.append(min(first + every, len(X)))
            for n in names:
                notes[n].append(getattr(self, n))
        stacked = {n: _stacked(v) for n, v in notes.items()}
        Y = np.concatenate(out) if out else self._core.process(X)
        return types.SimpleNamespace(Y=Y, frames=np.array(frames, dtype=int), **stacked)

    unmixing = property(lambda self: self._core.unmixing, doc="Of now.")


def _stacked(matrices):
    # Before a network has found its rank its matrices are smaller: NaN where there is nothing yet.
    shape = tuple(max(m.shape[k] for m in matrices) for k in (0, 1)) if matrices else (0, 0)
    out = np.full((len(matrices), *shape), np.nan)
    for to, m in zip(out, matrices):
        to[:m.shape[0], :m.shape[1]] = m
    return out


def _sizes(d, outputs):
    d = check.integer("d", d, least=1, most=8192)
    return d, d if outputs is None else check.integer("outputs", outputs, least=1, most=d)


class SmIcaNetwork(_Stepping):
    """The SM-ICA network, Algorithm 1 of Bahroun, Chklovskii and Sengupta (2021) as published.

    ::

        c = W x,  y = M^-1 c,  a = ||y||^2
        W <- W + 2 eta (y - w(a) Lambda^-2 c) x^T       the paper's w(a) = a
        M <- M + (eta/tau)(y y^T - I)

    It does not always converge; then `failure` says what happened, and outputs are 0 from there on.

    Parameters
    ----------
    d : int
        Inputs.
    eta : float, default=2e-5
        Learning rate.
    tau : float, default=1.5
        Ratio of the rates of W and M.
    lambda_ : list of float, optional
        One per output, as the paper's tables give them; distinct. Chosen if not given.
    outputs : int, optional
        As many as inputs if not given.
    reading : {'inverse-square', 'direct', 'inverse'}, default='inverse-square'
        What `lambda_` holds: lambda^-2 (what the authors' notebooks compute), lambda, or lambda^-1.
    weight : {'square', 'norm', 'log', 'reciprocal', 'fourth'}, default='square'
        The modulator w.
    dynamics : {'solve', 'iterate'}, default='solve'
        y = M^-1 c at once, or by the neural dynamics until they settle.
    autapses : bool, default=True
        False: M_ii is the neuron's own leak, not a synapse.
    random_state : int, RandomState or Generator, default=0
        Seed of the initial W ~ N(0, 1).

    Attributes
    ----------
    W, M : ndarray
        Feedforward and lateral weights, of now.
    unmixing : ndarray
        M^-1 W.
    c : ndarray
        Dendritic currents of the last frame.
    activity : float
        ||y||^2 of the last frame.
    frames, refused : int
    failure : str
        What stopped it; '' if nothing has.
    """

    def __init__(self, d, eta=2e-5, tau=1.5, lambda_=None, *, outputs=None, reading="inverse-square",
                 weight="square", dynamics="solve", autapses=True, random_state=0):
        d, outputs = _sizes(d, outputs)
        lambda_ = [] if lambda_ is None else check.reals("lambda_", lambda_)
        if lambda_ and len(lambda_) != outputs:
            raise ValueError(f"lambda_: expected one for each of the {outputs} outputs, got {len(lambda_)}")
        self._core = _core.SmIca(d, outputs, check.real("eta", eta, above=0), check.real("tau", tau, above=0),
                                 lambda_, check.text("reading", reading), check.text("weight", weight),
                                 check.choice("dynamics", dynamics, ["solve", "iterate"]) == "iterate",
                                 check.flag("autapses", autapses), check.seed("random_state", random_state))

    def set_weights(self, W, M):
        """Puts W and M in place of its own.

        Parameters
        ----------
        W : array-like of shape (n_outputs, n_inputs)
        M : array-like of shape (n_outputs, n_outputs)
            Symmetric and positive definite.
        """
        M = check.matrix("M", M, self.M.shape)
        if not np.allclose(M, M.T) or np.linalg.eigvalsh(M)[0] <= 0:
            raise ValueError("M: expected a symmetric, positive definite matrix")
        self._core.set_weights(check.matrix("W", W, self.W.shape), M)

    W = property(lambda self: self._core.W, doc="Feedforward weights, outputs x inputs.")
    M = property(lambda self: self._core.M, doc="Lateral weights.")
    c = property(lambda self: self._core.c, doc="Dendritic currents of the last frame.")
    activity = property(lambda self: self._core.activity, doc="||y||^2 of the last frame.")
    frames = property(lambda self: self._core.frames, doc="Learned from.")
    refused = property(lambda self: self._core.refused, doc="Frames with NaN or Inf.")
    failure = property(lambda self: self._core.failure, doc="What stopped it, or ''.")


class NaturalNetwork(_Stepping):
    """SM-ICA with natural steps: stable, independent of the mixing, nothing to tune; frames in random order.

    Parameters
    ----------
    d : int
        Inputs.
    lambda_ : list of float, optional
        One per output; chosen if not given.
    outputs : int, optional
        As many as inputs if not given.
    reading, weight, random_state
        As of `SmIcaNetwork`.

    Attributes
    ----------
    W, M : ndarray
        Feedforward (on whitened inputs) and lateral weights, of now.
    whitener, mean, unmixing : ndarray
        y = unmixing (x - mean).
    rank, warm_up, frames, refused : int
    """

    def __init__(self, d, lambda_=None, *, outputs=None, reading="inverse-square", weight="square", random_state=0):
        d, outputs = _sizes(d, outputs)
        lambda_ = [] if lambda_ is None else check.reals("lambda_", lambda_)
        if lambda_ and len(lambda_) != outputs:
            raise ValueError(f"lambda_: expected one for each of the {outputs} outputs, got {len(lambda_)}")
        self._core = _core.Natural(d, outputs, lambda_, check.text("reading", reading), check.text("weight", weight),
                                   check.seed("random_state", random_state))

    def refresh(self):
        """Brings the whitener up to date with every frame seen, for the end of a stream."""
        self._core.refresh()

    W = property(lambda self: self._core.W, doc="Feedforward weights, on whitened inputs.")
    M = property(lambda self: self._core.M, doc="Lateral weights.")
    whitener = property(lambda self: self._core.whitener, doc="P: h = P (x - mean).")
    mean = property(lambda self: self._core.mean, doc="Of the inputs.")
    rank = property(lambda self: self._core.rank, doc="Outputs in use.")
    warm_up = property(lambda self: self._core.warm_up, doc="Frames before learning starts.")
    frames = property(lambda self: self._core.frames, doc="Learned from or measured.")
    refused = property(lambda self: self._core.refused, doc="Frames with NaN or Inf.")


class Network(_Stepping):
    """Any online method of the table by its name, or a rule of one's own.

    Parameters
    ----------
    method : str or class
        A name of `demix.methods()` that is online, or a subclass of `demix.Rule`.
    d : int
        Inputs. Whitening or centring them is left to the caller.
    outputs : int, optional
        As many as inputs if not given.
    form : str, optional
    eta, tau : float, optional
    lambda_ : list of float, optional
    weight : str, optional
    random_state : int, RandomState or Generator, default=0

    Attributes
    ----------
    unmixing : ndarray
    failure : str
        What stopped it; '' if nothing has. Outputs are 0 from there on.
    """

    def __init__(self, method, d, *, outputs=None, form=None, eta=None, tau=None, lambda_=None, weight=None,
                 random_state=0):
        d, outputs = _sizes(d, outputs)
        options = {"seed": check.seed("random_state", random_state)}
        if form is not None:
            options["form"] = check.text("form", form)
        if weight is not None:
            options["weight"] = check.text("weight", weight)
        if eta is not None:
            options["eta"] = check.real("eta", eta, above=0)
        if tau is not None:
            options["tau"] = check.real("tau", tau, above=0)
        if lambda_ is not None:
            options["lambda"] = check.reals("lambda_", lambda_)
        if isinstance(method, type):
            options["rule"] = method
        elif not isinstance(method, str):
            raise TypeError(f"method: expected a name or a rule's class, got {method!r}")
        self._core = _core.Online(method, d, outputs, options)

    def finish(self):
        """No more frames: learns what is still pending."""
        self._core.finish()

    failure = property(lambda self: self._core.failure, doc="What stopped it, or ''.")


class Rule:
    """A learning rule of one's own: subclass it and write `learn`.

    The class goes wherever a method's name does: ``demix.ICA(method=MyRule)``, ``demix.Network(MyRule, d)``,
    ``demix.compare(problem, [MyRule, 'easi'])``. It is run by what runs the library's own rules, and stopped when its
    outputs grow without bound.

    Parameters
    ----------
    inputs, outputs : int
    seed : int
        Of the initial weights.

    Attributes
    ----------
    W : ndarray of shape (outputs, inputs)
        Feedforward weights; at first rows of a random rotation.

    Examples
    --------
    >>> class Easi(demix.Rule):
    ...     eta = 1e-3
    ...     def learn(self, x, y):
    ...         g = y**3
    ...         H = np.outer(y, y) - np.eye(len(y)) + np.outer(g, y) - np.outer(y, g)
    ...         self.W -= self.eta * H @ self.W
    """

    def __init__(self, inputs, outputs, *, seed=0):
        Q, R = np.linalg.qr(np.random.default_rng(seed).normal(size=(inputs, inputs)))
        self.W = (Q * np.sign(np.diag(R)))[:outputs].copy()

    def respond(self, x):
        """Outputs for a frame.

        Parameters
        ----------
        x : ndarray of shape (inputs,)

        Returns
        -------
        y : ndarray of shape (outputs,)
        """
        return self.W @ x

    def learn(self, x, y):
        """Changes the weights, after ``y = respond(x)``.

        Parameters
        ----------
        x : ndarray of shape (inputs,)
        y : ndarray of shape (outputs,)
        """
        raise NotImplementedError(f"{type(self).__name__}: a rule needs learn(x, y)")

    def unmixing(self):
        """The matrix that gives the outputs once the rule has converged.

        Returns
        -------
        unmixing : ndarray of shape (outputs, inputs)
        """
        return self.W


class Comparison:
    """What `compare` found.

    Attributes
    ----------
    frames : ndarray
        Where it was measured.
    labels : list of str
        Of the contenders.
    now, running : dict
        For each label: `runs`, `separated`, `diverged` (counts), and the quartiles `low`, `median`, `high` of the error
        at each of `frames`: of the matrix of the moment, and the paper's, of all outputs so far.
    """

    def __init__(self, found, labels):
        self.frames, self.now, self.running, self.labels = found["frames"], found["now"], found["running"], labels

    def __str__(self):
        wide = max(len(label) for label in self.labels)
        lines = [f"{'':{wide}}  separated  diverged   median error at the end"]
        for label in self.labels:
            s = self.now[label]
            lines.append(f"{label:{wide}}  {s['separated']:>4} of {s['runs']:<3}{s['diverged']:>8}   "
                         f"{s['median'][-1]:.3g}")
        return "\n".join(lines)


def compare(problem, contenders, *, n_samples=100000, seeds=10, random_state=0, white=False, shuffle=False,
            condition=None, n_jobs=None, progress=None):
    """Online methods side by side, over time, over random draws of sources, mixing and initial weights.

    Parameters
    ----------
    problem : int, list of str, or array-like of shape (n_samples, n_sources)
        A scenario of the paper (1 to 4), names of synthetic sources, or recorded sources.
    contenders : list of str or class
        'NAME[:FORM][@ETA]', for example 'infomax:cubic@5e-4', or subclasses of `demix.Rule`.
    n_samples : int, default=100000
        Frames of each run.
    seeds : int, default=10
        Draws.
    random_state : int, default=0
        The first of the seeds.
    white : bool, default=False
        Whiten the mixtures (of a scenario: as the paper does).
    shuffle : bool, default=False
        Recorded sources in random order.
    condition : float, optional
        Condition number of the mixings; Gaussian entries if not given.
    n_jobs : int or None, default=None
        Threads. Results do not depend on it.
    progress : callable, bool or None, default=None

    Returns
    -------
    comparison : Comparison
    """
    if isinstance(problem, (bool, np.bool_)):
        raise TypeError(f"problem: expected a scenario, names of sources or sources, got {problem!r}")
    if isinstance(problem, (int, np.integer)):
        problem = check.integer("problem", problem, least=1, most=4)
        if white or shuffle or condition is not None:
            raise ValueError("white, shuffle, condition: a scenario says itself how it is mixed")
    elif isinstance(problem, str):
        raise TypeError(f"problem: expected a list of names of sources, got {problem!r}")
    elif isinstance(problem, (list, tuple)) and all(isinstance(s, str) for s in problem):
        problem = list(problem)
    else:
        problem = np.ascontiguousarray(check.frames("problem", problem), dtype=np.float64)
    if isinstance(contenders, (str, type)):
        contenders = [contenders]
    given, labels = [], []
    for c in contenders:
        if isinstance(c, str):
            given.append(c)
            labels.append(c.replace(" ", ""))
        elif isinstance(c, type):
            given.append((c.__name__, c))
            labels.append(c.__name__)
        else:
            raise TypeError(f"contenders: expected names or rules' classes, got {c!r}")
    if len(set(labels)) < len(labels):
        raise ValueError(f"contenders: expected different ones, got {', '.join(labels)}")
    in_python = any(isinstance(g, tuple) for g in given)  # one thread at a time anyway
    with shown(progress) as told:
        found = _core.compare(problem, given, check.integer("n_samples", n_samples, least=10),
                              check.integer("seeds", seeds, least=1), check.seed("random_state", random_state),
                              1 if in_python else check.jobs(n_jobs), check.flag("white", white),
                              check.flag("shuffle", shuffle),
                              0 if condition is None else check.real("condition", condition, least=1, most=1e12),
                              told)
    return Comparison(found, labels)
