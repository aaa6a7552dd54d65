"""Single precision from the same source: a function of the kernels with its constants, and those it calls, as float32.

A constant such as 0.5 is a double to numba and would make a double of all it meets.
"""

import types
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

OWN = {"ROUNDING": 5e-7, "UNTRIED": 1e30, "EPSILON": 2.0**-23}
"""Constants that mean the precision or the range of numbers themselves."""


def in_single(function: Any, done: dict[Any, Any] | None = None) -> Any:
    """The function, compiled or not as it was, in single precision."""
    done = {} if done is None else done
    plain = getattr(function, "py_func", function)
    if plain not in done:
        code, scope = plain.__code__, plain.__globals__
        constants = tuple(_constant(value) for value in code.co_consts)
        names = {name: _named(name, scope[name], done) for name in code.co_names if name in scope}
        single = types.FunctionType(code.replace(co_consts=constants), names, plain.__name__)
        single.__module__ = plain.__module__
        compiled: Callable[[Any], Any] = numba.njit(error_model="numpy", inline="always")
        done[plain] = single if plain is function else compiled(single)
    return done[plain]


def _constant(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_constant(part) for part in value)
    return np.float32(value) if isinstance(value, float) else value


def _named(name: str, value: Any, done: dict[Any, Any]) -> Any:
    """What a global name stands for."""
    if value is np.float64:
        return np.float32
    if isinstance(value, float):
        return np.float32(OWN.get(name, value))
    ours = str(getattr(value, "__module__", "")).startswith("armspan.kernels") and callable(value)
    return in_single(value, done) if ours else value
