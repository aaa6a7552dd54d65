"""The best basis Φ̄_a among the features in which an arm is best, and λ₀ = min over arms of λ_min(Φ̄_aᵀΦ̄_a).

A search over subsets of d features. It is exact while that is feasible: adding a feature to a subset can only lower
λ_min of its Gram matrix (Cauchy's interlacing), so a subset that is already below the best basis found is not
extended. Beyond that λ₀ is known within an interval: a basis that was found, and a bound that no basis passes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armspan._typing import FloatArray, IntArray

MOST_SUBSETS = 100_000
"""The search looks at this many subsets before it settles for an interval."""
EXCHANGE_WORK = 4e8
"""Trials of a round of exchanges, times d³: where more are possible, the most promising are tried."""
_CHUNK = 2048
_TRIALS = 256


@dataclass(frozen=True)
class Basis:
    """The d features that are least alike.

    rows : which they are; none where no basis exists.
    eigenvalue : λ_min(ΦᵀΦ) of these rows, a lower bound of the best.
    upper : what no basis passes; equal to eigenvalue where the search was exact.
    """

    rows: tuple[int, ...]
    eigenvalue: float
    upper: float

    @property
    def exact(self) -> bool:
        """Whether this is the best basis for certain."""
        return self.upper == self.eigenvalue


def best_basis(X: FloatArray, *, most_subsets: int = MOST_SUBSETS) -> Basis:
    """The d rows of X (m, d) with the largest λ_min(ΦᵀΦ)."""
    m, d = X.shape
    if m < d or np.linalg.matrix_rank(X) < d:
        return Basis((), 0.0, 0.0)
    rows = exchange(X)
    best = float(_smallest(X @ X.T, rows[None])[0])
    rows, best, open_bound = _branch_and_bound(X, rows, best, most_subsets)
    upper = best if open_bound <= best else max(best, min(open_bound, dual_bound(X)))
    return Basis(tuple(int(row) for row in np.sort(rows)), best, upper)


def lambda_0(optimal_features: Sequence[FloatArray]) -> Basis:
    """λ₀ of Section 4: the weakest arm's best basis, with the interval in which it lies.

    optimal_features : for each arm the features (m_a, d) of the contexts in which it is best.
    """
    bases = [best_basis(X) for X in optimal_features]
    weakest = min(bases, key=lambda basis: basis.eigenvalue)
    return Basis(weakest.rows, weakest.eigenvalue, min(basis.upper for basis in bases))


def dual_bound(X: FloatArray, iterations: int = 400) -> float:
    """A number that λ_min(ΦᵀΦ) of no d rows of X (m, d) passes.

    For every M ⪰ 0 with trace 1, λ_min(Σ xxᵀ) ≤ Σ xᵀMx, which is at most the sum of the d largest xᵀMx. This holds for
    any M; a good one is found by exponentiated gradient steps.
    """
    d = X.shape[1]
    scale = float(np.sort((X**2).sum(axis=1))[-d:].sum())
    H, best = np.zeros((d, d)), np.inf
    for step in range(1, iterations + 1):
        values, vectors = np.linalg.eigh(H)
        weights = np.exp(values - values.max())
        M = (vectors * (weights / weights.sum())) @ vectors.T
        scores = np.einsum("ni,ij,nj->n", X, M, X)
        top = np.argpartition(scores, -d)[-d:]
        best = min(best, float(scores[top].sum()))
        H -= 4.0 / (scale * np.sqrt(step)) * (X[top].T @ X[top])
    return best


def _branch_and_bound(X: FloatArray, rows: IntArray, best: float, most_subsets: int) -> tuple[IntArray, float, float]:
    """The best basis, its eigenvalue, and a bound on what was left out (-∞ if nothing was)."""
    m, d = X.shape
    gram = X @ X.T
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
            winner = int(np.argmax(bounds))
            if bounds[winner] > best:
                rows, best = subsets[winner], float(bounds[winner])
            continue
        if seen > most_subsets:
            stack.append((subsets, bounds))
            return rows, best, max(float(bound.max()) for _, bound in stack)
        children = _extend(subsets, m)
        seen += len(children)
        stack.append((children, _smallest(gram, children)))
    return rows, best, -np.inf


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
    """A good basis: `_farthest`, and then single rows exchanged while it helps.

    With v the eigenvector of λ_min, putting row j for row i raises λ_min by at most (vᵀx_j)² - (vᵀx_i)². Only exchanges
    that may gain are tried, the most promising first, and a round ends with the first chunk that holds a gain.
    """
    d, rows = X.shape[1], _farthest(X)
    most = max(d, int(work / d**3))
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
                rows[out[winner]] = new[winner]
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
