"""PEGE, phased exploration and greedy exploitation (Rusmevichientong and Tsitsiklis 2010)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armspan import _validate
from armspan._typing import IntArray
from armspan.environments import Environment
from armspan.policies.base import EVERY, Bounds
from armspan.policies.least_squares import FORCED, LeastSquaresPolicy
from armspan.policies.references.explored import CycleReference
from armspan.theory import Schedule


@dataclass(frozen=True, kw_only=True)
class PEGE(LeastSquaresPolicy):
    """PEGE: cycle c = 1, 2, … pulls every arm a number of times in turn, then c times the arm with the largest θ̂ᵀx.

    θ̂ is the least squares of the exploration in all cycles so far; other rewards are not learnt. No horizon is needed:
    after T steps there have been about √(2T) cycles.

        θ̂ = V⁻¹Σyx,   V = ridge·I + Σxxᵀ,   sums over the exploration of cycles 1 … c

    Without the mark of its decision, an agent takes an arm's rewards to be those of its forced pulls while such are
    due. Otherwise a reward that it was waiting for teaches nothing; one that it has not asked for, as from a log, is
    learnt like a forced pull's.

    Parameters
    ----------
    pulls : int, optional
        Pulls of every arm in a cycle. Theory: d linearly independent arms once. Practice: d pulls of each arm if each
        has its own θ, so that it has d rows; one pull of each with shared=True. That is also the default.

    Notes
    -----
    Use it where arms can be explored in a fixed order, and the horizon is open.

    References
    ----------
    Rusmevichientong and Tsitsiklis (2010): Linearly parameterized bandits.
    """

    title: ClassVar[str] = "PEGE"
    promise: ClassVar[str] = "d√T"
    assumes: ClassVar[str] = "one θ for all arms, no contexts, a smooth set of features such as a ball"
    family: ClassVar[str | None] = "explored"
    pulls: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pulls is not None:
            _validate.whole("pulls", self.pulls, at_least=1)

    @property
    def fixed_arms(self) -> str | None:
        return FORCED

    def pulls_in(self, env: Bounds) -> int:
        """The pulls of every arm in a cycle, in an environment."""
        if self.pulls is not None:
            return self.pulls
        return 1 if self.shared else env.n_features

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "schedule": ["reference"], "pulls_in": EVERY}

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        return {"ridge": self.sound_penalty(env), "forced": cycles(self.pulls_in(env), env.n_arms)}

    def reference(self, env: Environment) -> CycleReference:
        return CycleReference(pulls=self.pulls_in(env), **self.regression(env))


def cycles(pulls: int, n_arms: int) -> Schedule:
    """The knob `forced`: cycle c has E = pulls·K steps of exploration and c others, (c - 1)E + c(c - 1)/2 before it."""
    E = pulls * n_arms

    def before(c: IntArray) -> IntArray:
        return (c - 1) * E + c * (c - 1) // 2

    def forced(t: IntArray) -> np.ndarray:
        from armspan.kernels.families.forced import FREE

        c = (0.5 - E + np.sqrt((E - 0.5) ** 2 + 2.0 * (t + E - 1))).astype(np.int64)
        c -= before(c) >= t  # the root may be off by a rounding error
        c += before(c + 1) < t
        place = t - before(c) - 1
        return np.where(place < E, place % n_arms, FREE).astype(np.float64)

    return forced
