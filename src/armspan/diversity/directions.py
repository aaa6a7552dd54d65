"""Directions in words: which features make one up, and what is always so where features never vary along it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armspan._typing import BoolArray, FloatArray

_MOST_FEATURES = 4
"""A direction is described by this many features, those that weigh most."""
_MOST_LISTED = 8
_NOTHING = 1e-6
"""A share of a direction that counts as none of it."""


def plainest(space: FloatArray, scale: FloatArray, constant: BoolArray) -> FloatArray:
    """Of the directions in a space, given by independent columns (d, m), one with as few features as possible.

    scale : (d,) the size of each feature, so that units do not matter. constant : (d,) features that never change; they
    are named as part of what others add up to, rather than those others.

    Where the space is that of directions along which nothing varies, each of its m directions says that one feature is
    a combination of others. Which m features are written in this way is free: those that come last, the constants
    before all.
    """
    m = space.shape[1]
    unit = np.where(scale > 0, scale, 1.0)
    basis = np.linalg.qr(space * unit[:, None])[0]
    order = [*np.flatnonzero(constant), *np.flatnonzero(~constant)]
    rest, chosen = basis.copy(), []
    for row in reversed(order):
        length = float(np.linalg.norm(rest[row]))
        if length > _NOTHING:
            chosen.append(row)
            rest = rest - np.outer(rest @ rest[row], rest[row]) / length**2
        if len(chosen) == m:
            break
    directions = basis @ np.linalg.inv(basis[chosen])
    directions[np.abs(directions) < _NOTHING * np.abs(directions).max(axis=0)] = 0.0
    used = directions != 0
    best = min(range(m), key=lambda column: (used[:, column].sum(), *np.flatnonzero(used[:, column])))
    return positive(directions[:, best] / unit)


def positive(direction: FloatArray) -> FloatArray:
    """With length 1, and its largest entry above 0."""
    largest = direction[int(np.argmax(np.abs(direction) > (1 - 1e-9) * np.abs(direction).max()))]
    return direction / (np.linalg.norm(direction) * np.sign(largest))


def combination(features: Sequence[Any], direction: FloatArray, *, signed: bool = False) -> str:
    """A direction by the features that weigh most in it; without its sign where a single one does, unless signed."""
    features, order = _called(features), np.argsort(-np.abs(direction))
    if direction[order[0]] ** 2 > 0.9:
        return f"{'-' if signed and direction[order[0]] < 0 else ''}{features[order[0]]}"
    main = order[: max(1, int((np.abs(direction) > 0.1).sum()))]
    words = " ".join(f"{direction[j]:+.2f}·{features[j]}" for j in sorted(main[:_MOST_FEATURES]))
    return words + (" and others" if len(main) > _MOST_FEATURES else "")


def scaled(direction: FloatArray, scale: FloatArray) -> FloatArray:
    """A direction of features in their own units, for features at one scale; scale : (d,) the size of each."""
    return positive(direction * np.where(scale > 0, scale, float(scale.max(initial=0.0)) or 1.0))


def always(features: Sequence[Any], direction: FloatArray, constant: BoolArray) -> str:
    """What is always so where features never vary along a direction; "" where its combination is all there is to say.

    The usual case is one column for each kind, of which one is 1 and the others 0, and an intercept: a column too many.
    """
    features = _called(features)
    used = np.abs(direction) > _NOTHING * np.abs(direction).max()
    fixed, free = ([features[int(j)] for j in np.flatnonzero(used & which)] for which in (constant, ~constant))
    if len(free) == 0 and len(fixed) == 2:
        return f"{fixed[0]} and {fixed[1]} never change; so {fixed[1]} says nothing new"
    if len(fixed) == 0 and len(free) == 2 and not _alike(np.abs(direction[used])):
        one, other = direction[used]
        return f"{free[1]} is always about {-one / other:.4g} times {free[0]}"
    if len(fixed) == 1 and len(free) > 1 and _alike(direction[used & ~constant]):
        return f"these columns always add up to the same: {_listed(free)}; so {fixed[0]} says nothing new"
    sides = [[features[int(j)] for j in np.flatnonzero(used & (sign * direction > 0))] for sign in (1, -1)]
    if min(map(len, sides)) > 0 and max(map(len, sides)) <= _MOST_LISTED and _alike(np.abs(direction[used])):
        one, other = (" + ".join(map(str, side)) for side in sorted(sides, key=len, reverse=True))
        return f"{one} always equals {other}"
    return ""


def _called(features: Sequence[Any]) -> list[str]:
    """Their names, where they have any: a number alone would be taken for a weight."""
    return [f"feature {name}" if str(name).isdigit() else str(name) for name in features]


def _alike(values: FloatArray) -> bool:
    return bool(np.ptp(values) <= _NOTHING * np.abs(values).max())


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(map(str, names[:_MOST_LISTED]))
    return shown if len(names) <= _MOST_LISTED else f"{shown} and {len(names) - _MOST_LISTED} more"
