"""Relatives that meet again: what they hold in common counts once, over trees of copies, deltas, files and merges."""

import copy
import multiprocessing
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armspan
from armspan import LinUCB
from armspan.agents import Agent
from armspan.errors import BadFile, InvalidParameter, NotApplicable

D = 2


def fresh(**options: Any) -> Agent:
    return LinUCB(ridge=1.0, alpha=0.5, feature_bound=1.0).agent(2, D, **options)


def learn(agent: Agent, rng: np.random.Generator, n: int) -> None:
    agent.update(rng.integers(2, size=n), rng.normal(size=(n, D)), rng.normal(size=n))


def same(agent: Agent, held: set[int], rows: list[tuple[int, Any, float]]) -> None:
    """An agent holds exactly these rows: the sums are theirs, and so are the counters and the memory."""
    for k in range(2):
        mine = [rows[i] for i in sorted(held) if rows[i][0] == k]
        X, y = np.array([x for _, x, _ in mine]).reshape(-1, D), np.array([reward for _, _, reward in mine])
        seen = agent.statistics(k)
        np.testing.assert_allclose(seen.gram, X.T @ X, atol=1e-9)
        np.testing.assert_allclose(seen.moment, y @ X, atol=1e-9)
        assert seen.pulls == len(mine)
    assert agent.rewards == len(held)
    remembered = agent._state.entries()
    assert remembered[:, 1].sum() == pytest.approx(len(held))


