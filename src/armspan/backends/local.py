"""Local processes, by joblib; a part whose worker died is computed again by another."""

import warnings
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from armspan._version import __version__
from armspan.backends.packed import Packed, work
from armspan.errors import MissingExtra, WorkerDied

MOST_DEATHS = 3
"""Workers that may die in one call: more than that is no accident."""


@contextmanager
def _closing(stream: Any) -> Iterator[Any]:
    """End the stream however this ends; joblib need not warn that it stops what is under way."""
    try:
        yield stream
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stream.close()


def results(packed: Packed, *, workers: int | None) -> Iterator[tuple[int, Any]]:
    """(index, result) of every part, as they come."""
    try:
        from joblib import Parallel, cpu_count, delayed
    except ImportError:
        raise MissingExtra("local processes need joblib: pip install 'armspan[cluster]'") from None
    left = dict(enumerate(packed.parts))
    n_jobs = min(workers or cpu_count(), len(left))
    for _ in range(MOST_DEATHS + 1):
        calls = [delayed(work)(index, __version__, packed.fn, part) for index, part in left.items()]
        run = Parallel(n_jobs, backend="loky", return_as="generator_unordered", batch_size=1, max_nbytes=None)
        try:
            with _closing(run(calls)) as stream:
                for index, result in stream:
                    del left[index]
                    yield index, result
            return
        except BrokenProcessPool:  # what had finished is kept, the rest is left
            continue
    raise WorkerDied(
        f"worker processes died {MOST_DEATHS + 1} times with {len(left)} of {len(packed.parts)} parts left; "
        "perhaps there is not enough memory, so try fewer workers"
    )
