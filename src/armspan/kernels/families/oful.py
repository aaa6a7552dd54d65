"""Linear knowledge as in `linear`, and log det V of each model: the radius of optimism comes from what was seen."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import winners
from armspan.kernels.families import linear
from armspan.kernels.families.linear import estimates, scratch_of
from armspan.kernels.family import Field, Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live
from armspan.kernels.linear import best_of, cholesky, row_of, score


class OfulState(NamedTuple):
    """`LinearState`, and log_det : (R, A), the logarithm of det V."""

    V: FloatArray
    V_inv: FloatArray
    b: FloatArray
    theta_hat: FloatArray
    log_det: FloatArray


def fresh(state: Any, numbers: Any) -> None:
    """As of `linear`, and log det V = d log ridge."""
    linear.fresh(state, numbers)
    state.log_det[:] = state.b.shape[2] * math.log(numbers["ridge"])


@inlined
def of_run(state, r):
    return state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r], state.log_det[r]


@part
def radius_of(log_det, noise, doubt, bias):
    """√β = R√(2 log(√(det V / λᵈ) / δ)) + √λ·s, where doubt = 2 log(1/δ) - d log λ and bias = √λ·s."""
    return noise * math.sqrt(abs(doubt + log_det)) + bias


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    _, V_inv, _, theta_hat, log_det = own
    index, mean, variance, _, _, _ = scratch
    noise, doubt, bias = knobs[0][i], knobs[1][i], knobs[2][i]
    for k in range(K):
        mean[k], variance[k] = score(V_inv, theta_hat, k, block.x, c, d)
        radius = radius_of(log_det[row_of(k, log_det)], noise, doubt, bias)
        index[k] = mean[k] + radius * math.sqrt(abs(variance[k]))
    return best_of(index, block.unit, block.seed, run, step, K)


@part
def grow(own, scratch, a):
    """Log det V after a reward of arm a: det(V + xxᵀ) = det V · (1 + xᵀV⁻¹x), with V⁻¹ before it. Changes log_det."""
    log_det, variance = own[4], scratch[2]
    log_det[row_of(a, log_det)] += math.log1p(abs(variance[a]))


@part
def learn(own, scratch, a, x, c, y, d):
    grow(own, scratch, a)
    linear.learn(own[:4], scratch, a, x, c, y, d)


@part
def recall(own, scratch, a, x, c, d):
    linear.recall(own[:4], scratch, a, x, c, d)


@part
def tidy_run(own, scratch, K, d):
    """V⁻¹, θ̂ and log det V of every model afresh; one whose V is singular to rounding keeps what it has."""
    V, _, _, _, log_det = own
    _, _, _, _, L, _ = scratch
    linear.tidy_run(own[:4], scratch, K, d)
    for a in range(V.shape[0]):
        if cholesky(V, a, L, d):
            log_det[a] = 0.0
            for i in range(d):
                log_det[a] += 2.0 * math.log(L[i, i])


@kernel
def rebuild(state):
    """`tidy_run` for all. Changes state."""
    R, A, d = state.b.shape
    scratch = scratch_of(A, d)
    for r in range(R):
        tidy_run(of_run(state, r), scratch, A, d)


@kernel
def advance_oful(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def late_oful(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, recall, learn)


@kernel
def choose_oful(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_oful(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, recall, learn)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest mean + √β·width wins."""
    mean, width = estimates(state, block)
    noise, doubt, bias = knobs
    radius = noise * np.sqrt(np.abs(doubt + state.log_det[0])) + bias
    index = mean + radius * width
    return Seen(mean, width, index, winners(index, block.unit))


FAMILY = derived(
    linear.FAMILY,
    name="oful",
    fields=(*linear.FIELDS, Field("log_det", "A")),
    state=OfulState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_oful,
    late=late_oful,
    choose_once=linear.for_many_arms(choose_oful, seen),
    learn_once=learn_oful,
    seen=seen,
    knobs=("noise", "doubt", "bias"),
    tidy=rebuild,
    tidy_run=tidy_run,
)
