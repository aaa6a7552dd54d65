"""Rewards that come late, or never, in any environment."""

import copy
from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray, IntArray
from armspan.environments.assumptions import Assumption
from armspan.environments.base import Environment, Stream
from armspan.environments.custom import CustomEnvironment
from armspan.errors import InvalidParameter

LONGEST = 2**32
"""Steps: no simulation is longer."""


class DelayedRewards(Environment):
    """Another environment, whose rewards come late: a policy has to decide before it has learnt them.

    The reward of step t, with delay D, is learnt after step t + D, before the next choice. Regret counts every step.

    Parameters
    ----------
    env : Environment
        The environment whose rewards are delayed.
    steps : int, default 0
        How many steps late every reward is.
    mean : float, default 0
        Mean of an additional random delay, which is geometric.
    lost : float, default 0
        Share of the rewards that never come.
    name : str, optional
        Its name in reports.
    """

    late = True

    def __init__(self, env: Any, *, steps: int = 0, mean: float = 0.0, lost: float = 0.0, name: str = "") -> None:
        env = env if isinstance(env, Environment) else CustomEnvironment(env)
        if isinstance(env, DelayedRewards):
            raise InvalidParameter("env must have rewards that come at once, got one whose rewards are late already")
        self.env = env
        self.steps = _validate.whole("steps", steps, at_least=0, at_most=LONGEST)
        self.mean = _validate.real("mean", mean, at_least=0)
        if self.mean > LONGEST:
            raise InvalidParameter(f"mean must be at most {LONGEST}, got {mean:g}")
        self.lost = _validate.real("lost", lost, at_least=0)
        if self.lost > 1:
            raise InvalidParameter(f"lost must be from 0 to 1, got {lost:g}")
        self.name = name or f"{env.name}, delayed"
        self.n_arms, self.n_features, self.n_contexts = env.n_arms, env.n_features, env.n_contexts
        self.noise, self.gap = env.noise, env.gap
        self.independent_arrivals = env.independent_arrivals
        self.compiled, self.answers = env.compiled, env.answers  # type: ignore[misc]
        for bound in ("feature_bound", "parameter_bound"):
            if hasattr(env, bound):  # a user's own environment may not know it
                setattr(self, bound, getattr(env, bound))

    @property
    def reward_scale(self) -> float:
        return self.env.reward_scale

    @property
    def outside_theory(self) -> str | None:
        return self.env.outside_theory or f"the rewards of {self.name} come late"

    @property
    def changes_within(self) -> int | None:
        return self.env.changes_within

    def without_noise(self) -> Environment:
        quiet = copy.copy(self)
        quiet.env = self.env.without_noise()
        quiet.noise = quiet.env.noise
        return quiet

    def delay(self, seed: int, run: int, step: int) -> int | None:
        """How many steps late a reward is; None if it never comes. It is a function of (seed, run, step).

        Parameters
        ----------
        seed : int
            Seed of the simulation.
        run : int
            Number of the run.
        step : int
            The step 1, 2, … of the choice.
        """
        from armspan.kernels.draws import late_by

        extra = int(late_by(np.uint64(seed), run, step - 1, self.mean, self.lost))
        return None if extra < 0 else self.steps + extra

    def stream(self, seed: int, runs: IntArray) -> Stream:
        return self.env.stream(seed, runs)

    def facing(self, learner: Any, runs: IntArray) -> Any:
        return self.env.facing(learner, runs)

    def mean_rewards(self, x: FloatArray) -> FloatArray:
        return self.env.mean_rewards(x)

    def mean_rewards_at(self, x: FloatArray, context: int, step: int) -> FloatArray:
        return self.env.mean_rewards_at(x, context, step)

    def context_table(self, samples: int) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
        return self.env.context_table(samples)

    def diversity_per_arm(self) -> tuple[FloatArray, FloatArray, int | None]:
        return self.env.diversity_per_arm()

    def certain_spans(self) -> tuple[bool | None, ...]:
        return self.env.certain_spans()

    def arrivals(self) -> Assumption:
        return self.env.arrivals()

    def sample(self, size: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
        return self.env.sample(size, seed)
