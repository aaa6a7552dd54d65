"""LassoBandit as its paper prints it, with its rows kept as lists."""

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.explored import only
from armspan.policies.references.ols import forced_arm

MOST_SWEEPS = 100_000
"""Features that are nearly the same need so many."""


class LassoRows:
    """The features and rewards of some pulls of an arm, and the β that was fitted to them last."""

    def __init__(self, n_features: int) -> None:
        self.x, self.y, self.beta = np.empty((0, n_features)), np.empty(0), np.zeros(n_features)
        self.fitted = 0

    def add(self, x: FloatArray, y: float) -> None:
        self.x, self.y = np.vstack([self.x, x]), np.append(self.y, y)

    def fit(self, penalty: float) -> None:
        """Minimise ‖Y - Xβ‖²/n + λ‖β‖₁ one coordinate after the other, from the last β: it need not be unique."""
        gram, sums, bar = self.x.T @ self.x, self.x.T @ self.y, len(self.y) * penalty / 2
        for _ in range(MOST_SWEEPS):
            moved = 0.0
            for j in np.flatnonzero(np.diag(gram) > 0):
                z = sums[j] - gram[j] @ self.beta + gram[j, j] * self.beta[j]
                new = np.sign(z) * max(abs(z) - bar, 0.0) / gram[j, j]
                moved = max(moved, gram[j, j] * abs(new - self.beta[j]))
                self.beta[j] = new
            if moved <= 1e-9 * bar:
                break
        self.fitted = len(self.y)


class LassoReference:
    """The rows of all pulls and of forced ones for K arms; shared : the same rows for all arms.

    mark : whether the latest pull was forced.
    """

    mark = False

    def __init__(
        self,
        *,
        n_arms: int,
        n_features: int,
        q: int,
        h: float,
        lambda_1: float,
        lambda_2: float,
        shared: bool,
    ) -> None:
        self._n_arms, self._d, self._q, self._h = n_arms, n_features, q, h
        self._lambda_1, self._lambda_2 = lambda_1, lambda_2
        self.all, self.forced = (
            [LassoRows(n_features)] * n_arms if shared else [LassoRows(n_features) for _ in range(n_arms)]
            for _ in range(2)
        )

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        arm = forced_arm(step, self._n_arms, self._q, 0)
        self.mark = arm is not None
        if arm is not None:
            return only(arm, self._n_arms)
        for rows in self.forced:
            if rows.fitted < len(rows.y):
                rows.fit(self._lambda_1)
        first = np.array([rows.beta @ x[a] for a, rows in enumerate(self.forced)])
        contenders = np.flatnonzero(first >= first.max() - self._h / 2)
        index = np.full(self._n_arms, -np.inf)
        if len(contenders) == 1:
            return only(int(contenders[0]), self._n_arms)
        for rows in {id(self.all[a]): self.all[a] for a in contenders}.values():
            rows.fit(self._lambda_2 * np.sqrt((np.log(step) + np.log(self._d)) / step))
        for a in contenders:
            index[a] = self.all[a].beta @ x[a]
        return index

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        for rows in (self.all, self.forced) if self.mark else (self.all,):
            rows[arm].add(x[arm], reward)
