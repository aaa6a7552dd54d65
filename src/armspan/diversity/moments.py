"""Second moments of an arm's features over the contexts in which it is best (Assumption 1.5)."""

import numpy as np

from armspan._typing import FloatArray

ROUNDING = 1e-12
"""Mean rewards that differ by at most this times the largest are the same."""
SQUARED_ROUNDING = 1e-6
"""The same where squares were summed up, which doubles the digits that rounding takes."""


def leads(means: FloatArray) -> FloatArray:
    """How far the best arm leads the second in each context; 0 where they differ only by rounding.

    Parameters
    ----------
    means : (n, K) array
        Mean rewards.
    """
    best_two = np.partition(means, -2, axis=1)[:, -2:]
    lead = best_two[:, 1] - best_two[:, 0]
    return np.where(lead > ROUNDING * np.abs(means).max(), lead, 0.0)


def losses(means: FloatArray) -> FloatArray:
    """What each arm loses compared with the best in each context; 0 where they differ only by rounding.

    Parameters
    ----------
    means : (…, K) array
        Mean rewards.
    """
    loss = means.max(axis=-1, keepdims=True) - means
    return np.where(loss > ROUNDING * np.abs(means).max(axis=-1, keepdims=True), loss, 0.0)


def reward_gap(means: FloatArray) -> float:
    """Δ: the least that an arm which is not best falls behind; 0 if none ever does.

    Arms that tie for best cost nothing, whichever is pulled, so they do not make Δ 0: in each context it is the lead of
    the best mean over the best smaller one. That is what the proof needs, where Δ is the least regret of any
    suboptimal pull. C_a needs more, a single best arm: see `leads`.

    Parameters
    ----------
    means : (n, K) array
        Mean rewards.
    """
    lost = losses(means)
    return float(lost[lost > 0].min()) if lost.any() else 0.0


def weighted_moment(X: FloatArray, weights: FloatArray) -> FloatArray:
    """The second moment E[xxᵀ] of features.

    Parameters
    ----------
    X : (m, d) array
        Features, one per row.
    weights : (m,) array
        How much each row counts; they need not sum to 1.
    """
    return (X * weights[:, None]).T @ X / weights.sum()


def weakest(M: FloatArray, tolerance: float = 0.0) -> tuple[float, FloatArray]:
    """λ_min of a second moment (d, d), and orthonormal columns (d, m): its direction, or all those in which M is 0.

    Whether M is singular is decided after its features are brought to one scale, so that units do not matter.
    tolerance : eigenvalues up to this count as 0 then, and those that rounding alone explains always do.
    """
    d, scale = len(M), np.sqrt(np.diag(M))
    absent, present = np.flatnonzero(scale == 0), np.flatnonzero(scale > 0)
    size = scale[present]
    values, vectors = np.linalg.eigh(M[np.ix_(present, present)] / np.outer(size, size))
    missing = values <= max(tolerance, 4 * d * np.finfo(np.float64).eps)
    if absent.size or missing.any():
        space = np.zeros((d, absent.size + int(missing.sum())))
        space[absent, np.arange(absent.size)] = 1.0
        space[present, absent.size :] = np.linalg.qr(vectors[:, missing] / size[:, None])[0]
        return 0.0, space
    if scale.max() < 1e4 * scale.min():
        plain, directions = np.linalg.eigh(M)
        return float(plain[0]), directions[:, :1]
    inverse, directions = np.linalg.eigh((vectors / values) @ vectors.T / np.outer(scale, scale))
    return float(1 / inverse[-1]), directions[:, -1:]


def smallest_of(moments: FloatArray) -> FloatArray:
    """λ_min of each of several second moments (s, d, d), as `weakest` finds it."""
    s, d = moments.shape[:2]
    scale, result = np.sqrt(np.einsum("sii->si", moments)), np.zeros(s)
    present = np.flatnonzero((scale > 0).all(axis=1))
    even = moments[present] / (scale[present, :, None] * scale[present, None, :])
    full = present[np.linalg.eigvalsh(even)[:, 0] > 4 * d * np.finfo(np.float64).eps]
    alike = scale[full].max(axis=1) < 1e4 * scale[full].min(axis=1)
    result[full[alike]] = np.linalg.eigvalsh(moments[full[alike]])[:, 0]
    for i in full[~alike]:
        result[i] = weakest(moments[i])[0]
    return result


def weakest_of(X: FloatArray, weights: FloatArray, tolerance: float = 1e-9) -> tuple[float, FloatArray]:
    """`weakest` of the second moment of features X (m, d), by themselves where their squares have lost too many digits.

    tolerance : singular values up to this, relative to the largest, count as 0, with features at one scale.
    """
    smallest, weak = weakest(weighted_moment(X, weights))
    if smallest > 0 or len(X) < X.shape[1] or not X.any(axis=0).all():
        return smallest, weak
    rows = X * np.sqrt(weights / weights.sum())[:, None]
    sizes = np.linalg.svd(rows / np.linalg.norm(rows, axis=0), compute_uv=False)
    if sizes[-1] <= max(tolerance, 8 * len(X) * np.finfo(np.float64).eps) * sizes[0]:
        return smallest, weak
    _, values, directions = np.linalg.svd(rows, full_matrices=False)
    return float(values[-1] ** 2), directions[-1:].T


def one_theta(x: FloatArray, means: FloatArray) -> bool:
    """Whether one θ for all arms explains mean rewards (n, K) of features x (n, K, d), up to rounding."""
    scale, (K, d) = np.maximum(x.max(axis=(0, 1)), -x.min(axis=(0, 1))), x.shape[1:]
    scale[scale == 0] = 1.0
    gram, sums = np.zeros((d, d)), np.zeros(d)
    for a in range(K):
        even = x[:, a] / scale
        gram += even.T @ even
        sums += even.T @ means[:, a]
    theta = np.linalg.lstsq(gram, sums)[0] / scale
    off = max(float(np.abs(x[:, a] @ theta - means[:, a]).max()) for a in range(K))
    return off <= SQUARED_ROUNDING * float(np.abs(means).max())


def smallest_eigenvalues(x: FloatArray, means: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How often each arm alone is best, P[c ∈ C_a], and λ_min(E[xxᵀ | c ∈ C_a]), which is 0 if it never is.

    A context in which two arms tie for best belongs to no arm, as in the paper's definition of C_a.

    Parameters
    ----------
    x : (n, K, d) array
        Features.
    means : (n, K) array
        Mean rewards.
    weights : (n,) array
        Probabilities of the contexts.
    """
    unique = leads(means) > 0
    best = np.argmax(means, axis=1)
    K = x.shape[1]
    p, smallest = np.zeros(K), np.zeros(K)
    for a in range(K):
        mine = unique & (best == a)
        p[a] = weights[mine].sum()
        if p[a] > 0:
            smallest[a], _ = weakest_of(x[mine, a], weights[mine])
    return p, smallest
