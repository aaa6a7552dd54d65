"""One arm, named by a knob, whatever comes: the yardstick for policies without contexts. It has no agent."""

import numpy as np

from armspan.kernels._compile import kernel, part
from armspan.kernels.families import arms
from armspan.kernels.families.arms import learn, of_run, scratch_of
from armspan.kernels.family import derived, no_agent
from armspan.kernels.life import live


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    return np.int64(knobs[0][i])


@kernel
def advance_fixed(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of arms."""
    live(block, knobs, marks, state, regret, curve, tally, 0, scratch_of, of_run, choose, learn)


FAMILY = derived(
    arms.FAMILY,
    name="fixed",
    choose=choose,
    advance=lambda K, d: advance_fixed,
    choose_once=no_agent,
    seen=no_agent,
    knobs=("arm",),
)
