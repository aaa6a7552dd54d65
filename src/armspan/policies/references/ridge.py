"""LinUCB as Li et al. (2010) print it: ridge regression for each arm, solved afresh at every step."""

import numpy as np

from armspan._typing import FloatArray
from armspan.theory import Schedule


class RidgeReference:
    """A_a = ridge·I + Σxxᵀ and b_a = Σyx for K arms: the `Reference` of LinUCB and of the greedy policy.

    shared : one A and one b, which are all arms'.
    """

    def __init__(self, *, n_arms: int, n_features: int, ridge: float, alpha: Schedule, shared: bool = False) -> None:
        A, b = [ridge * np.eye(n_features) for _ in range(n_arms)], [np.zeros(n_features) for _ in range(n_arms)]
        self.A, self.b = ([A[0]] * n_arms, [b[0]] * n_arms) if shared else (A, b)
        self.ridge, self._alpha = ridge, alpha

    def alpha(self, step: int) -> float:
        """α_t of this step."""
        return float(self._alpha(np.array([step]))[0])

    def estimates(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """θ̂ᵀx and √(xᵀA⁻¹x) of every arm."""
        mean, width = np.empty(len(self.A)), np.empty(len(self.A))
        for a, (A, b) in enumerate(zip(self.A, self.b, strict=True)):
            mean[a] = np.linalg.solve(A, b) @ x[a]
            width[a] = np.sqrt(x[a] @ np.linalg.solve(A, x[a]))
        return mean, width

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """θ̂ᵀx + α_t √(xᵀA⁻¹x) of every arm."""
        mean, width = self.estimates(x)
        return mean + self.alpha(step) * width

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        self.A[arm] += np.outer(x[arm], x[arm])
        self.b[arm] += reward * x[arm]
