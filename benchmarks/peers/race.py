"""A contestant in a problem of the arena, with the contexts and the noise that all meet. Knows NumPy alone."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.peers.task import Agent, Array


@dataclass(frozen=True, eq=False)
class Course:
    """A problem of the arena as numbers.

    x : (n, K, d) features of each context and arm. means : (n, K) mean rewards.
    contexts, noise : (R, T) what comes in each run and step; noise is the same for all arms.
    """

    x: Array
    means: Array
    contexts: npt.NDArray[np.int64]
    noise: Array

    @property
    def n_arms(self) -> int:
        return self.x.shape[1]

    @property
    def n_features(self) -> int:
        return self.x.shape[2]

    @property
    def shared(self) -> bool:
        """Whether all arms have the same features."""
        return bool((self.x == self.x[:, :1]).all())

    @property
    def reward_range(self) -> tuple[float, float]:
        """The least and the largest mean reward."""
        return float(self.means.min()), float(self.means.max())

    def save(self, file: Path) -> None:
        np.savez(file, x=self.x, means=self.means, contexts=self.contexts, noise=self.noise)

    @classmethod
    def load(cls, file: Path) -> "Course":
        with np.load(file) as arrays:
            return cls(**arrays)


Entrant = Callable[[Course, int], Agent]
"""(problem, seed) → a fresh agent; it chooses from what its `prepare` makes of features (K, d)."""


def race(enter: Entrant, course: Course) -> dict[str, Any]:
    """Final regret of each run, and microseconds of one core per step: choosing and learning, not preparing."""
    losses, regret, seconds = course.means.max(axis=1, keepdims=True) - course.means, [], 0.0
    for run, (contexts, noise) in enumerate(zip(course.contexts, course.noise, strict=True)):
        agent = enter(course, run)
        prepared = [agent.prepare(x) for x in course.x]
        steps = [prepared[c] for c in contexts]
        rewards = (course.means[contexts] + noise[:, None]).tolist()
        choose, update, arms = agent.choose, agent.update, []
        start = time.process_time()
        for x, row in zip(steps, rewards, strict=True):
            arm = choose(x)
            update(arm, x, row[arm])
            arms.append(arm)
        seconds += time.process_time() - start
        regret.append(float(losses[contexts, arms].sum()))
    return {"regret": regret, "microseconds": seconds / course.contexts.size * 1e6}
