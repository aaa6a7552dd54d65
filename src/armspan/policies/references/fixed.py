"""Policies that learn nothing: the same arm or the best one always, or any arm by chance."""

from collections.abc import Callable

import numpy as np

from armspan._typing import FloatArray


class Learnless:
    """What they have in common."""

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        """Nothing is learnt."""


class UniformReference(Learnless):
    """Every arm with the same probability."""

    def probabilities(self, x: FloatArray, context: int, step: int) -> FloatArray:
        return np.full(len(x), 1 / len(x))


class FixedReference(Learnless):
    """The same arm always."""

    def __init__(self, arm: int) -> None:
        self._arm = arm

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """1 for that arm, 0 for the others."""
        return np.eye(len(x))[self._arm]


class OracleReference(Learnless):
    """The arm with the largest true mean reward."""

    def __init__(self, mean_rewards_at: Callable[[FloatArray, int, int], FloatArray]) -> None:
        self._mean_rewards_at = mean_rewards_at

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """The truth."""
        return self._mean_rewards_at(x, context, step)
