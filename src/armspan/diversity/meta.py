"""Meta-contexts (Section 5): where contexts do not recur, small balls of features around a basis take their place.

For each arm a basis Φ_a is chosen among the features in which it is best. Features are grouped by the basis vector
onto which they project the most (the paper's inequalities say the least, its words the most), and a meta-context is a
group within distance r = ½√(λ₀/d) of its vector. p is how often the rarest meta-context arrives. Any valid Φ gives a
bound; the search here looks for one that makes the bound small.
"""

from dataclasses import dataclass, replace

import numpy as np

from armspan import theory
from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.diversity.basis import best_basis
from armspan.diversity.intervals import wilson

SHRINK = (1.0, 0.75, 0.5, 0.3)
"""λ₀ that are tried, as shares of the largest."""
CANDIDATES = 150
SEARCH_SAMPLE = 6000


@dataclass(frozen=True, eq=False)
class MetaContexts:
    """Small balls of features around a basis, which take the place of contexts that recur (Section 5).

    Attributes
    ----------
    bases : (K, d, d) array
        The basis of each arm, with its vectors as rows.
    lambda_0 : float
        λ₀ of these bases.
    radius : float
        r, the radius of the balls.
    p, p_low, p_high : float
        How often the rarest meta-context arrives, and the ends of its 95 % interval.
    """

    bases: FloatArray
    lambda_0: float
    radius: float
    p: float
    p_low: float
    p_high: float


def meta_contexts(
    optimal_features: list[FloatArray], n_contexts: int, problem: theory.ProblemNumbers
) -> MetaContexts | None:
    """Bases that make the bound of Theorem 2 small, or None where some arm's features do not span.

    optimal_features : for each arm the features (m_a, d) of those of n_contexts sampled contexts in which it is best.
    One half of them chooses the bases, the other half measures p.
    """
    problem = replace(problem, gap=problem.gap or 1.0)  # which bases are best does not depend on it
    first = [X[::2] for X in optimal_features]
    second = [X[1::2] for X in optimal_features]
    if min(len(X) for X in first) < problem.n_features:
        return None
    candidates = [X[np.linspace(0, len(X) - 1, min(CANDIDATES, len(X))).astype(int)] for X in first]
    starts = [best_basis(X, most_subsets=0) for X in candidates]
    largest = min(start.eigenvalue for start in starts)
    if largest == 0:
        return None
    best: tuple[float, float, list[FloatArray]] | None = None
    for share in SHRINK:
        lambda_0 = share * largest
        radius = _radius(lambda_0, problem.n_features)
        bases = [
            climb(X[:SEARCH_SAMPLE], spots, spots[list(start.rows)], lambda_0, radius)
            for X, spots, start in zip(first, candidates, starts, strict=True)
        ]
        p = min(counts(X, basis, radius).min() for X, basis in zip(first, bases, strict=True)) / (n_contexts / 2)
        if p > 0:
            size = _size_of_bound(problem, float(p), lambda_0)
            if best is None or size < best[0]:
                best = size, lambda_0, bases
    if best is None:
        return None
    _, lambda_0, bases = best
    radius = _radius(lambda_0, problem.n_features)
    hits = min(int(counts(X, basis, radius).min()) for X, basis in zip(second, bases, strict=True))
    low, high = wilson(hits, n_contexts // 2)
    return MetaContexts(np.array(bases), lambda_0, radius, hits / (n_contexts // 2), low, high)


def _size_of_bound(problem: theory.ProblemNumbers, p: float, lambda_0: float) -> float:
    """The bound of Theorem 2 without its term exp(12l²s²/(2 + d)), on which bases have no influence."""
    bound, t = theory.theorem_2(problem, p, lambda_0), theory.t_3(problem, p, lambda_0)
    return bound.irregular + bound.bad_frames + problem.worst_step * t * float(np.log(t)) ** 2


def counts(X: FloatArray, basis: FloatArray, radius: float) -> IntArray:
    """How many rows of X (m, d) lie in the meta-context of each row of basis (d, d)."""
    unit = basis / np.linalg.norm(basis, axis=1, keepdims=True)
    group = np.argmax(X @ unit.T, axis=1)
    inside = ((X - basis[group]) ** 2).sum(axis=1) <= radius**2
    return np.bincount(group[inside], minlength=len(basis))


def _radius(lambda_0: float, d: int) -> float:
    return float(np.sqrt(lambda_0 / d) / 2)


def climb(X: FloatArray, spots: FloatArray, basis: FloatArray, lambda_0: float, radius: float) -> FloatArray:
    """Move one basis vector at a time, to a spot or to the mean of its ball, while the emptiest ball gets fuller.

    It begins with spots. Rows of X that are in no ball around any place are left out: they never count.
    """
    fullness, close = np.sort(counts(X, basis, radius)), _within(X, spots, radius).any(axis=1)
    for _ in range(20):
        best, best_fullness = basis, fullness
        for i in range(len(basis)):
            near, places = X[((X - basis[i]) ** 2).sum(axis=1) <= radius**2], spots
            if len(near):
                mean = near.mean(axis=0, keepdims=True)
                places, close = np.vstack([spots, mean]), close | _within(X, mean, radius)[:, 0]
            trials = np.repeat(basis[None], len(places), axis=0)
            trials[:, i] = places
            valid = np.linalg.svd(trials, compute_uv=False)[:, -1] ** 2 >= lambda_0
            if valid.any():
                found = np.sort(counts_with(X[close], basis, i, places[valid], radius), axis=1)
                winner = max(range(len(found)), key=lambda trial: tuple(found[trial]))
                if tuple(found[winner]) > tuple(best_fullness):
                    best, best_fullness = trials[valid][winner], found[winner]
        if best is basis:
            return basis
        basis, fullness = best, best_fullness
    return basis


def _within(X: FloatArray, places: FloatArray, radius: float) -> BoolArray:
    """Which rows of X (n, d) lie in the ball around each of the places (s, d), or within rounding of it."""
    squares = (X**2).sum(axis=1)[:, None] + (places**2).sum(axis=1)
    return np.asarray((1 - 1e-9) * squares - 2 * X @ places.T <= radius**2)


def counts_with(X: FloatArray, basis: FloatArray, i: int, places: FloatArray, radius: float) -> IntArray:
    """`counts` (s, d) with each of the places (s, d) for the i-th vector of the basis."""
    unit = basis / np.linalg.norm(basis, axis=1, keepdims=True)
    projections = X @ unit.T
    projections[:, i] = -np.inf
    group = np.argmax(projections, axis=1)
    inside = ((X - basis[group]) ** 2).sum(axis=1) <= radius**2
    length, height = np.linalg.norm(places, axis=1), projections[np.arange(len(X)), group][:, None]
    here = X @ (places / length[:, None]).T
    theirs = here > height  # in the moved vector's group
    after = group > i  # argmax takes the first of equals
    theirs[after] |= here[after] == height[after]
    members = np.eye(len(basis))[group] * inside[:, None]
    result = (members.sum(axis=0) - theirs.T @ members).astype(np.int64)
    here *= 2 * length
    near = here >= (X**2).sum(axis=1)[:, None] + (length**2 - radius**2)
    result[:, i] = np.count_nonzero(theirs & near, axis=0)
    return result
