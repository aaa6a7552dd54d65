"""How well an arm is known: λ_min(V), its growth with every pull, and the direction in which least was seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armspan._text import percent
from armspan._typing import BoolArray, FloatArray
from armspan.agents.answers import ArmKnowledge
from armspan.agents.state import State
from armspan.diversity.directions import always, combination, plainest, positive, scaled
from armspan.diversity.moments import weakest

_UNSEEN = 1e-9
"""A feature whose squares add up to less than this times the ridge was not seen."""


def arm_knowledge(state: State, k: int, feature_names: Sequence[Any]) -> ArmKnowledge:
    """What is known of arm k."""
    name, V, ridge = state.names[k], state.gram(k).astype(np.float64), state.settings.ridge
    pulls = state.pulls(k)
    smallest, directions = weakest(V)
    direction = positive(directions[:, 0])
    if not pulls:
        return ArmKnowledge(name, 0.0, smallest, 0.0, direction, f"arm {name} was never pulled")
    seen, usual = smallest - ridge, float(np.trace(V)) / len(V) - ridge
    gram, tolerance = _gram(V, ridge, pulls, state.settings.dtype)
    least, flat = weakest(gram, tolerance)
    if least > 0:
        where = combination(feature_names, direction)
        words = f"arm {name} was seen least along {where}: {percent(seen / usual, 1)} of the mean"
        return ArmKnowledge(name, pulls, smallest, seen / pulls, direction, words)
    constant = _constant(gram, tolerance, state.settings.intercept)
    sizes = np.sqrt(np.diag(gram))
    direction = plainest(flat, sizes, constant)
    more = "" if (n := flat.shape[1] - 1) == 0 else f" {n} more direction{'s' if n > 1 else ''}"
    if rule := always(feature_names, direction, constant):
        words = f"where arm {name} was pulled, {rule}" + (f"; it was not seen along{more} either" if more else "")
    else:
        words = f"arm {name} was seen least along {combination(feature_names, scaled(direction, sizes))}: not at all"
        words += f", nor along{more}" if more else ""
    return ArmKnowledge(name, pulls, smallest, seen / pulls, direction, words)


def _gram(V: FloatArray, ridge: float, pulls: float, dtype: str) -> tuple[FloatArray, float]:
    """Σxxᵀ = V - ridge·I, 0 for features that were not seen, and what its eigenvalues may be wrong by, at one scale."""
    gram, epsilon = V - ridge * np.eye(len(V)), float(np.finfo(dtype).eps)
    size = np.diag(gram)
    seen = size > max(_UNSEEN, 8 * epsilon) * ridge
    gram = np.where(seen[:, None] & seen, gram, 0.0)
    rounding = epsilon * (4 * len(V) + 4 * np.sqrt(pulls))
    return gram, float(rounding * (1 + (ridge / size[seen]).max(initial=0.0)))


def _constant(gram: FloatArray, tolerance: float, intercept: bool) -> BoolArray:
    """Features that were the same at every pull: the intercept, which comes last, and its multiples."""
    size = np.diag(gram)
    if not intercept:
        return np.zeros(len(gram), dtype=np.bool_)
    return (size > 0) & (gram[-1] ** 2 >= (1 - tolerance) * size * size[-1])
