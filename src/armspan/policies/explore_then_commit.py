"""Explore, then commit: every arm a number of times in turn, and what that has shown is believed for good."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.environments import Environment
from armspan.policies.base import EVERY, Bounds
from armspan.policies.least_squares import FORCED, LeastSquaresPolicy, in_turn
from armspan.policies.references.explored import CommitReference
from armspan.theory import Schedule

ROWS_PER_FEATURE = 10


@dataclass(frozen=True, kw_only=True)
class ExploreThenCommit(LeastSquaresPolicy):
    """Pull each of K arms m times in turn; then always the arm with the largest θ̂ᵀx.

    θ̂ is the least squares of the exploration, steps 1 … mK; where arms share θ, that is mK rows for one θ̂. That θ̂ is
    final: later rewards change nothing.

        θ̂ = V⁻¹Σyx,   V = ridge·I + Σxxᵀ,   sums over steps 1 … mK

    An agent learns the first m rewards of every arm, late or from a log, and no others.

    Parameters
    ----------
    pulls : int, optional
        m, the pulls of every arm. Theory: about (T/K)^⅔ for T steps. Practice: 10 for every feature, if left out.

    Notes
    -----
    Use it for a trial of fixed length, or as the yardstick of forced exploration.

    References
    ----------
    Lattimore and Szepesvári (2020): Bandit algorithms, Chapter 6.
    """

    title: ClassVar[str] = "explore then commit"
    promise: ClassVar[str] = "T^⅔"
    assumes: ClassVar[str] = "independent contexts, m about (T/K)^⅔"
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
        """The pulls m of every arm in an environment."""
        return ROWS_PER_FEATURE * env.n_features if self.pulls is None else self.pulls

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "schedule": ["reference"], "pulls_in": EVERY}

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        pulls = self.pulls_in(env)
        return {"ridge": self.sound_penalty(env), "pulls": float(pulls), "forced": in_turn(pulls, env.n_arms)}

    def reference(self, env: Environment) -> CommitReference:
        return CommitReference(pulls=self.pulls_in(env), **self.regression(env))
