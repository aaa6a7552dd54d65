"""Grids of environments or policies: one object for every combination of parameters, and its name."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from armspan.errors import InvalidParameter


class Grid(dict[str, Any]):
    """Objects by name, as a dictionary that also knows the parameters of each. Two grids are joined by |.

    Parameters
    ----------
    objects : dict
        Environments or policies by name.
    parameters : dict
        The parameters of each name.
    """

    def __init__(self, objects: Mapping[str, Any], parameters: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(objects)
        self.parameters = dict(parameters)

    def __or__(self, other: Mapping[str, Any]) -> "Grid":  # type: ignore[override]
        """Both; where a name is in both, the other's."""
        theirs = getattr(other, "parameters", {})
        ours = {name: values for name, values in self.parameters.items() if name not in other}
        return Grid({**self, **other}, ours | theirs)

    __ior__ = __or__  # type: ignore[assignment]

    def __ror__(self, other: Mapping[str, Any]) -> "Grid":  # type: ignore[override]
        """Both, where the other is no grid."""
        return Grid(other, {}) | self


def grid(make: Callable[..., Any], /, **values: Sequence[Any]) -> Grid:
    """Make one object for every combination of values, named like "LinUCB(alpha=0.5)".

    Parameters
    ----------
    make : function or class
        A policy's class, or a function that makes an environment; use functools.partial to fix other arguments.
    values : list
        One keyword argument per parameter: the list of its values.

    Returns
    -------
    Grid
        The objects by name.
    """
    if not callable(make):
        raise InvalidParameter(f"make must be a policy's class or a function, got {make!r:.60}")
    named = make.func if isinstance(make, partial) else make
    return combinations(getattr(named, "__name__", type(named).__name__), make, values)


def combinations(called: str, make: Callable[..., Any], values: Mapping[str, Sequence[Any]]) -> Grid:
    """The grid of make(...) under names such as called(alpha=0.5)."""
    for name, entries in values.items():
        if not isinstance(entries, Sequence | np.ndarray) or isinstance(entries, str) or len(entries) == 0:
            raise InvalidParameter(f"{name} must be a list of values to try, got {entries!r:.60}")
    objects: dict[str, Any] = {}
    parameters: dict[str, dict[str, Any]] = {}
    for combination in itertools.product(*values.values()):
        chosen = dict(zip(values, map(_plain, combination), strict=True))
        name = f"{called}({', '.join(f'{key}={_word(value)}' for key, value in chosen.items())})"
        if name in objects:
            raise InvalidParameter(f"values must be different from each other, got {name} twice")
        objects[name], parameters[name] = make(**chosen), {key: _entry(value) for key, value in chosen.items()}
    return Grid(objects, parameters)


def _plain(value: Any) -> Any:
    """A number of NumPy's as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def _entry(value: Any) -> Any:
    """A value as a table has it: a number or a word."""
    return value if value is None or isinstance(value, int | float | str) else _word(value)


def _word(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
