"""map_reduce and simulate(backend=): the same on one process, local processes and a Dask cluster, whatever dies."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from armspan.backends import map_reduce
from armspan.backends.packed import work
from armspan.environments import paper_1a, paper_1c
from armspan.errors import ArmspanError, Interrupted, InvalidParameter, MissingExtra, NotApplicable, WorkerDied
from armspan.policies import Greedy, LinUCB, LinUCBd
from armspan.simulation import Result, simulate
from armspan.sweeps import sweep
from tests.backends.cluster import Cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("dask"), n_workers=3) as cluster:
        yield cluster


def square(value: int) -> int:
    time.sleep(0.01 * (value % 3))  # so that they do not come in their order
    return value * value


def die(flag: Path, value: int) -> int:
    """Kill this process in the middle of part 3, as often as the flag says."""
    if value == 3:
        left = int(flag.read_text())
        if left:
            flag.write_text(str(left - 1))
            os.kill(os.getpid(), signal.SIGKILL)
    return square(value)


def fail(value: int) -> int:
    raise InvalidParameter(f"value must be small, got {value}")


class Slow:
    """A user's policy that takes its time."""

    def __init__(self, n_arms: int, n_features: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def choose(self, x: Any) -> int:
        time.sleep(0.0003)
        return int(self.rng.integers(len(x)))

    def update(self, arm: int, x: Any, reward: float) -> None: ...


def same(one: Result, other: Result) -> None:
    for name in ("runs", "checkpoints", "pseudo_regret", "regret"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("policies", "environment", "fingerprint", "horizon", "seed", "engine"):
        assert getattr(one, name) == getattr(other, name)
    assert set(one.events) == set(other.events)
    for policy, events in one.events.items():
        for name, array in events.arrays().items():
            np.testing.assert_array_equal(array, other.events[policy].arrays()[name])


def test_parts_are_combined_in_their_order_wherever_they_are_computed(cluster: Cluster) -> None:
    expected = [value * value for value in range(20)]
    for backend in (None, "processes", cluster.address):
        seen: list[int] = []

        def arrived(index: int, result: int, seen: list[int] = seen) -> int:
            assert threading.current_thread() is threading.main_thread()
            seen.append(index)
            return result

        assert map_reduce(square, range(20), list, backend=backend, arrived=arrived) == expected
        assert sorted(seen) == list(range(20))
        assert map_reduce(square, [], list, backend=backend) == []


@pytest.mark.parametrize("env", [paper_1a(), paper_1c(3)], ids=lambda env: env.name)
def test_simulate_gives_the_same_bits_on_every_backend(env: Any, cluster: Cluster) -> None:
    from distributed import Client

    policies = [LinUCBd(), LinUCB(alpha=lambda t: np.sqrt(np.log(t + 1))), Greedy()]
    options: dict[str, Any] = {"horizon": 20_001, "runs": [*range(100, 230), 7], "seed": 5}
    here = simulate(env, policies, **options)
    same(here, simulate(env, policies, **options, backend="processes", workers=2))
    same(here, simulate(env, policies, **options, backend=cluster.address))
    with Client(cluster.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        same(here, simulate(env, policies, **options, backend=client))


def test_events_travel_too() -> None:
    options: dict[str, Any] = {"horizon": 3000, "runs": 300, "events": True}
    here = simulate(paper_1a(), [LinUCBd(), Greedy()], **options)
    same(here, simulate(paper_1a(), [LinUCBd(), Greedy()], **options, backend="processes"))


def test_a_users_own_policy_and_environment_travel(cluster: Cluster) -> None:
    """Also such as no module has: these are made here, like those of a script or a notebook."""

    class Mine(Slow):
        pass

    class World:
        n_arms, n_features, noise = 2, 1, 0.1

        def context(self, step: int, rng: Any) -> Any:
            return rng.random((2, 1))

        def mean_rewards(self, x: Any) -> Any:
            return x[:, 0]

    here = simulate(World(), Mine, horizon=60, runs=6)
    for backend in ("processes", cluster.address):
        same(here, simulate(World(), Mine, horizon=60, runs=6, backend=backend))


def test_a_dask_worker_killed_in_mid_job_changes_nothing(cluster: Cluster) -> None:
    here = simulate(paper_1a(), Slow, horizon=100, runs=60)
    calls: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        if not calls:
            cluster.kill_a_worker()
        calls.append((done, total))

    there = simulate(paper_1a(), Slow, horizon=100, runs=60, backend=cluster.address, progress=progress)
    same(here, there)
    assert len(cluster.workers) == 2
    assert calls == sorted(calls)
    assert calls[-1] == (60 * 100, 60 * 100)
    cluster.add_worker()


def test_a_cluster_without_workers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("armspan.backends.dask.WORKER_SECONDS", 2)
    monkeypatch.setattr("armspan.backends.dask.LOOK_SECONDS", 0.2)
    with Cluster(tmp_path, n_workers=1) as cluster:
        monkeypatch.setattr("armspan.backends.dask._wait_for_a_worker", lambda client: client.wait_for_workers(1))

        def arrived(*_: Any) -> None:
            if cluster.workers:
                cluster.kill_a_worker()

        with pytest.raises(WorkerDied, match="the Dask cluster has had no worker for 2 seconds"):
            map_reduce(square, range(100), list, backend=cluster.address, arrived=arrived)


def test_a_local_worker_killed_in_mid_job_is_replaced(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    flag.write_text("2")
    expected = [value * value for value in range(8)]
    seen: list[int] = []

    def arrived(index: int, result: int) -> int:
        seen.append(index)
        return result

    assert map_reduce(partial(die, flag), range(8), list, backend="processes", workers=2, arrived=arrived) == expected
    assert flag.read_text() == "0"
    assert sorted(seen) == list(range(8))  # no finished part was computed again


def test_workers_that_always_die_are_given_up(tmp_path: Path, cluster: Cluster) -> None:
    flag = tmp_path / "flag"
    flag.write_text("1000")
    with pytest.raises(WorkerDied, match=r"worker processes died 4 times with \d of 5 parts left; perhaps"):
        map_reduce(partial(die, flag), range(5), list, backend="processes", workers=2)


@pytest.mark.parametrize("where", ["processes", "dask"])
def test_ctrl_c_keeps_the_finished_runs(where: str, cluster: Cluster) -> None:
    def progress(done: int, total: int) -> None:
        raise KeyboardInterrupt

    backend = "processes" if where == "processes" else cluster.address
    with pytest.raises(Interrupted, match=r"stopped with \d+ of 60 runs finished") as caught:
        simulate(paper_1a(), Slow, horizon=100, runs=60, backend=backend, progress=progress)
    partial_result = caught.value.partial
    assert isinstance(partial_result, Result)
    assert 0 < partial_result.runs.size < 60
    whole = simulate(paper_1a(), Slow, horizon=100, runs=partial_result.runs.tolist())
    np.testing.assert_array_equal(partial_result.regret, whole.regret)
    assert map_reduce(square, range(4), list, backend=backend) == [0, 1, 4, 9]  # the engine works on


def test_errors_come_out_as_they_are(cluster: Cluster) -> None:
    for backend in ("processes", cluster.address):
        with pytest.raises(InvalidParameter, match="value must be small, got"):
            map_reduce(fail, range(3), list, backend=backend)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"backend": "cloud"}, 'backend must be None, "processes", the address of a Dask scheduler such as "tcp://'),
        ({"backend": 7}, 'backend must be None, "processes"'),
        ({"backend": "processes", "workers": 0}, "workers must be an integer >= 1, got 0"),
        ({"backend": "tcp://127.0.0.1:1", "workers": 2}, "workers must be left out on a Dask cluster"),
        ({"backend": "smoke://127.0.0.1:1"}, "no Dask scheduler answers at smoke://127.0.0.1:1"),
        (
            {"backend": "processes", "policies": [LinUCB(alpha=[1.0])]},
            "alpha must have one entry per step, got 1 entries",
        ),
    ],
)
def test_bad_input(options: dict[str, Any], sentence: str) -> None:
    arguments: dict[str, Any] = {"policies": [Greedy()], "horizon": 10, "runs": 2} | options
    with pytest.raises(ArmspanError) as caught:
        simulate(paper_1a(), **arguments)
    assert str(caught.value).startswith(sentence)


