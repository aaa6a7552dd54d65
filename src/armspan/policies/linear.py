"""What linear policies have in common: a ridge and a schedule α_t, and with them the compiled form."""

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Never

import numpy as np

from armspan import _validate
from armspan.environments import Environment
from armspan.errors import InvalidParameter
from armspan.policies.base import Bounds, Policy, Reference, bound
from armspan.policies.references.ridge import RidgeReference
from armspan.theory import Alpha, Schedule, as_schedule, freeze, paper_alpha

if TYPE_CHECKING:
    from armspan.agents import Agent

MOST_ARMS = 10**7
"""Of an agent."""
LEAST_RIDGE = 1e-6
"""In units of l², for simulations: with this and 10⁵ steps of one context, widths are right to 0.1 %."""
SMALLEST, LARGEST = 1e-50, 1e50
"""Of bounds and ridges, so that squares, inverses and squares of inverses are all numbers."""


@dataclass(frozen=True)
class Application:
    """What a policy is told of an application: the number of features; noise is 1-subgaussian unless it knows."""

    n_features: int
    name: str = "an agent"
    noise_scale: float = 1.0
    elsewhere: ClassVar[str] = ""  # bounds of an agent can be given to its policy alone


def _in_range(name: str, value: float) -> float:
    """A length whose square and inverse are numbers."""
    if not SMALLEST <= value <= LARGEST:
        raise InvalidParameter(f"{name} must be from {SMALLEST:g} to {LARGEST:g}, got {value:g}")
    return value


@dataclass(frozen=True, kw_only=True)
class LinearPolicy(Policy):
    """Pulls the arm with the largest θ̂ᵀx + α_t √(xᵀV⁻¹x), where V = ridge·I + Σxxᵀ.

    feature_bound : l, a bound on the length of features; left out, a simulation takes the environment's.
    """

    family: ClassVar[str | None] = "linear"
    feature_bound: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feature_bound is not None:
            _in_range("feature_bound", _validate.real("feature_bound", self.feature_bound, above=0))

    def penalty(self, env: Bounds) -> float:
        """The ridge in force: l², as if d dummy contexts l·e_j had been seen with reward 0."""
        return _in_range("feature_bound", bound(self, "feature_bound", env)) ** 2

    def sound_penalty(self, env: Environment) -> float:
        """The ridge in force, if it is large enough: with less, rounding would make the choices.

        Where contexts do not span, V is ridge·I in some direction and n·l² in others, and V⁻¹ must hold both.
        """
        ridge, l = self.penalty(env), getattr(env, "feature_bound", None)
        if l is not None and ridge < LEAST_RIDGE * _in_range("feature_bound", l) ** 2:
            least = f"{LEAST_RIDGE:g}·l² = {LEAST_RIDGE * l**2:.3g}, where features are as long as l = {l:.3g}"
            raise InvalidParameter(f"ridge must be at least {least}, got {ridge:g}")
        return ridge

    def reference(self, env: Environment) -> Reference:
        return RidgeReference(
            n_arms=env.n_arms, n_features=env.n_features, ridge=self.sound_penalty(env), alpha=self.schedule(env)
        )

    @abstractmethod
    def schedule(self, env: Bounds) -> Schedule:
        """α_t as a function of t."""

    def knobs(self, env: Environment) -> Mapping[str, float | Schedule]:
        return {"ridge": self.sound_penalty(env), "alpha": self.schedule(env)}

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

        if self.compiled != "linear":
            super().agent()
        if arms is not None and (isinstance(arms, str) or not isinstance(arms, Iterable)):
            raise InvalidParameter(f"arms must be a sequence of names, got {arms!r:.60}")
        names = (
            list(range(_validate.whole("n_arms", n_arms, at_least=1, at_most=MOST_ARMS)))
            if arms is None
            else list(arms)
        )
        if arms is not None and n_arms is not None and n_arms != len(names):
            raise InvalidParameter(f"n_arms must be the number of arms, {len(names)}, got {n_arms}")
        if n_features is None and hasattr(feature_names, "__len__") and feature_names is not None:
            n_features = len(feature_names)
        d = _validate.whole("n_features", n_features, at_least=1)
        own = self
        if intercept is True and self.feature_bound is not None:
            own = replace(self, feature_bound=math.hypot(self.feature_bound, 1.0))
        application = Application(d + (intercept is True))
        bias, scale, schedule = own.exploration(application)
        if misspelt:
            valid = [name for name in signature(LinearPolicy.agent).parameters if name not in ("self", "misspelt")]
            raise InvalidParameter(f"agent must be given {', '.join(valid)}, got {sorted(misspelt)[0]!r}")
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

    def exploration(self, application: "Application") -> tuple[float, float, Schedule | None]:
        """α_t as bias + scale·√log f(t), or a schedule."""
        return float(self.schedule(application)(np.array([1]))[0]), 0.0, None


@dataclass(frozen=True, kw_only=True)
class OptimisticPolicy(LinearPolicy):
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

    def exploration(self, application: "Application") -> tuple[float, float, Schedule | None]:
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
