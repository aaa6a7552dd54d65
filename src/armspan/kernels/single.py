"""Single precision from the same source: a function of the kernels with its constants, and those it calls, as float32.

A constant such as 0.5 is a double to numba and would make a double of all it meets.
"""

import dis
import types
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np


class Precision(float):
    """A constant that means the precision or the range of numbers themselves, so that single precision has its own."""

    single: float

    def __new__(cls, double: float, single: float) -> "Precision":
        constant = super().__new__(cls, double)
        constant.single = single
        return constant


def in_precision(single: bool, *functions: Any) -> Iterator[Any]:
    """The functions, with all that they call, to be inlined, as GPUs take them; in single precision if asked for."""
    done: dict[Any, Any] = {}
    return (_inlined(function, single, done) for function in functions)


def in_single(function: Any) -> Any:
    """The function, compiled or not as it was, in single precision."""
    return _inlined(function, True, {})


def _inlined(function: Any, single: bool, done: dict[Any, Any]) -> Any:
    plain = getattr(function, "py_func", function)
    if plain not in done:
        code, scope = plain.__code__, plain.__globals__
        used = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"} & scope.keys()
        names = {name: _meant(scope[name], code.co_names, single, done) for name in used}
        if single:
            code = code.replace(co_consts=tuple(map(_constant, code.co_consts)))
        made = types.FunctionType(code, names, plain.__name__)
        made.__module__ = plain.__module__
        compiled: Callable[[Any], Any] = numba.njit(error_model="numpy", inline="always")
        done[plain] = made if plain is function else compiled(made)
    return done[plain]


def _constant(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_constant(part) for part in value)
    return np.float32(value) if isinstance(value, float) else value


def _meant(value: Any, attributes: tuple[str, ...], single: bool, done: dict[Any, Any]) -> Any:
    """What a name stands for; attributes : those that are used, if it is a module of ours."""
    if single and value is np.float64:
        return np.float32
    if single and isinstance(value, float):
        return np.float32(getattr(value, "single", value))
    if isinstance(value, types.ModuleType) and value.__name__.startswith("armspan.kernels"):
        module = types.ModuleType(value.__name__)
        used = {part: content for part, content in vars(value).items() if part in attributes}
        vars(module).update({part: _meant(content, (), single, done) for part, content in used.items()})
        return module
    ours = str(getattr(value, "__module__", "")).startswith("armspan.kernels")
    return _inlined(value, single, done) if ours and hasattr(value, "__code__") else value
