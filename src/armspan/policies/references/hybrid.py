"""LinUCB's hybrid form as Li et al. (2010) print it: Algorithm 2, solved afresh at every step."""

import numpy as np

from armspan._typing import FloatArray
from armspan.theory import Schedule


class HybridReference:
    """A₀, b₀ of the shared part; A_a, B_a, b_a of each arm: the `Reference` of HybridLinUCB."""

    def __init__(self, *, n_arms: int, n_features: int, n_shared: int, alpha: Schedule) -> None:
        self._alpha, self.m = alpha, n_shared
        self.A0, self.b0 = np.eye(n_shared), np.zeros(n_shared)
        self.A = [np.eye(n_features) for _ in range(n_arms)]
        self.B = [np.zeros((n_features, n_shared)) for _ in range(n_arms)]
        self.b = [np.zeros(n_features) for _ in range(n_arms)]

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """zᵀβ̂ + xᵀθ̂_a + α_t √v of every arm: lines 5 and 12 to 14."""
        alpha, beta = self._alpha(np.array([step]))[0], np.linalg.solve(self.A0, self.b0)
        result = np.empty(len(x))
        for a, (A, B, b) in enumerate(zip(self.A, self.B, self.b, strict=True)):
            z = x[a, : self.m]
            theta = np.linalg.solve(A, b - B @ beta)
            A_inv_x, A0_inv_z = np.linalg.solve(A, x[a]), np.linalg.solve(self.A0, z)
            back = B.T @ A_inv_x
            v = z @ A0_inv_z - 2 * A0_inv_z @ back + x[a] @ A_inv_x + back @ np.linalg.solve(self.A0, back)
            result[a] = z @ beta + x[a] @ theta + alpha * np.sqrt(v)
        return result

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        """Lines 17 to 23."""
        z = x[arm, : self.m]
        A, B, b = self.A[arm], self.B[arm], self.b[arm]
        self.A0 += B.T @ np.linalg.solve(A, B)
        self.b0 += B.T @ np.linalg.solve(A, b)
        A += np.outer(x[arm], x[arm])
        B += np.outer(x[arm], z)
        b += reward * x[arm]
        self.A0 += np.outer(z, z) - B.T @ np.linalg.solve(A, B)
        self.b0 += reward * z - B.T @ np.linalg.solve(A, b)
