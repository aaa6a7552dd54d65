"""Choices by probabilities that follow from ridge estimates: ε-greedy, softmax, and SquareCB's inverse gaps.

Each rule takes the estimates (K,), which arms lead (K,), and its one number: several lead where estimates are tied up
to rounding, and share what one would have.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.ridge import RidgeReference

Rule = Callable[[FloatArray, Any, float], FloatArray]


def leaders(mean: FloatArray, unit: float) -> Any:
    """Whether each arm (K,) has the largest estimate up to rounding; unit : how large rewards are, roughly."""
    from armspan.kernels.choice import ROUNDING

    return mean.max() - mean <= ROUNDING * (unit + abs(mean.max()))


def epsilon_greedy(mean: FloatArray, leads: Any, epsilon: float) -> FloatArray:
    """With probability ε any arm, else the best: (1 - ε)·1[a = a*] + ε/K."""
    return (1 - epsilon) * leads / leads.sum() + epsilon / len(mean)


def softmax(mean: FloatArray, leads: Any, rate: float) -> FloatArray:
    """p_a ∝ e^(ŷ_a/T), where rate is 1/T."""
    weights = np.where(leads, 1.0, np.exp(-rate * (mean.max() - mean)))
    return weights / weights.sum()


def inverse_gap(mean: FloatArray, leads: Any, gamma: float) -> FloatArray:
    """1/(K + γ(m - ŷ_a)), and the rest to the best arm."""
    p = np.where(leads, 0.0, 1 / (len(mean) + gamma * (mean.max() - mean)))
    return p + (1 - p.sum()) * leads / leads.sum()


RULES: tuple[Rule, ...] = (epsilon_greedy, softmax, inverse_gap)
"""In the order of their numbers in `armspan.kernels.families.mixed`."""
EPSILON_GREEDY, SOFTMAX, INVERSE_GAP = range(3)


class MixedReference(RidgeReference):
    """Ridge regression for each arm; estimates are kept from low to high, and a rule makes probabilities of them."""

    def __init__(self, *, rule: int, low: float, high: float, unit: float, **regression: Any) -> None:
        super().__init__(**regression)
        self._rule, self._low, self._high, self._unit = RULES[rule], low, high, unit

    def probabilities(self, x: FloatArray, context: int, step: int) -> FloatArray:
        mean = np.clip(self.estimates(x)[0], self._low, self._high)
        return self._rule(mean, leaders(mean, self._unit), self.alpha(step))
