"""The best basis Φ̄_a among the features in which an arm is best, and λ₀ = min over arms of λ_min(Φ̄_aᵀΦ̄_a)."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.errors import NotApplicable

MOST_SUBSETS = 1_000_000
"""The search tries every subset of d features, up to this many."""


class Basis(NamedTuple):
    """The d features that are least alike: their rows, and λ_min(ΦᵀΦ)."""

    rows: tuple[int, ...]
    eigenvalue: float


def best_basis(X: FloatArray) -> Basis:
    """The d rows of X (m, d) with the largest λ_min(ΦᵀΦ); no rows and 0 where fewer than d rows are given."""
    m, d = X.shape
    if m < d:
        return Basis((), 0.0)
    if math.comb(m, d) > MOST_SUBSETS:
        raise NotApplicable(
            f"the best basis of {m} features in {d} dimensions has {math.comb(m, d):,} candidates; "
            f"the exhaustive search stops at {MOST_SUBSETS:,}"
        )
    best = Basis((), -1.0)
    subsets = itertools.combinations(range(m), d)
    while batch := list(itertools.islice(subsets, 4096)):
        rows = np.array(batch)
        singular = np.linalg.svd(X[rows], compute_uv=False)  # λ_min(ΦᵀΦ) is the square of the smallest one
        dependent = singular[:, -1] <= d * np.finfo(np.float64).eps * singular[:, 0]
        values = np.where(dependent, 0.0, singular[:, -1] ** 2)
        winner = int(np.argmax(values))
        if values[winner] > best.eigenvalue:
            best = Basis(batch[winner], float(values[winner]))
    return best


def lambda_0(optimal_features: Sequence[FloatArray]) -> float:
    """λ₀ of Section 4: the weakest arm's best basis.

    optimal_features : for each arm the features (m_a, d) of the contexts in which it is best.
    """
    return min(best_basis(X).eigenvalue for X in optimal_features)
