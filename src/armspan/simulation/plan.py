"""How a simulation is cut up: checkpoints, blocks of steps and chunks of runs."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan import _validate
from armspan._typing import IntArray
from armspan.errors import InvalidParameter

MOST_STEPS = 2**32
MOST_RUNS = 2**32
BLOCK_BYTES = 1 << 19
"""The features of a block should fit into a core's cache."""
CHUNK_STEPS = 16_384
"""Steps of all runs of a chunk in one call of a kernel: about a millisecond, so that calls cost little."""


class Segment(NamedTuple):
    """A block of steps: its first step (from 0), its size, the marks within it, and the checkpoints they belong to."""

    first: int
    size: int
    marks: IntArray
    columns: slice


def as_checkpoints(checkpoints: Any, horizon: int) -> IntArray:
    """The caller's checkpoints, or about 200 from 1 to the horizon, evenly spaced on a log scale."""
    if checkpoints is None:
        steps = np.geomspace(1, horizon, 250)
        landmarks = [-(-horizon // part) for part in (16, 4, 2, 1)]  # where the growth verdict looks
        return np.unique(np.concatenate([np.round(steps), landmarks])).astype(np.int64)
    given = np.asarray(checkpoints)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
        raise InvalidParameter(f"checkpoints must be a list of step numbers, got {checkpoints!r:.60}")
    result = np.unique(given).astype(np.int64)
    if result[0] < 1 or result[-1] > horizon:
        wrong = result[0] if result[0] < 1 else result[-1]
        raise InvalidParameter(f"checkpoints must be from 1 to the horizon {horizon}, got {wrong}")
    return result


def as_runs(runs: Any) -> IntArray:
    """A number of runs from 0 on, or the runs' own numbers."""
    if isinstance(runs, Sequence | np.ndarray) and not isinstance(runs, str):
        numbers = [_validate.whole("runs", run, at_least=0, at_most=MOST_RUNS - 1) for run in runs]
        if not numbers:
            raise InvalidParameter("runs must be >= 1, got an empty list")
        if len(set(numbers)) != len(numbers):
            raise InvalidParameter("runs must be different from each other")
        return np.array(numbers, dtype=np.int64)
    return np.arange(_validate.whole("runs", runs, at_least=1, at_most=MOST_RUNS), dtype=np.int64)


def block_steps(n_arms: int, n_features: int) -> int:
    """Steps in a block: a power of two that depends on the problem alone, never on workers or runs."""
    fit = BLOCK_BYTES // (8 * n_arms * n_features)
    return int(min(max(1 << (fit.bit_length() - 1), 64) if fit else 64, 2048))


def segments(horizon: int, checkpoints: IntArray, block: int) -> Iterator[Segment]:
    """The blocks of a run in order; the last mark of each is its end, checkpoint or not."""
    for first in range(0, horizon, block):
        size = min(block, horizon - first)
        start, stop = np.searchsorted(checkpoints, [first, first + size], side="right")
        marks = checkpoints[start:stop] - first
        if marks.size == 0 or marks[-1] != size:
            marks = np.append(marks, size)
        yield Segment(first, size, marks, slice(int(start), int(stop)))


def chunks(n_runs: int, horizon: int, block: int, workers: int) -> list[slice]:
    """Runs that are advanced together: few for long runs, many for short ones, and as many chunks for every worker."""
    together = max(1, CHUNK_STEPS // min(block, horizon))
    rounds = -(-n_runs // (together * workers))
    count = min(n_runs, rounds * workers)
    edges = [n_runs * i // count for i in range(count + 1)]
    return [slice(start, stop) for start, stop in itertools.pairwise(edges)]
