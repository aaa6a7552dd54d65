"""Linear policies whose largest index wins: they have the tuned agent, and most of them the paper's schedule α_t."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from armspan import _validate
from armspan.policies.base import Application, Bounds, bound, features_of
from armspan.policies.linear import LinearPolicy
from armspan.theory import Alpha, Schedule, as_schedule, freeze, paper_alpha

if TYPE_CHECKING:
    from armspan.agents import Agent


@dataclass(frozen=True, kw_only=True)
class IndexPolicy(LinearPolicy):
    """A linear policy whose agent is the tuned one."""

    def agent(
        self,
        n_arms: int | None = None,
        n_features: int | None = None,
        *,
        arms: Sequence[Hashable] | None = None,
        feature_names: Sequence[Any] | None = None,
        intercept: bool = False,
        seed: int = 0,
        epsilon: float = 0.0,
        ties: str = "random",
        memory: int = 256,
        half_life: float | None = None,
        window: int | None = None,
        dtype: str = "float64",
        long_contexts: str = "warn",
        **misspelt: Never,
    ) -> "Agent":
        """A fresh agent that chooses by this policy and learns.

        n_arms : how many arms, named 0, 1, …; or arms : their names, of any hashable kind. n_features : d; or
        feature_names. intercept : add a constant 1 to the features; l grows by it, and s must bound its weight too.
        The others are explained in `armspan.agents.Settings`.
        """
        from armspan.agents import Agent, Settings
        from armspan.agents.arms import named

        self.refuse_misspelt(misspelt)
        if self.compiled != "linear":
            super().agent()  # which refuses
        names, d = named(n_arms, arms), features_of(n_features, feature_names)
        own = self.with_intercept() if intercept is True else self
        application = Application(d + (intercept is True), len(names))
        bias, scale, schedule = own.exploration(application)
        settings = Settings(
            n_features=d,
            ridge=own.penalty(application),
            bias=bias,
            scale=scale,
            schedule=schedule,
            seed=seed,
            intercept=intercept,
            epsilon=epsilon,
            ties=ties,
            memory=memory,
            half_life=half_life,
            window=window,
            dtype=dtype,
            feature_bound=self.feature_bound,
            long_contexts=long_contexts,
        )
        return Agent(settings, names, policy=self, feature_names=feature_names)

    def exploration(self, application: Application) -> tuple[float, float, Schedule | None]:
        """α_t as bias + scale·√log f(t), or a schedule."""
        return float(self.schedule(application)(np.array([1]))[0]), 0.0, None


@dataclass(frozen=True, kw_only=True)
class OptimisticPolicy(IndexPolicy):
    """A linear policy with the paper's schedule, or another.

    parameter_bound : s, a bound on the length of the arms' parameters; left out, the environment's.
    noise_scale : R, for which the noise is R-subgaussian; 1 in the paper, ½ for a click; left out, the environment's.
    alpha : left out, the paper's α_t = l·s + R√((2 + d) log f(t)); or a constant, an array over t, a function of t.
    """

    parameter_bound: float | None = None
    noise_scale: float | None = None
    alpha: Alpha | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.parameter_bound is not None:
            _validate.real("parameter_bound", self.parameter_bound, above=0)
        if self.noise_scale is not None:
            _validate.real("noise_scale", self.noise_scale, at_least=0)
        object.__setattr__(self, "alpha", freeze(self.alpha))

    def exploration(self, application: Application) -> tuple[float, float, Schedule | None]:
        if self.alpha is None:
            l, s, R = (bound(self, name, application) for name in ("feature_bound", "parameter_bound", "noise_scale"))
            return l * s, R * math.sqrt(2 + application.n_features), None
        schedule = self.schedule(application)
        constant = isinstance(self.alpha, int | float)
        return float(schedule(np.array([1]))[0]), 0.0, None if constant else schedule

    def schedule(self, env: Bounds) -> Schedule:
        if self.alpha is not None:
            return as_schedule(self.alpha)
        l, s, R = (bound(self, name, env) for name in ("feature_bound", "parameter_bound", "noise_scale"))
        return partial(paper_alpha, n_features=env.n_features, bias=l * s, noise_scale=R)
