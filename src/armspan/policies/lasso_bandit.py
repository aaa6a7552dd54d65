"""LassoBandit (Bastani and Bayati 2020): OLSBandit for many features of which few matter."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armspan import _validate
from armspan.environments import Environment
from armspan.errors import InvalidParameter
from armspan.policies.base import COMPILED, Policy
from armspan.policies.least_squares import FORCED
from armspan.policies.ols_bandit import forced_steps
from armspan.policies.references.lasso import LassoReference
from armspan.theory import Schedule, as_schedule

MOST_PARAMETERS = 200
"""Up to which the LASSO, which is refitted all the time, is about as fast as other policies."""


@dataclass(frozen=True, kw_only=True)
class LassoBandit(Policy):
    """LassoBandit: `OLSBandit` by the LASSO, β̂ = argmin ‖Y - Xβ‖²/n + λ‖β‖₁ over the n rows of an arm.

    Where few of d parameters matter, the LASSO finds them from far fewer rows than d. Forced pulls say which arms
    contend, with λ₁; all pulls say which of them wins, with λ₂,t.

        λ₂,t = λ₂√((log t + log d)/t)

    The alpha of scikit-learn's `Lasso` is half of this λ.

    Coordinate descent starts from the last β̂. The one for an arm's forced pulls is fitted again before the first free
    step after such a pull; the one for all its pulls, in free steps in which it contends with another arm. The descent
    runs until nothing moves any more, for 100,000 sweeps at most, or 10⁹/d² with more than 100 features: up to a
    correlation of 0.999 it finds β̂ to 10⁻⁶. On a GPU in single precision it ends after 1,000. An agent treats late
    rewards as that of `OLSBandit` does.

    Parameters
    ----------
    q : int, default 1
        Forced pulls of an arm in a round, as in `OLSBandit`. Theory: large enough. Practice: 1. No initial pulls.
    h : float, default 5
        As in `OLSBandit`. Theory: by how much each arm is best somewhere. Practice: 5 in their experiments.
    lambda_1 : float, default 0.05
        λ₁, in units of features times rewards. Theory: from constants nobody knows. Practice: 0.05 in their
        experiments.
    lambda_2 : float, default 0.05
        λ₂, in the same units. Theory: the same. Practice: 0.05 in their experiments.
    shared : bool, default False
        Whether all arms share one β, and differ only in their features. Theory: False. Practice: share it where arms
        are many.

    Notes
    -----
    Use it where d is large and few features matter.

    References
    ----------
    Bastani and Bayati (2020): Online decision making with high-dimensional covariates.
    """

    title: ClassVar[str] = "LASSO bandit"
    promise: ClassVar[str] = "(log T + log d)²"
    assumes: ClassVar[str] = "what OLSBandit assumes; few parameters of an arm are not 0"
    family: ClassVar[str | None] = "lasso"
    q: int = 1
    h: float = 5.0
    lambda_1: float = 0.05
    lambda_2: float = 0.05
    shared: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.whole("q", self.q, at_least=1)
        for name in ("h", "lambda_1", "lambda_2"):
            _validate.real(name, getattr(self, name), above=0)
        if not isinstance(self.shared, bool):
            raise InvalidParameter(f"shared must be True or False, got {self.shared!r:.60}")

    @property
    def fixed_arms(self) -> str | None:
        return FORCED

    def sizes(self, env: Any) -> Mapping[str, int]:
        return {"A": 1} if self.shared else {}

    def too_slow(self, env: Environment) -> str | None:
        if env.n_arms * env.n_features <= MOST_PARAMETERS:
            return None
        return "it is fitted again and again, which takes too long with so many parameters"

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "penalty_of_all": COMPILED}

    def penalty_of_all(self, env: Any) -> Schedule:
        """λ₂,t as a function of t."""
        return lambda t: self.lambda_2 * np.sqrt(np.log(t * float(env.n_features)) / t)

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        forced, constants = forced_steps(env.n_arms, self.q, 0), {"h": self.h, "lambda_1": self.lambda_1}
        rest = {name: as_schedule(value) for name, value in constants.items()}
        return {"forced": forced, **rest, "lambda_2": self.penalty_of_all(env)}

    def reference(self, env: Environment) -> LassoReference:
        return LassoReference(
            n_arms=env.n_arms,
            n_features=env.n_features,
            q=self.q,
            h=self.h,
            lambda_1=self.lambda_1,
            lambda_2=self.lambda_2,
            shared=self.shared,
        )
