"""UCB for each context on its own, the paper's baseline that does not let contexts learn from each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from armspan import _validate
from armspan.environments import Environment
from armspan.errors import NotApplicable
from armspan.policies.base import Bounds, Policy, bound
from armspan.policies.references.counts import CountReference
from armspan.theory import Alpha, Schedule, as_schedule, f, freeze


@dataclass(frozen=True, kw_only=True)
class ContextUCB(Policy):
    """UCB per individual context: mean reward of the arm in this context + α_t/√(its pulls in this context).

    noise_scale : R, for which the noise is R-subgaussian; left out, the environment's.
    alpha : left out, α_t = R√(2 log f(t)); or a constant, an array over t, a function of t.
    """

    title: ClassVar[str] = "UCB per context"
    family: ClassVar[str | None] = "counts"
    noise_scale: float | None = None
    alpha: Alpha | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise_scale is not None:
            _validate.real("noise_scale", self.noise_scale, at_least=0)
        object.__setattr__(self, "alpha", freeze(self.alpha))

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
        raise NotApplicable(f"{policy.name} needs contexts that recur, and those of {env.name} do not")
