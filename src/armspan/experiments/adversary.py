"""The paper's open question: what happens to greedy when an adversary picks contexts, and chance moves them by σ?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armspan._typing import FloatArray, Progress
from armspan.environments import PerturbedContexts
from armspan.policies import Greedy, LinUCB, LinUCBd
from armspan.simulation import Result, simulate

SIGMAS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
THETA = ((0.8, 0.3, 0.1), (0.2, 0.9, -0.1), (0.1, 0.2, 0.8))
NOISE = 0.5
HORIZON = 5_000
WARM_START = 10
"""Pulls of every arm with which greedy may begin."""


@dataclass(frozen=True, eq=False)
class Opposition:
    """One result for each σ, with the same policies in all."""

    sigmas: tuple[float, ...]
    results: tuple[Result, ...]

    def final(self) -> tuple[FloatArray, FloatArray]:
        """Mean final regret (policies, sigmas), and the half-width of its 95 % interval; nan for a single run."""
        mean = np.stack([result.mean()[:, -1] for result in self.results], axis=1)
        high = np.stack([result.interval()[1][:, -1] for result in self.results], axis=1)
        return mean, high - mean


def oppose(*, runs: int, seed: int, horizon: int, announce: Callable[[str], Progress]) -> Opposition:
    """Greedy, with and without a warm start, LinUCB-d and practical LinUCB against the adversary, for every σ."""
    policies = [
        LinUCBd(),
        Greedy(),
        Greedy(pulls=WARM_START, label=f"greedy, {WARM_START} pulls of each arm first"),
        LinUCB(alpha="practical"),
    ]
    options: Any = {"horizon": horizon, "runs": runs, "seed": seed, "engine": "cpu"}
    results = []
    for sigma in SIGMAS:
        env = PerturbedContexts(THETA, sigma, noise=NOISE, name=f"perturbed by {sigma:g}")
        results.append(simulate(env, policies, **options, progress=announce(f"adversary, σ = {sigma:g}")))
    return Opposition(SIGMAS, tuple(results))
