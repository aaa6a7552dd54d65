"""What spreading work costs: many tiny cells, long sweeps on two workers, and a Dask cluster on this machine."""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from armspan import grid, simulate, sweep
from armspan.backends import map_reduce
from armspan.environments import diversity_dial, paper_1a
from armspan.policies import LinUCB, LinUCBd
from benchmarks.timing import seconds

ROUNDS = 5

Action = Callable[[int], object]


def main() -> None:
    """All of it."""
    tiny_cells()
    two_workers()
    dask()


def best(*actions: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Seconds of each action: the best of a few rounds, taken in turns."""
    times = [[seconds(action) for action in actions] for _ in range(rounds)]
    return list(np.min(times, axis=0))


def tiny_cells() -> None:
    """1,000 cells of a millisecond or two: what the sweep adds to simulate alone, and to simulate with its summary."""
    envs = grid(diversity_dial, level=list(np.linspace(0, 1, 100)))
    policies = grid(LinUCB, alpha=list(np.linspace(0, 1, 10)))
    size: dict[str, Any] = {"horizon": 200, "runs": 30}

    def loop(summary: bool) -> None:
        for env in envs.values():
            for policy in policies.values():
                result = simulate(env, policy, workers=1, checkpoints=[13, 50, 100, 200], **size)
                if summary:
                    result.summary()

    def kept() -> None:
        sweep(envs, policies, **size, folder=tempfile.mkdtemp(dir=parent))

    def spread() -> None:
        sweep(envs, policies, **size, backend="processes", workers=2)

    spread()  # start the processes
    with tempfile.TemporaryDirectory() as parent:
        alone, summed, here, folder, processes = best(
            lambda: loop(False), lambda: loop(True), lambda: sweep(envs, policies, **size), kept, spread
        )
    print(f"\n1,000 cells: simulate takes {alone:.2f} ms per cell, with its summary {summed:.2f} ms")
    print(f"  {'':<40}{'':>10}   wasted beside simulate (goal < 100 %), beside simulate and summary")
    for words, wall, workers in (
        ("this process", here, 1),
        ("this process, cells kept in a folder", folder, 1),
        ("2 local processes", processes, 2),
    ):
        strict, fair = (wall * workers / work - 1 for work in (alone, summed))
        print(f"  {words:<40}{wall:>8.2f} s   {strict:>6.0%}{fair:>8.0%}")


def two_workers() -> None:
    """A long sweep on one local process and on two."""
    envs = grid(diversity_dial, level=[0.0, 0.1, 1.0])
    size: dict[str, Any] = {"horizon": 100_000, "runs": 400, "backend": "processes"}

    def on(workers: int) -> Callable[[], object]:
        return lambda: sweep(envs, LinUCBd(), **size, workers=workers)

    on(2)()
    one, two = best(on(1), on(2))
    print(f"\nA long sweep: {one:.1f} s on 1 local process, {two:.1f} s on 2: ratio {one / two:.2f} (goal >= 1.8)")


def nothing(part: int) -> int:
    """No work at all."""
    return part


def dask() -> None:
    """A scheduler and two workers on the loopback: start, rate of parts, throughput, bytes."""
    from distributed import LocalCluster

    env = paper_1a()
    size: dict[str, Any] = {"horizon": 100_000, "runs": 400}
    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
    ) as cluster:
        address = cluster.scheduler_address

        def first() -> float:
            arrivals: list[float] = []
            start = time.perf_counter()
            progress = lambda *_: arrivals.append(time.perf_counter() - start)  # noqa: E731
            simulate(env, LinUCBd(), **size, backend=address, progress=progress)
            return arrivals[0]

        cold, warm = first(), first()
        print(f"\nDask, 2 workers on this machine: first result after {cold:.2f} s, after {warm:.2f} s the next time")
        n = 5_000
        (empty,) = best(lambda: map_reduce(nothing, range(n), len, backend=address), rounds=3)
        print(f"  parts that do nothing: {n / empty:,.0f} a second, {empty / n * 1e3:.2f} ms each")
        there, here = best(
            lambda: simulate(env, LinUCBd(), **size, backend=address),
            lambda: simulate(env, LinUCBd(), **size, workers=2),
        )
        steps = size["horizon"] * size["runs"]
        print(f"  simulate: {steps / there / 1e6:.0f} million steps a second, {there / here:.2f} times 2 threads' time")
        options: dict[str, Any] = {"backend": address, "horizon": 1000}
        whole: Action = lambda runs: simulate(env, LinUCBd(), runs=runs, **options)  # noqa: E731
        cells: Action = lambda runs: _kept(env, runs, options)  # noqa: E731
        for words, call in (("simulate, 200 checkpoints", whole), ("sweep with a folder", cells)):
            few, many = _bytes(partial(call, 10_000)), _bytes(partial(call, 110_000))
            print(f"  {words}: {(many - few) / 100_000:,.0f} bytes over the network a run")


def _kept(env: Any, runs: int, options: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sweep(env, LinUCBd(), runs=runs, **options, folder=folder)


def _bytes(action: Callable[[], object]) -> int:
    """Bytes over the loopback while an action runs."""
    import psutil

    before = psutil.net_io_counters(pernic=True)["lo"].bytes_sent
    action()
    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent - before)
