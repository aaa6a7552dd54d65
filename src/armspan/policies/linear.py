"""What linear policies have in common: a ridge and a schedule α_t, and with them the compiled form."""

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from armspan import _validate
from armspan._typing import IntArray
from armspan.environments import Environment
from armspan.errors import InvalidParameter
from armspan.policies.base import Learner, Policy, Reference, bound
from armspan.policies.ridge import RidgeReference
from armspan.theory import Alpha, Schedule, as_schedule, freeze, paper_alpha

if TYPE_CHECKING:
    from armspan.policies.cells import Cells
    from armspan.policies.watched import WatchedLearner


@dataclass(frozen=True, kw_only=True)
class LinearPolicy(Policy):
    """Pulls the arm with the largest θ̂ᵀx + α_t √(xᵀV⁻¹x), where V = ridge·I + Σxxᵀ.

    feature_bound : l, a bound on the length of features; left out, a simulation takes the environment's.
    """

    feature_bound: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feature_bound is not None:
            _validate.real("feature_bound", self.feature_bound, above=0)

    def penalty(self, env: Environment) -> float:
        """The ridge in force: l², as if d dummy contexts l·e_j had been seen with reward 0."""
        l = bound(self, "feature_bound", env)
        if not 0 < l * l < math.inf:
            raise InvalidParameter(f"feature_bound must have a square that is a finite number > 0, got {l:g}")
        return l * l

    def reference(self, env: Environment) -> Reference:
        return RidgeReference(
            n_arms=env.n_arms, n_features=env.n_features, ridge=self.penalty(env), alpha=self.schedule(env)
        )

    def learner(self, env: Environment, runs: IntArray) -> Learner:
        from armspan.policies.learners import LinearLearner  # imports numba, which takes its time

        return LinearLearner(env, runs, ridge=self.penalty(env), alpha=self.schedule(env))

    def watched(self, env: Environment, runs: IntArray, *, cells: "Cells", horizon: int) -> "WatchedLearner":
        """The compiled form that also counts the proof's events."""
        from armspan.policies.watched import WatchedLearner

        options: Any = {"cells": cells, "horizon": horizon}
        return WatchedLearner(env, runs, ridge=self.penalty(env), alpha=self.schedule(env), **options)


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

    def schedule(self, env: Environment) -> Schedule:
        if self.alpha is not None:
            return as_schedule(self.alpha)
        l, s, R = (bound(self, name, env) for name in ("feature_bound", "parameter_bound", "noise_scale"))
        return partial(paper_alpha, n_features=env.n_features, bias=l * s, noise_scale=R)
