"""Pulls and reward sums of every context and arm: UCB for each context on its own."""

from typing import NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.kernels import counts
from armspan.kernels._compile import inlined, kernel
from armspan.kernels.family import Family, Field
from armspan.kernels.life import live


class CountState(NamedTuple):
    """What was learnt in each of R runs: pulls and reward_sums (R, n, K)."""

    pulls: IntArray
    reward_sums: FloatArray


@inlined
def scratch_of(K, d):
    return np.empty(K)


@inlined
def of_run(state, r):
    return state.pulls[r], state.reward_sums[r]


@inlined
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    return counts.choose(own[0], own[1], c, knobs[0][i], scratch, block.unit, block.seed, run, step, K)


@inlined
def learn(own, scratch, a, x, c, y, d):
    pulls, reward_sums = own
    pulls[c, a] += 1
    reward_sums[c, a] += y


@kernel
def advance_counts(block, knobs, marks, state, regret, curve, tally):
    """`live` for any numbers of arms and contexts."""
    live(block, knobs, marks, state, regret, curve, tally, 0, scratch_of, of_run, choose, learn)


FAMILY = Family(
    name="counts",
    fields=(Field("pulls", "nK", sums=True, dtype=np.int64), Field("reward_sums", "nK", sums=True)),
    state=CountState,
    fresh=lambda state, numbers: None,
    advance=lambda K, d: advance_counts,
    on_gpu="counts",
)
