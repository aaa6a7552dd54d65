"""LinTS, linear Thompson sampling (Agrawal and Goyal 2013): act as if a draw around the estimate were the truth."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from armspan import _validate
from armspan.environments import Environment
from armspan.errors import InvalidParameter
from armspan.policies.base import Bounds, bound
from armspan.policies.linear import LARGEST, SMALLEST, LinearPolicy
from armspan.policies.references.sampled import SampledReference
from armspan.theory import Alpha, Schedule, as_schedule, freeze


@dataclass(frozen=True, kw_only=True)
class LinTS(LinearPolicy):
    """LinTS: draw θ̃ ~ N(θ̂, v_t²V⁻¹) for each arm, and pull the arm with the largest θ̃ᵀx.

    Acting on a draw is exploring: what is uncertain varies a lot from draw to draw, and what is known hardly at all.
    Where arms share θ there is one draw per step, otherwise one per arm and step.

        V = ridge·I + Σxxᵀ,   θ̂ = V⁻¹Σyx,   v_t = R√(9 d log(t/δ))

    Parameters
    ----------
    scale : float, array or function, optional
        v_t, as a constant, an array over t, or a function of t. Theory: R√(9 d log(t/δ)), if left out, which explores a
        lot. Practice: v = R, for which nothing is proved; the docs' page “Simulation” shows what the two cost.
    delta : float, default 0.05
        δ, the probability with which theory's bound may fail. Theory: any in (0, 1). Practice: 0.05.
    ridge : float, default 1
        Penalty of the regression. Theory: 1. Practice: 1.
    noise_scale : float, optional
        R, for which the noise is R-subgaussian. Theory: one that holds. Practice: ½ for rewards from 0 to 1, as clicks
        are, else the standard deviation of a regression's residuals. Taken from the environment if left out.

    Notes
    -----
    Use it where choices must vary, as with late rewards or many decisions at once.

    References
    ----------
    Agrawal and Goyal (2013): Thompson sampling for contextual bandits with linear payoffs.
    """

    title: ClassVar[str] = "LinTS"
    promise: ClassVar[str] = "d^(3/2)√T"
    assumes: ClassVar[str] = "one θ for all arms, lengths at most 1"
    family: ClassVar[str | None] = "sampled"
    scale: Alpha | None = None
    delta: float = 0.05
    ridge: float = 1.0
    noise_scale: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        ridge = _validate.real("ridge", self.ridge, above=0)
        if not SMALLEST**2 <= ridge <= LARGEST**2:
            raise InvalidParameter(f"ridge must be from {SMALLEST**2:g} to {LARGEST**2:g}, got {ridge:g}")
        if not 0 < _validate.real("delta", self.delta, above=0) < 1:
            raise InvalidParameter(f"delta must be > 0 and < 1, got {self.delta:g}")
        if self.noise_scale is not None:
            _validate.real("noise_scale", self.noise_scale, at_least=0)
        object.__setattr__(self, "scale", freeze(self.scale, name="scale"))

    def penalty(self, env: Bounds) -> float:
        return self.ridge

    def schedule(self, env: Bounds) -> Schedule:
        """v_t as a function of t."""
        if self.scale is not None:
            return as_schedule(self.scale, name="scale")
        R, d, delta = bound(self, "noise_scale", env), env.n_features, self.delta
        return lambda t: R * np.sqrt(9 * d * np.log(t / delta))

    def reference(self, env: Environment) -> SampledReference:
        return SampledReference(**self.regression(env))
