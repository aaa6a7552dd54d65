"""The engine "cpu": compiled families on all cores, and Python for policies without a compiled form."""

from functools import partial
from typing import Any, ClassVar

import numpy as np

from armspan._told import warn_once
from armspan._typing import IntArray
from armspan.environments import Environment
from armspan.errors import NotApplicable
from armspan.events import CountingLearner
from armspan.kernels.families import family
from armspan.policies import Learner, Policy
from armspan.policies.learners import FamilyLearner, StepNumbers
from armspan.simulation import plan
from armspan.simulation.engines.base import Engine
from armspan.simulation.engines.blocks import MakeLearner, run_in_blocks
from armspan.simulation.engines.python import interpreted
from armspan.simulation.job import Job


class CpuEngine(Engine):
    """All cores, each with some of the runs."""

    name: ClassVar[str] = "cpu"
    counts_events: ClassVar[bool] = True

    def step_seconds(self, env: Environment, policies: list[Any], n_runs: int) -> float:
        return plan.step_seconds(env.n_arms, env.n_features, interpreted=not _all_compiled(env, policies))

    def check(self, env: Environment, policy: Any, seed: int, run: int) -> None:
        _maker(policy, env, seed)(np.array([run]))

    def run(self, job: Job, workers: int) -> None:
        makers = [_maker(policy, job.env, job.seed) for policy in job.policies]
        for policy in job.policies:
            if isinstance(policy, Policy) and not _has_compiled_form(policy, job.env):
                warn_once(f"{policy.name} has no compiled form: its reference runs, one step of one run at a time")
        for p in job.events:
            assert job.regions is not None
            counting: Any = partial(CountingLearner, job.env, knobs=job.policies[p].knobs(job.env))
            makers[p] = partial(counting, regions=job.regions, horizon=job.horizon)
        if job.env.answers:
            pieces, workers = plan.together(job.runs.size), 1  # Python code at every step, so threads do not help
        elif _all_compiled(job.env, job.policies):
            shape = job.env.n_arms, job.env.n_features, len(makers)
            groups = [family(policy.compiled).group(*shape[:2]) for policy in job.policies if policy.compiled]
            group, recurring = max(groups, default=(1, 1)), job.env.n_contexts is not None
            pieces = plan.pieces(job.runs.size, job.horizon, *shape, workers, group, recurring=recurring)
        else:
            pieces, workers = plan.python_pieces(job.runs.size), 1  # a user's own code need not be thread-safe
        run_in_blocks(job, makers, pieces, workers)


def _has_compiled_form(policy: Any, env: Environment) -> bool:
    """Whether it runs without Python code; a policy of armspan's kind that does not is run by its reference."""
    if not isinstance(policy, Policy) or policy.overlooked("learner") is not None:
        return False
    learner = policy.learner(env, np.zeros(1, dtype=np.int64))
    if learner is not None and env.late and policy.learns and not getattr(learner, "late", False):
        raise NotApplicable(f"{policy.name} has a learner of its own, which does not say `late = True`: that it waits")
    return learner is not None


def _all_compiled(env: Environment, policies: list[Any]) -> bool:
    return env.compiled and all(_has_compiled_form(policy, env) for policy in policies)


def _maker(policy: Any, env: Environment, seed: int) -> MakeLearner:
    if not _has_compiled_form(policy, env):
        return interpreted(policy, env, seed)
    numbers = StepNumbers()

    def make(runs: IntArray) -> Learner:
        learner: Learner = policy.learner(env, runs)
        if isinstance(learner, FamilyLearner):
            learner.numbers = numbers
        return learner

    return make
