"""The policies that write the logs, and the compiled sums behind the exact answers.

Every policy keeps one ridge regression (ridge 1) per arm on the rows so far and sees the features as they are logged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]

LOGGERS = ("uniform", "epsilon-greedy", "ucb", "greedy", "thompson")
EPSILON = 0.1


def choose(logger: str, X: Array, outcomes: Array, noise_sd: float, rng: np.random.Generator) -> Array:
    """The arm that `logger` takes in each row of X; outcomes[t, a] is the reward that arm a would bring in row t.

    `noise_sd` is the scale of the bonus in ucb and of the draws in thompson. An arm's score under thompson, x'θ~ with
    θ~ ~ N(θ^, noise_sd² V⁻¹), is drawn directly from its own normal law, as the arms' draws are independent.
    """
    n, n_arms = outcomes.shape
    if logger == "uniform":
        return rng.integers(n_arms, size=n)
    coins = rng.random((n, 2))
    normals = rng.standard_normal((n, n_arms)) if logger == "thompson" else np.zeros((1, 1))
    return run_policy(LOGGERS.index(logger), np.ascontiguousarray(X), outcomes, noise_sd, coins, normals)


@njit(cache=True)
def run_policy(policy: int, X: Array, outcomes: Array, noise_sd: float, coins: Array, normals: Array) -> Array:
    """One pass over the rows. coins[t, 0] decides whether to explore, coins[t, 1] breaks ties and picks at random."""
    n, d = X.shape
    n_arms = outcomes.shape[1]
    inverse = np.zeros((n_arms, d, d))
    for a in range(n_arms):
        for i in range(d):
            inverse[a, i, i] = 1.0
    sums = np.zeros((n_arms, d))
    estimates = np.zeros((n_arms, d))
    arms = np.empty(n, dtype=np.int64)
    scores = np.empty(n_arms)
    step = np.empty(d)
    for t in range(n):
        x = X[t]
        top = -np.inf
        for a in range(n_arms):
            score = 0.0
            for i in range(d):
                score += estimates[a, i] * x[i]
            if policy == 2 or policy == 4:
                width = 0.0
                for i in range(d):
                    row = 0.0
                    for j in range(d):
                        row += inverse[a, i, j] * x[j]
                    width += row * x[i]
                width = noise_sd * np.sqrt(max(width, 0.0))
                score += width if policy == 2 else width * normals[t, a]
            scores[a] = score
            top = max(top, score)
        if policy == 1 and coins[t, 0] < EPSILON:
            arm = int(coins[t, 1] * n_arms)
        else:
            ties = 0
            for a in range(n_arms):
                if scores[a] == top:
                    ties += 1
            skip = int(coins[t, 1] * ties)
            arm = 0
            for a in range(n_arms):
                if scores[a] == top:
                    if skip == 0:
                        arm = a
                        break
                    skip -= 1
        arms[t] = arm
        reward = outcomes[t, arm]
        denominator = 1.0
        for i in range(d):
            row = 0.0
            for j in range(d):
                row += inverse[arm, i, j] * x[j]
            step[i] = row
            denominator += row * x[i]
        for i in range(d):
            sums[arm, i] += reward * x[i]
            for j in range(d):
                inverse[arm, i, j] -= step[i] * step[j] / denominator
        for i in range(d):
            row = 0.0
            for j in range(d):
                row += inverse[arm, i, j] * sums[arm, j]
            estimates[arm, i] = row
    return arms


@njit(cache=True)
def two_best(means: Array) -> tuple[Array, Array]:
    """The arm with the largest mean in each row and its lead over the second."""
    n, n_arms = means.shape
    best = np.zeros(n, dtype=np.int64)
    lead = np.empty(n)
    for t in range(n):
        first, second, arm = means[t, 0], -np.inf, 0
        for a in range(1, n_arms):
            value = means[t, a]
            if value > first:
                first, second, arm = value, first, a
            elif value > second:
                second = value
        best[t], lead[t] = arm, first - second
    return best, lead


@njit(cache=True)
def sums_between(U: Array, weight: Array, best: Array, lead: Array, low: float, high: float, n_arms: int) -> Any:
    """Per arm: the mass, and the weighted sum of uu', of the contexts where it leads by at least low and below high."""
    n, d = U.shape
    mass = np.zeros(n_arms)
    moments = np.zeros((n_arms, d, d))
    for t in range(n):
        if low <= lead[t] < high:
            a, w = best[t], weight[t]
            mass[a] += w
            for i in range(d):
                wu = w * U[t, i]
                for j in range(i + 1):
                    moments[a, i, j] += wu * U[t, j]
    for a in range(n_arms):
        for i in range(d):
            for j in range(i):
                moments[a, j, i] = moments[a, i, j]
    return mass, moments


@njit(cache=True)
def fourth_moments(U: Array, weight: Array, best: Array, lead: Array, low: float, directions: Array) -> Array:
    """Per arm a: the weighted sum of (u'directions[a])⁴ over the contexts where it leads by at least low."""
    n, d = U.shape
    total = np.zeros(directions.shape[0])
    for t in range(n):
        if lead[t] >= low:
            a = best[t]
            dot = 0.0
            for i in range(d):
                dot += U[t, i] * directions[a, i]
            total[a] += weight[t] * dot**4
    return total
