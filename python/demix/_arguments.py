"""Checks of arguments: each says what was expected and what came."""
import numbers
import os

import numpy as np


def integer(name, value, least=None, most=None):
    """value as an int; TypeError or ValueError naming it otherwise."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}: expected a whole number, got {value!r}")
    if (least is not None and value < least) or (most is not None and value > most):
        raise ValueError(f"{name}: expected {_range(least, most)}, got {value}")
    return int(value)


def real(name, value, least=None, most=None, above=None):
    """value as a finite float; `least` and `most` may be reached, `above` may not."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected a number, got {value!r}")
    value = float(value)
    if not np.isfinite(value):
        raise ValueError(f"{name}: expected a finite number, got {value}")
    if above is not None and value <= above:
        raise ValueError(f"{name}: expected more than {above:g}, got {value:g}")
    if (least is not None and value < least) or (most is not None and value > most):
        raise ValueError(f"{name}: expected {_range(least, most)}, got {value:g}")
    return value


def flag(name, value):
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def text(name, value):
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a string, got {value!r}")
    return value


def choice(name, value, among):
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected one of {', '.join(among)}, got {value!r}")
    if value not in among:
        raise ValueError(f"{name}: expected one of {', '.join(among)}, got {value!r}")
    return value


def reals(name, values):
    """A list of finite floats."""
    if isinstance(values, str):
        raise TypeError(f"{name}: expected numbers, got {values!r}")
    try:
        values = list(values)
    except TypeError:
        raise TypeError(f"{name}: expected numbers, got {values!r}") from None
    return [real(name, v) for v in values]


def path(name, value):
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{name}: expected a path, got {value!r}")
    value = os.fsdecode(value)
    if "\0" in value:
        raise ValueError(f"{name}: expected a path, got {value!r}")
    return value


def callback(name, value):
    if value is not None and not callable(value):
        raise TypeError(f"{name}: expected a function of the share done, got {value!r}")
    return value


def jobs(value):
    """n_jobs as scikit-learn counts: None = 1 unless a joblib context says otherwise, -1 = all cores."""
    if value is not None:
        value = integer("n_jobs", value)
        if value == 0:
            raise ValueError("n_jobs: expected a positive number, or -1 for all cores, got 0")
    from joblib import effective_n_jobs
    return max(1, effective_n_jobs(value))


def seed(name, random_state):
    """A seed of 64 bits from what scikit-learn takes as random_state."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, (bool, np.bool_)):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"{name}: expected 0 to 2**64 - 1, got {random_state}")
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63))
    raise TypeError(f"{name}: expected a whole number, a RandomState or a Generator, got {random_state!r}")


def numbers_only(name, X):
    """Refuses arrays of what no number is made of."""
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind == "c":
        raise ValueError(f"{name}: expected real numbers. Complex data not supported")
    if kind in "mMV":
        raise TypeError(f"{name}: expected numbers, got {X.dtype}")


def frames(name, X):
    """X as the core takes it: (samples, channels), float32 or float64, of any strides; a copy only if it is not."""
    if X.__class__.__module__.startswith("scipy.sparse"):
        raise TypeError(f"{name}: sparse data cannot be separated; give an array, as X.toarray() does")
    numbers_only(name, X)
    if not isinstance(X, np.ndarray):
        X = np.asarray(X)
    if X.dtype not in (np.float32, np.float64):
        if X.dtype.kind not in "biufO":
            raise TypeError(f"{name}: expected numbers, got {X.dtype}")
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"{name}: expected numbers, got {X.dtype}") from None
    if X.ndim != 2:
        raise ValueError(f"{name}: expected a matrix, (samples, channels), got {X.ndim} dimensions")
    size = X.dtype.itemsize
    if not X.dtype.isnative or not X.flags.aligned or X.strides[0] % size or X.strides[1] % size:
        X = np.array(X, dtype=X.dtype.newbyteorder("="), order="C", copy=True)
    return X


def matrix(name, values, shape=None):
    """A finite matrix of doubles."""
    try:
        values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a matrix of numbers, got {type(values).__name__}") from None
    if values.ndim != 2:
        raise ValueError(f"{name}: expected a matrix, got {values.ndim} dimensions")
    if shape is not None and values.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name}: a value is not finite")
    return values


def components(value):
    """n_components as the core takes it: {} for all, a count, or a share of the power."""
    if value is None:
        return {}
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"n_components: expected a whole number, a share between 0 and 1, or None, got {value!r}")
    if isinstance(value, numbers.Integral):
        return {"components": integer("n_components", value, least=1)}
    value = float(value)
    if not 0 < value <= 1:
        raise ValueError(f"n_components: expected a whole number, a share above 0 up to 1, or None, got {value:g}")
    return {"share": value} if value < 1 else {}


def _range(least, most):
    if most is None:
        return f"at least {least}"
    return f"at most {most}" if least is None else f"{least} to {most}"
