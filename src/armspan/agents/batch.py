"""Many contexts at once: sums over logged rows, scores by matrix products, and what memory keeps of them."""

import platform
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np

from armspan._cores import available_cores
from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.agents.state import State, Statistics
from armspan.kernels import agent_choice, agent_scores
from armspan.kernels import agent_layout as layout
from armspan.kernels import agent_memory as memory
from armspan.kernels.agent_forms import products_of_many
from armspan.kernels.dealing import deal

CHUNK = 1024
"""Rows that are looked at together, so that they stay in the processor's cache."""
DEALT, FEWEST = 2_000_000, 16
"""Numbers in the rows that are dealt out to their arms at a time, and how many rows of each arm these are at least."""
SHARED, MOST = 1_000_000, 4
"""Numbers in all rows from which on threads share the dealing, and how many at most: more do not write faster."""
TOGETHER = 2_000_000
"""Numbers in the full matrices V⁻¹ that are made at a time."""
ENOUGH_ARMS, PAIRED = 8, 60_000
"""Arms for which it pays to multiply contexts with themselves first, and how many such products are made at a time."""
SMALL = 128 if platform.machine().lower() in ("arm64", "aarch64") else 12
"""With at most this many features a compiled loop scores faster than BLAS, as measured on either kind of processor."""


def sums(X: FloatArray, arms: IntArray, rewards: FloatArray, n_arms: int) -> list[Statistics]:
    """Σxxᵀ, Σyx, pulls and Σy² of every arm over rows X (n, d).

    One product of matrices gives all the sums of an arm's rows, with the reward as one more feature.
    """
    width = X.shape[1] + 1
    arms, rewards = np.array(arms), np.array(rewards)  # of the one kind that is compiled: not read-only, without gaps
    found = np.zeros((n_arms, width, width))
    with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at sums
        for rows, ends in _dealt(X, arms, rewards, n_arms):
            for k in np.flatnonzero(np.diff(ends, prepend=0)):
                own = rows[ends[k - 1] if k else 0 : ends[k]]
                found[k] += own.T @ own
    pulls = np.bincount(arms, minlength=n_arms)
    return [
        Statistics(found[k, :-1, :-1].copy(), found[k, :-1, -1].copy(), float(pulls[k]), float(found[k, -1, -1]))
        for k in range(n_arms)
    ]


