"""Linear knowledge of each arm as in `linear`, used by sampling: the largest θ̃ᵀx wins, with θ̃ ~ N(θ̂, v_t²V⁻¹)."""

from collections.abc import Sequence
from dataclasses import replace

from armspan._typing import FloatArray
from armspan.kernels._compile import inlined, kernel
from armspan.kernels.families import linear
from armspan.kernels.families.linear import choose_by, learn, learn_two, of_run, scratch_of
from armspan.kernels.life import choose_once, live
from armspan.kernels.normals import largest_of_normals
from armspan.kernels.sampling import choose as sampling


@inlined
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    return choose_by(sampling, own, scratch, block, c, knobs[0][i], run, step, K, d)


@kernel
def advance_sampled(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def advance_sampled_2(block, knobs, marks, state, regret, curve, tally):
    """`live` with its loops unrolled for d = 2."""
    live(block, knobs, marks, state, regret, curve, tally, 2, scratch_of, of_run, choose, learn_two)


@kernel
def choose_sampled(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


def shares(mean: FloatArray, width: FloatArray, knobs: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """The largest of independent N(mean, (v_t·width)²) wins; the index is the mean, which each is drawn around."""
    return largest_of_normals(mean, knobs[0] * width), mean


FAMILY = replace(
    linear.FAMILY,
    name="sampled",
    advance=lambda K, d: advance_sampled_2 if d == 2 else advance_sampled,
    choose_once=choose_sampled,
    shares=shares,
    on_gpu="sampled",
    explains=False,
)
