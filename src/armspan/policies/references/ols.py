"""OLSBandit and GreedyFirst as their papers print them, with their rows kept as lists."""

from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.explored import only


def forced_arm(step: int, n_arms: int, q: int, initial: int) -> int | None:
    """The arm whose set T_a has this step; before, every arm `initial` times in turn."""
    if step <= initial * n_arms:
        return (step - 1) % n_arms
    n = 0
    while (2**n - 1) * n_arms * q < step:
        for a in range(n_arms):
            if step - (2**n - 1) * n_arms * q in range(q * a + 1, q * (a + 1) + 1):
                return a
        n += 1
    return None


class Rows:
    """The features and rewards of some pulls of an arm."""

    def __init__(self, n_features: int, ridge: float) -> None:
        self.x, self.y = np.empty((0, n_features)), np.empty(0)
        self._ridge = ridge * np.eye(n_features)

    def add(self, x: FloatArray, y: float) -> None:
        self.x, self.y = np.vstack([self.x, x]), np.append(self.y, y)

    def fit(self) -> FloatArray:
        """The estimate θ̂ by least squares, with a trace of a ridge."""
        return np.asarray(np.linalg.solve(self.x.T @ self.x + self._ridge, self.x.T @ self.y))

    def estimate(self, x: FloatArray) -> float:
        """θ̂ᵀx; 0 until there are d rows."""
        return float(self.fit() @ x) if len(self.y) >= x.size else 0.0


class OLSReference:
    """The rows of all pulls and of forced ones for K arms; shared : the same rows for all arms.

    mark : whether the latest pull was forced.
    """

    mark = False

    def __init__(
        self, *, q: int, h: float, initial: int, n_arms: int, n_features: int, ridge: float, shared: bool, alpha: Any
    ) -> None:
        self._q, self._h, self._initial, self._n_arms = q, h, initial, n_arms
        self.all, self.forced = (
            [Rows(n_features, ridge)] * n_arms if shared else [Rows(n_features, ridge) for _ in range(n_arms)]
            for _ in range(2)
        )

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        arm = forced_arm(step, self._n_arms, self._q, self._initial)
        self.mark = arm is not None
        if arm is not None:
            return only(arm, self._n_arms)
        first, last = (
            np.array([rows.estimate(x[a]) for a, rows in enumerate(kind)]) for kind in (self.forced, self.all)
        )
        return np.where(first >= first.max() - self._h / 2, last, -np.inf)

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        for rows in (self.all, self.forced) if self.mark else (self.all,):
            rows[arm].add(x[arm], reward)


class GreedyFirstReference:
    """Greedy while λ_min of every arm's Σxxᵀ grows; then OLSBandit from its first step, which knows nothing of it.

    mark : whether the latest pull was forced; None if it was greedy's.
    """

    mark: bool | None = None

    def __init__(self, *, t0: int, **parameters: Any) -> None:
        self._greedy, self._t0, self._d = OLSReference(**parameters), t0, parameters["n_features"]
        self._parameters = parameters
        self._ols: OLSReference | None = None
        self._t, self._lambda_0, self.switched_at = 0, 0.0, 0
        self._began: int | None = None

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        if self._ols is not None:
            self._began = step - 1 if self._began is None else self._began
            index = self._ols.index(x, context, step - self._began)
            self.mark = self._ols.mark
            return index
        return np.array([rows.fit() @ x[a] for a, rows in enumerate(self._greedy.all)])

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        if self._ols is not None:
            if self.mark is not None:  # greedy's are dropped, late ones too
                self._ols.mark = self.mark
                self._ols.update(arm, x, context, reward)
            return
        self._greedy.all[arm].add(x[arm], reward)
        self._t += 1
        if self._is_starved():
            self._ols, self.switched_at = OLSReference(**self._parameters), self._t

    def _is_starved(self) -> bool:
        """Whether an arm has seen too little in some direction; checked at t₀, and from 2t₀ on."""
        t, t0, grams = self._t, self._t0, [rows.x.T @ rows.x for rows in set(self._greedy.all)]
        if t != t0 and t <= 2 * t0:
            return False
        least = min(float(np.linalg.eigvalsh(gram)[0]) for gram in grams)
        if t == t0:
            self._lambda_0 = least / (2 * t0)
            return self._lambda_0 <= 1e-5 * sum(map(np.trace, grams)) / (self._d * t0)  # 0, but for rounding
        return least < self._lambda_0 * t / 4 * (1 - 1e-9)