@given(st.integers(0, 10**9))
@settings(max_examples=60, deadline=None)
def test_trees_of_relatives_hold_every_reward_once(seed: int) -> None:
    """Random learning, copies, reports and merges; the oracle is the set of rewards that each agent has met."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[int, Any, float]] = []
    agents, held = [fresh(memory=1000)], [set[int]()]
    for _ in range(25):
        i, j, what = rng.integers(len(agents)), rng.integers(len(agents)), rng.random()
        if what < 0.4:
            for _ in range(int(rng.integers(1, 4))):
                arm, x, reward = int(rng.integers(2)), rng.normal(size=D), float(rng.normal())
                agents[i].update(arm, x, reward)
                rows.append((arm, x, reward))
                held[i].add(len(rows) - 1)
        elif what < 0.6 and len(agents) < 6:
            kin = (copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent)), lambda _: fresh(memory=1000))
            agents.append(kin[rng.choice(3, p=[0.5, 0.4, 0.1])](agents[i]))
            held.append(set(held[i]) if agents[-1].rewards else set())
        elif i != j:
            report: Any = agents[j].delta() if what > 0.9 else agents[j]
            before = agents[i].rewards
            try:
                agents[i].merge(report)
            except InvalidParameter:
                assert agents[i].rewards == before
            else:
                held[i] |= held[j]  # a delta that fits brings all that was still missing
        for agent, own in zip(agents, held, strict=True):
            same(agent, own, rows)


def test_workers_of_one_file_are_merged_without_its_rewards_twice(tmp_path: Path) -> None:
    rng, home = np.random.default_rng(7), fresh()
    learn(home, rng, 500)
    home.save(tmp_path / "base")
    workers = [armspan.load_agent(tmp_path / "base") for _ in range(2)]
    for worker in workers:
        learn(worker, rng, 300)
        home.merge(pickle.loads(pickle.dumps(worker.delta())))
    assert home.rewards == 1100
    assert sum(home.statistics(k).pulls for k in range(2)) == 1100
    workers[0].merge(workers[1])
    assert workers[0].rewards == 1100


def test_a_file_of_a_worker_that_cannot_be_told_apart_is_refused(tmp_path: Path) -> None:
    """A file does not hold what its agent began with, so that of a second worker has the base in it once more."""
    rng, home = np.random.default_rng(9), fresh()
    learn(home, rng, 50)
    for worker in (first := home.copy(), second := home.copy()):
        learn(worker, rng, 30)
    home.merge(Agent.from_bytes(first.to_bytes()))  # it holds all that home does, and more
    assert home.rewards == 80
    with pytest.raises(InvalidParameter, match="told apart, got 50"):
        home.merge(Agent.from_bytes(second.to_bytes()))
    home.merge(second)
    assert home.rewards == 110


def test_an_agent_travels_as_bytes_by_pickle_and_to_other_processes() -> None:
    rng, agent = np.random.default_rng(8), fresh(seed=4)
    learn(agent, rng, 50)
    x = [0.3, 0.4]
    for twin in (Agent.from_bytes(agent.to_bytes()), pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)):
        np.testing.assert_array_equal(twin.scores(x).index, agent.scores(x).index)
        assert twin.get_params() == agent.get_params()
    assert b"armspan agent 1" in pickle.dumps(agent)  # the safe format, not objects
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(index_of, (agent, x)) == agent.scores(x).index.tolist()


def index_of(agent: Agent, x: list[float]) -> list[float]:
    """What another process makes of an agent."""
    return agent.scores(x).index.tolist()


def test_bytes_that_are_no_agent_are_refused() -> None:
    content = fresh().to_bytes()
    for wrong, words in ((b"nothing", "not an armspan agent"), (content[:-1], "damaged"), (b"", "not an armspan")):
        with pytest.raises(BadFile, match=words):
            Agent.from_bytes(wrong)
    with pytest.raises(InvalidParameter, match="content must be bytes"):
        Agent.from_bytes("text")  # type: ignore[arg-type]


def test_two_workers_of_one_base_are_merged_without_its_rewards_twice() -> None:
    rng, home = np.random.default_rng(0), fresh()
    learn(home, rng, 5000)
    workers = [home.copy(), home.copy()]
    for worker in workers:
        learn(worker, rng, 3000)
    workers[0].merge(workers[1])
    assert workers[0].rewards == 11_000
    home.merge(workers[0])
    assert home.rewards == 11_000
    home.merge(workers[1])  # it holds that already
    assert home.rewards == 11_000


def test_workers_report_home_again_and_again() -> None:
    rng, home = np.random.default_rng(1), fresh()
    learn(home, rng, 100)
    workers = [home.copy() for _ in range(3)]
    for _ in range(4):
        for worker in workers:
            learn(worker, rng, 50)
            home.merge(worker.delta())
    assert home.rewards == 100 + 4 * 3 * 50
    total = sum(home.statistics(k).pulls for k in range(2))
    assert total == home.rewards


def test_a_report_that_is_lost_or_comes_twice_is_noticed() -> None:
    rng, home = np.random.default_rng(2), fresh()
    worker = home.copy()
    learn(worker, rng, 10)
    first = worker.delta()
    learn(worker, rng, 20)
    second = worker.delta()
    with pytest.raises(InvalidParameter, match="10 rewards before it are missing"):
        home.merge(second)
    home.merge(first)
    home.merge(first)
    home.merge(second)
    assert home.rewards == 30


def test_what_cannot_be_told_apart_is_refused() -> None:
    rng, home = np.random.default_rng(3), fresh()
    learn(home, rng, 10)
    worker = home.copy()
    learn(worker, rng, 5)
    home.merge(worker)
    learn(worker, rng, 5)
    learn(home, rng, 5)
    with pytest.raises(InvalidParameter, match=r"told apart, got 15: let workers send agent\.delta\(\)"):
        home.merge(worker)
    assert home.rewards == 20


def test_arms_that_come_and_go_are_merged_once() -> None:
    rng, home = np.random.default_rng(4), fresh()
    learn(home, rng, 40)
    worker = home.copy()
    worker.add_arm("new", prior=(rng.normal(size=(6, D)), rng.normal(size=6)))
    worker.remove_arm(1)
    learn(other := home.copy(), rng, 7)
    pulls = other.statistics(1).pulls
    other.merge(worker)
    assert other.statistics("new").pulls == 6
    assert other.statistics(1).pulls == pulls


def test_agents_that_forget_have_no_delta() -> None:
    with pytest.raises(NotApplicable, match="forgets"):
        fresh(window=5).delta()


def test_a_copy_shares_nothing() -> None:
    rng = np.random.default_rng(5)
    for options in ({}, {"window": 9}, {"half_life": 5.0}, {"dtype": "float32"}):
        agent = fresh(**options)
        learn(agent, rng, 20)
        before, twin = agent.scores([0.3, 0.4]).index.copy(), copy.copy(agent)
        learn(twin, rng, 20)
        np.testing.assert_array_equal(agent.scores([0.3, 0.4]).index, before)
        assert (agent.rewards, twin.rewards) == (20, 40)
        assert twin.get_params() == agent.get_params()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_children_of_a_busy_process_do_not_hang_and_can_report() -> None:
    """Another thread learns in batches, so that its lock is nearly always held when the process forks."""
    agent, done = fresh(), threading.Event()
    rng = np.random.default_rng(6)
    learn(agent, rng, 100)
    arms, X, y = rng.integers(2, size=200), rng.normal(size=(200, D)), rng.normal(size=200)

    def work() -> None:
        while not done.wait(1e-4):
            agent.update(arms, X, y)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                own = agent.rewards
                agent.update(0, [0.1, 0.2], 1.0)
                news = agent.delta()
                os._exit(0 if agent.rewards == own + 1 and news.news.rewards == 1 else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        thread.join()
