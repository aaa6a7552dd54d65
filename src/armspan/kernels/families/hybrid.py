"""Linear knowledge of each arm as in `linear`, and beside it a part β that all arms share: LinUCB's hybrid form.

Rewards are zᵀβ + xᵀθ_a, where z is the first m features of x. Algorithm 2 of Li et al. (2010) keeps A₀, b₀, and of each
arm A_a, B_a, b_a. Here B_a is the first m columns of A_a - I, so that with h = A_a⁻¹x, u = z - B_aᵀh is just h[:m], and

    mean = uᵀβ̂ + xᵀA_a⁻¹b_a,  v = uᵀA₀⁻¹u + xᵀh,  A₀ = I + Σ_a (I - A_a⁻¹)[:m, :m],  b₀ = Σ_a (A_a⁻¹b_a)[:m].

A reward changes A₀ by uuᵀ/(1 + xᵀh), so that A₀⁻¹ and β̂ follow by Sherman and Morrison.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels import linear
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import winners
from armspan.kernels.families.linear import FAMILY as LINEAR
from armspan.kernels.family import Field, Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live, nothing


class HybridState(NamedTuple):
    """What was learnt in each of R runs; V is A_a and theta_hat is A_a⁻¹b_a, an arm's regression on its own.

    V, V_inv : (R, K, d, d). b, theta_hat : (R, K, d). A0_inv : (R, 1, m, m). beta_hat : (R, 1, m).
    """

    V: FloatArray
    V_inv: FloatArray
    b: FloatArray
    theta_hat: FloatArray
    A0_inv: FloatArray
    beta_hat: FloatArray


def fresh(state: Any, numbers: Any) -> None:
    """All matrices are I, and all vectors 0."""
    LINEAR.fresh(state, {"ridge": 1.0})
    state.A0_inv[:] = np.eye(state.A0_inv.shape[2])


@inlined
def scratch_of(K, d):
    """Index (K,), h and g (d,); and for `tidy_run` L, L⁻¹ (d, d), A₀ (1, d, d) and b₀ (1, d), of which m are used."""
    vectors, squares = (np.empty(K), np.empty(d), np.empty(d)), (np.empty((d, d)), np.empty((d, d)))
    return *vectors, *squares, np.empty((1, d, d)), np.empty((1, d))


@inlined
def of_run(state, r):
    return state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r], state.A0_inv[r], state.beta_hat[r]


@part
def score(own, h, a, x, c, d):
    """Mean and variance of an arm: the whole ones, then those of its own regression. Leaves A_a⁻¹x in h (d,)."""
    _, V_inv, _, theta_hat, A0_inv, beta_hat = own
    linear.products(V_inv, a, x, c, h, d)
    own_mean, own_variance = 0.0, 0.0
    for i in range(d):
        own_mean += theta_hat[a, i] * x[c, a, i]
        own_variance += h[i] * x[c, a, i]
    mean, variance = own_mean, own_variance
    for i in range(beta_hat.shape[1]):
        total = 0.0
        for j in range(i):
            total += A0_inv[0, i, j] * h[j]
        variance += h[i] * (2.0 * total + A0_inv[0, i, i] * h[i])
        mean += beta_hat[0, i] * h[i]
    return mean, variance, own_mean, own_variance


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    """The arm with the largest mean + α_t √v: Algorithm 2, lines 12 to 15."""
    index, h, _, _, _, _, _ = scratch
    for k in range(K):
        mean, variance, _, _ = score(own, h, k, block.x, c, d)
        index[k] = mean + knobs[0][i] * math.sqrt(abs(variance))
    return linear.best_of(index, block.unit, block.seed, run, step, K)


@part
def learn(own, scratch, a, x, c, y, d):
    """Algorithm 2, lines 17 to 23: what both parts have learnt after a reward."""
    V, V_inv, b, theta_hat, A0_inv, beta_hat = own
    _, h, g, _, _, _, _ = scratch
    mean, variance, own_mean, own_variance = score(own, h, a, x, c, d)
    m = beta_hat.shape[1]
    for i in range(m):  # g = A₀⁻¹u
        total = A0_inv[0, i, i] * h[i]
        for j in range(i):
            total += A0_inv[0, i, j] * h[j]
            g[j] += A0_inv[0, i, j] * h[i]
        g[i] = total
    linear.refine(A0_inv, beta_hat, 0, y, mean, variance, g, m)
    linear.record(V, b, a, x, c, a, 1.0, y, d)
    linear.refine(V_inv, theta_hat, a, y, own_mean, own_variance, h, d)


@part
def tidy_run(own, scratch, K, d):
    """Each arm's V⁻¹ and regression afresh, then A₀⁻¹ and β̂ from them."""
    V, V_inv, b, theta_hat, A0_inv, beta_hat = own
    _, _, _, L, L_inv, A0, b0 = scratch
    m = beta_hat.shape[1]
    for i in range(m):
        b0[0, i] = 0.0
        for j in range(i + 1):
            A0[0, i, j] = 1.0 if i == j else 0.0
    for a in range(V.shape[0]):
        linear.rebuild_arm(V, V_inv, b, theta_hat, a, L, L_inv, d)
        for i in range(m):
            b0[0, i] += theta_hat[a, i]
            A0[0, i, i] += 1.0
            for j in range(i + 1):
                A0[0, i, j] -= V_inv[a, i, j]
    linear.rebuild_arm(A0, A0_inv, b0, beta_hat, 0, L, L_inv, m)


@kernel
def advance_hybrid(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def rebuild_hybrid(state):
    """`tidy_run` for all. Changes state."""
    R, K, d = state.b.shape
    scratch = scratch_of(K, d)
    for r in range(R):
        tidy_run(of_run(state, r), scratch, K, d)


@kernel
def late_hybrid(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, nothing, learn)


@kernel
def choose_hybrid(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_hybrid(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, nothing, learn)


@kernel
def score_hybrid(block, state, mean, width):
    """The estimate and its width of every arm. Changes both (K,)."""
    own, h = of_run(state, 0), np.empty(block.x.shape[2])
    for k in range(mean.size):
        mean[k], variance, _, _ = score(own, h, k, block.x, 0, block.x.shape[2])
        width[k] = math.sqrt(abs(variance))


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest mean + α_t·width wins."""
    mean, width = np.empty(block.x.shape[1]), np.empty(block.x.shape[1])
    score_hybrid(block, state, mean, width)
    index = mean + knobs[0] * width
    return Seen(mean, width, index, winners(index, block.unit))


FAMILY = derived(
    LINEAR,
    name="hybrid",
    fields=(*LINEAR.fields, Field("A0_inv", "smm"), Field("beta_hat", "sm")),
    scratch=(
        Field("index", "K"),
        Field("h", "d"),
        Field("g", "d"),
        Field("L", "dd"),
        Field("L_inv", "dd"),
        Field("A0", "sdd"),
        Field("b0", "sd"),
    ),
    state=HybridState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_hybrid,
    late=late_hybrid,
    choose_once=choose_hybrid,
    learn_once=learn_hybrid,
    seen=seen,
    tidy=rebuild_hybrid,
    tidy_run=tidy_run,
)
