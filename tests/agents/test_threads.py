"""Several threads at once: nothing is lost or torn."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from armspan import LinUCBd
from armspan.kernels import agent_calls, agent_learning

POLICY = LinUCBd(feature_bound=1.0, parameter_bound=1.0)


@pytest.mark.parametrize("d", [2, 9, 24])
def test_choose_and_update_from_many_threads(d: int) -> None:
    """Integer features and rewards: sums are exact in any order, so the end is the same as with one thread."""
    agent = POLICY.agent(n_arms=3, n_features=d, memory=64)
    rng = np.random.default_rng(0)
    rows = [
        (int(rng.integers(3)), rng.integers(-3, 4, size=d).astype(float), float(rng.integers(5))) for _ in range(4_000)
    ]

    def work(part: int) -> None:
        for arm, x, reward in rows[part::4]:
            assert agent.choose(x) in (0, 1, 2)
            agent.update(arm, x, reward)
            if reward == 0 and x[0] == 3:
                assert np.isfinite(agent.scores(x).index).all()
                agent.explain(x, arm)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert (agent.decisions, agent.rewards) == (4_000, 4_000)
    for arm in range(3):
        X = np.array([x for name, x, _ in rows if name == arm])
        y = np.array([reward for name, _, reward in rows if name == arm])
        seen = agent.statistics(arm)
        np.testing.assert_array_equal(seen.gram, X.T @ X)
        np.testing.assert_array_equal(seen.moment, y @ X)
        assert seen.pulls == len(X)


def test_arms_change_while_others_learn() -> None:
    """One thread adds and removes arms, another merges and batches; the rewards of the arm that stays are all there."""
    agent: Any = POLICY.agent(arms=["stays"], n_features=3)
    done = threading.Event()

    def change() -> None:
        number = 0
        while not done.wait(1e-4):
            number += 1
            agent.add_arm(number)
            agent.update(number, np.ones(3), 1.0)
            agent.remove_arm(number)
        assert number > 3

    def learn(_: int) -> None:
        for _ in range(4000):
            agent.update("stays", np.ones(3), 2.0)
            agent.choose(np.ones(3))

    def join() -> None:
        for _ in range(20):
            other = POLICY.agent(arms=["stays"], n_features=3)
            other.update(["stays"] * 10, np.ones((10, 3)), np.ones(10))
            agent.merge(other)

    with ThreadPoolExecutor(4) as pool:
        changing = pool.submit(change)
        learning = [pool.submit(learn, i) for i in range(2)]
        joining = pool.submit(join)
        for future in (*learning, joining):
            future.result()
        done.set()
        changing.result()
    seen = agent.statistics("stays")
    assert seen.pulls == 2 * 4000 + 200
    np.testing.assert_array_equal(seen.gram, np.full((3, 3), 8200.0))
    np.testing.assert_array_equal(seen.moment, np.full(3, 2 * 8000.0 + 200))


def test_an_arm_whose_room_is_full_changes_mode_before_it_learns_on() -> None:
    """As between two threads: one has learnt what fills the store, the other comes before the change is made."""
    agent: Any = POLICY.agent(n_arms=2, n_features=10)
    for i in range(5):
        code = agent_learning.learn(agent._state.whole, 0, np.eye(10)[i], 1.0)
    assert code == agent_calls.DUE
    before = agent._state.arms.copy()
    assert agent_learning.learn(agent._state.whole, 0, np.full(10, 0.1), 1.0) == agent_calls.BUSY
    np.testing.assert_array_equal(agent._state.arms, before)
    agent.update(0, np.ones(10), 1.0)
    np.testing.assert_allclose(agent.statistics(0).gram, np.diag([1.0] * 5 + [0.0] * 5) + np.ones((10, 10)))
