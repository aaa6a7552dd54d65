"""The runs of one simulation spread over a backend: cut into parts by their cost, joined in their order."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from armspan._typing import IntArray, Progress
from armspan.backends import map_reduce
from armspan.errors import Interrupted
from armspan.simulation.result import Result, concatenate

MOST_PARTS = 1000
"""Parts that a call is cut into, until they get too long: enough for some hundred workers."""
SHORTEST, LONGEST = 0.1, 20.0
"""Seconds that a part should take, by a rough estimate: long beside its way to a worker, short enough to lose."""


def part_seconds(total: float) -> float:
    """How long a part should take, given this much work."""
    return min(max(total / MOST_PARTS, SHORTEST), LONGEST)


def cut(n_runs: int, seconds: float, wanted: float, least: int = 1) -> list[range]:
    """Positions of runs in parts of about the wanted length, as even as possible; seconds is that of all runs.

    least : the fewest runs in a part, if there are that many.
    """
    count = min(max(n_runs // least, 1), max(1, round(seconds / wanted)))
    edges = [n_runs * i // count for i in range(count + 1)]
    return [range(start, stop) for start, stop in itertools.pairwise(edges)]


def compact(runs: IntArray) -> Any:
    """The numbers as a range, if they form one: it is smaller to send."""
    first = int(runs[0])
    return range(first, first + runs.size) if (np.diff(runs) == 1).all() else runs


def part(
    simulate: Callable[..., Result], fingerprint: str, env: Any, policies: Any, options: dict[str, Any], runs: Any
) -> Result:
    """Some of the runs, on a worker: one thread, because its neighbours use the other cores."""
    return replace(simulate(env, policies, runs=runs, workers=1, **options), fingerprint=fingerprint)


def spread(
    work: Callable[[Any], Result],
    runs: IntArray,
    seconds: float,
    least: int,
    *,
    backend: Any,
    workers: int | None,
    progress: Progress | None,
) -> Result:
    """work(runs), computed in parts of at least this many runs on the backend; seconds is roughly what a run takes."""
    total, done = seconds * runs.size, 0
    parts = [compact(runs[piece.start : piece.stop]) for piece in cut(runs.size, total, part_seconds(total), least)]
    finished: dict[int, Result] = {}

    def arrived(index: int, result: Result) -> Result:
        nonlocal done
        finished[index], done = result, done + result.runs.size
        if progress is not None:
            steps = len(result.policies) * result.horizon
            progress(steps * done, steps * runs.size)
        return result

    try:
        whole: Result = map_reduce(work, parts, concatenate, backend=backend, workers=workers, arrived=arrived)
    except KeyboardInterrupt:
        kept = concatenate([finished[index] for index in sorted(finished)]) if finished else None
        raise Interrupted(f"stopped with {done} of {runs.size} runs finished", kept) from None
    return whole
