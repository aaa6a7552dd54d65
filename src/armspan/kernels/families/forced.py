"""Linear knowledge as in `linear`, used greedily: the largest θ̂ᵀx wins, but for steps in which an arm is forced.

The knob `forced` says for every step which arm that is, ANY for one at random, FREE for none.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels import linear as one
from armspan.kernels._compile import kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import winners
from armspan.kernels.families import linear
from armspan.kernels.families.linear import estimates, of_run, scratch_of
from armspan.kernels.family import Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live, nothing
from armspan.kernels.linear import best_of, row_of, score
from armspan.kernels.sampling import uniform_of

FREE, ANY = -1, -2
"""Instead of an arm's number: no arm is forced, or one is drawn, each as likely."""


@part
def forced_arm(knob, seed, run, step, K):
    """The arm that a step must pull, or FREE; an arm that is no more cannot be forced."""
    a = int(knob)
    if a == ANY:
        a = int(uniform_of(seed, run, step) * K)
    return a if a < K else FREE


@part
def predicted(theta_hat, a, x, c, d):
    """θ̂ᵀx of one arm."""
    m, total = row_of(a, theta_hat), 0.0
    for i in range(d):
        total += theta_hat[m, i] * x[c, a, i]
    return total


@part
def greedy(theta_hat, index, x, c, unit, seed, run, step, K, d):
    """The arm with the largest θ̂ᵀx. Changes index (K,)."""
    for k in range(K):
        index[k] = predicted(theta_hat, k, x, c, d)
    return best_of(index, unit, seed, run, step, K)


@part
def pull(forced, theta_hat, index, x, c, unit, seed, run, step, K, d):
    """The forced arm, or else greedy's. Changes index (K,)."""
    a = forced_arm(forced, seed, run, step, K)
    return a if a != FREE else greedy(theta_hat, index, x, c, unit, seed, run, step, K, d)


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    return pull(knobs[0][i], own[3], scratch[0], block.x, c, block.unit, block.seed, run, step, K, d)


@part
def learn_row(V, V_inv, b, theta_hat, a, x, c, y, z, d):
    """As `linear` learns, but only the arm that was pulled is scored. Changes the first four; z (d,) is scratch."""
    mean, variance = score(V_inv, theta_hat, a, x, c, d)
    one.learn(V, V_inv, b, theta_hat, a, x, c, y, mean, variance, z, d)


@part
def learn(own, scratch, a, x, c, y, d):
    V, V_inv, b, theta_hat = own
    learn_row(V, V_inv, b, theta_hat, a, x, c, y, scratch[3], d)


@kernel
def advance_forced(block, knobs, marks, state, regret, curve, tally):
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def late_forced(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, nothing, learn)


@kernel
def choose_forced(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_forced(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, nothing, learn)


def shares(forced: float, index: FloatArray, unit: float) -> FloatArray:
    """The probability (K,) of each arm, given this step's knob and the index (K,) that decides where it is FREE."""
    if forced == ANY:
        return np.full(len(index), 1 / len(index))
    return np.eye(len(index))[int(forced)] if 0 <= forced < len(index) else winners(index, unit)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest mean wins, where no arm is forced."""
    mean, width = estimates(state, block)
    return Seen(mean, width, mean, shares(knobs[0], mean, block.unit))


FAMILY = derived(
    linear.FAMILY,
    name="forced",
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_forced,
    late=late_forced,
    choose_once=choose_forced,
    learn_once=learn_forced,
    seen=seen,
    knobs=("forced",),
)
