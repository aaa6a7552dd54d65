"""The idea in three problems that differ only in the diversity of their contexts."""

from dataclasses import dataclass

from armspan._typing import Progress
from armspan.environments import FiniteContexts, diversity_dial
from armspan.policies import LinUCBd
from armspan.simulation import Result, simulate

LEVELS = {"diverse": 0.45, "weakly diverse": 0.1, "not diverse": 0.0}


@dataclass(frozen=True)
class Idea:
    """Three problems from the diversity dial, with LinUCB-d watched in each.

    Attributes
    ----------
    words : tuple of str
        Names of the problems.
    envs : tuple of FiniteContexts
        The problems.
    results : tuple of Result
        LinUCB-d's result in each.
    """

    words: tuple[str, ...]
    envs: tuple[FiniteContexts, ...]
    results: tuple[Result, ...]


def run_idea(*, runs: int, horizon: int, seed: int, progress: Progress) -> Idea:
    """Simulate the three."""
    envs = tuple(diversity_dial(level) for level in LEVELS.values())
    results: list[Result] = []
    for env in envs:

        def part(done: int, total: int) -> None:
            progress(len(results) * total + done, len(envs) * total)

        results.append(simulate(env, LinUCBd(), horizon=horizon, runs=runs, seed=seed, events=True, progress=part))
    return Idea(tuple(LEVELS), envs, tuple(results))
