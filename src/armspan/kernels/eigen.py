"""Eigenvalues and eigenvectors of small symmetric matrices, by Jacobi's rotations: for CPUs and GPUs alike."""

import math

from armspan.kernels._compile import exact_kernel, inlined
from armspan.kernels.linear import EPSILON

MOST_SWEEPS = 30
"""Never reached: convergence is quadratic, and takes 9 sweeps for 50 features."""


@exact_kernel
def eigen(G, a, W, U, d):
    """The eigenvalues of G[a], on the diagonal of W (d, d), and their vectors, the columns of U (d, d). Changes both.

    Of G the lower triangle counts. Eigenvalues are right to rounding in the trace of G, and in no order.
    """
    trace, sweeps, turned = 0.0, 0, True
    for i in range(d):
        for j in range(i + 1):
            W[i, j] = W[j, i] = G[a, i, j]
            U[i, j] = U[j, i] = 0.0
        U[i, i] = 1.0
        trace += abs(G[a, i, i])
    while turned and sweeps < MOST_SWEEPS:
        turned, sweeps = False, sweeps + 1
        for p in range(d):
            for q in range(p + 1, d):
                if abs(W[p, q]) > EPSILON * trace:
                    turned = True
                    rotate(W, U, p, q, d)


@inlined
def rotate(W, U, p, q, d):
    """Turn the plane of rows p and q so that W[p, q] becomes 0. Changes W, which stays symmetric, and U."""
    half = 0.5 * (W[q, q] - W[p, p]) / W[p, q]
    tan = math.copysign(1.0, half) / (abs(half) + math.sqrt(1.0 + half * half))
    cos = 1.0 / math.sqrt(1.0 + tan * tan)
    sin = tan * cos
    for i in range(d):
        W[i, p], W[i, q] = cos * W[i, p] - sin * W[i, q], sin * W[i, p] + cos * W[i, q]
        U[i, p], U[i, q] = cos * U[i, p] - sin * U[i, q], sin * U[i, p] + cos * U[i, q]
    for i in range(d):
        W[p, i], W[q, i] = cos * W[p, i] - sin * W[q, i], sin * W[p, i] + cos * W[q, i]
    W[p, q] = W[q, p] = 0.0


@exact_kernel
def smallest_eigenvalue(G, a, W, U, d):
    """λ_min of G[a]. Changes W and U (d, d)."""
    eigen(G, a, W, U, d)
    least = W[0, 0]
    for i in range(1, d):
        least = min(least, W[i, i])
    return least
