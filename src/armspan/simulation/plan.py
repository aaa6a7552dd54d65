"""How a simulation is cut up: checkpoints, blocks of steps and chunks of runs."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan import _validate
from armspan._typing import IntArray
from armspan.errors import InvalidParameter
from armspan.simulation import octaves

MOST_STEPS = 2**32
MOST_RUNS = 2**32
LONGEST_BLOCK = 8192
"""Steps; a power of two. V⁻¹ is computed afresh at its multiples, so shorter blocks give the same numbers."""
BLOCK_BYTES = 1 << 22
"""Of a block's features, where every step has its own: enough that threads seldom wait for each other."""
CHUNK_STEPS, RECURRING_STEPS = 65_536, 131_072
"""Steps of all runs of a chunk in one call of a kernel, the second where contexts recur: a few milliseconds, so that
calls cost little. More would not fit into a core's second cache with its draws, which are 16 bytes per step."""
CHUNK_SECONDS = 3.0
"""How long a chunk should take from first step to last, by a rough estimate: then its runs are finished, and kept."""
GROUP_SECONDS = 60.0
"""Runs that are faster together, but would take longer than this, are cut up like others, for the same reason."""
CHUNKS_EACH = 2
"""Chunks for every worker, at least."""
TURN_SECONDS = 10.0
"""Up to how long a chunk may take, by that estimate, for the last ones to take turns: what is not finished then is lost
if Ctrl-C comes."""
MANY_WORKERS = 8
"""So many threads wait for each other between blocks; then these are twice as long where contexts recur."""
PYTHON_BLOCK = 64
"""Steps in a block of Python code, after which it can be stopped."""


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
        landmarks = octaves.edges(horizon)[:-1]  # where the growth verdict looks
        return np.unique(np.concatenate([np.round(steps), landmarks])).astype(np.int64)
    given = np.asarray(checkpoints)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
        raise InvalidParameter(f"checkpoints must be a list of step numbers, got {checkpoints!r:.60}")
    result = np.unique(given).astype(np.int64)
    if result[0] < 1 or result[-1] > horizon:
        wrong = result[0] if result[0] < 1 else result[-1]
        raise InvalidParameter(f"checkpoints must be from 1 to the horizon {horizon}, got {wrong}")
    return result


def check_runs(runs: Any) -> None:
    """Refuse what is neither a number of runs nor a list of different run numbers."""
    if not _is_list(runs):
        _validate.whole("runs", runs, at_least=1, at_most=MOST_RUNS)
        return
    ends = (runs[0], runs[-1]) if isinstance(runs, range) and runs else ()
    numbers = [_validate.whole("runs", run, at_least=0, at_most=MOST_RUNS - 1) for run in ends or runs]
    if not numbers:
        raise InvalidParameter("runs must be >= 1, got an empty list")
    if not ends and len(set(numbers)) != len(numbers):
        raise InvalidParameter("runs must be different from each other")


def as_runs(runs: Any) -> IntArray:
    """The numbers of the runs: from 0 on, or their own."""
    if isinstance(runs, range):
        return np.arange(runs.start, runs.stop, runs.step, dtype=np.int64)
    return np.array(list(runs), dtype=np.int64) if _is_list(runs) else np.arange(int(runs), dtype=np.int64)


def _is_list(runs: Any) -> bool:
    return isinstance(runs, Sequence | np.ndarray) and not isinstance(runs, str) and np.ndim(runs) > 0


class Pieces(NamedTuple):
    """How the work is cut up: steps in a block, and the runs of each chunk, which are advanced together.

    in_turns : whether threads share the last chunks, a block at a time, so that all of them end together.
    """

    block: int
    chunks: list[slice]
    in_turns: bool = False


def step_seconds(n_arms: int, n_features: int, *, interpreted: bool = False) -> float:
    """How long a step of one policy takes on one core, by a rough estimate."""
    return 1e-4 if interpreted else 5e-8 + 5e-10 * n_arms * n_features**2


def pieces(
    n_runs: int,
    horizon: int,
    n_arms: int,
    n_features: int,
    n_policies: int,
    workers: int,
    group: tuple[int, int] = (1, 1),
    *,
    recurring: bool = False,
) -> Pieces:
    """Many short runs together in a chunk, fewer long ones; equally many chunks per worker. No result depends on it.

    group : how many runs are fastest together, and from how many on that pays; then chunks are made of whole groups.
    recurring : whether contexts recur, so that a block has no features of its own.
    """
    each = -(-n_runs // workers)
    seconds = horizon * n_policies * step_seconds(n_arms, n_features)  # of one run
    together = max(min(int(CHUNK_SECONDS / seconds), -(-each // CHUNKS_EACH)), 1)
    # a group takes as long as so many runs alone
    pays = group[1] * max(-(-n_runs // group[0]), workers) <= each * workers
    size = group[0] if pays and group[0] * seconds <= GROUP_SECONDS else 1
    groups = -(-n_runs // size)
    count = min(groups, workers * -(-each // together))
    edges = [min(groups * i // count * size, n_runs) for i in range(count + 1)]
    longer = 2 * RECURRING_STEPS if workers >= MANY_WORKERS else RECURRING_STEPS
    most = longer if recurring else min(CHUNK_STEPS, BLOCK_BYTES // (8 * n_arms * n_features))
    fit = most // max(together, size)
    block = min(max(1 << max(fit, 1).bit_length() - 1, 64), LONGEST_BLOCK)
    chunks = [slice(start, stop) for start, stop in itertools.pairwise(edges)]
    return Pieces(block, chunks, workers > 1 and max(together, size) * seconds <= TURN_SECONDS)


def python_pieces(n_runs: int) -> Pieces:
    """One run at a time in short blocks, so that slow code can be stopped and little is lost."""
    return Pieces(PYTHON_BLOCK, [slice(run, run + 1) for run in range(n_runs)])


def together(n_runs: int) -> Pieces:
    """All runs in short blocks, where every step costs Python code once for all of them."""
    return Pieces(PYTHON_BLOCK, [slice(0, n_runs)])


def segments(horizon: int, checkpoints: IntArray, block: int) -> Iterator[Segment]:
    """The blocks of a run in order; the last mark of each is its end, checkpoint or not."""
    for first in range(0, horizon, block):
        size = min(block, horizon - first)
        start, stop = np.searchsorted(checkpoints, [first, first + size], side="right")
        marks = checkpoints[start:stop] - first
        if marks.size == 0 or marks[-1] != size:
            marks = np.append(marks, size)
        yield Segment(first, size, marks, slice(int(start), int(stop)))
