"""The slow, obvious agent: keeps every reward it was told, and solves for everything from scratch when asked."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from tests.strategies import Array


class Oracle:
    """LinUCB with ridge and constant α over a list of (arm, x, reward)."""

    def __init__(self, arms: list[Hashable], d: int, ridge: float, alpha: float) -> None:
        self.arms, self.d, self.ridge, self.alpha = list(arms), d, ridge, alpha
        self.seen: list[tuple[Hashable, Array, float]] = []

    def update(self, arm: Hashable, x: Any, reward: float) -> None:
        """Keep it."""
        self.seen.append((arm, np.array(x, dtype=float), float(reward)))

    def add_arm(self, arm: Hashable) -> None:
        """One more."""
        self.arms.append(arm)

    def remove_arm(self, arm: Hashable) -> None:
        """Gone with all it has seen."""
        self.arms.remove(arm)
        self.seen = [entry for entry in self.seen if entry[0] != arm]

    def merge(self, other: "Oracle") -> None:
        """Both lists, one after the other."""
        self.arms += [arm for arm in other.arms if arm not in self.arms]
        self.seen += other.seen

    def fit(self, arm: Hashable) -> tuple[Array, Array]:
        """V and b of an arm."""
        V, b = self.ridge * np.eye(self.d), np.zeros(self.d)
        for name, x, reward in self.seen:
            if name == arm:
                V, b = V + np.outer(x, x), b + reward * x
        return V, b

    def scores(self, x: Any) -> tuple[Array, Array]:
        """Mean and width of every arm; x (d,) or (K, d)."""
        means, widths = [], []
        for k, arm in enumerate(self.arms):
            own = np.asarray(x) if np.ndim(x) == 1 else np.asarray(x)[k]
            V, b = self.fit(arm)
            means.append(own @ np.linalg.solve(V, b))
            widths.append(np.sqrt(own @ np.linalg.solve(V, own)))
        return np.array(means), np.array(widths)
