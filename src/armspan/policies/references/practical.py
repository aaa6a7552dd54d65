"""LinUCB with as much exploration as the residuals ask for, by regressions solved afresh at every step."""

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.ridge import RidgeReference


class PracticalReference(RidgeReference):
    """Every arm once, then the largest θ̂ᵀx + α_t·σ̂·w + ȳ·w²/d, with w² = xᵀA⁻¹x and σ̂² = S/(N - Σ(d - λ tr A⁻¹)).

    ȳ² is the mean of the squared rewards. An arm that a log has told of is not pulled for that. Where arms share one
    regression, only the first d of them are pulled first.
    While no reward of arm a = 0, 1, … has come, it is pulled again after 2ⁿ + a decisions, if 2ⁿ is twice K or more.
    S is the sum of e²/(1 + xᵀA⁻¹x) over the N rewards so far, e the error of what was predicted before each came.
    """

    errors, squares, rewards = 0.0, 0.0, 0.0
    learnt: frozenset[int] = frozenset()

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """Of every arm."""
        n_arms = len(self.A)
        apart = len({id(A) for A in self.A}) == n_arms
        first = n_arms if apart else min(n_arms, x.shape[-1])
        if step <= first and (step - 1 not in self.learnt if apart else self.rewards < step):
            return np.eye(n_arms)[step - 1]
        for power in (2**n for n in range(64) if 2**n >= 2 * n_arms):
            again = step - 1 - power
            if 0 <= again < n_arms and again not in self.learnt and apart:
                return np.eye(n_arms)[again]
        mean, width = self.estimates(x)
        size = np.sqrt(self.squares / self.rewards) if self.rewards else 0.0
        return np.asarray(mean + self.alpha(step) * self.noise() * width + size * width**2 / x.shape[-1])

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
        self.squares += reward**2
        self.rewards += 1
        self.learnt = self.learnt | {arm}
        super().update(arm, x, context, reward)
