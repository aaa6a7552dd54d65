"""Time in octaves, counted back from the horizon T: growth is judged by them, since log T gains the same in each.

Bin 0 is the end. The last two octaves are cut into quarters, and the last quarter once more, so that a curve which has
just become flat can be told from one that keeps growing; before those, a bin is an octave. Bin b holds the steps t with
edges[b + 1] < t <= edges[b].
"""

from functools import lru_cache

import numpy as np

from armspan._typing import FloatArray, IntArray

BACK = (0.0, 1 / 16, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75)
"""Octaves back from T at which the finer bins end; the others end at 2, 3, 4, …"""
OCTAVES = (slice(0, 5), slice(5, 9))
"""The bins of the last octave, and of the one before it."""
SHORTEST = 256
"""Steps from which on all bins of the last octaves are there."""


@lru_cache(maxsize=64)
def edges(horizon: int) -> IntArray:
    """The bins' ends (bins + 1,), from the horizon down to 0; a short horizon has fewer bins."""
    back = [*BACK[1:], *range(2, horizon.bit_length() + 1)]
    result = np.unique([0, horizon, *(int(np.ceil(horizon / 2.0**octaves)) for octaves in back)])[::-1].copy()
    result.flags.writeable = False
    return result


def count(horizon: int) -> int:
    """How many bins there are."""
    return edges(horizon).size - 1


def bins_of(first: int, size: int, horizon: int) -> IntArray:
    """The bin of each of the steps first + 1, …, first + size."""
    ends = edges(horizon)
    early, late = ends.size - np.searchsorted(ends[::-1], [first + 1, first + size]) - 1
    if early == late:  # most blocks lie in one bin
        return np.full(size, early)
    within = np.clip(edges(horizon) - first, 0, size)
    return np.repeat(np.arange(within.size - 1)[::-1], -np.diff(within)[::-1])


def per_octave(gains: FloatArray) -> FloatArray:
    """Gains (…, B) by bin as gains (…, O) by octave, the last one first."""
    fine = [gains[..., part].sum(axis=-1, keepdims=True) for part in OCTAVES]
    return np.concatenate([*fine, gains[..., OCTAVES[-1].stop :]], axis=-1)
