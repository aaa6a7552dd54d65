"""Linear knowledge with OFUL's radius, in which noise and parameters are not told but estimated, with a margin.

R̂² = S/q, where S is that of `practical` and q is what a χ² variable with as many degrees of freedom as rewards are left
over would exceed in all but one of twenty cases. ŝ of a model is the longest estimate of all, and R̂√tr V⁻¹ for what
is not known of its own. While too few rewards are left over, the arm that is known least is pulled. Where R is told, it
is taken for R̂.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import winners
from armspan.kernels.families import linear, oful
from armspan.kernels.families.linear import estimates, scratch_of
from armspan.kernels.families.practical import ERRORS, RIDGE, SUMS, left_over, put_together, take_down
from armspan.kernels.family import Field, Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live
from armspan.kernels.linear import best_of, row_of, score

SURE = 1.645
"""The normal quantile of one in twenty."""


class EstimatedState(NamedTuple):
    """What was learnt in each of R runs: that of `OfulState`, and what `PracticalState` has of the noise."""

    V: FloatArray
    V_inv: FloatArray
    b: FloatArray
    theta_hat: FloatArray
    log_det: FloatArray
    noise: FloatArray
    explained: FloatArray
    parts: FloatArray


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """As of `oful`, and λ."""
    oful.fresh(state, numbers)
    state.noise[:, RIDGE] = numbers["ridge"]


@inlined
def of_run(state, r):
    known = state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r], state.log_det[r]
    return *known, state.noise[r], state.explained[r], state.parts[r]


@part
def noise_bound(V_inv, noise, told, d):
    """R as told, or else R̂ by Wilson's and Hilferty's approximation of χ²; -1 while that says nothing."""
    left = left_over(V_inv, noise, d)
    if told >= 0.0:
        return told
    if left <= 0.0:
        return -1.0
    root = 1.0 - 2.0 / (9.0 * left) - SURE * math.sqrt(2.0 / (9.0 * left))
    return math.sqrt(noise[ERRORS] / (left * root**3)) if root > 0.0 else -1.0


@part
def longest(theta_hat, d):
    """The largest ‖θ̂‖."""
    most = 0.0
    for m in range(theta_hat.shape[0]):
        square = 0.0
        for i in range(d):
            square += theta_hat[m, i] ** 2
        most = max(most, square)
    return math.sqrt(most)


@part
def radius_of(V_inv, log_det, m, R, length, ridge, doubt, d):
    """√β of model m, with R̂ and ŝ for R and s; where R̂ is not known, as large as can be."""
    if R < 0.0:
        return LARGE
    trace = 0.0
    for i in range(d):
        trace += V_inv[m, i, i]
    s = length + R * math.sqrt(trace)
    return R * math.sqrt(abs(doubt + log_det[m])) + math.sqrt(ridge) * s


LARGE = 1e9
"""A radius beside which estimates do not count."""


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    _, V_inv, _, theta_hat, log_det, noise, _, _ = own
    index, mean, variance, _, _, _ = scratch
    R, length = noise_bound(V_inv, noise, knobs[1][i], d), longest(theta_hat, d)
    for k in range(K):
        mean[k], variance[k] = score(V_inv, theta_hat, k, block.x, c, d)
        radius = radius_of(V_inv, log_det, row_of(k, log_det), R, length, noise[RIDGE], knobs[0][i], d)
        index[k] = (mean[k] if R >= 0.0 else 0.0) + radius * math.sqrt(abs(variance[k]))
    return best_of(index, block.unit, block.seed, run, step, K)


@part
def learn(own, scratch, a, x, c, y, d):
    take_down(own[5], own[6], own[7], scratch, a, y)
    oful.learn(own[:5], scratch, a, x, c, y, d)


@part
def recall(own, scratch, a, x, c, d):
    oful.recall(own[:5], scratch, a, x, c, d)


@part
def tidy_run(own, scratch, K, d):
    oful.tidy_run(own[:5], scratch, K, d)
    put_together(own[2], own[3], own[5], own[6], own[7], d)


@kernel
def rebuild(state):
    """`tidy_run` for all. Changes state."""
    R, A, d = state.b.shape
    scratch = scratch_of(A, d)
    for r in range(R):
        tidy_run(of_run(state, r), scratch, A, d)


@kernel
def advance_estimated(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def late_estimated(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, recall, learn)


@kernel
def choose_estimated(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_estimated(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, recall, learn)


@kernel
def radii(state, doubt, told):
    """√β of every model of the first run, and whether R̂ is known."""
    _, V_inv, _, theta_hat, log_det, noise, _, _ = of_run(state, 0)
    A, d = theta_hat.shape
    R, length, found = noise_bound(V_inv, noise, told, d), longest(theta_hat, d), np.empty(A)
    for m in range(A):
        found[m] = radius_of(V_inv, log_det, m, R, length, noise[RIDGE], doubt, d)
    return found, R >= 0.0


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest mean + √β·width wins."""
    mean, width = estimates(state, block)
    radius, known = radii(state, knobs[0], knobs[1])
    index = (mean if known else 0.0) + radius * width
    return Seen(mean, width, index, winners(index, block.unit))


FAMILY = derived(
    linear.FAMILY,
    name="estimated",
    fields=(*linear.FIELDS, Field("log_det", "A"), *SUMS),
    state=EstimatedState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_estimated,
    late=late_estimated,
    choose_once=linear.for_many_arms(choose_estimated, seen),
    learn_once=learn_estimated,
    seen=seen,
    knobs=("doubt", "noise"),
    tidy=rebuild,
    tidy_run=tidy_run,
)
