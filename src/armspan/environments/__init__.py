"""Environments: K arms, d features, a context process and noise, with a known truth. One file per context process."""

from typing import Any

from armspan.environments.assumptions import Assumption, Assumptions
from armspan.environments.base import Environment
from armspan.environments.box import BoxContexts
from armspan.environments.custom import CustomEnvironment
from armspan.environments.delayed import DelayedRewards
from armspan.environments.dial import PAPER_1A_LEVEL, diversity_dial
from armspan.environments.drawn import bent_problem, shared_problem, sparse_problem
from armspan.environments.drifting import DriftingContexts
from armspan.environments.figure_1 import paper_1a, paper_1b, paper_1c
from armspan.environments.finite import FiniteContexts
from armspan.environments.markov import MarkovContexts
from armspan.environments.noise import Bernoulli, Gaussian, Rademacher
from armspan.environments.perturbed import PerturbedContexts
from armspan.environments.rewards import RewardTable, labelled

__all__ = [
    "PAPER_1A_LEVEL",
    "Assumption",
    "Assumptions",
    "Bernoulli",
    "BoxContexts",
    "DelayedRewards",
    "DriftingContexts",
    "Environment",
    "FiniteContexts",
    "Gaussian",
    "MarkovContexts",
    "PerturbedContexts",
    "Rademacher",
    "RewardTable",
    "as_environment",
    "bent_problem",
    "diversity_dial",
    "labelled",
    "paper_1a",
    "paper_1b",
    "paper_1c",
    "shared_problem",
    "sparse_problem",
]


def as_environment(env: Any) -> Environment:
    """An armspan environment as it is, anything else wrapped as one.

    Parameters
    ----------
    env : Environment or object
        An environment, or any object with `n_arms`, `n_features`, `context(step, rng)` and `mean_rewards(x)`.
    """
    return env if isinstance(env, Environment) else CustomEnvironment(env)
