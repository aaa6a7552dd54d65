"""UCB1 with the rewards kept as lists."""

import numpy as np

from armspan._typing import FloatArray
from armspan.theory import Schedule


class UCB1Reference:
    """The rewards seen of each arm, as lists."""

    def __init__(self, *, n_arms: int, alpha: Schedule) -> None:
        self._rewards: list[list[float]] = [[] for _ in range(n_arms)]
        self._alpha = alpha

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """Mean + α_t/√pulls; an arm without pulls comes first."""
        alpha = self._alpha(np.array([step]))[0]
        return np.array([np.mean(y) + alpha / np.sqrt(len(y)) if y else np.inf for y in self._rewards])

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        self._rewards[arm].append(reward)
