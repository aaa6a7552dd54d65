"""What kernels are given: a block of decisions to make, and where to count what they cost."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armspan._typing import FloatArray, IntArray


class Block(NamedTuple):
    """Consecutive steps of several runs, the same for every policy.

    seed, first : the random stream, and the number of the block's first step, counted from 0.
    runs : (R,) numbers of the runs.
    contexts : (R, B) which row of the three tables each step has. B may exceed the block; marks tell its end.
    x : (n, K, d) features. means : (n, K) mean rewards. losses : (n, K) pseudo-regret of a pull.
    noise : (R, B) what is added to the mean reward of the arm that is pulled. unit : how large rewards are, roughly.
    clicks : whether rewards are 0 or 1. Then noise holds a number in (0, 1) for each step, and a reward is 1 where that
        is below the mean; whoever pulls an arm puts the noise that this makes in its place.
    """

    seed: np.uint64
    first: int
    runs: IntArray
    contexts: IntArray
    x: FloatArray
    means: FloatArray
    losses: FloatArray
    noise: FloatArray
    unit: float
    clicks: bool = False


def per_step_block(
    seed: np.uint64, first: int, runs: IntArray, x: FloatArray, means: FloatArray, losses: FloatArray, *rest: Any
) -> Block:
    """A block whose every step has a context of its own: x (R, B, K, d), means and losses (R, B, K), and the rest."""
    R, B, K, d = x.shape
    contexts = np.arange(R * B).reshape(R, B)
    rows = (R * B, K)
    return Block(seed, first, runs, contexts, x.reshape(*rows, d), means.reshape(rows), losses.reshape(rows), *rest)


class Tally(NamedTuple):
    """Pulls that cost something, by run, by time and by arm; see `armspan.simulation.octaves` for the bins of time.

    bins : (B,) the bin of each step of the present block. pulls : (R, bins, K) suboptimal pulls of each arm so far.
    """

    bins: IntArray
    pulls: NDArray[np.uint32]
