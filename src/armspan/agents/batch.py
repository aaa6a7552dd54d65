"""Many contexts at once: sums over logged rows, scores by matrix products, and what memory keeps of them."""

import numpy as np

from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.agents.state import State, Statistics
from armspan.kernels import agent as kernels
from armspan.kernels import agent_layout as layout
from armspan.kernels import agent_memory as memory

CHUNK = 4096
"""Rows that are looked at together, so that they stay in the processor's cache."""
SORTED = 16_384
"""Rows that are sorted by arm together."""
TOGETHER = 2_000_000
"""Numbers in the full matrices V⁻¹ that are made at a time."""
SMALL = 128
"""With at most this many features a compiled loop scores faster than BLAS."""


def sums(X: FloatArray, arms: IntArray, rewards: FloatArray, n_arms: int) -> list[Statistics]:
    """Σxxᵀ, Σ yx and pulls of every arm over rows X (n, d)."""
    d = X.shape[1]
    grams, moments, taken = np.zeros((n_arms, d, d)), np.zeros((n_arms, d)), np.empty((min(SORTED, len(X)), d))
    for start in range(0, len(X), SORTED):
        part = slice(start, start + SORTED)
        order = np.argsort(arms[part], kind="stable")
        edges = np.searchsorted(arms[part][order], np.arange(n_arms + 1))
        rows, y = X[part], rewards[part]
        for k in range(n_arms):
            mine = order[edges[k] : edges[k + 1]]
            if mine.size:
                own = np.take(rows, mine, axis=0, out=taken[: mine.size], mode="clip")  # without fresh memory
                grams[k] += own.T @ own
                moments[k] += y[mine] @ own
    pulls = np.bincount(arms, minlength=n_arms)
    return [Statistics(grams[k], moments[k], float(pulls[k])) for k in range(n_arms)]


def learn(
    state: State, X: FloatArray, arms: IntArray, rewards: FloatArray, seen: list[Statistics] | None = None
) -> None:
    """Learn rows X (n, d) with their intercept, whose sums are `seen`."""
    for k, one in enumerate(sums(X, arms, rewards, len(state.names)) if seen is None else seen):
        if one.pulls:
            state.add(k, one)
    remember(state, X, arms, rewards)
    state.head[layout.REWARDS] += len(X)


def look(state: State, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and width (n, K) for contexts (n, d), or (n, K, d)."""
    n, K, d = len(X), len(state.names), state.settings.width
    mean, width = np.empty((n, K)), np.empty((n, K))
    if X.ndim == 2 and d <= SMALL:
        kernels.look_many(state.head, state.arms, state.room, X, mean, width)
        return mean, width
    theta_hat = state.arms[:, layout.THETA :]
    together = max(TOGETHER // d**2, 1)
    for first in range(0, K, together):
        inverses = {k: state.inverse(k) for k in range(first, min(first + together, K))}
        for start in range(0, n, CHUNK):
            part = slice(start, start + CHUNK)
            for k, V_inv in inverses.items():
                rows = X[part] if X.ndim == 2 else np.ascontiguousarray(X[part, k])
                mean[part, k] = rows @ theta_hat[k]
                width[part, k] = np.einsum("nd,nd->n", rows @ V_inv, rows)
    return mean, np.sqrt(np.maximum(width, 0.0, out=width), out=width)


def pick(state: State, index: FloatArray, eligible: BoolArray, epsilon: float) -> IntArray:
    """The arm with the largest index in each row (n, K), ties and ε-mixture as in single decisions. Counts them."""
    chosen = np.empty(len(index), dtype=np.int64)
    kernels.pick(state.head, index, eligible, epsilon, chosen)
    return chosen


def remember(state: State, X: FloatArray, arms: IntArray, rewards: FloatArray) -> None:
    """Note the last rows of a batch; memory holds no more."""
    if len(state.memory):
        for row in range(max(len(X) - state.settings.memory, 0), len(X)):
            memory.remember(state.head, state.memory, int(arms[row]), X, row, 1.0, float(rewards[row]))
