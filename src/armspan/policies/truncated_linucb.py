"""TruncatedLinUCB (Song and Zhou 2022): OFUL for a while, then greedy, as exploring for ever costs a factor log T."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from armspan import _validate
from armspan.policies.base import EVERY, Bounds
from armspan.policies.confidence import check_horizon, known_horizon
from armspan.policies.oful import OFUL
from armspan.theory import Schedule


@dataclass(frozen=True, kw_only=True)
class TruncatedLinUCB(OFUL):
    """TruncatedLinUCB: OFUL's index up to step S, and the largest θ̂ᵀx from then on.

    Where contexts are independent, diverse and alike over time, S steps teach enough for greedy to carry on alone.
    Exploring for ever costs a factor log T.

        S = ⌈C d log(T)^κ⌉

    Parameters
    ----------
    factor : float, default 1
        C, the factor in S. Theory: large enough; it does not say how large. Practice: 1.
    power : float, default 2
        κ, the power in S. Theory: 1 and the right C give d log T, the least possible. Practice: 2, with which any C
        will do, at the price of a factor log log T.
    horizon : int, optional
        T, the number of steps. A simulation fills it in; an agent must be given it. Theory: how many there will be.
        Practice: a guess; only its logarithm counts.

    Notes
    -----
    Use it for diverse contexts and many steps; where contexts are not diverse, greedy may never find out what it
    misses.

    References
    ----------
    Song and Zhou (2022): Truncated LinUCB for stochastic linear bandits.
    """

    title: ClassVar[str] = "TruncatedLinUCB"
    promise: ClassVar[str] = "d log T"
    assumes: ClassVar[str] = "a θ for each arm, independent and diverse contexts, margin condition"
    factor: float = 1.0
    power: float = 2.0
    horizon: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.real("factor", self.factor, above=0)
        _validate.real("power", self.power, at_least=1)
        check_horizon(self.horizon)

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "explored": EVERY}

    def explored(self, env: Bounds) -> int:
        """S, the last step that explores."""
        return math.ceil(self.factor * env.n_features * math.log(known_horizon(self)) ** self.power)

    def schedule(self, env: Bounds) -> Schedule:
        """How much of the radius step t uses: all of it up to S, nothing afterwards."""
        S = self.explored(env)
        return lambda t: np.where(t <= S, 1.0, 0.0)
