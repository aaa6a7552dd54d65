"""A Dask cluster, by its own client: joblib's leaves arguments on single workers, and loses them when those die."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

from armspan._version import __version__
from armspan.backends.packed import Packed, work
from armspan.errors import MissingExtra, NotApplicable, WorkerDied

CONNECT_SECONDS = 10
WORKER_SECONDS = 600
"""How long a cluster may have no worker at all: those of a queue take their time."""
BATCH = 1000
"""Parts in one message to the scheduler."""


def results(packed: Packed, *, cluster: Any) -> Iterator[tuple[int, Any]]:
    """(index, result) of every part, as they come. Dask computes a part again whose worker died."""
    try:
        from distributed import Client, KilledWorker
        from distributed.client import FutureCancelledError, as_completed
    except ImportError:
        raise MissingExtra("a Dask cluster needs distributed: pip install 'armspan[cluster]'") from None
    with ExitStack() as stack:
        client = stack.enter_context(_connect(Client, cluster)) if isinstance(cluster, str) else cluster
        job = f"armspan-{uuid.uuid4().hex}"
        numbers = range(len(packed.parts))
        futures = client.map(
            work,
            numbers,
            [__version__] * len(numbers),
            [packed.fn] * len(numbers),
            packed.parts,
            key=[f"{job}-{number}" for number in numbers],
            batch_size=BATCH,
        )
        stack.callback(client.cancel, futures)
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
            for future, result in as_completed(  # type: ignore[no-untyped-call]
                futures, loop=client.loop, with_results=True
            ):
                future.release()  # the cluster need not keep it
                yield result
        except TimeoutError:
            raise NotApplicable(f"the Dask cluster has had no worker for {WORKER_SECONDS} seconds") from None
        except KilledWorker as error:
            raise WorkerDied(f"a part of the work was lost with its worker again and again: {error}") from None
        except FutureCancelledError:
            raise WorkerDied("the Dask scheduler was lost, or the work on it was cancelled") from None
        except ModuleNotFoundError as error:
            raise NotApplicable(
                f"a worker of the Dask cluster has no module {error.name!r}; install there what is installed here"
            ) from None


def _connect(kind: Any, address: str) -> Any:
    """A client of the scheduler at the address.

    One that fails is closed here. Left to the garbage collector, it may be closed while the next one starts, and both
    then wait for the same lock.
    """
    client = kind.__new__(kind)
    try:
        client.__init__(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        with suppress(Exception):
            client.close(timeout=1)
        reason = str(error).partition("\n")[0]
        raise NotApplicable(f"no Dask scheduler answers at {address}: {reason:.120}") from None
    return client