def test_a_scheduler_that_does_not_answer_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("armspan.backends.dask.CONNECT_SECONDS", 0.3)
    with pytest.raises(NotApplicable, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        simulate(paper_1a(), Greedy(), horizon=10, runs=2, backend="tcp://127.0.0.1:9")


def test_what_cannot_travel_is_said_so() -> None:
    class Locked(Slow):
        lock = threading.Lock()

    with pytest.raises(NotApplicable, match=r"a policy or an environment cannot be sent to other processes: .*lock"):
        simulate(paper_1a(), Locked, horizon=5, runs=2, backend="processes")


def test_what_a_worker_cannot_open_is_said_so() -> None:
    with pytest.raises(NotApplicable, match="a worker cannot open its work: No module named 'nowhere'"):
        work(0, sys.modules["armspan"].__version__, b"cnowhere\nfn\n.", b"N.")
    with pytest.raises(NotApplicable, match=r"a worker has armspan .*, got work from armspan 0\.0; install the same"):
        work(0, "0.0", b"", b"")


@pytest.mark.parametrize(
    ("missing", "backend"),
    [("cloudpickle", "processes"), ("joblib", "processes"), ("distributed", "tcp://127.0.0.1:9")],
)
def test_a_missing_extra_is_said_so(missing: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra, match=rf"needs? {missing}: pip install 'armspan\[cluster\]'"):
        simulate(paper_1a(), Greedy(), horizon=5, runs=2, backend=backend)


def test_a_sweep_on_a_cluster_loses_a_worker_and_gives_the_same_table(cluster: Cluster, tmp_path: Path) -> None:
    policies = {"slow": Slow, "greedy": Greedy(), "ours": LinUCBd()}
    options: dict[str, Any] = {"horizon": 60, "runs": 40}
    here = sweep([paper_1a(), paper_1c(3)], policies, **options)
    calls: list[int] = []

    def progress(done: int, total: int) -> None:
        if len(calls) == 1:
            cluster.kill_a_worker()
        calls.append(done)

    there = sweep([paper_1a(), paper_1c(3)], policies, **options, backend=cluster.address, progress=progress)
    assert len(calls) > 4
    pd.testing.assert_frame_equal(here, there, check_exact=True)
