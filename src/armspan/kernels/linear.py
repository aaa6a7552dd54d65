"""Linear policies: a step scores the arms, chooses one, is rewarded and learns, in O(K·d²) whatever t is.

Per arm there are V, V⁻¹ (d, d) and b, θ̂ (d,), or one of each that all arms share: then arrays have one row, which is
every arm's. Of the two symmetric matrices only the lower triangle is used.
"""

import math

import numpy as np

from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.choice import break_tie, contend, is_tie
from armspan.kernels.single import Precision

REBUILD = 8192
"""V⁻¹ and θ̂ are computed afresh from V and b at multiples of this step, so that rounding cannot build up."""
EPSILON = Precision(2.0**-52, single=2.0**-23)
LOWEST = -math.inf


@inlined
def row_of(a, array):
    """Where an arm's knowledge is in an array (K, …), or (1, …) if all arms share it; slow in the innermost loops."""
    return a if array.shape[0] > 1 else 0


@inlined
def score(V_inv, theta_hat, a, x, c, d):
    """r̂ = θ̂ᵀx and σ̂² = xᵀV⁻¹x of one arm: Algorithm 1, line 6, in its dual form (Appendix B)."""
    m = a if V_inv.shape[0] > 1 else 0  # `row_of`, written out here and below: a call would cost much
    mean, variance = 0.0, 0.0
    for i in range(d):
        total = 0.0
        for j in range(i):
            total += V_inv[m, i, j] * x[c, a, j]
        variance += x[c, a, i] * (2.0 * total + V_inv[m, i, i] * x[c, a, i])
        mean += theta_hat[m, i] * x[c, a, i]
    return mean, variance


@inlined
def choose(V_inv, theta_hat, x, c, alpha, index, mean, variance, unit, seed, run, step, K, d):
    """The arm with the largest r̂ + α_t σ̂: Algorithm 1, line 8. Changes index, mean and variance (K,)."""
    best, second, a = LOWEST, LOWEST, 0
    for k in range(K):
        mean[k], variance[k] = score(V_inv, theta_hat, k, x, c, d)
        index[k] = mean[k] + alpha * math.sqrt(abs(variance[k]))
        best, second, a = contend(index[k], k, best, second, a)
    if is_tie(best, second, unit):
        a = break_tie(index, best, unit, seed, run, step)
    return a


@inlined
def best_of(index, unit, seed, run, step, K):
    """The arm with the largest index (K,), where all are known."""
    best, second, a = LOWEST, LOWEST, 0
    for k in range(K):
        best, second, a = contend(index[k], k, best, second, a)
    if is_tie(best, second, unit):
        a = break_tie(index, best, unit, seed, run, step)
    return a


@inlined
def squared_distance(V_inv, x, c, k, lead, d):
    """‖x_k - x_lead‖² in the norm of a V⁻¹ that all arms share."""
    total = 0.0
    for i in range(d):
        apart = x[c, k, i] - x[c, lead, i]
        row = 0.0
        for j in range(i):
            row += V_inv[0, i, j] * (x[c, k, j] - x[c, lead, j])
        total += apart * (2.0 * row + V_inv[0, i, i] * apart)
    return abs(total)


@inlined
def products(V_inv, a, x, c, z, d):
    """Multiply z = V⁻¹x for an arm, by one pass over the triangle. Changes z (d,)."""
    m = a if V_inv.shape[0] > 1 else 0
    for i in range(d):
        total = V_inv[m, i, i] * x[c, a, i]
        for j in range(i):
            total += V_inv[m, i, j] * x[c, a, j]
            z[j] += V_inv[m, i, j] * x[c, a, i]
        z[i] = total


@inlined
def smaller(entry, variance, z_i, z_j):
    """An entry of V⁻¹ after a reward: Sherman and Morrison's V⁻¹ - zzᵀ/(1 + σ̂²), with z = V⁻¹x."""
    return entry - 1.0 / (1.0 + variance) * z_i * z_j


@inlined
def moved(entry, variance, error, z_i):
    """An entry of θ̂ after a reward that was off by so much."""
    return entry + 1.0 / (1.0 + variance) * error * z_i


