"""SupLinUCB (Chu, Li, Reyzin and Schapire 2011): LinUCB in stages of independent samples, for a proof of √(dT)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.policies.base import EVERY, Bounds
from armspan.policies.references.staged import RidgeStage
from armspan.policies.staged import StagedPolicy
from armspan.theory import Schedule

WIDTHS = ("paper", "proof")


@dataclass(frozen=True, kw_only=True)
class SupLinUCB(StagedPolicy):
    """SupLinUCB: go through S = ⌈log T⌉ stages, each with its own ridge regression, until one decides.

    Stage s keeps the arms whose index θ̂ᵀx + αw is within 2¹⁻ˢ of the largest, as long as all αw ≤ 2⁻ˢ. If one is
    wider, the widest is pulled and learnt in this stage only; if all αw ≤ 1/√T, the largest index is pulled and not
    learnt.

        w = √(xᵀV⁻¹x),   α = R√(2 log(2TK/δ))

    Without the mark of its decision, an agent works out the stage of a reward anew when it comes. Where rewards come
    late, that may not be the stage that chose, and the proof no longer holds.

    Parameters
    ----------
    noise_scale : float, default 0.5
        R, for which the noise is R-subgaussian. Theory: ½, as for rewards in [0, 1]. Practice: that of your noise.
        Features and parameters are at most 1 long, and the ridge is 1: scale yours.
    width : str, default "paper"
        Which α: "paper" has α as printed; "proof" has α + 1. Theory: "proof", which is what the lemma proves. Practice:
        "paper".

    Notes
    -----
    Use it for its proof, √(dT) up to logarithms for K arms; compared with LinUCB, it learns from few of its steps, and
    costs more.

    References
    ----------
    Chu, Li, Reyzin and Schapire (2011): Contextual bandits with linear payoff functions.
    """

    title: ClassVar[str] = "SupLinUCB"
    promise: ClassVar[str] = "√(dT)"
    assumes: ClassVar[str] = "one θ for all arms, rewards in [0, 1], lengths at most 1"
    family: ClassVar[str | None] = "staged"
    width: str = "paper"

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.one_of("width", self.width, WIDTHS)

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        of_ridge = {"penalty": EVERY, "sound_penalty": EVERY, "regression": ["reference"]}
        return {**super().heeds, **of_ridge, "schedule": ["reference"]}

    def penalty(self, env: Bounds) -> float:
        return 1.0

    def confidence(self, env: Any) -> float:
        return super().confidence(env) + (1.0 if self.width == "proof" else 0.0)

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        return {**super().knobs(env), "ridge": self.sound_penalty(env)}

    def stage(self, env: Any) -> RidgeStage:
        return RidgeStage(**self.regression(env))
