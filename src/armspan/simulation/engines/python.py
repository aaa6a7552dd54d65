"""The engine "python": the naive readable form of every policy, one step of one run at a time."""

from typing import Any, ClassVar

import numpy as np

from armspan.environments import Environment
from armspan.simulation import plan
from armspan.simulation.engines.base import Engine
from armspan.simulation.engines.blocks import MakeLearner, run_in_blocks
from armspan.simulation.engines.interpreted import InterpretedLearner, actor_factory
from armspan.simulation.engines.late import waiting
from armspan.simulation.job import Job


class PythonEngine(Engine):
    """The references, which make the same choices as the compiled forms."""

    name: ClassVar[str] = "python"
    forms: ClassVar[str] = "python"

    def step_seconds(self, env: Environment, policies: list[Any], n_runs: int) -> float:
        return plan.step_seconds(env.n_arms, env.n_features, interpreted=True)

    def check(self, env: Environment, policy: Any, seed: int, run: int) -> None:
        interpreted(policy, env, seed)(np.array([run]))

    def run(self, job: Job, workers: int) -> None:
        makers = [interpreted(policy, job.env, job.seed) for policy in job.policies]
        run_in_blocks(job, makers, plan.python_pieces(job.runs.size), 1)


def interpreted(policy: Any, env: Environment, seed: int) -> MakeLearner:
    """What advances a policy in plain Python."""
    fresh, recurring = actor_factory(policy, env, seed), env.n_contexts is not None
    fresh = waiting(fresh, env, seed) if env.late else fresh
    return lambda runs: InterpretedLearner([fresh(int(run)) for run in runs], recurring=recurring)
