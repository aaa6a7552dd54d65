"""EXP4 and EXP4.P as their papers print them, with the logarithms of weights."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray


def advice(name: str, expert: Any, x: FloatArray) -> FloatArray:
    """An expert's distribution (K,) for features x (K, d): a fixed arm, the greedy arms of a θ, or what it returns."""
    if callable(expert):
        return _validate.distribution(f"what {name} returns", expert(x), shape=(len(x),))
    if isinstance(expert, int):
        return np.eye(len(x))[expert]
    score = np.einsum("kd,kd->k", expert, x)
    best = score.max() - score <= ROUNDING * np.abs(score).max()
    return np.asarray(best / best.sum())


ROUNDING = 1e-12
"""As in `kernels.choice`, which imports numba."""


class ExpertReference(ABC):
    """The logarithms of N experts' weights; the last expert is uniform."""

    learns_late: ClassVar[bool] = True
    mark: FloatArray | None = None
    """p (K,) when the arm was chosen whose reward is learnt next; that of now where nobody has kept it."""

    def __init__(self, *, n_arms: int, experts: Sequence[Any], reward_range: tuple[float, float]) -> None:
        self._experts, self._uniform = experts, np.full(n_arms, 1 / n_arms)
        self._low, self._high = reward_range
        self.log_w = np.zeros(len(experts) + 1)

    def advice(self, x: FloatArray) -> FloatArray:
        """ξ (N, K), one row each."""
        rows = [advice(f"experts[{j}]", expert, x) for j, expert in enumerate(self._experts)]
        return np.array([*rows, self._uniform])

    def mean_advice(self, xi: FloatArray) -> FloatArray:
        """Σ_j w_j ξ^j/Σw."""
        w = np.exp(self.log_w - self.log_w.max())
        return np.asarray(w @ xi / w.sum())

    def probabilities(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """The probability p (K,) of each arm."""
        return self.mixed(self.advice(x))

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        """Weigh the experts anew."""
        xi, r_hat = self.advice(x), np.zeros(len(x))
        p = self.mixed(xi) if self.mark is None else self.mark
        r_hat[arm] = (reward - self._low) / (self._high - self._low) / p[arm]
        self.log_w += self.gains(xi, p, r_hat)

    @abstractmethod
    def mixed(self, xi: FloatArray) -> FloatArray:
        """The probability p (K,) of each arm for advice ξ (N, K)."""

    @abstractmethod
    def gains(self, xi: FloatArray, p: FloatArray, r_hat: FloatArray) -> FloatArray:
        """What the logarithms of the weights (N,) grow by."""


class EXP4Reference(ExpertReference):
    """Auer et al. (2002), Section 7."""

    def __init__(self, *, gamma: float, **given: Any) -> None:
        super().__init__(**given)
        self._gamma = gamma

    def mixed(self, xi: FloatArray) -> FloatArray:
        return (1 - self._gamma) * self.mean_advice(xi) + self._gamma / xi.shape[1]

    def gains(self, xi: FloatArray, p: FloatArray, r_hat: FloatArray) -> FloatArray:
        return np.asarray(self._gamma * (xi @ r_hat) / xi.shape[1])


class EXP4PReference(ExpertReference):
    """Beygelzimer et al. (2011), Algorithm 1; bonus : √(log(N/δ)/(KT))."""

    def __init__(self, *, p_min: float, bonus: float, **given: Any) -> None:
        super().__init__(**given)
        self._p_min, self._bonus = p_min, bonus

    def mixed(self, xi: FloatArray) -> FloatArray:
        return (1 - xi.shape[1] * self._p_min) * self.mean_advice(xi) + self._p_min

    def gains(self, xi: FloatArray, p: FloatArray, r_hat: FloatArray) -> FloatArray:
        v_hat = (xi / p).sum(axis=1)
        return np.asarray(self._p_min / 2 * (xi @ r_hat + v_hat * self._bonus))
