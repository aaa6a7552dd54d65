"""Results from unlike processors: combined as ever, and said to be right up to rounding only."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from numba.core import config

from armspan.backends import map_reduce
from armspan.backends.packed import Answer, Packed, work
from armspan.backends.processor import processor
from armspan.environments import paper_1a
from armspan.policies import LinUCBd
from armspan.simulation import simulate
from armspan.sweeps import sweep


def cluster(monkeypatch: pytest.MonkeyPatch, kinds: list[str]) -> None:
    """Every backend is a cluster that computes here, as if its parts were computed by these processors in turn."""

    def results(packed: Packed) -> Iterator[tuple[int, Answer]]:
        for index in reversed(range(len(packed.parts))):
            _, answer = work(index, sys.modules["armspan"].__version__, packed.fn, packed.parts[index])
            yield index, answer._replace(processor=kinds[index % len(kinds)])

    monkeypatch.setattr("armspan.backends.mapping.executor_of", lambda backend, workers: results)


def double(value: int) -> int:
    return 2 * value


def test_unlike_processors_are_named_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    cluster(monkeypatch, ["old", "new", "new", "odd"])
    assert map_reduce(double, range(12), list, backend="processes") == [2 * i for i in range(12)]
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("armspan", logging.WARNING)
    assert record.getMessage() == (
        "results of different kinds of processors are combined: they are right up to rounding, but not the same "
        "bit for bit as on "
        "processors of one kind (odd; new)"
    )


def test_like_processors_need_no_word(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    cluster(monkeypatch, ["new"])
    map_reduce(double, range(12), list, backend="processes")
    assert caplog.records == []


def test_simulations_and_sweeps_notice_unlike_processors(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cluster(monkeypatch, ["old", "new"])
    monkeypatch.setattr("armspan.simulation.spread.SHORTEST", 1e-5)
    options: dict[str, Any] = {"horizon": 200, "runs": 40}
    there = simulate(paper_1a(), LinUCBd(), **options, backend="processes")
    assert len(caplog.records) == 1
    assert (there.pseudo_regret == simulate(paper_1a(), LinUCBd(), **options).pseudo_regret).all()
    sweep([paper_1a()], LinUCBd(), **options, backend="processes")
    assert len(caplog.records) == 2


def test_local_processes_are_alike(caplog: pytest.LogCaptureFixture) -> None:
    assert map_reduce(lambda _: processor(), range(4), set, backend="processes", workers=2) == {processor()}
    assert caplog.records == []


def test_the_kind_of_a_processor_changes_with_what_kernels_are_compiled_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with its features alone: two Xeons of one name need not both have AVX-512."""
    kinds = [processor(), processor()]
    monkeypatch.setattr(config, "CPU_NAME", "generic")
    kinds.append(processor())
    monkeypatch.setattr(config, "CPU_FEATURES", "")
    kinds.append(processor())
    monkeypatch.undo()
    for host in (("x86_64", "znver4", "+avx512f"), ("x86_64", "znver4", ""), ("aarch64", "znver4", "")):
        monkeypatch.setattr("armspan.backends.processor._host", lambda host=host: host)
        kinds.append(processor())
    for package in ("numba", "numpy"):
        monkeypatch.setattr(f"{package}.__version__", "0.0")
        kinds.append(processor())
    monkeypatch.setattr("armspan.backends.processor.__version__", "0.0")
    kinds.append(processor())
    assert kinds[0] == kinds[1]
    assert len(set(kinds)) == len(kinds) - 1


def test_numbas_own_settings_are_heard() -> None:
    script = "from armspan.backends.processor import processor; print(processor())"
    command, kinds = [sys.executable, "-c", script], []
    for name in ("", "generic"):
        env = os.environ | ({"NUMBA_CPU_NAME": name} if name else {})
        kinds.append(subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout)
    assert " as generic with features " in kinds[1]
    assert kinds[0] != kinds[1]
