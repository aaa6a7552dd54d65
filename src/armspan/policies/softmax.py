"""Softmax, or Boltzmann exploration: arms by the exponentials of their estimates."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from armspan.policies.base import Bounds
from armspan.policies.mixed import MixedPolicy
from armspan.policies.references.mixed import SOFTMAX
from armspan.theory import Alpha, Schedule, as_schedule, freeze

COLDEST = 1e-30
"""A temperature of 0 is this one: e^(-gap/T) is then 0 for any gap."""


@dataclass(frozen=True, kw_only=True)
class Softmax(MixedPolicy):
    """Pull arm a with probability p_a ∝ e^(ŷ_a/T_t), where ŷ are the estimated rewards.

    temperature : T_t in units of rewards, as a constant, an array over t, or a function of t; 0 is greedy, and with a
    large one every arm is as likely. No schedule is known to be right for all problems: a constant explores for ever,
    and estimates that rest on few rewards count as much as others (Cesa-Bianchi et al. 2017). Use it where shares that
    follow the estimates smoothly are wanted; SquareCB does that with a guarantee.
    ridge : penalty of the regression. shared : whether all arms share one θ.

    N. Cesa-Bianchi, C. Gentile, G. Lugosi, G. Neu: Boltzmann exploration done right. NeurIPS 2017.
    """

    title: ClassVar[str] = "softmax"
    rule: ClassVar[int] = SOFTMAX
    temperature: Alpha = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "temperature", freeze(self.temperature, name="temperature"))

    def schedule(self, env: Bounds) -> Schedule:
        """1/T_t as a function of t."""
        temperature = as_schedule(self.temperature, name="temperature")
        return lambda t: 1 / np.maximum(temperature(t), COLDEST)
