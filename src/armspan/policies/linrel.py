"""LinRel (Auer 2003): the first linear confidence bound, which trusts only the directions that were seen enough."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.environments import Environment
from armspan.policies.base import COMPILED, Reference
from armspan.policies.confidence import check_delta, check_horizon, union_radius
from armspan.policies.linear import LinearPolicy
from armspan.policies.references.linrel import LinRelReference
from armspan.theory import Schedule, as_schedule

MOST_FEATURES = 40
"""Up to which eigenvectors at every step take no longer than what other policies do."""


def eigenvectors_are_slow(env: Environment) -> str | None:
    """In a sentence, where they are."""
    if env.n_features <= MOST_FEATURES:
        return None
    return "it needs eigenvectors at every step, which takes too long with so many features"


@dataclass(frozen=True, kw_only=True)
class LinRel(LinearPolicy):
    """LinRel: pull the arm with the largest a·y + ‖a‖√log(2TK/δ) + ‖ṽ‖.

    Eigenvectors of Σxxᵀ with eigenvalue ≥ 1 are trusted: there least squares weighs past rewards y by a. What lies
    along the others, ṽ, may be worth its whole length.

        a = ũᵀΛ⁻¹UᵀX,   ũ and ṽ the parts of Uᵀx that are trusted and not

    There is no ridge, and nothing is shrunk.

    Parameters
    ----------
    delta : float, default 0.05
        δ, the probability with which a bound may fail. Theory: any in (0, 1). Practice: 0.05.
    noise_scale : float, default √½
        R, for R√(2 log(2TK/δ)) in place of the root. Theory: √½, which is what the paper prints for rewards in [0, 1].
        Practice: ½ is enough for those. Features and parameters are at most 1 long in the paper: scale yours.
    horizon : int, optional
        T, the number of steps. A simulation fills it in; an agent must be given it. Theory: how many there will be.
        Practice: a guess, rather too large than too small; only its logarithm counts.

    Notes
    -----
    Use it for comparison: no bound on regret is proved for it alone (SupLinRel has √(dT)); OFUL is simpler and explores
    less.

    References
    ----------
    Auer (2003): Using confidence bounds for exploitation-exploration trade-offs.
    """

    title: ClassVar[str] = "LinRel"
    promise: ClassVar[str] = "none proved"
    assumes: ClassVar[str] = ""
    family: ClassVar[str | None] = "linrel"
    delta: float = 0.05
    noise_scale: float = math.sqrt(0.5)
    horizon: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_delta(self.delta)
        _validate.real("noise_scale", self.noise_scale, at_least=0)
        check_horizon(self.horizon)

    def too_slow(self, env: Environment) -> str | None:
        return eigenvectors_are_slow(env)

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "schedule": COMPILED, "penalty": (), "sound_penalty": (), "regression": ()}

    def schedule(self, env: Any) -> Schedule:
        return as_schedule(union_radius(self, env))

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        return {"alpha": self.schedule(env)}

    def reference(self, env: Any) -> Reference:
        return LinRelReference(n_arms=env.n_arms, scale=union_radius(self, env), shared=self.shared)