def _dealt(X: FloatArray, arms: IntArray, rewards: FloatArray, n_arms: int) -> Iterator[tuple[FloatArray, IntArray]]:
    """Some rows at a time, sorted by their arms, each with its reward at the end; and where the rows of each arm end.

    While the caller looks at some, threads sort the next ones.
    """
    n, width = len(X), X.shape[1] + 1
    together = min(max(DEALT // width, FEWEST * n_arms), n)
    threads = min(available_cores() - 1, MOST) if X.size >= SHARED else 0
    starts = range(0, n, together)
    buffers = np.empty((min(len(starts), 2), together, width))

    def begin(number: int) -> tuple[FloatArray, IntArray, Iterable[None]]:
        start, rows = starts[number], buffers[number % 2]
        parts = np.linspace(start, min(start + together, n), max(threads, 1) + 1).astype(np.int64)
        counts = [np.bincount(arms[first:last], minlength=n_arms) for first, last in pairwise(parts)]
        ends = np.sum(counts, axis=0).cumsum()
        places = ends - np.cumsum(counts[::-1], axis=0)[::-1]  # where each part's rows of an arm begin
        todo = partial(deal, X, arms, rewards, rows), parts[:-1], parts[1:], places
        try:
            return rows, ends, pool.map(*todo) if threads else map(*todo)
        except RuntimeError:  # at the end of a process no thread can be started
            return rows, ends, map(*todo)

    with ThreadPoolExecutor(max(threads, 1)) as pool:
        rows, ends, sorting = begin(0)
        for following in range(1, len(starts) + 1):
            deque(sorting, maxlen=0)
            ready = rows, ends
            if following < len(starts):
                rows, ends, sorting = begin(following)
            yield ready


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
        agent_scores.look_many(state.head, state.arms, state.store, X, mean, width)
        return mean, width
    if X.ndim == 2 and K >= ENOUGH_ARMS and d <= layout.LARGEST_PAIRS and K * d**2 <= 10 * TOGETHER:
        return _look_by_pairs(state, X, mean, width)
    theta_hat, squares, together = state.arms[:, layout.THETA :], np.empty((K, n)), max(TOGETHER // d**2, 1)
    if X.ndim == 2:
        np.matmul(X, theta_hat.T, out=mean)
    product = np.empty((min(CHUNK, n), d))
    for first in range(0, K, together):
        inverses = {k: state.inverse(k).astype(np.float64) for k in range(first, min(first + together, K))}
        for start in range(0, n, CHUNK):
            part = slice(start, min(start + CHUNK, n))
            for k, V_inv in inverses.items():
                rows = X[part] if X.ndim == 2 else np.ascontiguousarray(X[part, k])
                if X.ndim == 3:
                    mean[part, k] = rows @ theta_hat[k]
                times = np.matmul(rows, V_inv, out=product[: len(rows)])
                np.einsum("nd,nd->n", times, rows, out=squares[k, part])
    np.sqrt(np.maximum(squares.T, 0.0, out=width), out=width)
    return mean, width


def _look_by_pairs(state: State, X: FloatArray, mean: FloatArray, width: FloatArray) -> tuple[FloatArray, FloatArray]:
    """`look` where xᵀV⁻¹x of all arms is one product of matrices, of all x_i x_j and V⁻¹. Changes mean and width."""
    d = X.shape[1]
    below = np.tril_indices(d)
    each = np.where(below[0] == below[1], 1.0, 2.0)
    inverses = np.empty((len(state.names), each.size))
    for k, V_inv in enumerate(inverses):
        V_inv[:] = each * state.inverse(k)[below]
    np.matmul(X, state.arms[:, layout.THETA :].T, out=mean)
    together = PAIRED // each.size
    pairs = np.empty((min(together, len(X)), each.size))
    for start in range(0, len(X), together):
        part = X[start : start + together]
        products_of_many(part, pairs[: len(part)])
        with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at what came out
            np.matmul(pairs[: len(part)], inverses.T, out=width[start : start + together])
    np.sqrt(np.maximum(width, 0.0, out=width), out=width)
    return mean, width


def pick(state: State, index: FloatArray, eligible: BoolArray) -> IntArray:
    """The arm with the largest index in each row (n, K), ties and ε-mixture as in single decisions. Counts them."""
    chosen = np.empty(len(index), dtype=np.int64)
    agent_choice.pick(state.head, index, eligible, chosen)
    return chosen


def remember(state: State, X: FloatArray, arms: IntArray, rewards: FloatArray) -> None:
    """Note the contexts of a batch: all of them where they recur, or else the last rows; memory holds no more."""
    most = state.settings.memory
    if not len(state.memory):
        return
    if len(X) > most:
        entries = _recurring(X, arms, rewards, most)
        if entries is not None:
            for row, pulls, total in entries:
                memory.remember(state.head, state.memory, int(arms[row]), X, row, pulls, total)
            return
    for row in range(max(len(X) - most, 0), len(X)):
        memory.remember(state.head, state.memory, int(arms[row]), X, row, 1.0, float(rewards[row]))


def _recurring(X: FloatArray, arms: IntArray, rewards: FloatArray, most: int) -> list[tuple[int, float, float]] | None:
    """The last row, pulls and sum of rewards of each arm and context, or None if these are more than `most`.

    Rows are told apart by a random projection; should one context fall into two entries by rounding, memory joins them.
    """
    keys = np.random.default_rng(0).standard_normal(X.shape[1])
    if len(np.unique(X[: 2 * most + 2] @ keys)) > most:  # they do not recur, most likely
        return None
    _, last, group = np.unique(np.column_stack([arms, X @ keys])[::-1], axis=0, return_index=True, return_inverse=True)
    if len(last) > most:
        return None
    group = group.reshape(-1)[::-1]
    pulls, totals = np.bincount(group), np.bincount(group, weights=rewards)
    rows = len(X) - 1 - last
    order = np.argsort(rows)
    return [(int(rows[i]), float(pulls[i]), float(totals[i])) for i in order]