@inlined
def refine(V_inv, theta_hat, a, y, mean, variance, z, d):
    """V⁻¹ and θ̂ of an arm after a reward, with z = V⁻¹x. Changes both."""
    for i in range(d):
        theta_hat[a, i] = moved(theta_hat[a, i], variance, y - mean, z[i])
        for j in range(i + 1):
            V_inv[a, i, j] = smaller(V_inv[a, i, j], variance, z[i], z[j])


@inlined
def record(V, b, a, x, c, row, weight, y, d):
    """V += xxᵀ and b += yx of arm a, weighted, for features x[c, row]. Changes both."""
    for i in range(d):
        b[a, i] += weight * y * x[c, row, i]
        for j in range(i + 1):
            V[a, i, j] += weight * x[c, row, i] * x[c, row, j]


@inlined
def learn(V, V_inv, b, theta_hat, a, x, c, y, mean, variance, z, d):
    """Learn one reward: V += xxᵀ, b += yx, and V⁻¹, θ̂ follow. Changes all four; z is scratch."""
    m = a if V.shape[0] > 1 else 0
    products(V_inv, a, x, c, z, d)
    record(V, b, m, x, c, a, 1.0, y, d)
    refine(V_inv, theta_hat, m, y, mean, variance, z, d)


@inlined
def learn_two(V, V_inv, b, theta_hat, a, x, c, y, mean, variance):
    """`learn` by hand for d = 2, which keeps z in registers and saves a tenth of the whole step."""
    m = a if V.shape[0] > 1 else 0
    x0, x1 = x[c, a, 0], x[c, a, 1]
    z0, z1 = V_inv[m, 0, 0] * x0 + V_inv[m, 1, 0] * x1, V_inv[m, 1, 0] * x0 + V_inv[m, 1, 1] * x1
    gain = 1.0 / (1.0 + variance)
    V_inv[m, 0, 0] -= gain * z0 * z0
    V_inv[m, 1, 0] -= gain * z1 * z0
    V_inv[m, 1, 1] -= gain * z1 * z1
    theta_hat[m, 0] += gain * (y - mean) * z0
    theta_hat[m, 1] += gain * (y - mean) * z1
    b[m, 0] += y * x0
    b[m, 1] += y * x1
    V[m, 0, 0] += x0 * x0
    V[m, 1, 0] += x1 * x0
    V[m, 1, 1] += x1 * x1


@part
def cholesky(V, a, L, d):
    """The factor L of V = LLᵀ of an arm; false where V is singular to rounding. Changes the lower triangle of L."""
    sound = True
    for i in range(d):
        for j in range(i + 1):
            rest = V[a, i, j]
            for k in range(j):
                rest -= L[i, k] * L[j, k]
            if i == j:
                sound = sound and rest > d * EPSILON * V[a, i, i]
                rest = max(rest, EPSILON * V[a, i, i])
            L[i, j] = math.sqrt(rest) if i == j else rest / L[j, j]
    return sound


@part
def rebuild_arm(V, V_inv, b, theta_hat, a, L, L_inv, d):
    """V⁻¹ = L⁻ᵀL⁻¹ and θ̂ = V⁻¹b of an arm afresh, from the Cholesky factor V = LLᵀ. Changes V_inv and theta_hat.

    An arm whose V is singular to rounding keeps what it has: rounding in V weighs more there than rounding in V⁻¹.
    """
    if cholesky(V, a, L, d):
        for j in range(d):
            L_inv[j, j] = 1.0 / L[j, j]
            for i in range(j + 1, d):
                rest = 0.0
                for k in range(j, i):
                    rest -= L[i, k] * L_inv[k, j]
                L_inv[i, j] = rest / L[i, i]
        for i in range(d):
            theta_hat[a, i] = 0.0
        for i in range(d):
            for j in range(i + 1):
                total = 0.0
                for k in range(i, d):
                    total += L_inv[k, i] * L_inv[k, j]
                V_inv[a, i, j] = total
                theta_hat[a, i] += total * b[a, j]
                if j < i:
                    theta_hat[a, j] += total * b[a, i]


@kernel
def rebuild(state):
    """`rebuild_arm` for all. Done every so often, it keeps rounding from building up. Changes state."""
    R, K, d = state.b.shape
    L, L_inv = np.zeros((d, d)), np.zeros((d, d))
    for r in range(R):
        V, V_inv, b, theta_hat = state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r]
        for a in range(K):
            rebuild_arm(V, V_inv, b, theta_hat, a, L, L_inv, d)
