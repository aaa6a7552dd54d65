"""What is diverse in truth, by a slow, obvious computation: one context after the other."""

import numpy as np

from tests.naive import Array


def shares_and_spreads(points: Array, probs: Array, theta: Array, margin: float) -> tuple[list[float], list[float]]:
    """P and S of every arm. S is the least eigenvalue of C⁻¹ᐟ² E[xxᵀ1] C⁻¹ᐟ², that is, of C⁻¹ E[xxᵀ1]."""
    K, d = theta.shape
    C, led, P = np.zeros((d, d)), np.zeros((K, d, d)), [0.0] * K
    for x, p in zip(points, probs, strict=True):
        C += p * np.outer(x, x)
        means = [float(x @ own) for own in theta]
        for a in range(K):
            if means[a] - max(means[:a] + means[a + 1 :]) >= margin:
                P[a] += p
                led[a] += p * np.outer(x, x)
    assert np.linalg.cond(C) < 1e10
    return P, [float(np.linalg.eigvals(np.linalg.solve(C, led[a])).real.min()) for a in range(K)]


def is_diverse(P: list[float], S: list[float], d: int) -> bool:
    """Whether every arm leads often enough, and its contexts spread far enough."""
    return bool(min(P) >= 0.015 / len(P) and min(S) >= 0.01 / (len(P) * d))
