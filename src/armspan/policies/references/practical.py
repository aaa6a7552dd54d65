"""LinUCB with as much exploration as the residuals ask for, by regressions solved afresh at every step."""

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.ridge import RidgeReference


class PracticalReference(RidgeReference):
    """Every arm once, then the largest θ̂ᵀx + α_t·σ̂·√(xᵀA⁻¹x), with σ̂² = S/(N - Σ(d - λ tr A⁻¹)).

    S is the sum of e²/(1 + xᵀA⁻¹x) over the N rewards so far, e the error of what was predicted before each came.
    """

    errors, rewards = 0.0, 0

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """Of every arm."""
        if step <= len(self.A):
            return np.eye(len(self.A))[step - 1]
        mean, width = self.estimates(x)
        return mean + self.alpha(step) * self.noise() * width

    def left(self) -> float:
        """How many rewards there are beyond those that the parameters have used up."""
        models = {id(A): A for A in self.A}.values()
        return float(self.rewards - sum(len(A) - self.ridge * np.trace(np.linalg.inv(A)) for A in models))

    def noise(self) -> float:
        """σ̂."""
        left = self.left()
        return float(np.sqrt(self.errors / left)) if left > 0 else 0.0

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        mean, width = self.estimates(x)
        self.errors += (reward - mean[arm]) ** 2 / (1 + width[arm] ** 2)
        self.rewards += 1
        super().update(arm, x, context, reward)
