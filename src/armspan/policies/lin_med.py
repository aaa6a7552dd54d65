"""LinMED (Balagopalan and Jun 2025): arms by how likely it is that their estimates are that wrong."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.environments import Environment
from armspan.errors import InvalidParameter
from armspan.policies.base import Bounds, bound
from armspan.policies.linear import LEAST_RIDGE, SMALLEST, LinearPolicy
from armspan.policies.mixed import check_ridge, check_share, steady
from armspan.policies.references.lin_med import LinMEDReference
from armspan.theory import Schedule, as_schedule


@dataclass(frozen=True, kw_only=True)
class LinMED(LinearPolicy):
    """Pull arm a with probability p_a ∝ q_a exp(-Δ̂_a²/(β_t‖x_a - x_â‖²_{V⁻¹})), where â leads and Δ̂_a is its lead.

    The less likely it is that an arm's estimate is that wrong, the less it is pulled. It does what Thompson sampling is
    used for, with probabilities in closed form.

        √β_t = R√(2 log(√(det V/λᵈ)/δ)) + √λ·s,   q = c₁·design + c₂·1[a = â] + (1 - c₁ - c₂)/K

    Where arms have their own θ, they are one model of K·d parameters, of length √K·s.

    Parameters
    ----------
    c1, c2 : float, defaults 0 and 0.9
        Shares of the design and of the leading arm. Theory: (0.25, 0.5), (0.05, 0.9) or (0.005, 0.99), the last the
        greediest. Practice: (0, 0.9), since designs take time. The design is G-optimal up to a factor of 2 on the
        features, each scaled by the root of its exponential; it is for arms that share θ, and uniform otherwise.
    delta : float, default 0.05
        δ, the probability with which β may be too small. Theory: any in (0, 1). Practice: 0.05.
    ridge : float, optional
        λ, the penalty of the regression. Theory: R²/s², if left out, kept from 10⁻⁶ to 10⁶·l² where l is known.
        Practice: the same.
    noise_scale : float, optional
        R, for which the noise is R-subgaussian. Theory: one that holds. Practice: ½ for rewards from 0 to 1, as clicks
        are, else the standard deviation of a regression's residuals. Taken from the environment if left out.
    parameter_bound : float, optional
        s, a bound on the length of parameters. Theory: one that holds. Practice: 1.5 times the largest ‖θ̂‖ of a ridge
        regression on a log. Taken from the environment if left out.

    Notes
    -----
    Use it in place of Thompson sampling where logs are to be evaluated.

    References
    ----------
    Balagopalan and Jun (2025): Minimum empirical divergence for sub-Gaussian linear bandits.
    """

    title: ClassVar[str] = "LinMED"
    promise: ClassVar[str] = "d√T"
    assumes: ClassVar[str] = "one θ for all arms"
    family: ClassVar[str | None] = "deviation"
    c1: float = 0.0
    c2: float = 0.9
    delta: float = 0.05
    ridge: float | None = None
    noise_scale: float | None = None
    parameter_bound: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.real("c1", self.c1, at_least=0)
        if _validate.real("c2", self.c2, at_least=0) + self.c1 > 1:
            raise InvalidParameter(f"c1 + c2 must be at most 1, got {self.c1:g} + {self.c2:g}")
        check_share("delta", self.delta)
        if self.ridge is not None:
            check_ridge(self.ridge)
        if self.noise_scale is not None:
            _validate.real("noise_scale", self.noise_scale, at_least=0)
        if self.parameter_bound is not None:
            _validate.real("parameter_bound", self.parameter_bound, above=0)

    def penalty(self, env: Bounds) -> float:
        if self.ridge is not None:
            return self.ridge
        R, s = bound(self, "noise_scale", env), bound(self, "parameter_bound", env)
        ridge = R**2 / max(s**2, SMALLEST)
        l = getattr(env, "feature_bound", None) if self.feature_bound is None else self.feature_bound
        if l is not None:
            ridge = min(max(ridge, LEAST_RIDGE * l**2), l**2 / LEAST_RIDGE)
        if not ridge > 0:
            raise InvalidParameter(f"noise_scale must be > 0 where ridge is left out, got {R:g}")
        return ridge

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "schedule": ()}

    def schedule(self, env: Bounds) -> Schedule:
        """What `LinearPolicy` asks for: β follows from what was seen, not from t."""
        return as_schedule(0.0)

    def sizes(self, env: Any) -> Mapping[str, int]:
        return {**super().sizes(env), "o": 1}

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        ridge, R, s = self.sound_penalty(env), bound(self, "noise_scale", env), bound(self, "parameter_bound", env)
        numbers = {"noise": R, "bias": math.sqrt(ridge) * s, "delta": self.delta, "log_ridge": math.log(ridge)}
        steady_ones = {name: steady(value) for name, value in (numbers | {"c1": self.c1, "c2": self.c2}).items()}
        return {"ridge": ridge, **steady_ones}

    def reference(self, env: Environment) -> LinMEDReference:
        R, s = bound(self, "noise_scale", env), bound(self, "parameter_bound", env)
        rule = {"R": R, "s": s, "delta": self.delta, "c1": self.c1, "c2": self.c2, "unit": env.reward_scale}
        return LinMEDReference(**rule, **self.regression(env))
