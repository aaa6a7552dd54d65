"""How the naive form of a policy chooses: the largest index wins, or chance decides, as in the compiled forms."""

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels.choice import ROUNDING, break_tie
from armspan.kernels.counts import UNTRIED
from armspan.kernels.sampling import normals, uniform


class OneStep:
    """What a policy draws in one step, counted from 0, of a run: `armspan.policies.base.Chance` that stands still."""

    def __init__(self, seed: int, run: int, step: int) -> None:
        self._place = np.uint64(seed), run, step

    def normals(self, step: int, n: int) -> FloatArray:
        """Independent N(0, 1), one per arm."""
        return np.asarray(normals(*self._place, n))

    def uniform(self, step: int = 0) -> float:
        """A number in (0, 1), for a choice by probabilities."""
        return float(uniform(*self._place))


def drawn_arm(p: FloatArray, seed: int, run: int, step: int) -> int:
    """An arm by its probability p (K,), in a step counted from 0."""
    above = np.flatnonzero((OneStep(seed, run, step).uniform() < np.cumsum(p)) & (p > 0))
    return int(above[0] if above.size else np.flatnonzero(p > 0)[-1])


def comparable(index: FloatArray) -> FloatArray:
    """An index (K,) without infinities, whose differences make sense."""
    return np.minimum(index, UNTRIED)


def largest_arm(index: FloatArray, unit: float, seed: int, run: int, step: int) -> int:
    """The arm with the largest of a comparable index (K,); unit : how large rewards are, roughly, for ties."""
    best = index.max()
    if np.count_nonzero(best - index <= ROUNDING * (unit + abs(best))) > 1:
        return int(break_tie(index, best, unit, np.uint64(seed), run, step))
    return int(index.argmax())
