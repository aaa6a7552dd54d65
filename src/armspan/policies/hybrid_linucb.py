"""LinUCB's hybrid form (Li et al. 2010, Algorithm 2): a part of the reward that all arms share, and a part of each."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.errors import InvalidParameter
from armspan.policies.base import EVERY, Policy
from armspan.policies.linear import LEAST_RIDGE
from armspan.policies.references.hybrid import HybridReference
from armspan.theory import Alpha, Schedule, as_schedule, freeze


@dataclass(frozen=True, kw_only=True)
class HybridLinUCB(Policy):
    """Rewards are zᵀβ + xᵀθ_a: arms learn β together, and each θ_a alone. Pulls the largest zᵀβ̂ + xᵀθ̂_a + α_t √v.

    A new arm starts from what all others share.

        v = uᵀA⁻¹u,   u = (z, x in arm a's block),   A = I + Σuuᵀ

    It is one ridge regression, of penalty 1, on z and on x in arm a's own block; v is the variance of its estimate.

    Parameters
    ----------
    shared_features : int, optional
        m: z is the first m features of x. Theory: z may be any features, including ones not in x. Practice: all of x,
        if left out.
    alpha : float, array or function, optional
        α_t. Theory: Li's 1 + √(log(2/δ)/2), if left out, 2.36 for δ = 0.05. Practice: a smaller constant, to be tuned,
        an array over t, or a function of t.
    delta : float, default 0.05
        δ, the probability with which a confidence interval may fail. Theory: any in (0, 1). Practice: 0.05.

    Notes
    -----
    Use it where arms are alike and some have few pulls.

    References
    ----------
    Li, Chu, Langford and Schapire (2010): A contextual-bandit approach to personalized news article recommendation.
    """

    title: ClassVar[str] = "LinUCB hybrid"
    promise: ClassVar[str] = "none proved"
    assumes: ClassVar[str] = ""
    family: ClassVar[str | None] = "hybrid"
    shared_features: int | None = None
    alpha: Alpha | None = None
    delta: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shared_features is not None:
            _validate.whole("shared_features", self.shared_features, at_least=1)
        if not 0 < _validate.real("delta", self.delta, above=0) < 1:
            raise InvalidParameter(f"delta must be > 0 and < 1, got {self.delta:g}")
        object.__setattr__(self, "alpha", freeze(self.alpha))

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "schedule": EVERY}

    def schedule(self) -> Schedule:
        """α_t as a function of t."""
        return as_schedule(1 + math.sqrt(math.log(2 / self.delta) / 2) if self.alpha is None else self.alpha)

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        l = getattr(env, "feature_bound", None)
        if l is not None and LEAST_RIDGE * l**2 > 1:
            raise InvalidParameter(f"features must be at most {LEAST_RIDGE**-0.5:g} long, got {l:.3g} in {env.name}")
        return {"alpha": self.schedule()}

    def sizes(self, env: Any) -> Mapping[str, int]:
        return {"m": self._shared(env), "s": 1}

    def reference(self, env: Any) -> HybridReference:
        sizes: Any = {"n_arms": env.n_arms, "n_features": env.n_features, "n_shared": self._shared(env)}
        return HybridReference(**sizes, alpha=self.schedule())

    def _shared(self, env: Any) -> int:
        """How many features z has."""
        m, d = self.shared_features, env.n_features
        if m is not None and m > d:
            raise InvalidParameter(f"shared_features must be an integer from 1 to the number of features {d}, got {m}")
        return d if m is None else m
