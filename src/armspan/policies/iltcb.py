"""ILTCB, "taming the monster" (Agarwal et al. 2014): a distribution over policies, renewed at doubling epochs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.environments import Environment
from armspan.errors import InvalidParameter
from armspan.policies import panel
from armspan.policies.base import Policy
from armspan.policies.references.enumerated import ILTCBReference


@dataclass(frozen=True, kw_only=True)
class EnumeratedPolicy(Policy):
    """What ILTCB and RandomizedUCB have in common: a class Π of N policies, all listed, of which to follow the best.

    Parameters
    ----------
    policies : list, optional
        Each a fixed arm (its number), a θ (K, d) that acts greedily, the lowest arm where several tie, or a function
        from the features x (K, d) to an arm. Theory: any N of them. Practice: the models and rules that you have; one
        fixed arm each, if left out.
    reward_range : (float, float), default (0.0, 1.0)
        Bounds (low, high) of rewards, which are taken to [0, 1]. Theory: (0, 1). Practice: the bounds of yours. A
        simulation learns all rewards; the bound on regret is proved only for those inside.
    delta : float, default 0.05
        δ, the probability with which the regret bound may fail. Theory: any in (0, 1). Practice: 0.05.
    """

    policies: Sequence[panel.Member] | None = None
    reward_range: tuple[float, float] = (0.0, 1.0)
    delta: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "policies", panel.frozen("policies", self.policies))
        object.__setattr__(self, "reward_range", panel.reward_range(self.reward_range))
        if not 0 < _validate.real("delta", self.delta, above=0) < 1:
            raise InvalidParameter(f"delta must be > 0 and < 1, got {self.delta:g}")

    @property
    def learns_from_all_arms(self) -> str | None:
        return "what its policies would have chosen follows from the features of all arms"

    @property
    def fixed_arms(self) -> str | None:
        return "its policies and the weights of its rewards are for all the arms that it began with"

    def check_rewards(self, rewards: Sequence[float]) -> None:
        panel.check_rewards(*self.reward_range, rewards)

    def check(self, env: Environment, horizon: int) -> None:
        super().check(env, horizon)
        panel.check_means(self.name, *self.reward_range, env)

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "among": ["reference"]}

    def among(self, env: Any) -> dict[str, Any]:
        """What the references are made with."""
        policies = panel.members("policies", self.policies, env)
        return {"n_arms": env.n_arms, "policies": policies, "reward_range": self.reward_range, "delta": self.delta}


@dataclass(frozen=True, kw_only=True)
class ILTCB(EnumeratedPolicy):
    """ILTCB: good policies get weight, but enough stays on the others that every policy's value can be estimated.

    At the steps 1, 2, 4, 8, … it finds weights Q over the policies, with few calls to an optimiser. Arms are then drawn
    from Q^μ, where the best policy gets what Q lacks to 1.

        ΣQ(π)b_π <= 2K,   Ê[1/Q^μ(π(x)|x)] <= 2K + b_π for every π,   b_π = R̂eg(π)/(100μ),   Q^μ = (1 - Kμ)ΣQ + μ

    Notes
    -----
    Use it where policies are given and logs must have exact propensities.

    References
    ----------
    Agarwal, Hsu, Kale, Langford, Li and Schapire (2014): Taming the monster: a fast and simple algorithm for contextual
    bandits.
    """

    title: ClassVar[str] = "ILTCB"
    promise: ClassVar[str] = "√(KT log N)"
    assumes: ClassVar[str] = "independent contexts, rewards in reward_range; regret against the best of N policies"

    def reference(self, env: Any) -> Any:
        return ILTCBReference(**self.among(env))
