"""LinUCB-d, Algorithm 1 of the paper: estimate each arm's reward from past contexts, and add what is uncertain."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from armspan.environments import Environment
from armspan.policies.base import COMPILED, Reference, bound
from armspan.policies.optimistic import OptimisticPolicy
from armspan.policies.references.primal import Primal


@dataclass(frozen=True, kw_only=True)
class LinUCBd(OptimisticPolicy):
    """LinUCB-d: pull the arm with the largest r̂_t + α_t σ̂_t.

    It writes the present context as a weighted sum of past ones, with the weights β that leave the least uncertainty.
    It runs in its dual form, which costs O(d²) per arm and step; `references/primal.py` has Algorithm 1 as printed.

        r̂_t = sᵀN⁻¹β,   σ̂_t = √(βᵀN⁻¹β),   β = NXᵀV⁻¹x,   V = l²I + Σxxᵀ,   α_t = l·s + R√((2 + d) log f(t))

    Notes
    -----
    Use it where contexts are diverse, and you need the guarantee of constant regret.

    References
    ----------
    Wu, Yang and Shen (2020): Stochastic linear contextual bandits with diverse contexts.
    """

    title: ClassVar[str] = "LinUCB-d"
    promise: ClassVar[str] = "constant; √T in general"
    assumes: ClassVar[str] = "for constant: diverse contexts (Assumption 1.5) and a gap"
    family: ClassVar[str | None] = "linear"

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        of_ridge = {"penalty": (*COMPILED, "exploration"), "sound_penalty": COMPILED, "regression": ()}
        return {**super().heeds, **(of_ridge if self._printed else {})}

    @property
    def _printed(self) -> bool:
        """Whether the paper prints it so."""
        return not self.shared and not self.learnt and self.half_life is None

    def reference(self, env: Environment) -> Reference:
        if not self._printed:
            return super().reference(env)
        l = bound(self, "feature_bound", env)
        return Primal(n_arms=env.n_arms, n_features=env.n_features, l=l, alpha=self.schedule(env))
