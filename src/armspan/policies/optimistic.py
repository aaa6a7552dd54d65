"""Linear policies whose largest index wins: they have the tuned agent, and most of them the paper's schedule α_t."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, ClassVar, Never

import numpy as np

from armspan import _validate
from armspan.environments import Environment
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies.base import Application, Bounds, Reference, bound, features_of
from armspan.policies.linear import LinearPolicy
from armspan.policies.references.estimated import EstimatedReference
from armspan.policies.references.practical import PracticalReference
from armspan.theory import Alpha, Schedule, as_schedule, freeze, paper_alpha

RIDGES = {"practical": 1, "estimated": 10}
"""Kinds of exploration that follow the residuals, each a family, and what their ridge l²/d is divided by."""
DELTA = 0.1
"""How often the estimated radius may fail, by its model."""


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
    ) -> Any:
        """A fresh agent that chooses by this policy and learns.

        n_arms : how many arms, named 0, 1, …; or arms : their names, of any hashable kind. n_features : d; or
        feature_names. intercept : add a constant 1 to the features; l grows by it, and s must bound its weight too.
        The others are explained in `armspan.agents.Settings`.
        """
        from armspan.agents import Agent, Settings
        from armspan.agents.arms import named

        self.refuse_misspelt(misspelt)
        if self.compiled != "linear" or self.shared:
            tuned = {"epsilon": epsilon, "ties": ties, "memory": memory, "half_life": half_life, "window": window}
            usual = signature(IndexPolicy.agent).parameters
            for name, value in (tuned | {"dtype": dtype}).items():
                if value != usual[name].default:
                    raise NotApplicable(f"{name} must be left out where the agent is not tuned, got {value!r:.40}")
            plain: Any = {"arms": arms, "feature_names": feature_names, "intercept": intercept, "seed": seed}
            return super().agent(n_arms, n_features, **plain, long_contexts=long_contexts)
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
        Or "practical": 1.2·σ̂·√log(t + 1), where σ̂ is estimated from the residuals, with the ridge l²/d unless another
        is given, after one pull of every arm. It explores far less than theory asks for, and nothing is proved for it.
        Or "estimated": OFUL's radius for δ = 0.1, with upper estimates of R and s from what was seen, and the ridge
        l²/(10d) unless another is given. Residuals of rare clicks say too little: tell it noise_scale=0.5 for clicks,
        which a simulation with clicks does by itself.
        Neither needs parameter_bound. Both take features of about one scale for granted.
    """

    family: ClassVar[str | None] = "linear"
    parameter_bound: float | None = None
    noise_scale: float | None = None
    alpha: Alpha | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.parameter_bound is not None:
            _validate.real("parameter_bound", self.parameter_bound, above=0)
        if self.noise_scale is not None:
            _validate.real("noise_scale", self.noise_scale, at_least=0)
        if isinstance(self.alpha, str):
            if self.alpha not in RIDGES:
                words = " or ".join(f'"{kind}"' for kind in RIDGES)
                raise InvalidParameter(f"alpha must be numbers, a function, {words}, got {self.alpha!r:.40}")
        else:
            object.__setattr__(self, "alpha", freeze(self.alpha))

    @property
    def learnt(self) -> str | None:
        """How exploration follows the residuals, if it does."""
        return self.alpha if isinstance(self.alpha, str) else None

    @property
    def name(self) -> str:
        return self.label or (f"{self.title}, {self.learnt}" if self.learnt else self.title)

    @property
    def compiled(self) -> str | None:
        usual = super().compiled
        return self.learnt if self.learnt and usual == "linear" else usual

    def penalty(self, env: Bounds) -> float:
        return super().penalty(env) / (RIDGES[self.learnt] * env.n_features if self.learnt else 1)

    def sizes(self, env: Any) -> Mapping[str, int]:
        return {**super().sizes(env), **({"s": 3} if self.learnt else {})}

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        if self.learnt != "estimated":
            return super().knobs(env)
        ridge = self.sound_penalty(env)
        doubt = 2 * math.log(1 / self._delta_of_one(env)) - env.n_features * math.log(ridge)
        R = self._told_noise(env)
        noise = -1.0 if R is None else R
        return {"ridge": ridge, "doubt": lambda t: np.full(t.size, doubt), "noise": lambda t: np.full(t.size, noise)}

    def reference(self, env: Environment) -> Reference:
        if self.learnt == "estimated":
            told: Any = {"delta": self._delta_of_one(env), "R": self._told_noise(env)}
            return EstimatedReference(**self.regression(env), **told)
        return PracticalReference(**self.regression(env)) if self.learnt else super().reference(env)

    def _told_noise(self, env: Any) -> float | None:
        """R where the policy is told, or rewards are clicks; otherwise it is estimated."""
        clicks = getattr(getattr(env, "noise", None), "clicks", False)
        return 0.5 if self.noise_scale is None and clicks else self.noise_scale

    def _delta_of_one(self, env: Any) -> float:
        return DELTA if self.shared else DELTA / env.n_arms

    def exploration(self, application: Application) -> tuple[float, float, Schedule | None]:
        if self.alpha is None:
            l, s, R = (bound(self, name, application) for name in ("feature_bound", "parameter_bound", "noise_scale"))
            return l * s, R * math.sqrt(2 + application.n_features), None
        schedule = self.schedule(application)
        constant = isinstance(self.alpha, int | float)
        return float(schedule(np.array([1]))[0]), 0.0, None if constant else schedule

    def schedule(self, env: Bounds) -> Schedule:
        if isinstance(self.alpha, str):
            return lambda t: 1.2 * np.sqrt(np.log(t + 1.0))
        if self.alpha is not None:
            return as_schedule(self.alpha)
        l, s, R = (bound(self, name, env) for name in ("feature_bound", "parameter_bound", "noise_scale"))
        return partial(paper_alpha, n_features=env.n_features, bias=l * s, noise_scale=R)
