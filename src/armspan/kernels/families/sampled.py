"""Linear knowledge of each arm as in `linear`, used by sampling: the largest θ̃ᵀx wins, with θ̃ ~ N(θ̂, v_t²V⁻¹)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels._compile import kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import ROUNDING, winners
from armspan.kernels.families import linear
from armspan.kernels.families.linear import choose_by, estimates, learn, learn_two, of_run, recall, scratch_of
from armspan.kernels.family import Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, live
from armspan.kernels.normals import largest_of_normals
from armspan.kernels.sampling import choose as sampling
from armspan.kernels.sampling import choose_shared as shared_sampling

DRAWS = 10_000
"""Of a θ̃ that three arms or more share, for their probabilities: a share p is right to √(p(1 - p)/DRAWS), or ½ %."""


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    if own[1].shape[0] < K:  # one θ̃ for all arms
        return shared_sampling(own, scratch, block, c, knobs[0][i], run, step, K, d)
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
def late_sampled(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, recall, learn)


@kernel
def choose_sampled(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest of N(mean, (v_t·width)²) wins; the index is the mean, which each is drawn around.

    Where arms share θ̃, indices are not independent: with two arms the sign of one normal number decides, with more the
    probabilities are estimated by DRAWS draws.
    """
    mean, width = estimates(state, block)
    if state.b.shape[1] == len(mean):
        return Seen(mean, width, mean, largest_of_normals(mean, knobs[0] * width, block.unit))
    return Seen(mean, width, mean, _shares_of_one(state, block, mean, knobs[0]))


def _shares_of_one(state: Any, block: Block, mean: FloatArray, scale: float) -> FloatArray:
    """P[arm a has the largest θ̃ᵀx] for one θ̃ ~ N(θ̂, scale²V⁻¹) of all arms."""
    x, unit = block.x[0], block.unit
    V_inv = np.tril(state.V_inv[0, 0]) + np.tril(state.V_inv[0, 0], -1).T
    if scale == 0 or len(mean) == 1:
        return winners(mean, unit)
    if len(mean) == 2:
        apart = x[0] - x[1]
        sd = scale * math.sqrt(max(float(apart @ V_inv @ apart), 0.0))
        return largest_of_normals(np.array([mean[0] - mean[1], 0.0]), np.array([sd, 0.0]), unit)
    values, vectors = np.linalg.eigh(V_inv)
    spread = scale * (x @ vectors) * np.sqrt(np.maximum(values, 0.0))
    z = np.random.default_rng(0).standard_normal((DRAWS, len(values)))
    index = mean + z @ spread.T
    best, size = index.max(axis=1, keepdims=True), np.abs(index).max(axis=1, keepdims=True)
    tied = index >= best - ROUNDING * (unit + size)
    return np.asarray((tied / tied.sum(axis=1, keepdims=True)).mean(axis=0))


FAMILY = derived(
    linear.FAMILY,
    name="sampled",
    choose=choose,
    advance=lambda K, d: advance_sampled_2 if d == 2 else advance_sampled,
    late=late_sampled,
    choose_once=choose_sampled,
    seen=seen,
)
