"""What comes and goes with a step on a GPU, in all forms: its context and its noise, and where its cost is put down."""

import numpy as np

from armspan.kernels._compile import inlined
from armspan.kernels.draws import features, noise_pair, pick
from armspan.kernels.philox import ARRIVALS, words

TABLE, CHAIN, BOX = 0, 1, 2
"""Where contexts come from: a table, a table by a Markov chain, or a box."""


@inlined
def two_steps(noise, scale, seed, run, step):
    """What an even step and the next one draw: each a word for its context, then each its noise."""
    w, next_w, w2, w3 = words(seed, run, step >> 1, 0, ARRIVALS)
    e, next_e = noise_pair(noise, w2, w3, scale)
    return w, next_w, e, next_e


@inlined
def arrive(source, w, row, seed, run, step, world, here, K, d):
    """The row of here, tables or what was drawn, that is this step's context, and where the chain stands after it.

    Changes here, for a box.
    """
    if source == BOX:
        features(
            seed, run, step, world.low, world.high, world.theta, world.gap,
            here.u, here.x, here.means, here.losses, 0, K, d,
        )  # fmt: skip
        c = np.uint32(0)
    else:
        c = np.uint32(pick(w, here.threshold, here.alias, row))
    return c, np.int64(c) if source == CHAIN else row


@inlined
def bin_of(step, bin_, ends):
    """The bin that a step is in, if the last one was bin_."""
    while step >= ends[bin_]:
        bin_ -= np.int32(1)
    return bin_


@inlined
def count_pull(loss, step, a, r, bin_, ends, suboptimal):
    """Count a pull that costs something in the bin of its time, and return that bin. Changes suboptimal."""
    if loss > 0:
        bin_ = bin_of(step, bin_, ends)
        suboptimal[bin_, a, r] += np.uint32(1)
    return bin_


@inlined
def take_down(total, noise_sum, r, m, written):
    """Put pseudo-regret and noise at a mark. Changes the curves."""
    written.curve[r, m] = total
    if written.keeps_noise:
        written.noise_curve[r, m] = noise_sum
