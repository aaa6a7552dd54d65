"""Eigenvalues of small symmetric matrices by Jacobi's rotations, which is short and as accurate as any."""

import math

from armspan.kernels._compile import exact_kernel, inlined
from armspan.kernels.linear import EPSILON

SWEEPS = 30
"""At most; they converge quadratically, and six to ten are usual."""


@inlined
def rotate(S, p, q, d):
    """Make entry (p, q) of a symmetric matrix 0 by a rotation of these two axes. Changes S."""
    slope = (S[q, q] - S[p, p]) / (2.0 * S[p, q])
    t = 1.0 / (abs(slope) + math.sqrt(1.0 + slope * slope))
    t = t if slope >= 0.0 else -t
    cos = 1.0 / math.sqrt(1.0 + t * t)
    sin = t * cos
    for k in range(d):
        left, right = S[k, p], S[k, q]
        S[k, p], S[k, q] = cos * left - sin * right, sin * left + cos * right
    for k in range(d):
        left, right = S[p, k], S[q, k]
        S[p, k], S[q, k] = cos * left - sin * right, sin * left + cos * right


@exact_kernel
def smallest_eigenvalue(V, a, S, d):
    """λ_min of V[a], given by its lower triangle. Changes S (d, d)."""
    size, apart = 0.0, 0.0
    for i in range(d):
        size += abs(V[a, i, i])
        for j in range(i + 1):
            S[i, j] = S[j, i] = V[a, i, j]
            apart = max(apart, abs(V[a, i, j])) if j < i else apart
    sweep, small = 0, EPSILON * size / 16.0
    while sweep < SWEEPS and apart > small:
        apart = 0.0
        for p in range(d):
            for q in range(p + 1, d):
                if abs(S[p, q]) > small:
                    apart = max(apart, abs(S[p, q]))
                    rotate(S, p, q, d)
        sweep += 1
    least = S[0, 0]
    for i in range(1, d):
        least = min(least, S[i, i])
    return least
