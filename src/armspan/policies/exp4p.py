"""EXP4.P (Beygelzimer et al. 2011): EXP4 whose regret is small not only on average, but nearly always."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies.base import EVERY
from armspan.policies.exp4 import ExpertPolicy
from armspan.policies.references.experts import EXP4PReference


@dataclass(frozen=True, kw_only=True)
class EXP4P(ExpertPolicy):
    """EXP4 with a bonus for experts whose advice is seldom followed, because little is known of them.

    EXP4's regret is small on average, but a single run may be bad. Whatever the rewards, with probability 1 - δ this
    one earns at most 6√(KT log(N/δ)) less than the best expert.

        p = (1 - K·p_min)Σ_j w_j ξ^j/Σw + p_min,   p_min = √(log N/(KT)),   r̂_a = y·1[a pulled]/p_a
        w_j ← w_j exp(p_min/2 · (ξ^j·r̂ + v̂_j √(log(N/δ)/(KT)))),   v̂_j = Σ_a ξ^j_a/p_a

    T must be so long that p_min <= 1/K and log(N/δ) <= KT.

    Parameters
    ----------
    delta : float, default 0.05
        δ, the probability with which the bound may fail. Theory: any in (0, 1). Practice: 0.05.

    Notes
    -----
    Use it in place of EXP4 where one bad run is expensive.

    References
    ----------
    Beygelzimer, Langford, Li, Reyzin and Schapire (2011): Contextual bandit algorithms with supervised learning
    guarantees.
    """

    title: ClassVar[str] = "EXP4.P"
    promise: ClassVar[str] = "√(KT log N) with probability 1 - δ"
    assumes: ClassVar[str] = "rewards in reward_range, even from an adversary; regret against the best of N experts"
    family: ClassVar[str | None] = "experts"
    delta: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < _validate.real("delta", self.delta, above=0) < 1:
            raise InvalidParameter(f"delta must be > 0 and < 1, got {self.delta:g}")

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "constants": EVERY}

    def constants(self, env: Any) -> tuple[float, float]:
        """p_min, and the weight √(log(N/δ)/(KT)) of the bonus."""
        K, N, T = env.n_arms, self.n_experts(env), self.steps()
        least = math.ceil(max(K * math.log(N), math.log(N / self.delta) / K))
        if least > T:
            raise NotApplicable(f"{self.name} needs horizon >= {least} with {K} arms and {N} experts, got {T}")
        return math.sqrt(math.log(N) / (K * T)), math.sqrt(math.log(N / self.delta) / (K * T))

    def rates(self, env: Any) -> Mapping[str, float]:
        p_min, bonus = self.constants(env)
        return {"floor": p_min, "rate": p_min / 2, "bonus": bonus}

    def reference(self, env: Any) -> Any:
        p_min, bonus = self.constants(env)
        return EXP4PReference(**self.advised(env), p_min=p_min, bonus=bonus)
