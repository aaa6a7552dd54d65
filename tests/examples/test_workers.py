"""Several servers that report home: what is home equals one agent that has seen everything."""

import asyncio
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.server import Desk, application, new_agent
from examples.worker import Worker

import armspan
from armspan.agents import Agent
from examples import home, worker
from tests.examples.client import Client
from tests.tolerance import assert_close

ROOT = Path(__file__).parents[2]
KEY = b"secret"
Log = list[tuple[str, list[float], float]]


async def no_chore() -> None:
    """Nothing is to be done; reports come when the test wants them."""


def live(address: str, seed: int) -> Log:
    """The life of a worker: visitors whose rewards come late, reports and refreshes in between; what it was told."""
    rng, log, waiting = np.random.default_rng(seed), Log(), []
    desk = Desk(Agent.from_bytes(home.exchange(address, KEY, [])))
    reporter = Worker(desk, address, KEY, refresh_every=2)
    client = Client(application(desk, no_chore))
    for _ in range(5):
        for x in rng.uniform(-0.8, 0.8, size=(40, 2)).tolist():
            answer = client.post("/decisions", json={"features": x}).json()
            waiting.append((answer["decision"], answer["arm"], x))
            if len(waiting) > 15:
                number, arm, x = waiting.pop(int(rng.integers(15)))
                reward = float(rng.integers(2))
                client.post(f"/decisions/{number}/reward", json={"reward": reward}).raise_for_status()
                log.append((arm, x, reward))
        asyncio.run(reporter.report())
    asyncio.run(reporter.report())  # what was learnt while the last refresh was under way
    return log


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path: that of a socket may not be long."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """Where home listens, a process of its own, which is killed in the end."""
    address, file = str(folder / "socket"), folder / "home.agent"
    command = [sys.executable, "-m", "examples.home", address, str(file)]
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"HOME_KEY": KEY.decode()})
    while not file.exists():
        assert process.poll() is None
        time.sleep(0.05)
    yield address
    process.kill()
    process.wait()


def assert_knows(agent: Any, log: Log) -> None:
    """An agent knows what one knows that has seen all of the log, and nothing else."""
    one = new_agent()
    for arm, x, reward in log:
        one.update(arm, x, reward)
    assert agent.rewards == len(log)
    for arm in one.arms:
        assert agent.statistics(arm).pulls == one.statistics(arm).pulls
        assert_close(agent.statistics(arm).gram, one.statistics(arm).gram)
        assert_close(agent.statistics(arm).moment, one.statistics(arm).moment)
    assert_close(agent.scores([0.3, 0.3]).mean, one.scores([0.3, 0.3]).mean, condition=100)
    assert_close(agent.scores([0.3, 0.3]).width, one.scores([0.3, 0.3]).width, condition=100)


def test_what_is_home_equals_one_agent_that_has_seen_everything(address: str, folder: Path) -> None:
    """Three processes: two servers, and home."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        logs = pool.starmap(live, [(address, 1), (address, 2)])
    kept: Any = armspan.load_agent(folder / "home.agent")  # it is on the disk before workers hear that it arrived
    assert_knows(kept, logs[0] + logs[1])
    assert kept.decisions == 400
    told = Agent.from_bytes(home.exchange(address, KEY, []))
    assert_knows(told, logs[0] + logs[1])


class Line:
    """A way home that can break before or after home has heard; used in place of `exchange`."""

    def __init__(self, path: Path) -> None:
        self.agent, self.path, self.breaks = new_agent(), path, ""

    def __call__(self, address: str, key: bytes, deltas: Sequence[Any]) -> bytes:
        if self.breaks == "before":
            raise ConnectionRefusedError
        content, refused = home._answer(self.agent, self.path, deltas)
        assert not refused
        if self.breaks == "after":
            raise EOFError
        return content


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Line:
    line = Line(tmp_path / "home.agent")
    monkeypatch.setattr(worker, "exchange", line)
    return line


def learn(desk: Desk, log: Log, seed: int) -> None:
    for x in np.random.default_rng(seed).uniform(-0.8, 0.8, size=(10, 2)).tolist():
        number, arm = desk.choose(x)
        desk.learn(number, x[0])
        log.append((arm, x, x[0]))


@pytest.mark.parametrize("breaks", ["before", "after"])
def test_a_report_that_is_lost_comes_with_the_next_one(line: Line, breaks: str) -> None:
    """Whether home has heard it or not."""
    log, desk = Log(), Desk(line.agent.copy())
    reporter = Worker(desk, "", KEY)
    for seed, line.breaks in enumerate(["", breaks, breaks, ""]):
        learn(desk, log, seed)
        try:
            asyncio.run(reporter.report())
        except (OSError, EOFError):
            assert line.breaks
    assert_knows(line.agent, log)
    assert (reporter.unsent, reporter.reports) == ([], 2)


def test_rewards_that_come_during_a_refresh_are_not_lost(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """They reach home with the next report, and the worker with the next refresh."""
    log, desk, parsed = Log(), Desk(line.agent.copy()), Agent.from_bytes
    reporter = Worker(desk, "", KEY, refresh_every=1)

    def slowly(content: bytes) -> Agent:
        learn(desk, log, len(log))
        return parsed(content)

    monkeypatch.setattr(Agent, "from_bytes", staticmethod(slowly))
    learn(desk, log, 99)
    asyncio.run(reporter.report())
    assert (line.agent.rewards, desk.agent.rewards, len(log)) == (10, 10, 20)
    asyncio.run(reporter.report())
    assert_knows(line.agent, log[:20])
    assert_knows(desk.agent, log[:20])


def test_home_refuses_what_it_cannot_follow(tmp_path: Path) -> None:
    """A delta whose forerunner is missing: one sentence, and nothing changes."""
    agent, log = new_agent(), Log()
    desk = Desk(agent.copy())
    learn(desk, log, 0)
    desk.agent.delta()  # lost
    learn(desk, log, 1)
    content, refused = home._answer(agent, tmp_path / "home.agent", [desk.agent.delta()])
    assert (content, agent.rewards) == (b"", 0)
    assert "10 rewards before it are missing" in refused
