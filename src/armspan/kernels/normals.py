"""Which of several independent normal variables is the largest, and with what probability."""

import math

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels._compile import exact_kernel
from armspan.kernels.choice import winners

REACH = 9.0
"""Standard deviations beyond which nothing is left that a double could hold beside 1."""
CUTS = np.array([-9.0, -6.0, -4.5, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.5, 6.0, 9.0])
"""Where a variable's own scale cuts the line: between neighbours no factor of the integrand bends much."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)


def largest_of_normals(mean: FloatArray, sd: FloatArray, unit: float = 0.0) -> FloatArray:
    """P[X_a is the largest] (K,) of independent X_a ~ N(mean, sd²); where sd is 0 it is that number, and ties share.

    ∫ φ((u - m_a)/s_a)/s_a · Π_{b≠a} Φ((u - m_b)/s_b) du, by Gauss and Legendre on pieces that fit every s_b.
    unit : how large rewards are, roughly, for ties.
    """
    moves = sd > 0
    if not moves.any():
        return winners(mean, unit)
    lower = float((mean - REACH * sd).max())  # below, some variable is certainly larger
    upper = float((mean + REACH * sd).max())
    near = mean + REACH * sd >= lower  # the others are never the largest
    edges = np.unique(np.clip(mean[moves & near, None] + sd[moves & near, None] * CUTS, lower, upper))
    result, shares = np.zeros(mean.size), np.zeros(np.count_nonzero(near))
    if len(edges) > 1:
        integrate(mean[near], sd[near], edges, NODES, WEIGHTS, shares)
    result[near] = shares
    still = np.where(moves, -math.inf, mean)
    if np.isfinite(still.max()):
        rest = max(0.0, 1.0 - float(result.sum()))
        result += rest * np.where(moves, 0.0, winners(still, unit))
    return np.asarray(result / result.sum())


@exact_kernel
def integrate(mean, sd, edges, nodes, weights, result):
    """Add up the integral of every variable over the pieces between edges. Changes result (K,)."""
    K = mean.size
    below, density = np.empty(K), np.empty(K)
    for piece in range(edges.size - 1):
        half = 0.5 * (edges[piece + 1] - edges[piece])
        for n in range(nodes.size):
            u = edges[piece] + half * (1.0 + nodes[n])
            nothing, zeros = 1.0, 0
            for k in range(K):
                if sd[k] > 0.0:
                    z = (u - mean[k]) / sd[k]
                    below[k] = 0.5 * math.erfc(-z * math.sqrt(0.5))
                    density[k] = math.exp(-0.5 * z * z) / (sd[k] * math.sqrt(2.0 * math.pi))
                else:
                    below[k], density[k] = 1.0 if u > mean[k] else 0.0, 0.0
                if below[k] > 0.0:
                    nothing *= below[k]
                else:
                    zeros += 1
            for k in range(K):
                if zeros == 0:
                    result[k] += weights[n] * half * density[k] * (nothing / below[k])
                elif zeros == 1 and below[k] == 0.0:
                    result[k] += weights[n] * half * density[k] * nothing
