"""Algorithm 1 as the paper prints it, in its symbols: the estimate as a weighted sum of past contexts.

Slow, and meant to be read. It is the oracle of the compiled form, which is the dual one.
"""

from typing import NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.theory import Schedule


class Estimate(NamedTuple):
    """β_t(a), r̂_t(a) and σ̂_t(a)."""

    beta: FloatArray
    mean: float
    width: float


class PrimalArm:
    """One arm's X_t (d, n_t + d), N_t and s_t: a column for each context in which it was pulled, and d dummies."""

    def __init__(self, n_features: int, l: float) -> None:
        self.X = l * np.eye(n_features)  # the dummy contexts l·e_j, seen once each ...
        self.N = np.ones(n_features)
        self.s = np.zeros(n_features)  # ... with reward 0
        self._column: dict[int, int] = {}

    def estimate(self, x: FloatArray) -> Estimate:
        """Lines 5 and 6 of Algorithm 1. A context without pulls would have weight 0, so it has no column here."""
        V = (self.X * self.N) @ self.X.T  # X N Xᵀ
        beta = self.N * (self.X.T @ np.linalg.solve(V, x))
        return Estimate(beta, float(self.s @ (beta / self.N)), float(np.sqrt(beta @ (beta / self.N))))

    def update(self, context: int, x: FloatArray, y: float) -> None:
        """Line 9 of Algorithm 1."""
        if context not in self._column:
            self._column[context] = self.N.size
            self.X = np.column_stack([self.X, x])
            self.N, self.s = np.append(self.N, 0.0), np.append(self.s, 0.0)
        column = self._column[context]
        self.N[column] += 1
        self.s[column] += y


class Primal:
    """Algorithm 1 for K arms: the `Reference` of LinUCB-d."""

    def __init__(self, *, n_arms: int, n_features: int, l: float, alpha: Schedule) -> None:
        self.arms = [PrimalArm(n_features, l) for _ in range(n_arms)]
        self._alpha = alpha

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """r̂_t(a) + α_t σ̂_t(a) of every arm: line 8."""
        alpha = self._alpha(np.array([step]))[0]
        estimates = [arm.estimate(x[a]) for a, arm in enumerate(self.arms)]
        return np.array([estimate.mean + alpha * estimate.width for estimate in estimates])

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        self.arms[arm].update(context, x[arm], reward)
