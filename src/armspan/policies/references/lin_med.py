"""LinMED with ridge regression for each arm, solved afresh at every step."""

from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.mixed import leaders
from armspan.policies.references.ridge import RidgeReference


class LinMEDReference(RidgeReference):
    """p_a ∝ q_a exp(-Δ̂_a²/(β‖x_a - x_â‖²_{V⁻¹})), q = c₁·design + c₂·1[a = â] + (1 - c₁ - c₂)/K.

    Where each arm has its own θ, V is block-diagonal and features stand in their arm's block of K·d.
    """

    def __init__(self, *, R: float, s: float, delta: float, c1: float, c2: float, unit: float, **ridge: Any) -> None:
        super().__init__(**ridge)
        self._R, self._s, self._delta, self._c1, self._c2, self._unit = R, s, delta, c1, c2, unit
        self._ridge, self._shared = ridge["ridge"], ridge["shared"]

    def probabilities(self, x: FloatArray, context: int, step: int) -> FloatArray:
        K, d = x.shape
        V, rows = self.A[0], x
        if not self._shared:
            V, rows = np.zeros((K * d, K * d)), np.zeros((K, K * d))
            for a in range(K):
                block = slice(a * d, (a + 1) * d)
                V[block, block], rows[a, block] = self.A[a], x[a]
        s = self._s if self._shared else np.sqrt(K) * self._s  # of all parameters together
        log_det_ratio = np.linalg.slogdet(V / self._ridge)[1]
        beta = (self._R * np.sqrt(log_det_ratio + 2 * np.log(1 / self._delta)) + np.sqrt(self._ridge) * s) ** 2

        mean = self.estimates(x)[0]
        leads = leaders(mean, self._unit)
        lead = int(np.argmax(leads))
        apart = rows - rows[lead]
        norm = np.einsum("ai,ai->a", apart, np.linalg.solve(V, apart.T).T)
        gap = np.where(leads, 0.0, mean.max() - mean)
        unlikely = np.exp(-(gap**2) / np.maximum(beta * norm, 1e-30))

        shares = design(np.sqrt(unlikely)[:, None] * x) if self._shared and self._c1 > 0 else np.full(K, 1 / K)
        q = self._c1 * shares + self._c2 * (np.arange(K) == lead) + max(1 - self._c1 - self._c2, 0) / K
        p = q * unlikely
        return p / p.sum()


def design(x: FloatArray, steps: int = 10) -> FloatArray:
    """A design (K,) on x (K, d) whose largest leverage is small: the average of w ← w·leverage, from 1/K on."""
    K, d = x.shape
    w, average = np.full(K, 1 / K), np.zeros(K)
    for _ in range(steps):
        average += w / steps
        M = (x.T * w) @ x + (1e-9 * (x**2).sum(axis=1).max() + 1e-30) * np.eye(d)
        w = w * (np.einsum("ai,ai->a", x, np.linalg.solve(M, x.T).T) + 1e-30)
        w /= w.sum()
    return average
