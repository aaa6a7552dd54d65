"""LinRel as Auer (2003) prints it: all features and rewards are kept, and decomposed afresh at every step."""

import numpy as np

from armspan._typing import FloatArray

ROUNDING = 1e-9
"""An eigenvalue of 1 may come out this much smaller."""


class LinRelReference:
    """The features X (d, n) and rewards y (n,) of each arm, or of all where they share them. scale : √log(2TK/δ)."""

    def __init__(self, *, n_arms: int, scale: float, shared: bool = False) -> None:
        rows: list[list[FloatArray]] = [[] for _ in range(n_arms)]
        rewards: list[list[float]] = [[] for _ in range(n_arms)]
        self.rows, self.rewards = ([rows[0]] * n_arms, [rewards[0]] * n_arms) if shared else (rows, rewards)
        self._scale = scale

    def interval(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The estimate and its width of every arm."""
        each = [self._interval(*told) for told in zip(self.rows, self.rewards, x, strict=True)]
        return np.array([mean for mean, _ in each]), np.array([width for _, width in each])

    def _interval(self, rows: list[FloatArray], y: list[float], x: FloatArray) -> tuple[float, float]:
        X = np.array(rows).reshape(-1, x.size).T
        values, U = np.linalg.eigh(X @ X.T)
        trusted = values >= 1 - ROUNDING
        turned = U.T @ x
        u, v = np.where(trusted, turned, 0.0), np.where(trusted, 0.0, turned)
        a = (u / np.where(trusted, values, 1.0)) @ U.T @ X  # ũᵀΛ⁻¹UᵀX
        return float(a @ np.array(y)), float(np.linalg.norm(a) * self._scale + np.linalg.norm(v))

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """Estimate and width of every arm, added."""
        mean, width = self.interval(x)
        return mean + width

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        self.rows[arm].append(np.array(x[arm]))
        self.rewards[arm].append(reward)
