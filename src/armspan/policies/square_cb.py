"""SquareCB (Foster and Rakhlin 2020): arms by the inverse of how far their estimates are behind."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armspan.policies.mixed import InverseGapPolicy
from armspan.theory import Alpha, Schedule, as_schedule, freeze


@dataclass(frozen=True, kw_only=True)
class SquareCB(InverseGapPolicy):
    """Pull arm a with probability p_a = 1/(K + γ_t(m - ŷ_a)), where m is the largest estimate, and the best arm else.

    Regression on all that was seen is turned into choices, with regret √(KT·that of the regression). Probabilities are
    known and never 0: for applications whose logs are evaluated.

    gamma : γ_t, as a constant, an array over t, or a function of t; left out, the paper's without its horizon,
    c√(Kt/(D log(1 + t) + log(2/δ))), where D is how many parameters are fitted, d or K·d. Vowpal Wabbit has 10√n after
    n rewards: lambda t: 10 * np.sqrt(t - 1). 0 is uniform choice, and the more, the greedier.
    scale : c, 1 by theory. delta : δ, how likely theory's bound may fail.
    low, high : where rewards lie, 0 and 1 in the paper; estimates are kept there, and γ is for rewards rescaled from
    there to [0, 1]. ridge : penalty of the regression. shared : whether all arms share one θ.

    D. Foster, A. Rakhlin: Beyond UCB: optimal and efficient contextual bandits with regression oracles. ICML 2020.
    """

    title: ClassVar[str] = "SquareCB"
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
