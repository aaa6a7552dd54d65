"""SupLinRel (Auer 2003): LinRel in stages of independent samples, the first proof of √(dT)."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan.environments import Environment
from armspan.policies.linrel import eigenvectors_are_slow
from armspan.policies.references.linrel import LinRelReference
from armspan.policies.staged import StagedPolicy


@dataclass(frozen=True, kw_only=True)
class SupLinRel(StagedPolicy):
    """SupLinRel: SupLinUCB's stages around LinRel's estimate and width.

    A stage learns only from choices that its own rewards had no say in, which LinRel's bound needs. Which arm is pulled
    and where it is learnt is as in SupLinUCB; only directions with eigenvalue ≥ 1 in a stage are trusted there.

        width = ‖a‖ R√(2 log(2TK/δ)) + ‖ṽ‖

    Without the mark of its decision, an agent works out the stage of a reward anew when it comes. Where rewards come
    late, that may not be the stage that chose, and the proof no longer holds.

    Parameters
    ----------
    noise_scale : float, default √½
        R, for which the noise is R-subgaussian. Theory: √½, which is what the paper prints for rewards in [0, 1].
        Practice: ½ is enough for those. Features and parameters are at most 1 long: scale yours.

    Notes
    -----
    Use it for its proof, √(dT) up to logarithms for K arms; SupLinUCB is simpler and has the same one.

    References
    ----------
    Auer (2003): Using confidence bounds for exploitation-exploration trade-offs.
    """

    title: ClassVar[str] = "SupLinRel"
    promise: ClassVar[str] = "√(dT)"
    assumes: ClassVar[str] = "one θ for all arms, rewards in [0, 1], lengths at most 1"
    family: ClassVar[str | None] = "staged_linrel"
    noise_scale: float = math.sqrt(0.5)

    def too_slow(self, env: Environment) -> str | None:
        return eigenvectors_are_slow(env)

    def stage(self, env: Any) -> LinRelReference:
        return LinRelReference(n_arms=env.n_arms, scale=self.confidence(env), shared=self.shared)
