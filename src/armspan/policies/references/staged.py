"""SupLinUCB's master algorithm as Auer (2003) and Chu et al. (2011) print it, around any estimate with a width."""

from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.ridge import RidgeReference


class RidgeStage(RidgeReference):
    """BaseLinUCB: ridge regression on the rewards of one stage."""

    def interval(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The estimate θ̂ᵀx and its width α√(xᵀA⁻¹x) of every arm."""
        mean, width = self.estimates(x)
        return mean, self.alpha(1) * width


class StagedReference:
    """Goes through the stages until one decides. stage : the one that has, from 1. explores : whether it learns."""

    def __init__(self, *, stages: list[Any], horizon: int) -> None:
        self.stages, self._horizon = stages, horizon
        self.stage, self.explores = 1, False

    @property
    def mark(self) -> tuple[int, bool]:
        """What the latest choice was: `stage` and `explores`."""
        return self.stage, self.explores

    @mark.setter
    def mark(self, mark: tuple[int, bool]) -> None:
        self.stage, self.explores = mark

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """The number of which the largest wins, for the arms of A; -inf for the others."""
        s, A = 1, np.full(len(x), True)
        while True:
            mean, width = self.stages[s - 1].interval(x)
            index = np.where(A, mean + width, -np.inf)
            self.stage = s
            if (width[A] <= 1 / np.sqrt(self._horizon)).all():  # all is known well enough: exploit, and learn nothing
                self.explores = False
                return index
            if (width[A] > 2.0**-s).any():  # explore: the widest
                self.explores = True
                return np.where(A, width, -np.inf)
            A &= index >= index.max() - 2.0 ** (1 - s)
            s += 1

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        if self.explores:
            self.stages[self.stage - 1].update(arm, x, context, reward)
