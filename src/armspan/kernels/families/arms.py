"""Pulls and reward sums of every arm, whatever the context: UCB1, and those that need to know no more."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import winners
from armspan.kernels.counts import UNTRIED
from armspan.kernels.family import Family, Field, Seen
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live, nothing
from armspan.kernels.linear import best_of
from armspan.kernels.philox import real


class ArmState(NamedTuple):
    """What was learnt in each of R runs: pulls and reward_sums (R, K)."""

    pulls: IntArray
    reward_sums: FloatArray


@inlined
def scratch_of(K, d):
    """Index (K,)."""
    return (np.empty(K),)


@inlined
def of_run(state, r):
    return state.pulls[r], state.reward_sums[r]


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    """The arm with the largest mean reward + α_t/√pulls; those without pulls come first."""
    pulls, reward_sums = own
    index = scratch[0]
    for k in range(K):
        N = real(pulls[k])
        index[k] = reward_sums[k] / N + knobs[0][i] / math.sqrt(N) if N > 0.0 else UNTRIED
    return best_of(index, block.unit, block.seed, run, step, K)


@part
def learn(own, scratch, a, x, c, y, d):
    pulls, reward_sums = own
    pulls[a] += 1
    reward_sums[a] += y


@kernel
def advance_arms(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of arms."""
    live(block, knobs, marks, state, regret, curve, tally, 0, scratch_of, of_run, choose, learn)


@kernel
def late_arms(block, knobs, marks, state, regret, curve, tally, post):
    live_late(block, knobs, marks, state, regret, curve, tally, post, 0, scratch_of, of_run, choose, nothing, learn)


@kernel
def choose_arms(block, knobs, state):
    return choose_once(block, knobs, state, 0, scratch_of, of_run, choose)


@kernel
def learn_arms(block, state, a, y):
    learn_once(block, state, a, y, 0, scratch_of, of_run, nothing, learn)


def means(state: Any) -> tuple[FloatArray, FloatArray]:
    """The mean reward (K,) of every arm, and 1/√pulls (K,); 0 and UNTRIED without pulls."""
    pulls, tried = np.maximum(state.pulls[0], 1), state.pulls[0] > 0
    return state.reward_sums[0] / pulls, np.where(tried, 1.0 / np.sqrt(pulls), UNTRIED)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest mean + α_t/√pulls wins; arms without pulls come first."""
    mean, width = means(state)
    index = np.where(width == UNTRIED, UNTRIED, mean + knobs[0] * np.minimum(width, 1.0))
    return Seen(mean, width, index, winners(index, block.unit))


FAMILY = Family(
    name="arms",
    fields=(Field("pulls", "K", sums=True, dtype=np.int64), Field("reward_sums", "K", sums=True)),
    scratch=(Field("index", "K"),),
    state=ArmState,
    fresh=lambda state, numbers: None,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_arms,
    late=late_arms,
    choose_once=choose_arms,
    learn_once=learn_arms,
    seen=seen,
)
