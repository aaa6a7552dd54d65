"""ConfidenceBall₂ (Dani, Hayes and Kakade 2008): the first optimism with a proof of d√T, and a very wide radius."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armspan.policies.base import Bounds
from armspan.policies.confidence import check_delta, check_ridge
from armspan.policies.linear import LinearPolicy
from armspan.theory import Schedule


@dataclass(frozen=True, kw_only=True)
class ConfidenceBall(LinearPolicy):
    """ConfidenceBall: pull the arm with the largest θ̂ᵀx + √β_t √(xᵀV⁻¹x).

    It is LinUCB with a radius that its authors could prove in 2008. The proof is for noise of at most 1; where yours is
    at most R instead, divide the rewards by R.

        β_t = max(128 d log t log(t²/δ), (8/3 · log(t²/δ))²)

    Separate arms share δ: each has δ/K.

    Parameters
    ----------
    delta : float, default 0.05
        δ, the probability with which the radius may fail. Theory: any in (0, 1). Practice: 0.05.
    ridge : float, default 1
        V begins as ridge·I. Theory: Σbbᵀ of a barycentric spanner, which is I for the unit vectors. Practice: 1.

    Notes
    -----
    Use it as a yardstick of how far radii have come: on Figure 1a it loses over thirty times what OFUL loses.

    References
    ----------
    Dani, Hayes and Kakade (2008): Stochastic linear optimization under bandit feedback.
    """

    title: ClassVar[str] = "ConfidenceBall"
    promise: ClassVar[str] = "d√T; polylog T with a gap"
    assumes: ClassVar[str] = "one θ for all arms, noise at most 1"
    delta: float = 0.05
    ridge: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_delta(self.delta)
        check_ridge(self.ridge)

    def penalty(self, env: Bounds) -> float:
        return self.ridge

    def schedule(self, env: Any) -> Schedule:
        """√β_t as a function of t."""
        d, delta = env.n_features, self.delta if self.shared else self.delta / env.n_arms

        def radius(t: Any) -> Any:
            doubt = np.log(np.square(t, dtype=np.float64) / delta)
            return np.sqrt(np.maximum(128 * d * np.log(t) * doubt, (8 / 3 * doubt) ** 2))

        return radius
