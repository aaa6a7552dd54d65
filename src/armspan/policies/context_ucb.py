"""UCB for each context on its own, the paper's baseline that does not let contexts learn from each other."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from armspan import _validate
from armspan.environments import Environment
from armspan.errors import NotApplicable
from armspan.policies.base import EVERY, Bounds, Policy, bound
from armspan.policies.references.counts import CountReference
from armspan.theory import Alpha, Schedule, as_schedule, f, freeze


@dataclass(frozen=True, kw_only=True)
class ContextUCB(Policy):
    """UCB per individual context: mean reward of the arm in this context + α_t/√(its pulls in this context).

    Every context is a separate bandit, and features are ignored, so rewards need not be linear. The price is that
    contexts do not learn from each other: every arm must be tried in every context.

        index = S/N + α_t/√N,   N pulls of the arm in this context, S the sum of their rewards,   f(t) = 1 + t log²t

    Parameters
    ----------
    noise_scale : float, optional
        R, for which the noise is R-subgaussian. Theory: 1 in the paper. Practice: ½ for a click. Taken from the
        environment if left out.
    alpha : float, array or function, optional
        α_t, as a constant, an array over t, or a function of t. Theory: R√(2 log f(t)), if left out. Practice: the
        same; a smaller one explores less, to be tuned.

    Notes
    -----
    Use it where contexts are few and recur often, or to see what a linear policy gains.

    References
    ----------
    Wu, Yang and Shen (2020): Stochastic linear contextual bandits with diverse contexts.
    """

    title: ClassVar[str] = "UCB per context"
    promise: ClassVar[str] = "log T in each context"
    assumes: ClassVar[str] = "contexts recur, with a gap; rewards of any form"
    family: ClassVar[str | None] = "counts"
    noise_scale: float | None = None
    alpha: Alpha | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise_scale is not None:
            _validate.real("noise_scale", self.noise_scale, at_least=0)
        object.__setattr__(self, "alpha", freeze(self.alpha))

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "schedule": EVERY}

    def schedule(self, env: Bounds) -> Schedule:
        """α_t as a function of t."""
        if self.alpha is not None:
            return as_schedule(self.alpha)
        R = bound(self, "noise_scale", env)
        return lambda t: R * np.sqrt(2 * np.log(f(t)))

    def knobs(self, env: Environment) -> Mapping[str, float | Schedule]:
        _needs_recurring_contexts(self, env)
        return {"alpha": self.schedule(env)}

    def reference(self, env: Environment) -> CountReference:
        _needs_recurring_contexts(self, env)
        return CountReference(n_arms=env.n_arms, alpha=self.schedule(env))


def _needs_recurring_contexts(policy: Policy, env: Environment) -> None:
    if env.n_contexts is None:
        raise NotApplicable(f"{policy.name} needs contexts that recur, but those of {env.name} do not")
