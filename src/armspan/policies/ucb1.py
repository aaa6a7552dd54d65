"""UCB1 (Auer, Cesa-Bianchi and Fischer 2002): optimism without contexts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armspan import _validate
from armspan.environments import Environment
from armspan.policies.base import EVERY, Bounds, Policy, bound
from armspan.policies.references.ucb1 import UCB1Reference
from armspan.theory import Schedule


@dataclass(frozen=True, kw_only=True)
class UCB1(Policy):
    """Pull each arm once, then the one with the largest mean reward + 2R√(2 log t/pulls), whatever the context.

    It finds the best fixed arm, and no more: what a policy with contexts gains over it is what they are worth. Auer et
    al. have rewards in [0, 1], which are ½-subgaussian: with R = ½ it is their index, and others are rescaled by 2R.

        index = S/N + 2R√(2 log t/N),   N pulls of the arm, S the sum of their rewards

    Parameters
    ----------
    noise_scale : float, optional
        R, for which rewards are R-subgaussian. Theory: ½, for rewards in [0, 1]. Taken from the environment if left
        out. A reward varies with its context too. Practice: where contexts matter much, half the width of the rewards'
        range.

    Notes
    -----
    Use it to see what contexts are worth.

    References
    ----------
    Auer, Cesa-Bianchi and Fischer (2002): Finite-time analysis of the multiarmed bandit problem.
    """

    title: ClassVar[str] = "UCB1"
    promise: ClassVar[str] = "log T against the best fixed arm"
    assumes: ClassVar[str] = "rewards of an arm independent over steps"
    family: ClassVar[str | None] = "arms"
    noise_scale: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise_scale is not None:
            _validate.real("noise_scale", self.noise_scale, at_least=0)

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "schedule": EVERY}

    def schedule(self, env: Bounds) -> Schedule:
        """2R√(2 log t) as a function of t."""
        R = bound(self, "noise_scale", env)
        return lambda t: 2 * R * np.sqrt(2 * np.log(t))

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        return {"alpha": self.schedule(env)}

    def reference(self, env: Environment) -> UCB1Reference:
        return UCB1Reference(n_arms=env.n_arms, alpha=self.schedule(env))
