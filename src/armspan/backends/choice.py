"""Which executor a caller's `backend` names: a function from a packed task to its results, as they come."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from armspan import _validate
from armspan.backends.packed import Packed
from armspan.errors import InvalidParameter, NotApplicable

PROCESSES = "processes"

Executor = Callable[[Packed], Iterator[tuple[int, Any]]]


def check_backend(backend: Any, workers: Any) -> None:
    """Refuse what names no executor, and workers where they are not ours to count."""
    if workers is not None:
        _validate.whole("workers", workers, at_least=1)
    if backend is None or backend == PROCESSES:
        return
    if not _is_address(backend) and not _is_client(backend):
        raise InvalidParameter(
            'backend must be None, "processes", the address of a Dask scheduler such as "tcp://host:8786", '
            f"or a Dask client, got {backend!r:.60}"
        )
    if workers is not None:
        raise NotApplicable(f"workers must be left out on a Dask cluster, which has its own, got {workers}")


def executor_of(backend: Any, workers: int | None) -> Executor:
    """The executor; its packages are imported when it starts."""
    check_backend(backend, workers)
    if backend == PROCESSES:
        from armspan.backends import local

        return partial(local.results, workers=workers)
    from armspan.backends import dask

    return partial(dask.results, cluster=backend)


def _is_address(backend: Any) -> bool:
    return isinstance(backend, str) and "://" in backend


def _is_client(backend: Any) -> bool:
    """Whether it is a `distributed.Client`, asked without importing distributed."""
    return any(kind.__module__ == "distributed.client" and kind.__name__ == "Client" for kind in type(backend).__mro__)
