"""OFUL (Abbasi-Yadkori, Pál and Szepesvári 2011): optimism with a radius that grows with what was seen, not with t."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan.environments import Environment
from armspan.policies.base import Bounds, Reference
from armspan.policies.confidence import check_radius, check_ridge, radius, radius_knobs
from armspan.policies.linear import LinearPolicy
from armspan.policies.references.oful import OfulReference
from armspan.theory import Schedule, as_schedule


@dataclass(frozen=True, kw_only=True)
class OFUL(LinearPolicy):
    """OFUL: pull the arm with the largest θ̂ᵀx + √β·√(xᵀV⁻¹x).

    With probability 1 - δ every θ is within √β of its estimate at all steps. The radius is computed from V itself, so
    it stays small where little was seen.

        √β = R √(2 log(√(det V / λᵈ) / δ)) + √λ·s          (Theorem 2)

    Separate arms share δ: each has δ/K.

    Parameters
    ----------
    delta : float, default 0.05
        δ, the probability with which the radius may fail. Theory: 1/T, for a bound on the expected regret. Practice:
        0.05.
    ridge : float, optional
        λ, the penalty of the regression. Theory: any > 0, l² if left out. Practice: the same, or a plain 1.
    parameter_bound : float, optional
        s, a bound on the length of parameters. Theory: one that holds. Practice: 1.5 times the largest ‖θ̂‖ of a ridge
        regression on a log. Taken from the environment if left out.
    noise_scale : float, optional
        R, for which the noise is R-subgaussian. Theory: one that holds. Practice: ½ for rewards from 0 to 1, as clicks
        are, else the standard deviation of a regression's residuals. Taken from the environment if left out.

    Notes
    -----
    Use it where optimism must be safe: no horizon needs to be known, and the radius is smaller than LinUCB-d's.

    References
    ----------
    Abbasi-Yadkori, Pál and Szepesvári (2011): Improved algorithms for linear stochastic bandits.
    """

    title: ClassVar[str] = "OFUL"
    family: ClassVar[str | None] = "oful"
    promise: ClassVar[str] = "d√T; polylog T with a gap"
    assumes: ClassVar[str] = "bounds on θ and noise"
    delta: float = 0.05
    ridge: float | None = None
    parameter_bound: float | None = None
    noise_scale: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_radius(self)
        if self.ridge is not None:
            check_ridge(self.ridge)

    def penalty(self, env: Bounds) -> float:
        return super().penalty(env) if self.ridge is None else self.ridge

    def schedule(self, env: Bounds) -> Schedule:
        """How much of the radius step t uses: all of it."""
        return as_schedule(1.0)

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        return {"ridge": self.sound_penalty(env), **radius_knobs(self, env, self.schedule(env))}

    def reference(self, env: Environment) -> Reference:
        return OfulReference(**self.regression(env), **radius(self, env))
