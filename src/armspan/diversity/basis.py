"""The best basis Φ̄_a among the features in which an arm is best, and λ₀ = min over arms of λ_min(Φ̄_aᵀΦ̄_a).

A search over subsets of d features. It is exact while that is feasible: adding a feature to a subset can only lower
λ_min of its Gram matrix (Cauchy's interlacing), so a subset that is already below the best basis found is not
extended. Beyond that, λ₀ is known within an interval: a basis that was found, and a bound that no basis exceeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armspan._typing import FloatArray, IntArray

MOST_SUBSETS = 100_000
"""The search looks at this many subsets before it settles for an interval."""
LARGEST_SEARCH = 2048
"""With more features than this there are too many subsets to look at any."""
EXCHANGE_WORK = 4e8
"""Trials of a round of exchanges, times d³: where more are possible, the most promising are tried."""
_CHUNK = 2048
_TRIALS = 256


@dataclass(frozen=True)
class Basis:
    """The d features of an arm that are least alike.

    Attributes
    ----------
    rows : tuple of int
        Which they are; empty if no basis exists.
    eigenvalue : float
        λ_min(ΦᵀΦ) of these rows, a lower bound on the best.
    upper : float
        What no basis exceeds; equal to eigenvalue if the search was exact.
    """

    rows: tuple[int, ...]
    eigenvalue: float
    upper: float

    @property
    def exact(self) -> bool:
        """Whether this is the best basis for certain."""
        return self.upper == self.eigenvalue


def best_basis(X: FloatArray, *, most_subsets: int = MOST_SUBSETS) -> Basis:
    """The d rows of X with the largest λ_min(ΦᵀΦ).

    Parameters
    ----------
    X : (m, d) array
        Features.
    most_subsets : int, default 100000
        How many subsets the exact search may look at; beyond that, the result is an interval.

    Returns
    -------
    Basis
        The rows and the interval in which the best eigenvalue lies.
    """
    _, firsts = np.unique(X, axis=0, return_index=True)
    distinct = X[firsts]
    m, d = distinct.shape
    if m < d or np.linalg.matrix_rank(distinct / np.maximum(np.abs(distinct).max(axis=0), 1e-300)) < d:
        return Basis((), 0.0, 0.0)
    rows = exchange(distinct)
    best, open_bound = _value(distinct[rows]), np.inf
    if m <= LARGEST_SEARCH and best > 1e-12 * (distinct**2).sum(axis=1).max():  # below, rounding would decide
        rows, best, open_bound = _branch_and_bound(distinct, rows, best, most_subsets)
    upper = best if open_bound <= best else max(best, min(open_bound, dual_bound(distinct)))
    return Basis(tuple(int(row) for row in np.sort(firsts[rows])), best, upper)


def _value(basis: FloatArray) -> float:
    """λ_min(ΦᵀΦ) by singular values, which lose fewer digits."""
    return float(np.linalg.svd(basis, compute_uv=False)[-1] ** 2)


def lambda_0(optimal_features: Sequence[FloatArray]) -> Basis:
    """λ₀ of Section 4: the best basis of the weakest arm, with the interval in which λ₀ lies.

    Parameters
    ----------
    optimal_features : list of (m_a, d) arrays
        For each arm its features in the contexts in which it is best.

    Returns
    -------
    Basis
        The weakest arm's basis.
    """
    bases = [best_basis(X) for X in optimal_features]
    weakest = min(bases, key=lambda basis: basis.eigenvalue)
    return Basis(weakest.rows, weakest.eigenvalue, min(basis.upper for basis in bases))


def dual_bound(X: FloatArray, iterations: int = 400) -> float:
    """A number that λ_min(ΦᵀΦ) exceeds for no d rows of X (m, d).

    For every M ⪰ 0 with trace 1, λ_min(Σ xxᵀ) ≤ Σ xᵀMx, which is at most the sum of the d largest xᵀMx. This holds for
    any M; a good one is found among single directions and by exponentiated gradient steps.
    """
    d = X.shape[1]
    scale = float(np.sort((X**2).sum(axis=1))[-d:].sum())
    reach = (X @ _directions(X)) ** 2
    H, best = np.zeros((d, d)), float(np.sort(reach, axis=0)[-d:].sum(axis=0).min())
    for step in range(1, iterations + 1):
        values, vectors = np.linalg.eigh(H)
        weights = np.exp(values - values.max())
        M = (vectors * (weights / weights.sum())) @ vectors.T
        scores = ((X @ M) * X).sum(axis=1)
        top = np.argpartition(scores, -d)[-d:]
        best = min(best, float(scores[top].sum()))
        H -= 4.0 / (scale * np.sqrt(step)) * (X[top].T @ X[top])
    return best


def _branch_and_bound(X: FloatArray, rows: IntArray, best: float, most_subsets: int) -> tuple[IntArray, float, float]:
    """The best basis, its eigenvalue, and a bound on what was left out (-∞ if nothing was)."""
    m, d = X.shape
    gram, reach = X @ X.T, (X @ _directions(X)) ** 2
    top = np.vstack([np.zeros(reach.shape[1]), np.cumsum(-np.sort(-reach, axis=0), axis=0)])  # of the largest k
    stack: list[tuple[IntArray, FloatArray]] = [(np.arange(m)[:, None], np.diag(gram).copy())]
    seen = 0
    while stack:
        subsets, bounds = stack.pop()
        promising = bounds > best * (1 + 1e-12)
        subsets, bounds = subsets[promising], bounds[promising]
        if len(subsets) > _CHUNK:
            stack.append((subsets[_CHUNK:], bounds[_CHUNK:]))
            subsets, bounds = subsets[:_CHUNK], bounds[:_CHUNK]
        if not len(subsets):
            continue
        if subsets.shape[1] == d:
            bounds = _smallest(gram, subsets)
            winner = int(np.argmax(bounds))
            if bounds[winner] > best:
                rows, best = subsets[winner], float(bounds[winner])
            continue
        if seen > most_subsets:
            stack.append((subsets, bounds))
            return rows, best, max(float(bound.max()) for _, bound in stack)
        children = _extend(subsets, m)
        seen += len(children)
        along = (reach[children].sum(axis=1) + top[d - children.shape[1]]).min(axis=1)
        stack.append((children, np.minimum(_smallest(gram, children), along)))
    return rows, best, -np.inf


def _directions(X: FloatArray) -> FloatArray:
    """Unit columns in which a basis may be weakest: the axes, and the main directions of X."""
    return np.column_stack([np.eye(X.shape[1]), np.linalg.svd(X, full_matrices=False)[2].T])


def _extend(subsets: IntArray, m: int) -> IntArray:
    """Every subset (c, k) with one more, larger row."""
    more = m - 1 - subsets[:, -1]
    repeated = np.repeat(subsets, more, axis=0)
    starts = np.repeat(np.cumsum(more) - more, more)
    new = repeated[:, -1] + 1 + np.arange(len(repeated)) - starts
    return np.column_stack([repeated, new])


def _smallest(gram: FloatArray, subsets: IntArray) -> FloatArray:
    """λ_min of the Gram matrix of each subset of rows (c, k)."""
    if not len(subsets):
        return np.empty(0)
    values = np.linalg.eigvalsh(gram[subsets[:, :, None], subsets[:, None, :]])
    return np.maximum(values[:, 0], 0.0)


def exchange(X: FloatArray, work: float = EXCHANGE_WORK) -> IntArray:
    """A good basis: `_farthest`, then single rows are exchanged as long as that helps.

    With v the eigenvector of λ_min, replacing row i by row j raises λ_min by at most (vᵀx_j)² - (vᵀx_i)². Only
    exchanges that may gain are tried, the most promising first, and a round ends with the first chunk that holds a
    gain.
    """
    d, rows = X.shape[1], _farthest(X)
    most = max(d, int(work / d**3))
    best = _value(X[np.sort(rows)])
    while True:
        moment = X[rows].T @ X[rows]
        values, vectors = np.linalg.eigh(moment)
        reach = (X @ vectors[:, 0]) ** 2
        gain = reach[None, :] - reach[rows][:, None]
        gain[:, rows] = 0.0
        order = np.argsort(-gain, axis=None)[: min(most, int((gain > 1e-12 * values[0]).sum()))]
        for chunk in np.split(order, range(_TRIALS, order.size, _TRIALS)):
            out, new = np.unravel_index(chunk, gain.shape)
            trials = moment - _outer(X[rows[out]]) + _outer(X[new])
            smallest = np.linalg.eigvalsh(trials)[:, 0] if chunk.size else np.zeros(1)
            winner = int(np.argmax(smallest))
            if smallest[winner] > values[0] * (1 + 1e-12):
                better = rows.copy()
                better[out[winner]] = new[winner]
                value = _value(X[np.sort(better)])
                if value > best * (1 + 1e-12):  # else it was rounding alone, and might go on for ever
                    rows, best = better, value
                    break
        else:
            return rows


def _outer(X: FloatArray) -> FloatArray:
    return X[:, :, None] * X[:, None, :]


def _farthest(X: FloatArray) -> IntArray:
    """A basis of rows that each reach farthest out of the span of those before."""
    rest, rows = X.copy(), np.empty(0, dtype=np.int64)
    for _ in range(X.shape[1]):
        row = int(np.argmax((rest**2).sum(axis=1)))
        rows = np.append(rows, row)
        direction = rest[row] / np.linalg.norm(rest[row])
        rest = rest - np.outer(rest @ direction, direction)
    return rows
