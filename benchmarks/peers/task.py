"""What all are timed at: choose an arm for one context, learn its reward. Knows NumPy alone, so it runs anywhere."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

CELLS = ((2, 2), (10, 10), (10, 100), (100, 32), (20, 500))
"""Numbers of arms and features (K, d)."""
RIDGE = ALPHA = 1.0
ROUNDS = 9
BUDGET = 2.0
"""Seconds for a contestant in a cell; NumPy beside it gets half of that. Warm-up is not counted."""
MOST_STEPS = 2_000
"""In a round: who is fast must not get far ahead, where less is left to explore and pruning saves more."""


@dataclass(frozen=True)
class Agent:
    """A contestant: how it chooses, how it learns, and (not timed) how it wants a context (d,) to be given."""

    choose: Callable[[Any], Any]
    update: Callable[[Any, Any, float], object]
    prepare: Callable[[Array], Any] = lambda x: x


Maker = Callable[[int, int], Agent]
"""(n_arms, n_features) → a fresh agent."""


def by_hand(n_arms: int, n_features: int) -> Agent:
    """LinUCB as a competent NumPy user writes it: all arms in one product, Sherman–Morrison updates."""
    V_inv = np.tile(np.eye(n_features) / RIDGE, (n_arms, 1, 1))
    stacked, theta_hat = V_inv.reshape(-1, n_features), np.zeros((n_arms, n_features))

    def choose(x: Array) -> int:
        variance = (stacked @ x).reshape(n_arms, n_features) @ x
        return int((theta_hat @ x + ALPHA * np.sqrt(variance)).argmax())

    def update(arm: int, x: Array, reward: float) -> None:
        u = V_inv[arm] @ x
        gain = 1 / (1 + u @ x)
        V_inv[arm] -= np.outer(gain * u, u)
        theta_hat[arm] += gain * (reward - theta_hat[arm] @ x) * u

    return Agent(choose, update)


class Contest:
    """One agent at work in one cell. Contexts are N(0, 1/d) and never recur, rewards are linear with noise."""

    def __init__(self, make: Maker, n_arms: int, n_features: int, budget: float) -> None:
        self.agent, self.shape, self.budget = make(n_arms, n_features), (n_arms, n_features), budget / ROUNDS
        self.rng = np.random.default_rng(0)
        self.theta = self.rng.normal(size=self.shape)
        self.warm_up()

    def warm_up(self) -> None:
        """Pull every arm, then work a little, to know about how long a step takes."""
        contexts, rewards = self.draw(self.shape[0])
        for k, (x, row) in enumerate(zip(contexts, rewards, strict=True)):
            self.agent.choose(x)
            self.agent.update(k, x, row[k])
        steps, self.last = 1, 0.0
        while steps <= 16 and steps * self.last < self.budget / 4:
            self.last = self.seconds_a_step(steps)
            steps *= 2

    def round(self) -> float:
        """Seconds per step, over as many steps as the budget allows."""
        steps = int(np.clip(self.budget / self.last, 2, MOST_STEPS))
        self.last = self.seconds_a_step(steps)
        return self.last

    def draw(self, steps: int) -> tuple[list[Any], list[list[float]]]:
        """Contexts as the agent wants them, and for each the rewards of all arms."""
        X = self.rng.normal(size=(steps, self.shape[1])) / np.sqrt(self.shape[1])
        rewards = X @ self.theta.T + 0.1 * self.rng.normal(size=(steps, self.shape[0]))
        return [self.agent.prepare(x) for x in X], rewards.tolist()

    def seconds_a_step(self, steps: int) -> float:
        """Time so many steps."""
        contexts, rewards = self.draw(steps)
        choose, update = self.agent.choose, self.agent.update
        start = time.perf_counter()
        for x, row in zip(contexts, rewards, strict=True):
            arm = choose(x)
            update(arm, x, row[arm])
        return (time.perf_counter() - start) / steps


def measure(make: Maker) -> list[tuple[float, float]]:
    """Microseconds per step in every cell, (theirs, NumPy's): medians of a few rounds, taken in turns."""
    cells = []
    for n_arms, n_features in CELLS:
        pair = Contest(make, n_arms, n_features, BUDGET), Contest(by_hand, n_arms, n_features, BUDGET / 2)
        rounds = [[contest.round() for contest in pair] for _ in range(ROUNDS)]
        theirs, numpys = (statistics.median(times) * 1e6 for times in zip(*rounds, strict=True))
        cells.append((theirs, numpys))
    return cells
