"""Linear knowledge used by minimum empirical divergence: arms by how likely it is that their estimates are that wrong.

p_a ∝ q_a exp(-Δ̂_a²/(β‖x_a - x_â‖²_{V⁻¹})), where â leads, Δ̂_a is its lead, and √β is the radius of OFUL's ellipsoid.
Arms with a θ of their own are one model of K·d parameters: then V is block-diagonal, and ‖x_a - x_â‖² = w_a² + w_â².
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels import linear as one
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import is_tie
from armspan.kernels.families import linear
from armspan.kernels.families.linear import recall
from armspan.kernels.families.mixed import seen_by, shares_once
from armspan.kernels.family import Field, Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live
from armspan.kernels.philox import real
from armspan.kernels.sampling import drawn, uniform_of

LOWEST = -math.inf
NEARLY_0 = 1e-30
"""Stands for 0 where something is divided by it."""
DESIGN_STEPS = 10
"""Of a design: its average has a largest leverage of at most d·(K/d)^(1/steps), twice the least for K = 1000·d."""
DESIGN_RIDGE = 1e-9
"""In units of the longest features', so that designs exist where features do not span."""


class DeviationState(NamedTuple):
    """What was learnt in each of R runs: that of `LinearState`, and log_det (R, A), the logarithm of det V."""

    V: FloatArray
    V_inv: FloatArray
    b: FloatArray
    theta_hat: FloatArray
    log_det: FloatArray


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """As of `linear`."""
    linear.fresh(state, numbers)
    state.log_det[:] = state.b.shape[2] * math.log(numbers["ridge"])


@inlined
def scratch_of(K, d):
    """That of `linear`, and for a design M (1, d, d), weights and their sum (K,)."""
    p, mean, variance, z, L, L_inv = linear.scratch_of(K, d)
    return p, mean, variance, z, L, L_inv, np.empty((1, d, d)), np.empty(K), np.empty(K)


@inlined
def of_run(state, r):
    return state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r], state.log_det[r]


@part
def radius_squared(log_det, noise, bias, delta, log_ridge, d):
    """β of OFUL: √β = R√(2 log(√(det V/λᵈ)/δ)) + √λ s, and for A models √A·s, as long as their parameters together."""
    A, total = log_det.shape[0], 0.0
    for a in range(A):
        total += log_det[a] - real(d) * log_ridge
    root = noise * math.sqrt(max(total - 2.0 * math.log(delta), 0.0)) + bias * math.sqrt(real(A))
    return root * root


@part
def design(p, x, c, scratch, K, d):
    """A G-optimal design on √p_a·x_a, nearly: w ← w·leverage from w = 1/K on, averaged (Cohen et al. 2019).

    Changes the last of scratch (K,), where it is, and those before it.
    """
    _, _, _, z, L, _, M, w, average = scratch
    longest = 0.0
    for k in range(K):
        w[k], average[k], length = 1.0 / real(K), 0.0, 0.0
        for i in range(d):
            length += p[k] * x[c, k, i] * x[c, k, i]
        longest = max(longest, length)
    for _ in range(DESIGN_STEPS):
        for i in range(d):
            for j in range(i + 1):
                M[0, i, j] = DESIGN_RIDGE * longest + NEARLY_0 if i == j else 0.0
                for k in range(K):
                    M[0, i, j] += w[k] * p[k] * x[c, k, i] * x[c, k, j]
        one.cholesky(M, 0, L, d)
        total = 0.0
        for k in range(K):
            average[k] += w[k] / real(DESIGN_STEPS)
            leverage = NEARLY_0
            for i in range(d):
                z[i] = x[c, k, i]
                for j in range(i):
                    z[i] -= L[i, j] * z[j]
                z[i] /= L[i, i]
                leverage += p[k] * z[i] * z[i]
            w[k] *= leverage
            total += w[k]
        for k in range(K):
            w[k] /= total


@part
def chances(own, scratch, block, c, knobs, i, K, d):
    """Every arm's probability. Changes scratch; it is in the first (K,)."""
    _, V_inv, _, theta_hat, log_det = own
    p, mean, variance, average = scratch[0], scratch[1], scratch[2], scratch[8]
    noise, bias, delta, log_ridge, c1, c2 = knobs
    best, lead = LOWEST, K
    for k in range(K):
        mean[k], variance[k] = one.score(V_inv, theta_hat, k, block.x, c, d)
        best = max(best, mean[k])
    for k in range(K):
        lead = min(lead, k) if is_tie(best, mean[k], block.unit) else lead
    beta, shared = radius_squared(log_det, noise[i], bias[i], delta[i], log_ridge[i], d), V_inv.shape[0] < K
    for k in range(K):
        apart = abs(variance[k]) + abs(variance[lead])
        if shared:
            apart = one.squared_distance(V_inv, block.x, c, k, lead, d)
        gap = best - mean[k]
        p[k] = 1.0 if is_tie(best, mean[k], block.unit) else math.exp(-gap * gap / max(beta * apart, NEARLY_0))
        average[k] = 1.0 / real(K)  # which is the design of features in blocks of their own
    if shared and c1[i] > 0.0:
        design(p, block.x, c, scratch, K, d)
    total, uniform = 0.0, max(1.0 - c1[i] - c2[i], 0.0) / real(K)
    for k in range(K):
        p[k] *= c1[i] * average[k] + uniform + (c2[i] if k == lead else 0.0)
        total += p[k]
    for k in range(K):
        p[k] /= total


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    chances(own, scratch, block, c, knobs, i, K, d)
    return drawn(scratch[0], uniform_of(block.seed, run, step), K)


@part
def learn(own, scratch, a, x, c, y, d):
    V, V_inv, b, theta_hat, log_det = own
    log_det[one.row_of(a, V)] += math.log(1.0 + abs(scratch[2][a]))
    one.learn(V, V_inv, b, theta_hat, a, x, c, y, scratch[1][a], scratch[2][a], scratch[3], d)


@part
def tidy_run(own, scratch, K, d):
    """V⁻¹, θ̂ and log det V of every model afresh."""
    V, V_inv, b, theta_hat, log_det = own
    L, L_inv = scratch[4], scratch[5]
    for a in range(V.shape[0]):
        one.rebuild_arm(V, V_inv, b, theta_hat, a, L, L_inv, d)
        log_det[a] = 0.0
        for i in range(d):
            log_det[a] += 2.0 * math.log(L[i, i])


@kernel
def tidy(state):
    """`tidy_run` for all. Changes state."""
    R, K, d = state.b.shape
    scratch = scratch_of(K, d)
    for r in range(R):
        tidy_run(of_run(state, r), scratch, K, d)


@kernel
def advance_deviation(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def late_deviation(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, recall, learn)


@kernel
def choose_deviation(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_deviation(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, recall, learn)


@kernel
def shares_deviation(block, knobs, state, share):
    shares_once(block, knobs, state, share, scratch_of, of_run, chances)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """Estimates and probabilities; the index is the mean."""
    return seen_by(shares_deviation, state, block, knobs)


FAMILY = derived(
    linear.FAMILY,
    name="deviation",
    fields=(*linear.FIELDS, Field("log_det", "A")),
    scratch=(*linear.SCRATCH, Field("M", "odd"), Field("w", "K"), Field("average", "K")),
    state=DeviationState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_deviation,
    late=late_deviation,
    choose_once=choose_deviation,
    learn_once=learn_deviation,
    seen=seen,
    knobs=("noise", "bias", "delta", "log_ridge", "c1", "c2"),
    tidy=tidy,
    tidy_run=tidy_run,
)
