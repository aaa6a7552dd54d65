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

    Shares follow the estimates smoothly, and estimates that rest on few rewards count as much as others. No temperature
    is known to be right for all problems: a constant explores for ever.

        ŷ_a = θ̂ᵀx_a,   θ̂ = V⁻¹Σyx,   V = ridge·I + Σxxᵀ

    Parameters
    ----------
    temperature : float, array or function, default 0.1
        T_t in units of rewards, as a constant, an array over t, or a function of t; 0 is greedy, and with a large one
        all arms are equally likely. Theory: none. Practice: 0.1 where rewards are from 0 to 1, to be tuned.

    Notes
    -----
    Use it where shares that follow the estimates smoothly are wanted; SquareCB does that with a guarantee.

    References
    ----------
    Cesa-Bianchi, Gentile, Lugosi and Neu (2017): Boltzmann exploration done right.
    """

    title: ClassVar[str] = "softmax"
    promise: ClassVar[str] = "none proved"
    assumes: ClassVar[str] = ""
    rule: ClassVar[int] = SOFTMAX
    temperature: Alpha = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "temperature", freeze(self.temperature, name="temperature"))

    def schedule(self, env: Bounds) -> Schedule:
        """1/T_t as a function of t."""
        temperature = as_schedule(self.temperature, name="temperature")
        return lambda t: 1 / np.maximum(temperature(t), COLDEST)
