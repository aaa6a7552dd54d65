"""map_reduce(): the one function through which the rest of the package spreads work."""

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from armspan.backends.choice import executor_of
from armspan.backends.packed import Packed, pack

log = logging.getLogger("armspan")
UNLIKE = (
    "results of different kinds of processors are combined: they are right up to rounding, but not the same "
    "bit for bit as on "
    "processors of one kind (%s; %s)"
)


def map_reduce(
    fn: Callable[[Any], Any],
    parts: Sequence[Any],
    combine: Callable[[list[Any]], Any],
    *,
    backend: Any = None,
    workers: int | None = None,
    arrived: Callable[[int, Any], Any] | None = None,
) -> Any:
    """combine([fn(part) for part in parts]): parts are computed anywhere and in any order, and combined in their own.

    backend : None for this process, "processes" for local ones, a Dask scheduler's address, or a Dask client.
    workers : how many local processes; as many as there are cores if left out.
    arrived : called in this thread as arrived(index, result) when a part is finished; what it returns is combined.

    Compiled sums are ordered as each processor likes best: parts from unlike processors agree up to rounding only, and
    the logger "armspan" then says so, once a call.
    """
    keep = arrived or _as_it_is
    if backend is None or not parts:
        return combine([keep(index, fn(part)) for index, part in enumerate(parts)])
    executor, packed = executor_of(backend, workers), pack(fn, parts)
    return combine(_in_order(executor(packed), packed, keep))


def _in_order(results: Any, packed: Packed, keep: Callable[[int, Any], Any]) -> list[Any]:
    """What was kept of each result, in the order of the parts."""
    kept: dict[int, Any] = {}
    first, told = None, False
    with closing(results):  # however this ends, the executor stops what is still under way
        for index, answer in results:
            first = first or answer.processor
            if answer.processor != first and not told:
                log.warning(UNLIKE, first, answer.processor)
                told = True
            kept[index] = keep(index, answer.result)
    return [kept[index] for index in range(len(packed.parts))]


def _as_it_is(_: int, result: Any) -> Any:
    return result
