"""The functions that people call today, with their signatures: scikit-learn's fastica, picard's picard."""
import numpy as np

from . import _arguments as check
from . import _core
from ._diagnosis import diagnosis_of
from ._ica import nearest_rotation, require_white


def _whitening_and_rotation(U):
    """K, W with W K = U, W a rotation, K the whitening by principal components, the strongest first."""
    left, values, right = np.linalg.svd(U, full_matrices=False)
    order = np.argsort(values)  # 1 / deviation
    return values[order, None] * right[order], left[:, order]


def _start(w_init, X, components, jobs):
    """w_init, in the coordinates of the whitened data, as an unmixing of the channels."""
    w_init = check.matrix("w_init", w_init)
    _, P, _, _ = _core.whiten(X, components or 0, 0, jobs)
    K, _ = _whitening_and_rotation(P)
    if w_init.shape != (len(K), len(K)):
        raise ValueError(f"w_init: expected shape {(len(K), len(K))}, got {w_init.shape}")
    return w_init @ K


def fastica(X, n_components=None, *, algorithm="parallel", whiten="unit-variance", fun="logcosh", fun_args=None,
            max_iter=200, tol=1e-4, w_init=None, whiten_solver="svd", random_state=None, return_X_mean=False,
            compute_sources=True, return_n_iter=False, n_jobs=None):
    """FastICA, with the signature of `sklearn.decomposition.fastica`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    n_components : int, optional
    algorithm : {'parallel', 'deflation'}, default='parallel'
    whiten : {'unit-variance', 'arbitrary-variance'} or bool, default='unit-variance'
        False: X is white already.
    fun : {'logcosh', 'exp', 'cube'}, default='logcosh'
        Functions of one's own cannot be used.
    fun_args : dict, optional
        Only {'alpha': 1}.
    max_iter : int, default=200
    tol : float, default=1e-4
    w_init : array-like of shape (n_components, n_components), optional
        Where to start; from FOBI's rotation if not given.
    whiten_solver, random_state : ignored
        Nothing depends on them here.
    return_X_mean, compute_sources, return_n_iter : bool
    n_jobs : int or None, default=None
        Threads.

    Returns
    -------
    K : ndarray of shape (n_components, n_features) or None
        Whitening; None if `whiten` is False.
    W : ndarray of shape (n_components, n_components)
    S : ndarray of shape (n_samples, n_components) or None
        Sources, ``W @ K @ (X - mean)``.
    X_mean : ndarray, if `return_X_mean`
    n_iter : int, if `return_n_iter`
    """
    X = check.frames("X", X)
    jobs = check.jobs(n_jobs)
    check.choice("algorithm", algorithm, ["parallel", "deflation"])
    if callable(fun):
        raise ValueError("fun: expected logcosh, exp or cube; functions of one's own cannot be used here")
    form = check.choice("fun", fun, ["logcosh", "exp", "cube"])
    if fun_args and dict(fun_args) != {"alpha": 1.0}:
        raise ValueError(f"fun_args: expected none, or {{'alpha': 1}}, got {fun_args!r}")
    check.choice("whiten_solver", whiten_solver, ["svd", "eigh"])
    if whiten is not False:
        whiten = check.choice("whiten", "arbitrary-variance" if whiten is True else whiten,
                              ["unit-variance", "arbitrary-variance"])
        components = check.components(n_components)
    else:
        components = {}  # as scikit-learn: they are those of X
    options = {"form": form if algorithm == "parallel" else form + "-deflation",
               "max_iterations": check.integer("max_iter", max_iter, least=1),
               "tolerance": check.real("tol", tol, above=0), **components}
    check.seed("random_state", random_state)
    if w_init is not None:
        options["start"] = _start(w_init, X, components.get("components"), jobs)
    model, _, _ = _core.fit(X, "fastica", options, None, jobs, None)
    diagnosis_of(model).warn()
    mean = model.mean
    if whiten is False:
        K, W, mean = None, model.unmixing, None
        S = X @ W.T if compute_sources else None
    else:
        K, W = _whitening_and_rotation(model.unmixing)
        S = model.apply(X, jobs) if compute_sources else None
        K /= np.sqrt(len(X))  # as scikit-learn's: K X has the variance 1 / n_samples
        if whiten == "unit-variance":
            W = W * np.sqrt(len(X))
        elif compute_sources:
            S = S / np.sqrt(S.dtype.type(len(X)))
    out = [K, W, S]
    if return_X_mean:
        out.append(mean)
    if return_n_iter:
        out.append(max(1, model.iterations))
    return tuple(out)


