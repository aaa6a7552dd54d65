"""OFUL (Abbasi-Yadkori, Pál and Szepesvári 2011): optimism with a radius that grows with what was seen, not with t."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armspan import _validate
from armspan.environments import Environment
from armspan.policies.base import Bounds, Reference, bound
from armspan.policies.confidence import check_delta, check_ridge
from armspan.policies.linear import LinearPolicy
from armspan.policies.references.oful import OfulReference
from armspan.theory import Schedule, as_schedule


@dataclass(frozen=True, kw_only=True)
class OFUL(LinearPolicy):
    """OFUL: pull the arm with the largest θ̂ᵀx + √β·√(xᵀV⁻¹x).

    With probability 1 - δ every θ is within √β of its estimate at all steps. The radius is computed from V itself, so
    it stays small where little was seen. Separate arms share δ out: each has δ/K.

        √β = R √(2 log(√(det V / λᵈ) / δ)) + √λ·s          (Theorem 2)

    delta : δ, how likely the radius may fail; 0.05, or 1/T for theory's bound on the expected regret.
    ridge : λ, any > 0; left out, l², as the theory of its regret has it. A plain 1 is common.
    parameter_bound : s, a bound on the length of parameters; left out, the environment's.
    noise_scale : R, for which the noise is R-subgaussian, ½ for a click; left out, the environment's.

    The first choice where optimism must be safe: regret d√T, no horizon to be known, a smaller radius than LinUCB-d's.
    """

    title: ClassVar[str] = "OFUL"
    family: ClassVar[str | None] = "oful"
    delta: float = 0.05
    ridge: float | None = None
    parameter_bound: float | None = None
    noise_scale: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_delta(self.delta)
        if self.ridge is not None:
            check_ridge(self.ridge)
        if self.parameter_bound is not None:
            _validate.real("parameter_bound", self.parameter_bound, above=0)
        if self.noise_scale is not None:
            _validate.real("noise_scale", self.noise_scale, at_least=0)

    def penalty(self, env: Bounds) -> float:
        return super().penalty(env) if self.ridge is None else self.ridge

    def schedule(self, env: Bounds) -> Schedule:
        """How much of the radius step t uses: all of it."""
        return as_schedule(1.0)

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        """The radius of step t as noise·√(doubt + log det V) + bias."""
        ridge, used = self.sound_penalty(env), self.schedule(env)
        R, s = bound(self, "noise_scale", env), bound(self, "parameter_bound", env)
        doubt = 2 * math.log(1 / self._own_delta(env)) - env.n_features * math.log(ridge)
        return {
            "ridge": ridge,
            "noise": lambda t: R * used(t),
            "doubt": lambda t: np.full(t.size, doubt),
            "bias": lambda t: math.sqrt(ridge) * s * used(t),
        }

    def reference(self, env: Environment) -> Reference:
        R, s = bound(self, "noise_scale", env), bound(self, "parameter_bound", env)
        return OfulReference(**self.regression(env), delta=self._own_delta(env), R=R, s=s)

    def _own_delta(self, env: Any) -> float:
        return self.delta if self.shared else self.delta / env.n_arms
