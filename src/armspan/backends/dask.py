"""A Dask cluster, by its own client: joblib's leaves arguments on single workers, and loses them when those die."""

import threading
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from typing import Any

from armspan._version import __version__
from armspan.backends.packed import Packed, work
from armspan.errors import MissingExtra, NotApplicable, WorkerDied

CONNECT_SECONDS = 10
WORKER_SECONDS = 600
"""How long a cluster may have no worker: those of a queue take their time."""
LOOK_SECONDS = 5.0
"""How often to look whether there is one."""
BATCH = 1000
"""Parts in one message to the scheduler."""
MOST_WAITING = 10_000
"""Parts that the scheduler holds at a time: millions would fill its memory."""


def results(packed: Packed, *, cluster: Any) -> Iterator[tuple[int, Any]]:
    """(index, result) of every part, as they come. Dask computes a part again whose worker died."""
    try:
        from distributed import Client, KilledWorker
        from distributed.client import FutureCancelledError, as_completed
    except ImportError:
        raise MissingExtra("a Dask cluster needs distributed: pip install 'armspan[cluster]'") from None
    with ExitStack() as stack:
        client = stack.enter_context(_connect(Client, cluster)) if isinstance(cluster, str) else cluster
        left, sent = iter(range(len(packed.parts))), set[Any]()
        stack.callback(lambda: client.cancel(list(sent)))  # nothing, if all goes well
        try:
            sent.update(_send(client, packed, islice(left, MOST_WAITING)))
            _wait_for_a_worker(client)
            deserted = stack.enter_context(_watched(client, sent))
            arriving = as_completed(sent, loop=client.loop, with_results=True)  # type: ignore[no-untyped-call]
            for future, result in arriving:
                if deserted.is_set() and future.cancelled():
                    raise WorkerDied(f"the Dask cluster has had no worker for {WORKER_SECONDS} seconds")
                sent.discard(future)
                future.release()  # the cluster need not keep it
                if len(sent) <= MOST_WAITING // 2:
                    more = _send(client, packed, islice(left, MOST_WAITING // 2))
                    sent.update(more)
                    arriving.update(more)  # type: ignore[no-untyped-call]
                yield result
        except KilledWorker as error:
            raise WorkerDied(f"a part of the work was lost with its worker again and again: {error}") from None
        except FutureCancelledError:
            raise WorkerDied("the Dask scheduler was lost, or the work on it was cancelled") from None
        except ModuleNotFoundError as error:
            if error.name is None:
                raise
            raise NotApplicable(
                f"a worker of the Dask cluster has no module {error.name!r}; install there what is installed here"
            ) from None


def _wait_for_a_worker(client: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        raise NotApplicable(f"the Dask cluster has had no worker for {WORKER_SECONDS} seconds") from None


@contextmanager
def _watched(client: Any, sent: set[Any]) -> Iterator[threading.Event]:
    """Meanwhile, cancel what was sent if the cluster has had no worker for too long; then the event is set."""
    over, deserted = threading.Event(), threading.Event()

    def watch() -> None:
        alone = 0.0
        while not over.wait(LOOK_SECONDS):
            with suppress(Exception):  # a scheduler that is lost is found out by who waits for results
                alone = 0.0 if client.nthreads() else alone + LOOK_SECONDS
            if alone >= WORKER_SECONDS:
                deserted.set()
                with suppress(Exception):
                    client.cancel(list(sent))
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield deserted
    finally:
        over.set()


def _send(client: Any, packed: Packed, numbers: Iterable[int]) -> list[Any]:
    """Give some parts to the cluster, each under a key of its own; their futures."""
    chosen = list(numbers)
    if not chosen:
        return []
    keys = [f"armspan-{uuid.uuid4().hex}-{number}" for number in chosen]
    arguments = [__version__] * len(chosen), [packed.fn] * len(chosen), [packed.parts[number] for number in chosen]
    futures: list[Any] = client.map(work, chosen, *arguments, key=keys, batch_size=BATCH)
    return futures


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
