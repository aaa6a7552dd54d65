"""SquareCB (Foster and Rakhlin 2020): arms by the inverse of how far their estimates are behind."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armspan.policies.mixed import InverseGapPolicy
from armspan.theory import Alpha, Schedule, as_schedule, freeze


@dataclass(frozen=True, kw_only=True)
class SquareCB(InverseGapPolicy):
    """Pull arm a with probability p_a = 1/(K + γ_t(m - ŷ_a)), where m is the largest estimate; else the best arm.

    It turns a regression on all that was seen into choices; linear regression's own regret is D log T, with D fitted
    parameters. Probabilities are known and never 0.

        γ_t = c√(Kt/(D log(1 + t) + log(2/δ))),   D = d or K·d

    Parameters
    ----------
    gamma : float, array or function, optional
        γ_t, as a constant, an array over t, or a function of t. Theory: the above, if left out, which is the paper's
        without its horizon. Practice: Vowpal Wabbit has 10√n after n rewards, lambda t: 10 * np.sqrt(t - 1). 0 is
        uniform choice, and larger is greedier.

    Notes
    -----
    Use it where logs are to be evaluated, and a regression is at hand.

    References
    ----------
    Foster and Rakhlin (2020): Beyond UCB: optimal and efficient contextual bandits with regression oracles.
    """

    title: ClassVar[str] = "SquareCB"
    promise: ClassVar[str] = "√(KT·regret of the regression)"
    assumes: ClassVar[str] = "rewards from low to high"
    gamma: Alpha | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gamma", freeze(self.gamma, name="gamma"))

    def schedule(self, env: Any) -> Schedule:
        """γ_t as a function of t, in units of the rewards."""
        unit = self.high - self.low
        if self.gamma is not None:
            given = as_schedule(self.gamma, name="gamma")
            return lambda t: given(t) / unit
        c, K, D, delta = self.scale, env.n_arms, self.parameters(env), self.delta
        return lambda t: c * np.sqrt(K * t / (D * np.log(1 + t) + np.log(2 / delta))) / unit
