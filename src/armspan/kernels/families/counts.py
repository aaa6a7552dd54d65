"""Pulls and reward sums of every context and arm: UCB for each context on its own."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.kernels import counts
from armspan.kernels import lanes_of_counts as lanes
from armspan.kernels._compile import exact_kernel, inlined, kernel
from armspan.kernels.block import Block
from armspan.kernels.choice import winners
from armspan.kernels.family import Family, Field, Seen
from armspan.kernels.grouped import Grouped
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live, nothing


class CountState(NamedTuple):
    """What was learnt in each of R runs: pulls and reward_sums (R, n, K)."""

    pulls: IntArray
    reward_sums: FloatArray


@inlined
def scratch_of(K, d):
    """Index (K,) of the present context."""
    return (np.empty(K),)


@inlined
def of_run(state, r):
    return state.pulls[r], state.reward_sums[r]


@inlined
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    return counts.choose(own[0], own[1], c, knobs[0][i], scratch[0], block.unit, block.seed, run, step, K)


@inlined
def learn(own, scratch, a, x, c, y, d):
    pulls, reward_sums = own
    pulls[c, a] += 1
    reward_sums[c, a] += y


@exact_kernel
def advance_counts(block, knobs, marks, state, regret, curve, tally):
    """`live` for any numbers of arms and contexts; in strict arithmetic, as in lanes."""
    live(block, knobs, marks, state, regret, curve, tally, 0, scratch_of, of_run, choose, learn)


def advance(K: int, d: int) -> Callable[..., None]:
    """The fastest kernel for so many arms."""
    if K > lanes.MOST_ARMS:
        return advance_counts
    return Grouped(advance_counts, lanes.advance_counts_in_lanes, lanes.LEAST, lanes.STEPS_PER_CONTEXT)


@kernel
def late_counts(block, knobs, marks, state, regret, curve, tally, post):
    live_late(block, knobs, marks, state, regret, curve, tally, post, 0, scratch_of, of_run, choose, nothing, learn)


@kernel
def choose_counts(block, knobs, state):
    return choose_once(block, knobs, state, 0, scratch_of, of_run, choose)


@kernel
def score_counts(block, state, mean, width):
    """The mean reward and 1/√pulls of every arm in the block's context; 0 and UNTRIED without pulls. Changes both."""
    c = block.contexts[0, 0]
    for k in range(mean.size):
        N = state.pulls[0, c, k]
        mean[k] = state.reward_sums[0, c, k] / N if N > 0 else 0.0
        width[k] = 1.0 / math.sqrt(N) if N > 0 else counts.UNTRIED


@kernel
def learn_counts(block, state, a, y):
    learn_once(block, state, a, y, 0, scratch_of, of_run, nothing, learn)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest mean + α_t/√pulls wins; arms without pulls come first."""
    mean, width = np.empty(block.means.shape[1]), np.empty(block.means.shape[1])
    score_counts(block, state, mean, width)
    index = np.where(width == counts.UNTRIED, counts.UNTRIED, mean + knobs[0] * np.minimum(width, 1.0))
    return Seen(mean, width, index, winners(index, block.unit))


FAMILY = Family(
    name="counts",
    fields=(Field("pulls", "nK", sums=True, dtype=np.int64), Field("reward_sums", "nK", sums=True)),
    scratch=(Field("index", "K"),),
    state=CountState,
    fresh=lambda state, numbers: None,
    choose=choose,
    learn=learn,
    advance=advance,
    late=late_counts,
    choose_once=choose_counts,
    learn_once=learn_counts,
    seen=seen,
)
