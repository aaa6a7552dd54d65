"""Linear knowledge of each arm as in `linear`, used by sampling: the largest θ̃ᵀx wins, with θ̃ ~ N(θ̂, v_t²V⁻¹)."""

from dataclasses import replace

from armspan.kernels import sampling
from armspan.kernels._compile import inlined, kernel
from armspan.kernels.families import linear
from armspan.kernels.families.linear import learn, learn_two, of_run, scratch_of
from armspan.kernels.life import live


@inlined
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    _, V_inv, _, theta_hat = own
    index, mean, variance, _ = scratch
    return sampling.choose(
        V_inv, theta_hat, block.x, c, knobs[0][i], index, mean, variance, block.unit, block.seed, run, step, K, d
    )


@kernel
def advance_sampled(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def advance_sampled_2(block, knobs, marks, state, regret, curve, tally):
    """`live` with its loops unrolled for d = 2."""
    live(block, knobs, marks, state, regret, curve, tally, 2, scratch_of, of_run, choose, learn_two)


FAMILY = replace(
    linear.FAMILY,
    name="sampled",
    advance=lambda K, d: advance_sampled_2 if d == 2 else advance_sampled,
    on_gpu="sampled",
    explains=False,
)
