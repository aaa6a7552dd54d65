"""The greedy policy: believe the estimates and never explore (Bastani, Bayati and Khosravi 2017)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.environments import Environment
from armspan.policies.base import Application, Bounds, Reference
from armspan.policies.least_squares import FORCED, in_turn
from armspan.policies.optimistic import IndexPolicy
from armspan.policies.references.explored import FirstPulls
from armspan.theory import Schedule, as_schedule


@dataclass(frozen=True, kw_only=True)
class Greedy(IndexPolicy):
    """LinUCB with α_t = 0: pull the arm with the largest estimated reward.

    It never explores on purpose. Where contexts are diverse enough, they do it for free; where they are not, an arm
    that was unlucky at first may never be tried again, and regret grows linearly.

        θ̂ = V⁻¹Σyx,   V = l²I + Σxxᵀ

    Parameters
    ----------
    pulls : int, default 0
        Pulls of every arm in turn, before any estimate is believed. Theory: 0. Practice: a few where every arm has a θ
        of its own.

    Notes
    -----
    Use it where `armspan.audit` says that theory covers greedy, or as a yardstick.

    References
    ----------
    Bastani, Bayati and Khosravi (2021): Mostly exploration-free algorithms for contextual bandits.
    """

    title: ClassVar[str] = "greedy"
    promise: ClassVar[str] = "log T"
    assumes: ClassVar[str] = "2 arms, independent and diverse contexts, margin condition"
    family: ClassVar[str | None] = "linear"
    pulls: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.whole("pulls", self.pulls, at_least=0)

    @property
    def compiled(self) -> str | None:
        own = super().compiled
        return "forced" if own == "linear" and self.pulls else own

    @property
    def fixed_arms(self) -> str | None:
        return FORCED if self.pulls else None

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, **({"schedule": ["reference"]} if self.pulls else {})}

    def schedule(self, env: Bounds) -> Schedule:
        return as_schedule(0.0)

    def exploration(self, application: Application) -> tuple[float, float, Schedule | None]:
        return 0.0, 0.0, None

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        return {**super().knobs(env), "forced": in_turn(self.pulls, env.n_arms)}

    def reference(self, env: Environment) -> Reference:
        return FirstPulls(pulls=self.pulls, **self.regression(env))
