"""Faults that reviews have found in our own agents; each was wrong once."""

import threading
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import armspan
from armspan import LinUCB, LinUCBd
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels import agent_calls, agent_learning
from armspan.kernels import agent_layout as layout

POLICY = LinUCBd(feature_bound=1.0, parameter_bound=1.0)


@pytest.mark.parametrize("ties", ["random", "first"])
def test_ties_are_among_the_best_however_they_were_summed(ties: str) -> None:
    """Nearly collinear contexts, where two ways of adding up a width differ by more than a tie's tolerance."""
    rng = np.random.default_rng(0)
    agent = LinUCB(ridge=1e-3, alpha=1.0).agent(arms=["bad", *range(8)], n_features=10, ties=ties)
    X = 1 + 1e-4 * rng.normal(size=(5000, 10))
    agent.update(["bad"] * 5000, X, np.full(5000, -100.0))
    for arm in range(8):
        agent.update([arm] * 5000, X, np.ones(5000))
    assert "bad" not in {agent.choose(1 + 1e-4 * rng.normal(size=10)) for _ in range(120)}


def test_an_agent_is_saved_while_an_arm_waits_to_change_its_mode(tmp_path: Path) -> None:
    """As between two threads: one has filled an arm's store, and the other saves before the change is made."""
    agent = POLICY.agent(n_arms=3, n_features=16)
    for x in np.eye(16)[:8]:
        code = agent_learning.learn(agent._state.whole, 1, x, 1.0)
    assert code == agent_calls.DUE
    agent.save(tmp_path / "agent")
    loaded = armspan.load_agent(tmp_path / "agent")
    np.testing.assert_array_equal(loaded.scores(np.ones(16)).width, agent.scores(np.ones(16)).width)
    loaded.update(1, np.ones(16), 1.0)
    assert loaded.statistics(1).pulls == 9


def test_a_window_and_its_sums_are_never_apart(tmp_path: Path) -> None:
    agent, done = POLICY.agent(n_arms=3, n_features=2, window=20), threading.Event()

    def learn() -> None:
        rng = np.random.default_rng(0)
        while not done.wait(1e-4):  # without a pause two threads may keep a third one from ever running
            agent.update(int(rng.integers(3)), rng.integers(-2, 3, size=2).astype(float), 1.0)

    threads = [threading.Thread(target=learn) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(60):
            agent.save(tmp_path / "agent")
            saved: Any = armspan.load_agent(tmp_path / "agent")
            for arm in saved.arms:
                X = np.array([x for name, x, _ in saved._state.window.entries if name == arm]).reshape(-1, 2)
                np.testing.assert_allclose(saved.statistics(arm).gram, X.T @ X, atol=1e-9)
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_a_window_forgets_large_rewards_whole() -> None:
    rng = np.random.default_rng(1)
    agent, fresh = (LinUCB(ridge=1.0, alpha=1.0).agent(1, 2, window=50) for _ in range(2))
    agent.update(0, [0.3, 0.4], 1e15)
    for _ in range(300):
        x, y = rng.normal(size=2), float(rng.normal())
        agent.update(0, x, y)
        fresh.update(0, x, y)
    np.testing.assert_allclose(agent.scores([1.0, 1.0]).mean, fresh.scores([1.0, 1.0]).mean, rtol=1e-9)
    with pytest.raises(NotApplicable, match="an agent with a window has no warm start"):
        agent.add_arm(1, like=0)


def test_sums_that_would_overflow_are_refused() -> None:
    agent, single = POLICY.agent(1, 2), POLICY.agent(1, 2, dtype="float32")
    with pytest.raises(InvalidParameter):
        agent.add_arm("large", ([[1e160, 1.0]], [1.0]))
    large = POLICY.agent(1, 2)
    large.add_arm("large", ([[1e20, 1.0]], [1.0]))
    with pytest.raises(InvalidParameter, match="sums of squares must be below"):
        single.merge(large)
    assert single.statistics(0).pulls == 0
    assert agent.arms == (0,)


def test_a_mapping_holds_one_context() -> None:
    agent = POLICY.agent(2, 2)
    with pytest.raises(InvalidParameter, match="x must map every feature to a number"):
        agent.choose({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    with pytest.raises(InvalidParameter):
        agent.choose({"a": float("nan"), "b": 1.0})
    agent.scores([1.0, 2.0])
    assert agent.feature_names is None


def test_thinning_keeps_half_even_of_what_came_at_once() -> None:
    agent = POLICY.agent(1, 3, memory=64)
    agent.update([0] * 64, np.random.default_rng(2).normal(size=(64, 3)), np.ones(64))
    agent.update(0, [1.0, 2.0, 3.0], 1.0)
    assert agent._state.head[layout.REMEMBERED] == 33


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    options: Any = {"seed": np.int64(3), "epsilon": np.float32(0.25), "memory": np.int64(8)}
    agent = LinUCBd(feature_bound=float(np.float32(1.5)), parameter_bound=1.0).agent(2, 2, **options)
    agent.save(tmp_path / "agent")
    assert armspan.load_agent(tmp_path / "agent").settings == agent.settings


@pytest.mark.parametrize(
    "call",
    [
        lambda a: a.choose([1, [2]]),
        lambda a: a.update(0, [1.0, 2.0], [1, [2]]),
        lambda a: a.choose([1.0, 2.0], only=5),
        lambda a: a.choose([1.0, 2.0], only="ab"),
        lambda a: a.merge("x"),
        lambda a: POLICY.agent(arms=cast(Any, 5), n_features=2),
        lambda a: POLICY.agent(2, feature_names=cast(Any, 5)),
        lambda a: POLICY.agent(2, 2, window=10**400),
        lambda a: POLICY.agent(2, 2, memory=10**6),
        lambda a: armspan.load_agent(cast(Any, None)),
        lambda a: armspan.load_agent("a\0b"),
    ],
)  # fmt: skip
def test_odd_arguments_get_a_sentence(call: Any) -> None:
    with pytest.raises(armspan.ArmspanError):
        call(POLICY.agent(2, 2))
