"""EXP4 (Auer et al. 2002): experts advise, and those whose advice has paid weigh more."""

import math
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray
from armspan.environments import Environment
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies import panel
from armspan.policies.base import COMPILED, EVERY, Policy
from armspan.policies.references.experts import EXP4Reference


@dataclass(frozen=True, kw_only=True)
class ExpertPolicy(Policy):
    """What EXP4 and EXP4.P have in common: N experts, the last of which is uniform, and how they are compiled.

    Parameters
    ----------
    experts : list, optional
        Each a fixed arm (its number), a θ (K, d) that acts greedily, ties shared equally, a classifier of scikit-learn
        that was fitted with arms as classes, or a function from the features x (K, d) to a distribution (K,), such as
        another agent's `propensities`. Theory: any N of them; the uniform expert is added, as the proofs want.
        Practice: the models and rules that you have; one fixed arm each, if left out. With a classifier or a function
        among them, a simulation runs in Python.
    reward_range : (float, float), default (0.0, 1.0)
        Bounds (low, high) of rewards, which are taken to [0, 1]. Theory: (0, 1). Practice: the bounds of yours. An
        agent refuses rewards outside them; a simulation learns all, but the bound on regret is proved only for rewards
        inside.
    horizon : int, optional
        T, the number of steps. A simulation fills it in; an agent must be given it. Theory: how many there will be.
        Practice: a guess; the larger it is, the more slowly weights move.
    """

    experts: Sequence[panel.Member] | None = None
    reward_range: tuple[float, float] = (0.0, 1.0)
    horizon: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "experts", panel.frozen("experts", self.experts, classifiers=True))
        object.__setattr__(self, "reward_range", panel.reward_range(self.reward_range))
        if self.horizon is not None:
            _validate.whole("horizon", self.horizon, at_least=1)

    @property
    def compiled(self) -> str | None:
        functions = any(callable(expert) for expert in self.experts or ())
        return None if functions else super().compiled

    @property
    def learns_from_all_arms(self) -> str | None:
        return "the advice of its experts follows from the features of all arms"

    @property
    def fixed_arms(self) -> str | None:
        return "its experts and the weights of its rewards are for all the arms that it began with"

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "steps": EVERY, "n_experts": COMPILED, "rates": COMPILED, "advised": ["reference"]}

    @abstractmethod
    def rates(self, env: Any) -> Mapping[str, float]:
        """What `kernels.families.experts` calls floor, rate and bonus."""

    def knobs(self, env: Any) -> Mapping[str, Any]:
        low, high = self.reward_range
        bias, theta = self._tables(env)
        return {**self.rates(env), "low": low, "high": high, "bias": bias, "theta": theta}

    def sizes(self, env: Any) -> Mapping[str, int]:
        return {"N": self.n_experts(env), "t": 5}

    def n_experts(self, env: Any) -> int:
        """The number N of experts, with the uniform one."""
        return len(panel.members("experts", self.experts, env)) + 1

    def check_rewards(self, rewards: Sequence[float]) -> None:
        panel.check_rewards(*self.reward_range, rewards)

    def check(self, env: Environment, horizon: int) -> None:
        super().check(env, horizon)
        panel.check_means(self.name, *self.reward_range, env)

    def steps(self) -> int:
        """The number T of steps, which must be known."""
        if self.horizon is None:
            raise NotApplicable(f"{self.name} needs horizon: give it to the policy")
        return self.horizon

    def advised(self, env: Any) -> dict[str, Any]:
        """What the references are made with."""
        experts = panel.members("experts", self.experts, env)
        return {"n_arms": env.n_arms, "experts": experts, "reward_range": self.reward_range}

    def _tables(self, env: Any) -> tuple[FloatArray, FloatArray]:
        """Bias (N, K) and θ (N, K, d) of the experts."""
        N, K, d = self.n_experts(env), env.n_arms, env.n_features
        bias, theta = np.zeros((N, K)), np.zeros((N, K, d))
        for j, expert in enumerate(panel.members("experts", self.experts, env)):
            if isinstance(expert, int):
                bias[j, expert] = 1
            elif not callable(expert):
                theta[j] = expert
        return bias, theta


@dataclass(frozen=True, kw_only=True)
class EXP4(ExpertPolicy):
    """EXP4: draw an arm from the experts' mean advice, mixed with γ of uniform; weigh experts by what they earned.

    A reward counts for all experts who advised its arm, divided by how likely the arm was. Whatever the rewards, even
    if an adversary chooses them, it earns on average at most 2√(e - 1)·√(TK log N) less than the best expert.

        p = (1 - γ)Σ_j w_j ξ^j/Σw + γ/K,   r̂_a = y·1[a pulled]/p_a,   w_j ← w_j exp(γ ξ^j·r̂/K)

    Parameters
    ----------
    gamma : float, optional
        γ, the share of uniform choice. Theory: min(1, √(K log N/((e - 1)T))), if left out. Practice: the same.

    Notes
    -----
    Use it where you know nothing about rewards but have experts to ask; where they are linear, it is far behind LinUCB.

    References
    ----------
    Auer, Cesa-Bianchi, Freund and Schapire (2002): The nonstochastic multiarmed bandit problem.
    """

    title: ClassVar[str] = "EXP4"
    promise: ClassVar[str] = "√(KT log N) in the mean"
    assumes: ClassVar[str] = "rewards in reward_range, even from an adversary; regret against the best of N experts"
    family: ClassVar[str | None] = "experts"
    gamma: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma is not None and not 0 < _validate.real("gamma", self.gamma, above=0) <= 1:
            raise InvalidParameter(f"gamma must be > 0 and <= 1, got {self.gamma:g}")

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "exploration": EVERY}

    def exploration(self, env: Any) -> float:
        """γ in force."""
        if self.gamma is not None:
            return self.gamma
        K, N = env.n_arms, self.n_experts(env)
        return min(1.0, math.sqrt(K * math.log(N) / ((math.e - 1) * self.steps())))

    def rates(self, env: Any) -> Mapping[str, float]:
        each = self.exploration(env) / env.n_arms
        return {"floor": each, "rate": each, "bonus": 0.0}

    def reference(self, env: Any) -> Any:
        return EXP4Reference(**self.advised(env), gamma=self.exploration(env))
