"""Linear knowledge of each arm as in `linear`, used by chance: probabilities follow from the estimates by a rule.

The leading arm leaves something to the others, by how far they are behind: ε-greedy a fixed share, softmax by
e^(-gap/T), SquareCB by 1/(K + γ·gap). Arms that are tied for the lead up to rounding share what one would have.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import is_tie
from armspan.kernels.families import linear
from armspan.kernels.families.linear import estimates, learn, learn_two, of_run, recall, scratch_of
from armspan.kernels.family import Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, live
from armspan.kernels.linear import row_of, score
from armspan.kernels.philox import real
from armspan.kernels.sampling import drawn, uniform_of

EPSILON_GREEDY, SOFTMAX, INVERSE_GAP = 0.0, 1.0, 2.0
"""The rules, as a knob says them."""
LOWEST = -math.inf
LEADS = -1.0
"""Stands in p for an arm that leads, until it is known what the others get."""


@inlined
def behind(rule, amount, gap, K):
    """The share of an arm so far behind; of softmax before it is normalised. amount : ε, 1/T or γ."""
    if rule == EPSILON_GREEDY:
        return amount / K
    if rule == SOFTMAX:
        return math.exp(-amount * gap)
    return 1.0 / (K + amount * gap)


@inlined
def share_out(rule, amount, p, unit, K):
    """From estimates to probabilities, both in p (K,), which it changes."""
    best, tied, total = LOWEST, 0, 0.0
    for k in range(K):
        best = max(best, p[k])
    for k in range(K):
        if is_tie(best, p[k], unit):
            p[k] = LEADS
            tied += 1
        else:
            p[k] = behind(rule, amount, best - p[k], real(K))
            total += p[k]
    scale = 1.0 / (real(tied) + total) if rule == SOFTMAX else 1.0
    lead = scale if rule == SOFTMAX else max(1.0 - total, 0.0) / real(tied)
    for k in range(K):
        p[k] = lead if p[k] == LEADS else scale * p[k]


@part
def clipped(theta_hat, x, c, low, high, p, K, d):
    """θ̂ᵀx of every arm, kept from low to high. Changes p (K,)."""
    for k in range(K):
        m, mean = row_of(k, theta_hat), 0.0
        for i in range(d):
            mean += theta_hat[m, i] * x[c, k, i]
        p[k] = min(max(mean, low), high)


@part
def chances(own, scratch, block, c, knobs, i, K, d):
    """Every arm's probability. Changes the first of scratch (K,), where it is."""
    amount, rule, low, high = knobs
    clipped(own[3], block.x, c, low[i], high[i], scratch[0], K, d)
    share_out(rule[i], amount[i], scratch[0], block.unit, K)


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    chances(own, scratch, block, c, knobs, i, K, d)
    a = drawn(scratch[0], uniform_of(block.seed, run, step), K)
    scratch[1][a], scratch[2][a] = score(own[1], own[3], a, block.x, c, d)
    return a


@inlined
def shares_once(block, knobs, state, share, scratch_of, of_run, chances):
    """Every arm's probability in the one step of a block of one run, by a family's `chances`. Changes share (K,)."""
    K, d = share.size, block.x.shape[2]
    scratch = scratch_of(K, d)
    chances(of_run(state, 0), scratch, block, 0, knobs, 0, K, d)
    for k in range(K):
        share[k] = scratch[0][k]


@kernel
def advance_mixed(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def advance_mixed_2(block, knobs, marks, state, regret, curve, tally):
    """`live` with its loops unrolled for d = 2."""
    live(block, knobs, marks, state, regret, curve, tally, 2, scratch_of, of_run, choose, learn_two)


@kernel
def late_mixed(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, recall, learn)


@kernel
def choose_mixed(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def shares_mixed(block, knobs, state, share):
    shares_once(block, knobs, state, share, scratch_of, of_run, chances)


def seen_by(shares: Any, state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """Estimates and their widths, and the probabilities by a kernel such as `shares_mixed`; the index is the mean."""
    mean, width = estimates(state, block)
    share: FloatArray = np.empty(len(mean))
    shares(block, tuple(np.array([knob]) for knob in knobs), state, share)
    return Seen(mean, width, mean, share)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """Estimates and probabilities; the index is the mean."""
    return seen_by(shares_mixed, state, block, knobs)


FAMILY = derived(
    linear.FAMILY,
    name="mixed",
    choose=choose,
    advance=lambda K, d: advance_mixed_2 if d == 2 else advance_mixed,
    late=late_mixed,
    choose_once=choose_mixed,
    seen=seen,
    knobs=("alpha", "rule", "low", "high"),
)
