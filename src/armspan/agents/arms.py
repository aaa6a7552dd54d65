"""Names of arms: given by a number or a sequence, found again, and picked out of all."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import BoolArray
from armspan.errors import InvalidParameter

MOST_ARMS = 10**7
"""Of an agent."""


def named(n_arms: Any, arms: Any) -> list[Hashable]:
    """The arms 0, 1, …, or those that are given by name."""
    if arms is None:
        return list(range(_validate.whole("n_arms", n_arms, at_least=1, at_most=MOST_ARMS)))
    if isinstance(arms, str | set | frozenset) or not isinstance(arms, Iterable):
        raise InvalidParameter(f"arms must be a sequence of names, in order, got {arms!r:.60}")
    names = list(arms)
    if n_arms is not None and n_arms != len(names):
        raise InvalidParameter(f"n_arms must be the number of arms, {len(names)}, got {n_arms}")
    return names


def distinct(arms: Sequence[Hashable]) -> list[Hashable]:
    """The names, if no two are the same."""
    names = list(arms)
    try:
        different = len(set(names)) == len(names)
    except TypeError:
        raise InvalidParameter("arms must be hashable names") from None
    if not names or not different:
        raise InvalidParameter(f"arms must be different names, at least one, got {names!r:.60}")
    return names


def place_of(place: Mapping[Hashable, int], name: Hashable) -> int:
    """The row of an arm, from the rows by name."""
    try:
        return place[name]
    except (KeyError, TypeError):
        known = ", ".join(map(str, list(place)[:8])) + (", …" if len(place) > 8 else "")
        raise InvalidParameter(f"arm must be one of {known}, got {name!r:.60}") from None


def eligible(place: Mapping[Hashable, int], only: Sequence[Hashable] | None) -> BoolArray:
    """Which arms (K,) may be chosen: all, or those that are named."""
    result = np.full(len(place), only is None, dtype=np.bool_)
    if only is not None and (isinstance(only, str) or not isinstance(only, Iterable)):
        raise InvalidParameter(f"only must be a sequence of arms, got {only!r:.60}")
    for name in () if only is None else only:
        result[place_of(place, name)] = True
    if not result.any():
        raise InvalidParameter("only must name at least one arm, got none")
    return result
