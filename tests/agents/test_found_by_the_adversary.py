"""What `python -m benchmarks.adversary` found, in a few lines each."""

import numpy as np
import pytest

from armspan import LinUCB, LinUCBd
from armspan.agents import Agent
from armspan.errors import InvalidParameter

POLICY = LinUCBd(feature_bound=20.0, alpha=1.0)


@pytest.mark.parametrize("window", [1, 10, 300])
def test_a_single_precision_agent_with_a_window_can_be_loaded(window: int) -> None:
    for number in range(11, 60):
        agent = LinUCB(feature_bound=1.0, ridge=number / 10_000, alpha=1.0).agent(1, 2, dtype="float32", window=window)
        for axis in (0, 1):
            for _ in range(window):
                agent.update(0, np.eye(2)[axis], 0.5)
        loaded = Agent.from_bytes(agent.to_bytes())
        np.testing.assert_array_equal(loaded.scores([0.5, 0.5]).width, agent.scores([0.5, 0.5]).width)


@pytest.mark.parametrize("ridge", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10])
def test_widths_with_a_window_and_a_small_ridge(ridge: float) -> None:
    agent = LinUCB(feature_bound=1.0, ridge=ridge, alpha=1.0).agent(1, 2, window=1)
    agent.update(0, [-0.7, 0.7], 0.5)
    agent.update(0, [0.6, 0.6], 0.5)
    assert agent.scores([0.6, -0.6]).width[0] == pytest.approx(np.sqrt(0.72 / ridge), rel=1e-5)
    rng = np.random.default_rng(0)
    agent = LinUCB(feature_bound=1.0, ridge=ridge, alpha=1.0).agent(1, 2, window=3)
    rows = rng.uniform(-0.7, 0.7, (200, 2))
    for x in rows:
        agent.update(0, x, 1.0)
    V = ridge * np.eye(2) + rows[-3:].T @ rows[-3:]
    x = np.array([0.3, -0.5])
    assert agent.scores(x).width[0] == pytest.approx(np.sqrt(x @ np.linalg.solve(V, x)), rel=1e-5)


def test_statistics_in_single_precision_are_a_prior() -> None:
    for number in range(1, 100):
        agent = POLICY.agent(1, 2, dtype="float32")
        agent.update(0, [0.01, number / 10_000], 1.0)
        other = POLICY.agent(1, 2, dtype="float32")
        other.add_arm("new", prior=agent.statistics(0))
        assert other.statistics("new").pulls == 1


def test_the_least_ridge_counts_the_intercept() -> None:
    policy = LinUCB(feature_bound=1e-3, ridge=1e-16, alpha=1.0)
    policy.agent(1, 1)
    with pytest.raises(InvalidParameter, match=r"ridge must be at least 1e-10·\(feature_bound² \+ 1\) = 1e-10"):
        policy.agent(1, 1, intercept=True)


@pytest.mark.parametrize("by", ["agent", "delta"])
@pytest.mark.parametrize("learnt", [False, True])
def test_a_relatives_new_arm_is_added_and_one_that_was_removed_stays_away(by: str, learnt: bool) -> None:
    home = POLICY.agent(arms=["a", "b"], n_features=2)
    home.update("a", [1.0, 0.0], 1.0)
    home.update("b", [1.0, 0.0], 1.0)
    worker = home.copy()
    worker.add_arm("new")
    if learnt:
        worker.update("a", [0.0, 1.0], 1.0)
    home.remove_arm("b")
    home.merge(worker if by == "agent" else worker.delta())
    assert home.arms == ("a", "new")
    assert home.statistics("a").pulls == 1 + learnt


def decide(agent: Agent, times: int) -> None:
    for _ in range(times):
        agent.choose([1.0, 0.0])


def test_decisions_of_relatives_are_counted_once_and_none_is_lost() -> None:
    home = POLICY.agent(1, 2)
    home.update(0, [1.0, 0.0], 1.0)
    worker = home.copy()
    decide(worker, 100)
    home.merge(worker)
    assert home.decisions == 100
    home.merge(worker)
    assert home.decisions == 100
    home.update(0, [1.0, 0.0], 1.0)
    worker.merge(home)
    assert worker.decisions == 100
    decide(worker, 5)
    decide(home, 7)
    delta = worker.delta()
    home.merge(delta)
    home.merge(delta)
    assert home.decisions == 112
    loaded = Agent.from_bytes(home.to_bytes())
    decide(loaded, 3)
    home.merge(loaded)
    assert (home.decisions, home.rewards) == (115, 2)


def test_decisions_without_rewards_are_shared_by_copies() -> None:
    agent = POLICY.agent(1, 2)
    decide(agent, 100)
    agent.merge(agent.copy())
    assert agent.decisions == 100
    stranger = POLICY.agent(1, 2)
    decide(stranger, 10)
    agent.merge(stranger)
    assert agent.decisions == 110
