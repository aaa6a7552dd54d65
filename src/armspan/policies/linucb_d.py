"""LinUCB-d, Algorithm 1 of the paper: estimate each arm's reward from past contexts, and add what is uncertain."""

from dataclasses import dataclass
from typing import ClassVar

from armspan.environments import Environment
from armspan.policies.base import Reference, bound
from armspan.policies.optimistic import OptimisticPolicy
from armspan.policies.references.primal import Primal


@dataclass(frozen=True, kw_only=True)
class LinUCBd(OptimisticPolicy):
    """LinUCB-d: pull the arm with the largest r̂_t + α_t σ̂_t.

    It runs in its dual form, which costs O(d²) per arm and step; `references/primal.py` has Algorithm 1 as printed.
    """

    title: ClassVar[str] = "LinUCB-d"
    family: ClassVar[str | None] = "linear"

    def reference(self, env: Environment) -> Reference:
        if self.shared or self.is_practical:  # which the paper does not print
            return super().reference(env)
        l = bound(self, "feature_bound", env)
        return Primal(n_arms=env.n_arms, n_features=env.n_features, l=l, alpha=self.schedule(env))
