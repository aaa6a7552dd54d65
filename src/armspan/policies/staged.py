"""What policies in stages have in common: how many stages there are, and what their families are told."""

import math
from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from armspan import _validate
from armspan.policies.base import EVERY, Reference
from armspan.policies.confidence import check_delta, check_horizon, known_horizon, union_radius
from armspan.policies.linear import LinearPolicy
from armspan.policies.references.staged import StagedReference
from armspan.theory import Schedule, as_schedule


@dataclass(frozen=True, kw_only=True)
class StagedPolicy(LinearPolicy):
    """A policy that keeps independent samples apart, in S = ⌈log T⌉ stages; `references/staged.py` has its steps.

    Parameters
    ----------
    delta : float, default 0.05
        δ, the probability with which a bound may fail. Theory: any in (0, 1). Practice: 0.05.
    horizon : int, optional
        T, the number of steps. A simulation fills it in; an agent must be given it. Theory: how many there will be.
        Practice: a guess, rather too large than too small.
    """

    delta: float = 0.05
    noise_scale: float = 0.5
    horizon: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_delta(self.delta)
        _validate.real("noise_scale", self.noise_scale, at_least=0)
        check_horizon(self.horizon)

    @property
    def needs_all_arms(self) -> str | None:
        return "rewards are learnt by the stage that decides among all arms"

    @property
    def learns_from_all_arms(self) -> str | None:
        return self.needs_all_arms

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        deaf = dict.fromkeys(("schedule", "penalty", "sound_penalty", "regression"), ())
        return {**super().heeds, **deaf, "confidence": EVERY, "stages": EVERY, "stage": ["reference"]}

    def stages(self) -> int:
        """S; at the last of them 2⁻ˢ ≤ 1/√T, so that it always decides."""
        return max(math.ceil(math.log(known_horizon(self))), 1)

    def confidence(self, env: Any) -> float:
        """The α of widths."""
        return union_radius(self, env)

    def schedule(self, env: Any) -> Schedule:
        return as_schedule(self.confidence(env))

    def sizes(self, env: Any) -> Mapping[str, int]:
        return {**super().sizes(env), "S": self.stages(), "P": 2}

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        return {"alpha": self.confidence(env), "least": 1 / math.sqrt(known_horizon(self))}

    @abstractmethod
    def stage(self, env: Any) -> Any:
        """The naive form of what one stage knows, with `interval` and `update`."""

    def reference(self, env: Any) -> Reference:
        return StagedReference(stages=[self.stage(env) for _ in range(self.stages())], horizon=known_horizon(self))