def picard(X, fun="tanh", n_components=None, ortho=True, extended=None, whiten=True, return_X_mean=False,
           return_n_iter=False, centering=True, max_iter=100, tol=1e-7, m=7, ls_tries=10, lambda_min=0.01,
           check_fun=True, w_init=None, fastica_it=None, jade_it=None, random_state=None, verbose=False, n_jobs=None):
    """Picard, with the signature of `picard.picard`; X is (n_features, n_samples), as there.

    Parameters
    ----------
    X : array-like of shape (n_features, n_samples)
    fun : {'tanh'}, default='tanh'
    n_components : int, optional
    ortho : bool, default=True
        W is a rotation (Picard-O), or any matrix of most likelihood. With `whiten=False` X has to be white then.
    extended : bool, optional
        Sub-Gaussian sources too. Always so here; False is taken, and densities that do better are used.
    whiten : bool, default=True
        False: W is of X as it is.
    return_X_mean, return_n_iter : bool
    centering : bool, default=True
        False: no mean is taken from X for Y. W is the same, as it depends on the deviations from the mean only.
    max_iter : int, default=100
    tol : float, default=1e-7
        Of the largest entry of the relative gradient.
    w_init : array-like of shape (n_components, n_components), optional
    m, ls_tries, lambda_min, check_fun, fastica_it, jade_it, random_state, verbose : ignored
        Of how picard searches; the optimum does not depend on them.
    n_jobs : int or None, default=None
        Threads.

    Returns
    -------
    K : ndarray of shape (n_components, n_features) or None
        Whitening; None if `whiten` is False.
    W : ndarray of shape (n_components, n_components)
    Y : ndarray of shape (n_components, n_samples)
        ``W @ K @ X``, X less its mean unless `centering` is False.
    X_mean : ndarray, if `return_X_mean`
    n_iter : int, if `return_n_iter`
    """
    X = check.frames("X", X).T
    jobs = check.jobs(n_jobs)
    check.choice("fun", fun, ["tanh"])
    ortho, whiten, centering = (check.flag("ortho", ortho), check.flag("whiten", whiten),
                                check.flag("centering", centering))
    if extended is not None:
        check.flag("extended", extended)
    components = check.components(n_components) if whiten else {}
    options = {"form": "orthogonal" if ortho else "free",
               "max_iterations": check.integer("max_iter", max_iter, least=1),
               "tolerance": check.real("tol", tol, above=0), **components}
    check.seed("random_state", random_state)
    if w_init is not None:
        options["start"] = (_start(w_init, X, components.get("components"), jobs) if whiten
                            else check.matrix("w_init", w_init, (X.shape[1], X.shape[1])))
    if ortho and not whiten:
        require_white(X, jobs)
    model, _, _ = _core.fit(X, "picard", options, None, jobs, None)
    diagnosis_of(model).warn()
    if whiten:
        K, W = _whitening_and_rotation(model.unmixing)
    else:
        K, W = None, nearest_rotation(model.unmixing) if ortho else model.unmixing
    U = W if K is None else W @ K
    mean = model.mean if centering else np.zeros(X.shape[1])
    Y = (U @ (X.T - mean[:, None])).astype(X.dtype, copy=False)
    out = [K, W, Y]
    if return_X_mean:
        out.append(mean)
    if return_n_iter:
        out.append(model.iterations)
    return tuple(out)
