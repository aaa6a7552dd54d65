"""The best arm of every context, read off the truth: the yardstick for all policies. It has no agent."""

from armspan.kernels._compile import kernel, part
from armspan.kernels.families import arms
from armspan.kernels.families.arms import learn, of_run, scratch_of
from armspan.kernels.family import derived, no_agent
from armspan.kernels.life import live


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    a = 0
    for k in range(1, K):
        a = k if block.means[c, k] > block.means[c, a] else a
    return a


@kernel
def advance_oracle(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of arms."""
    live(block, knobs, marks, state, regret, curve, tally, 0, scratch_of, of_run, choose, learn)


FAMILY = derived(
    arms.FAMILY,
    name="oracle",
    choose=choose,
    advance=lambda K, d: advance_oracle,
    choose_once=no_agent,
    seen=no_agent,
    knobs=(),
    on_gpu=False,  # the generic kernel does not tell a policy the truth
)
