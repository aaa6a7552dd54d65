"""What policies draw from the run's own stream: normal indices around the estimates, or an arm by its probability.

θ̃ ~ N(θ̂, v²V⁻¹) of an arm shows in θ̃ᵀx alone, which is N(θ̂ᵀx, v²xᵀV⁻¹x): one normal number per arm and step is enough.
"""

import math

import numpy as np

from armspan.kernels._compile import exact_kernel, inlined
from armspan.kernels.choice import break_tie, contend, is_tie
from armspan.kernels.draws import gaussians, log_unit
from armspan.kernels.linear import cholesky, score
from armspan.kernels.philox import POLICIES, real, unit, words

LOWEST = -math.inf
ONE_ARM = 1 << 30
"""The draw of a step that picks an arm; those of normal numbers come before it."""


@inlined
def two_normals(seed, run, step, pair):
    """Independent N(0, 1) for the arms 2·pair and 2·pair + 1."""
    w0, w1, _, _ = words(seed, run, step, pair, POLICIES)
    return gaussians(log_unit(real(w0)), real(w1), 1.0)


@inlined
def normal_of(seed, run, step, k):
    """The same for arm k alone."""
    even, odd = two_normals(seed, run, step, k // 2)
    return even if k % 2 == 0 else odd


@exact_kernel
def normals(seed, run, step, K):
    """Those of all arms (K,)."""
    draws = np.empty(K)
    for k in range(K):
        draws[k] = normal_of(seed, run, step, k)
    return draws


@inlined
def choose(V_inv, theta_hat, x, c, scale, index, mean, variance, unit, seed, run, step, K, d):
    """The arm with the largest θ̃ᵀx, where v = scale. Changes index, mean and variance (K,)."""
    best, second, a, odd = LOWEST, LOWEST, 0, 0.0
    for k in range(K):
        mean[k], variance[k] = score(V_inv, theta_hat, k, x, c, d)
        draw = odd
        if k % 2 == 0:
            draw, odd = two_normals(seed, run, step, k // 2)
        index[k] = mean[k] + scale * math.sqrt(abs(variance[k])) * draw
        best, second, a = contend(index[k], k, best, second, a)
    if is_tie(best, second, unit):
        a = break_tie(index, best, unit, seed, run, step)
    return a


@inlined
def choose_shared(own, scratch, block, c, scale, run, step, K, d):
    """The arm with the largest θ̃ᵀx for one θ̃ = θ̂ + v L⁻ᵀz that all arms share, where V = LLᵀ. Changes scratch."""
    V, V_inv, _, theta_hat = own
    index, mean, variance, z, L, _ = scratch
    cholesky(V, 0, L, d)
    for back in range(d):
        i = d - 1 - back
        rest = normal_of(block.seed, run, step, i)
        for j in range(i + 1, d):
            rest -= L[j, i] * z[j]
        z[i] = rest / L[i, i]
    best, second, a = LOWEST, LOWEST, 0
    for k in range(K):
        total = 0.0
        for i in range(d):
            total += (theta_hat[0, i] + scale * z[i]) * block.x[c, k, i]
        index[k] = total
        best, second, a = contend(total, k, best, second, a)
    if is_tie(best, second, block.unit):
        a = break_tie(index, best, block.unit, block.seed, run, step)
    mean[a], variance[a] = score(V_inv, theta_hat, a, block.x, c, d)
    return a


@inlined
def uniform_of(seed, run, step):
    """A number in (0, 1) for this step's choice."""
    w0, _, _, _ = words(seed, run, step, ONE_ARM, POLICIES)
    return unit(w0)


@exact_kernel
def uniform(seed, run, step):
    """The same, for Python."""
    return uniform_of(seed, run, step)


@inlined
def drawn(p, u, K):
    """The arm that a number u in (0, 1) stands for, where arm k has probability p[k]."""
    a, last = -1, 0
    for k in range(K):
        u -= p[k]
        if a < 0 and u < 0.0 and p[k] > 0.0:
            a = k
        last = k if p[k] > 0.0 else last
    return a if a >= 0 else last
