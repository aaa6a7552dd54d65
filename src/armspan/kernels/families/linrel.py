"""Σxxᵀ and Σyx of each model, and which directions can be trusted: those of eigenvalue 1 and more, as LinRel has it.

Kept are P = Σuuᵀ/λ over the trusted eigenvectors u, N = Σuuᵀ over the others, and θ̂ = Pb. They are computed afresh only
after features with a part in N. Others change trusted directions alone, and those stay trusted: P follows by the
rank-one rule, N stays. Once all directions are trusted, N is 0, and nothing is ever decomposed again but to tidy up.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels import linear
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import winners
from armspan.kernels.eigen import eigen
from armspan.kernels.family import Family, Field, Seen
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live
from armspan.kernels.linear import best_of, products, row_of, score

TRUSTED = 1.0 - 1e-9
"""An eigenvalue of 1, to rounding: whole numbers as features often have it."""
OUTSIDE = 1e-24
"""The part of ‖x‖² up to which features have no part in N, to rounding."""


class LinRelState(NamedTuple):
    """What was learnt in each of R runs; of G and P the lower triangle counts. G = Σxxᵀ, b = Σyx.

    G, P, N : (R, A, d, d). b, theta_hat : (R, A, d). A is K, or 1 where all arms share them.
    """

    G: FloatArray
    P: FloatArray
    N: FloatArray
    b: FloatArray
    theta_hat: FloatArray


FIELDS = (
    Field("G", "Add", sums=True),
    Field("P", "Add"),
    Field("N", "Add"),
    Field("b", "Ad", sums=True),
    Field("theta_hat", "Ad"),
)
SCRATCH = (
    Field("index", "K"),
    Field("mean", "K"),
    Field("variance", "K"),
    Field("rest", "K"),
    Field("z", "d"),
    Field("W", "dd"),
    Field("U", "dd"),
)


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """G = P = 0 and N = I: nothing is trusted."""
    state.N[:] = np.eye(state.b.shape[-1])


@inlined
def scratch_of(K, d):
    """Index (K,), estimate (K,), ‖a‖² (K,) and ‖ṽ‖² (K,) of the present context; z (d,); W and U (d, d) of `eigen`."""
    return np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(d), np.empty((d, d)), np.empty((d, d))


@inlined
def of_run(state, r):
    return state.G[r], state.P[r], state.N[r], state.b[r], state.theta_hat[r]


@part
def measure(P, N, theta_hat, k, x, c, d):
    """The estimate of an arm, ‖a‖² = xᵀPx and ‖ṽ‖² = ‖Nx‖², which is 0 to rounding squared where xᵀNx is not."""
    m, rest = row_of(k, N), 0.0
    for i in range(d):
        part = 0.0
        for j in range(d):
            part += N[m, i, j] * x[c, k, j]
        rest += part * part
    mean, variance = score(P, theta_hat, k, x, c, d)
    return mean, variance, rest


@part
def width_of(scale, variance, rest):
    """‖a‖√log(2TK/δ) + ‖ṽ‖, where scale is the root."""
    return scale * math.sqrt(abs(variance)) + math.sqrt(rest)


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    _, P, N, _, theta_hat = own
    index, mean, variance, rest, _, _, _ = scratch
    for k in range(K):
        mean[k], variance[k], rest[k] = measure(P, N, theta_hat, k, block.x, c, d)
        index[k] = mean[k] + width_of(knobs[0][i], variance[k], rest[k])
    return best_of(index, block.unit, block.seed, run, step, K)


@kernel
def split(G, P, N, b, theta_hat, m, W, U, d):
    """P, N and θ̂ of model m afresh. Changes these; W and U are scratch."""
    eigen(G, m, W, U, d)
    for i in range(d):
        theta_hat[m, i] = 0.0
        for j in range(d):
            P[m, i, j] = N[m, i, j] = 0.0
    for e in range(d):
        trusted = W[e, e] >= TRUSTED
        inside, beyond = 1.0 / W[e, e] if trusted else 0.0, 0.0 if trusted else 1.0
        along = 0.0
        for i in range(d):
            along += U[i, e] * b[m, i]
        for i in range(d):
            theta_hat[m, i] += inside * along * U[i, e]
            for j in range(d):
                P[m, i, j] += inside * U[i, e] * U[j, e]
                N[m, i, j] += beyond * U[i, e] * U[j, e]


@part
def learn(own, scratch, a, x, c, y, d):
    G, P, N, b, theta_hat = own
    _, mean, variance, rest, z, W, U = scratch
    m, length = row_of(a, G), 0.0
    for i in range(d):
        length += x[c, a, i] * x[c, a, i]
    linear.record(G, b, m, x, c, a, 1.0, y, d)
    if rest[a] > OUTSIDE * length:
        split(G, P, N, b, theta_hat, m, W, U, d)
    else:
        products(P, a, x, c, z, d)
        linear.refine(P, theta_hat, m, y, mean[a], variance[a], z, d)


@part
def tidy_run(own, scratch, K, d):
    """P, N and θ̂ of every model afresh."""
    G, P, N, b, theta_hat = own
    _, _, _, _, _, W, U = scratch
    for m in range(G.shape[0]):
        split(G, P, N, b, theta_hat, m, W, U, d)


@kernel
def rebuild(state):
    """`tidy_run` for all. Changes state."""
    R, A, d = state.b.shape
    scratch = scratch_of(A, d)
    for r in range(R):
        tidy_run(of_run(state, r), scratch, A, d)


@kernel
def advance_linrel(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@part
def recall(own, scratch, a, x, c, d):
    scratch[1][a], scratch[2][a], scratch[3][a] = measure(own[1], own[2], own[4], a, x, c, d)


@kernel
def late_linrel(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, recall, learn)


@kernel
def choose_linrel(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_linrel(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, recall, learn)


@kernel
def score_linrel(block, state, scale, mean, width):
    """The estimate and its width of every arm. Changes both (K,)."""
    _, P, N, _, theta_hat = of_run(state, 0)
    for k in range(mean.size):
        mean[k], variance, rest = measure(P, N, theta_hat, k, block.x, 0, block.x.shape[2])
        width[k] = width_of(scale, variance, rest)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest mean + width wins."""
    mean, width = np.empty(block.x.shape[1]), np.empty(block.x.shape[1])
    score_linrel(block, state, knobs[0], mean, width)
    return Seen(mean, width, mean + width, winners(mean + width, block.unit))


FAMILY = Family(
    name="linrel",
    fields=FIELDS,
    scratch=SCRATCH,
    state=LinRelState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_linrel,
    late=late_linrel,
    choose_once=choose_linrel,
    learn_once=learn_linrel,
    seen=seen,
    tidy=rebuild,
    tidy_run=tidy_run,
    every=linear.REBUILD,
)
