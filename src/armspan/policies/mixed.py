"""What policies that choose by probabilities have in common: these follow from ridge estimates by a rule."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armspan import _validate
from armspan.environments import Environment
from armspan.errors import InvalidParameter
from armspan.policies.base import EVERY, Bounds, Reference
from armspan.policies.linear import LARGEST, SMALLEST, LinearPolicy
from armspan.policies.references.mixed import INVERSE_GAP, MixedReference
from armspan.theory import Schedule


def steady(value: float) -> Schedule:
    """The same number at every step; unlike `as_schedule` also one below 0."""
    return lambda t: np.full(t.size, value)


def check_share(name: str, value: Any) -> None:
    """Refuse what is no probability strictly between 0 and 1."""
    if not 0 < _validate.real(name, value, above=0) < 1:
        raise InvalidParameter(f"{name} must be > 0 and < 1, got {value:g}")


def check_ridge(value: Any) -> None:
    """Refuse what is no penalty of a regression."""
    ridge = _validate.real("ridge", value, above=0)
    if not SMALLEST**2 <= ridge <= LARGEST**2:
        raise InvalidParameter(f"ridge must be from {SMALLEST**2:g} to {LARGEST**2:g}, got {ridge:g}")


@dataclass(frozen=True, kw_only=True)
class MixedPolicy(LinearPolicy):
    """Chooses by probabilities, by a rule with one number per step, the schedule. Tied arms share what one would have.

    Parameters
    ----------
    ridge : float, default 1
        Penalty of the regression. Theory: any above 0. Practice: 1.
    """

    family: ClassVar[str | None] = "mixed"
    rule: ClassVar[int]
    ridge: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ridge(self.ridge)

    def penalty(self, env: Bounds) -> float:
        return self.ridge

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "kept_within": EVERY}

    @property
    def kept_within(self) -> tuple[float, float]:
        """Where estimates are clipped."""
        return -math.inf, math.inf

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        low, high = self.kept_within
        return {**super().knobs(env), "rule": steady(self.rule), "low": steady(low), "high": steady(high)}

    def reference(self, env: Environment) -> Reference:
        return MixedReference(**self.regression(env))

    def regression(self, env: Environment) -> dict[str, Any]:
        low, high = self.kept_within
        return super().regression(env) | {"rule": self.rule, "low": low, "high": high, "unit": env.reward_scale}


@dataclass(frozen=True, kw_only=True)
class InverseGapPolicy(MixedPolicy):
    """Gives arms a share by the inverse of how far they are behind: SquareCB and FALCON.

    Parameters
    ----------
    low, high : float, defaults 0 and 1
        Where rewards lie. Theory: 0 and 1. Practice: where yours lie. Estimates are kept there, and γ is for rewards
        rescaled from there to [0, 1].
    scale : float, default 1
        c in γ. Theory: 1, up to a constant. Practice: larger is greedier, to be tuned.
    delta : float, default 0.05
        δ, the probability with which theory's bound may fail. Theory: any in (0, 1). Practice: 0.05.
    """

    rule: ClassVar[int] = INVERSE_GAP
    low: float = 0.0
    high: float = 1.0
    scale: float = 1.0
    delta: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.real("low", self.low)
        if not _validate.real("high", self.high) > self.low:
            raise InvalidParameter(f"high must be above low = {self.low:g}, got {self.high:g}")
        _validate.real("scale", self.scale, at_least=0)
        check_share("delta", self.delta)

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "parameters": EVERY}

    @property
    def kept_within(self) -> tuple[float, float]:
        return float(self.low), float(self.high)

    def parameters(self, env: Any) -> int:
        """How many are fitted: d, for each arm unless they share them."""
        return int(env.n_features * (1 if self.shared else env.n_arms))
