"""Exploration schedules α_t: the paper's, a constant, an array or a user's own function, all as data over t."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray, IntArray
from armspan.errors import InvalidParameter

Schedule = Callable[[IntArray], FloatArray]
"""From step numbers t = 1, 2, … to α_t."""

Alpha = float | Sequence[float] | FloatArray | Callable[[IntArray], Any]
"""What a user may give: a constant, one number a step, or a function of an array of step numbers."""


def f(t: IntArray) -> FloatArray:
    """The paper's f(t) = 1 + t log²t.

    Parameters
    ----------
    t : array
        Step numbers 1, 2, ….
    """
    return 1.0 + t * np.log(t) ** 2


def paper_alpha(t: IntArray, *, n_features: int, bias: float, noise_scale: float = 1.0) -> FloatArray:
    """α_t = l·s + R√((2 + d) log f(t)): Algorithm 1, line 3, for R-subgaussian noise (R = 1 in the paper).

    Parameters
    ----------
    t : array
        Step numbers 1, 2, ….
    n_features : int
        d.
    bias : float
        l·s, what the dummy contexts may add to the error.
    noise_scale : float, default 1
        R.
    """
    return bias + noise_scale * np.sqrt((2 + n_features) * np.log(f(t)))


def freeze(alpha: Alpha | None, *, name: str = "alpha") -> Alpha | None:
    """α in a form that cannot change and can be compared: an array becomes a tuple. Refuses anything that is not an α.

    Parameters
    ----------
    alpha : float, array, function or None
        As for `as_schedule`; None stays None.
    name : str, default "alpha"
        What error messages call it.
    """
    if alpha is None:
        return None
    as_schedule(alpha, name=name)
    return tuple(np.asarray(alpha).tolist()) if isinstance(alpha, list | np.ndarray) else alpha


def as_schedule(alpha: Alpha, *, name: str = "alpha") -> Schedule:
    """Any accepted form of α as a function of step numbers, which checks what it returns.

    Parameters
    ----------
    alpha : float, array or function
        A constant, an array with one entry per step, or a function of step numbers.
    name : str, default "alpha"
        What error messages call it.
    """
    if callable(alpha):
        return lambda t: _checked(name, _evaluated(alpha, t), t)
    if isinstance(alpha, str | float | int) or np.isscalar(alpha):
        constant = _validate.real(name, alpha, at_least=0)
        return lambda t: np.full(t.size, constant)
    values = _validate.array(name, alpha, shape=("T",))

    def look_up(t: IntArray) -> FloatArray:
        if t[-1] > values.size:
            raise InvalidParameter(f"{name} must have one entry per step, got {values.size} entries for step {t[-1]}")
        return _checked(name, values[t - 1], t)

    return look_up


def _evaluated(alpha: Callable[[Any], Any], t: IntArray) -> Any:
    """A function of step numbers at all of t; one that takes single numbers alone (math.log does), one by one."""
    try:
        return alpha(t)
    except (TypeError, ValueError):
        return [alpha(step) for step in t.tolist()]


def _checked(name: str, values: Any, t: IntArray) -> FloatArray:
    """One finite α ≥ 0 a step; a scalar stands for all steps."""
    try:
        result = np.array(values, dtype=np.float64)  # a copy: kernels are compiled for writable arrays
    except (TypeError, ValueError):
        raise InvalidParameter(f"{name} must give one number per step, got {type(values).__name__}") from None
    if result.ndim == 0:
        result = np.full(t.shape, result)
    if result.shape != t.shape:
        raise InvalidParameter(f"{name} must give one value per step, got shape {result.shape} for {t.size} steps")
    wrong = ~(np.isfinite(result) & (result >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InvalidParameter(f"{name} must be finite and >= 0, got {result[at]} at step {t[at]}")
    return result
