"""ε-greedy on OFUL's knowledge, but where a likelihood ratio is sure of the leading arm: then that arm is pulled.

Arm â leads by Δ̂_a, and min_{a≠â} Δ̂_a²/(2‖x_â - x_a‖²_{V⁻¹}) > β is the test (Tirinzoni et al. 2022). Arms with a θ of
their own are one model in blocks, where ‖x_â - x_a‖² = w_â² + w_a²; of two radii √β the larger counts.
"""

from collections.abc import Sequence
from typing import Any

from armspan.kernels._compile import kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import contend, is_tie
from armspan.kernels.families import oful
from armspan.kernels.families.linear import scratch_of
from armspan.kernels.families.mixed import EPSILON_GREEDY, seen_by, share_out, shares_once
from armspan.kernels.families.oful import learn, of_run, radius_of, recall
from armspan.kernels.family import Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, live
from armspan.kernels.linear import LOWEST, row_of, score, squared_distance
from armspan.kernels.sampling import drawn, uniform_of


@part
def is_sure(own, scratch, block, c, knobs, i, K, d):
    """Whether the leading arm passes the test, by the means and variances that scratch has; tied arms never do."""
    _, V_inv, _, _, log_det = own
    _, mean, variance, _, _, _ = scratch
    _, noise, doubt, bias = knobs
    best, second, lead = LOWEST, LOWEST, 0
    for k in range(K):
        best, second, lead = contend(mean[k], k, best, second, lead)
    sure = not is_tie(best, second, block.unit)
    own_radius = radius_of(log_det[row_of(lead, log_det)], noise[i], doubt[i], bias[i])
    for k in range(K):
        if k != lead:
            radius = max(own_radius, radius_of(log_det[row_of(k, log_det)], noise[i], doubt[i], bias[i]))
            apart = abs(variance[k]) + abs(variance[lead])
            if V_inv.shape[0] < K:
                apart = squared_distance(V_inv, block.x, c, k, lead, d)
            gap = best - mean[k]
            sure = sure and not is_tie(gap * gap, 2.0 * radius * radius * apart, 0.0)
    return sure


@part
def chances(own, scratch, block, c, knobs, i, K, d):
    """Every arm's probability. Changes scratch; it is in the first (K,)."""
    _, V_inv, _, theta_hat, _ = own
    p, mean, variance, _, _, _ = scratch
    for k in range(K):
        mean[k], variance[k] = score(V_inv, theta_hat, k, block.x, c, d)
        p[k] = mean[k]
    epsilon = 0.0 if is_sure(own, scratch, block, c, knobs, i, K, d) else knobs[0][i]
    share_out(EPSILON_GREEDY, epsilon, p, block.unit, K)


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    chances(own, scratch, block, c, knobs, i, K, d)
    return drawn(scratch[0], uniform_of(block.seed, run, step), K)


@kernel
def advance_sure(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def late_sure(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, recall, learn)


@kernel
def choose_sure(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def shares_sure(block, knobs, state, share):
    shares_once(block, knobs, state, share, scratch_of, of_run, chances)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """Estimates and probabilities; the index is the mean."""
    return seen_by(shares_sure, state, block, knobs)


FAMILY = derived(
    oful.FAMILY,
    name="sure",
    choose=choose,
    advance=lambda K, d: advance_sure,
    late=late_sure,
    choose_once=choose_sure,
    seen=seen,
    knobs=("alpha", "noise", "doubt", "bias"),
)
