"""UCB for each context on its own, with the rewards kept as lists."""

from collections import defaultdict

import numpy as np

from armspan._typing import FloatArray
from armspan.theory import Schedule


class CountReference:
    """The rewards seen in each context and arm, as lists: the `Reference` of UCB per context."""

    def __init__(self, *, n_arms: int, alpha: Schedule) -> None:
        self._rewards: dict[int, list[list[float]]] = defaultdict(lambda: [[] for _ in range(n_arms)])
        self._alpha = alpha

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """Mean + α_t/√pulls; an arm without pulls comes first."""
        alpha = self._alpha(np.array([step]))[0]
        seen = self._rewards[context]
        return np.array([np.mean(y) + alpha / np.sqrt(len(y)) if y else np.inf for y in seen])

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        self._rewards[context][arm].append(reward)
