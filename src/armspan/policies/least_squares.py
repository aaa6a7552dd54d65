"""What policies have in common if they believe a regression as it stands, and explore by forced pulls if at all."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from armspan import _validate
from armspan._typing import IntArray
from armspan.errors import InvalidParameter
from armspan.policies.base import Bounds
from armspan.policies.linear import LARGEST, SMALLEST, LinearPolicy
from armspan.theory import Schedule, as_schedule

FORCED = "its forced pulls are scheduled for all the arms that it began with"
"""Why arms can neither come nor go, nor be left out of a decision."""


@dataclass(frozen=True, kw_only=True)
class LeastSquaresPolicy(LinearPolicy):
    """Pulls the arm with the largest θ̂ᵀx in steps that are not forced.

    Parameters
    ----------
    ridge : float, optional
        Penalty of the regression. Theory: 0, plain least squares. Practice: l²/1000, if left out, which only matters
        for the first few rows.
    """

    usual_ridge: ClassVar[float] = 1e-3
    ridge: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ridge is not None:
            ridge = _validate.real("ridge", self.ridge, above=0)
            if not SMALLEST**2 <= ridge <= LARGEST**2:
                raise InvalidParameter(f"ridge must be from {SMALLEST**2:g} to {LARGEST**2:g}, got {ridge:g}")

    def penalty(self, env: Bounds) -> float:
        return self.usual_ridge * super().penalty(env) if self.ridge is None else self.ridge

    def schedule(self, env: Bounds) -> Schedule:
        """α_t = 0: what is estimated is believed."""
        return as_schedule(0.0)


def in_turn(pulls: int, n_arms: int) -> Schedule:
    """The knob `forced`: every arm this many times in turn, and then none."""

    def forced(t: IntArray) -> np.ndarray:
        from armspan.kernels.families.forced import FREE

        return np.where(t <= pulls * n_arms, (t - 1) % n_arms, FREE).astype(np.float64)

    return forced
