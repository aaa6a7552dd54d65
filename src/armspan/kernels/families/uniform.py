"""Every arm with the same probability; what is known of them as in `arms`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armspan.kernels._compile import kernel, part
from armspan.kernels.block import Block
from armspan.kernels.families import arms
from armspan.kernels.families.arms import learn, of_run, scratch_of
from armspan.kernels.family import Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, live, nothing
from armspan.kernels.philox import real
from armspan.kernels.sampling import uniform_of


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    a = np.int64(real(K) * uniform_of(block.seed, run, step))
    return a if a < K else K - 1  # in single precision the number may be 1


@kernel
def advance_uniform(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of arms."""
    live(block, knobs, marks, state, regret, curve, tally, 0, scratch_of, of_run, choose, learn)


@kernel
def late_uniform(block, knobs, marks, state, regret, curve, tally, post):
    live_late(block, knobs, marks, state, regret, curve, tally, post, 0, scratch_of, of_run, choose, nothing, learn)


@kernel
def choose_uniform(block, knobs, state):
    return choose_once(block, knobs, state, 0, scratch_of, of_run, choose)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """Mean rewards, which do not matter."""
    mean, width = arms.means(state)
    return Seen(mean, width, mean, np.full(len(mean), 1 / len(mean)))


FAMILY = derived(
    arms.FAMILY,
    name="uniform",
    choose=choose,
    advance=lambda K, d: advance_uniform,
    late=late_uniform,
    choose_once=choose_uniform,
    seen=seen,
    knobs=(),
)
