"""The choice of an arm: the largest index wins, and ties are broken uniformly at random by the run's own stream."""

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels._compile import exact_kernel, inlined
from armspan.kernels.philox import HALF, TIES, words
from armspan.kernels.single import Precision

ROUNDING = Precision(1e-12, single=5e-7)
"""Indices are tied if they differ by at most this, relative to them and to rewards: that is, by rounding alone."""
SINGLE_ROUNDING = 4e-6
"""The same where agents' knowledge is in single precision."""


@inlined
def contend(value, a, best, second, arm):
    """Let arm a with this index contend; returns the largest index so far, the second largest, and the leading arm."""
    leads = value > best  # which arm leads is anyone's guess, so select, do not branch
    behind = best if leads else value
    return value if leads else best, behind if behind > second else second, a if leads else arm


@inlined
def is_tie(best, second, unit):
    """Whether the two largest indices are equal up to rounding; unit : how large rewards are, roughly."""
    return not best - second > ROUNDING * (unit + abs(best))


@inlined
def turn_of(step, K):
    """The arm of K that is tried again at a step, if no reward of it has come so far; K or more where none is.

    Rewards can be lost. So an arm that must be pulled once is pulled again, ever more seldom, until there is one: arm a
    after 2ⁿ + a decisions, where 2ⁿ ≥ 2K.
    """
    last = step | step >> 1
    last |= last >> 2
    last |= last >> 4
    last |= last >> 8
    last |= last >> 16
    last |= last >> 32
    last -= last >> 1
    return step - last if last >= 2 * K else K


def recurring(step, memory, K):
    """The step that stands for a later one in `turn_of` where only so many rewards count: turns come back for ever."""
    if step <= memory:
        return step
    power = 2
    while power < 2 * K or 2 * power <= memory:
        power *= 2
    return power + step % power


recurring_of = inlined(recurring)


def turn(step: int, K: int) -> int:
    """`turn_of` for Python."""
    last = 1 << step.bit_length() >> 1
    return step - last if last >= 2 * K else K


@exact_kernel
def break_tie(index, best, unit, seed, run, step):
    """One of the arms whose index (K,) equals the best up to rounding."""
    tied = 0
    for a in range(index.size):
        tied += is_tie(best, index[a], unit)
    word, _, _, _ = words(seed, run, step, 0, TIES)
    skip = np.int64((word * np.uint64(tied)) >> HALF)
    arm = 0
    for a in range(index.size):
        if is_tie(best, index[a], unit):
            arm = a
            if skip == 0:
                break
            skip -= 1
    return arm


def winners(index: FloatArray, unit: float) -> FloatArray:
    """The probability (K,) of each arm where the largest index (K,) wins: those that are tied share it.

    unit : how large rewards are, roughly.
    """
    best = index.max()
    tied = index >= best - ROUNDING * (unit + abs(best))
    return np.asarray(tied / np.count_nonzero(tied))
