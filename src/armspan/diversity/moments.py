"""Second moments of an arm's features over the contexts in which it is best (Assumption 1.5)."""

import numpy as np

from armspan._typing import FloatArray


def leads(means: FloatArray) -> FloatArray:
    """How far the best arm leads the second in each row of means (n, K); 0 where they differ by rounding alone."""
    best_two = np.partition(means, -2, axis=1)[:, -2:]
    lead = best_two[:, 1] - best_two[:, 0]
    return np.where(lead > 1e-12 * np.abs(means).max(), lead, 0.0)


def weighted_moment(X: FloatArray, weights: FloatArray) -> FloatArray:
    """E[xxᵀ] over the rows of X (m, d) with weights (m,), which need not sum to 1."""
    return (X * weights[:, None]).T @ X / weights.sum()


def smallest_eigenvalues(x: FloatArray, means: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Per arm, P[c ∈ C_a] and λ_min(E[xxᵀ | c ∈ C_a]); the second is 0 for an arm that is never best.

    x : (n, K, d) features. means : (n, K) mean rewards. weights : (n,) probabilities of the contexts.
    A context in which two arms tie for best belongs to no arm, as in the paper's definition of C_a.
    """
    unique = leads(means) > 0
    best = np.argmax(means, axis=1)
    K, d = x.shape[1:]
    p, smallest = np.zeros(K), np.zeros(K)
    for a in range(K):
        mine = unique & (best == a)
        p[a] = weights[mine].sum()
        if p[a] > 0:
            eigenvalues = np.linalg.eigvalsh(weighted_moment(x[mine, a], weights[mine]))
            rounding = d * np.finfo(np.float64).eps * eigenvalues[-1]
            smallest[a] = eigenvalues[0] if eigenvalues[0] > rounding else 0.0
    return p, smallest
