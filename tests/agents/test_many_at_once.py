"""What agents compute for many arms or contexts at once by matrix products, beside definitions written out here."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan import OFUL, LinUCB
from armspan.agents import batch
from armspan.errors import InvalidParameter
from armspan.kernels.block import Block
from armspan.kernels.families import linear
from tests.tolerance import assert_close


@given(seed=st.integers(0, 2**32), K=st.integers(8, 12), d=st.integers(1, 20), pulls=st.integers(0, 30))
def test_many_contexts_by_products_of_features(seed: int, K: int, d: int, pulls: int) -> None:
    rng = np.random.default_rng(seed)
    agent: Any = LinUCB(ridge=0.5, alpha=1.0).agent(K, d)
    X, arms, y = rng.normal(size=(pulls, d)), rng.integers(K, size=pulls), rng.normal(size=pulls)
    for x, arm, reward in zip(X, arms, y, strict=True):
        agent.update(int(arm), x, reward)
    contexts = rng.normal(size=(5, d))
    mean, width = batch._look_by_pairs(agent._state, contexts, np.empty((5, K)), np.empty((5, K)))
    for k in range(K):
        own = X[arms == k]
        V = 0.5 * np.eye(d) + own.T @ own
        condition = float(np.linalg.cond(V))
        assert_close(mean[:, k], contexts @ np.linalg.solve(V, own.T @ y[arms == k]), condition=condition)
        known = np.einsum("nd,nd->n", contexts, np.linalg.solve(V, contexts.T).T)
        assert_close(width[:, k] ** 2, known, condition=condition)


@pytest.mark.parametrize(
    "policy",
    [
        LinUCB(feature_bound=6.0, alpha=0.4, shared=True),
        LinUCB(feature_bound=6.0, alpha="practical", shared=True),
        LinUCB(feature_bound=6.0, alpha="estimated", shared=True),
        OFUL(feature_bound=6.0, parameter_bound=2.0, noise_scale=0.1, shared=True),
    ],
    ids=lambda policy: f"{policy.name}, {getattr(policy, 'alpha', 'own')}",
)
def test_many_arms_that_share_one_model_by_products(policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    K, d, rng = 40, 6, np.random.default_rng(5)
    theta, contexts = rng.normal(size=d) / np.sqrt(d), rng.normal(size=(60, K, d))
    rewards = contexts @ theta + 0.1 * rng.normal(size=(60, 1))
    chosen: list[list[int]] = []
    for enough in (0, 10**9):
        monkeypatch.setattr(linear, "MANY_PRODUCTS", enough)
        agent = policy.agent(K, d, seed=3)
        chosen.append([])
        for x, y in zip(contexts, rewards, strict=True):
            arm = agent.choose(x)
            agent.update(arm, x, float(y[arm]))
            chosen[-1].append(arm)
    assert chosen[0] == chosen[1]
    assert len(set(chosen[0])) > 10


def test_ties_of_many_arms_that_share_one_model_are_broken_at_random() -> None:
    agent = LinUCB(feature_bound=20.0, alpha=1.0, shared=True).agent(2000, 10, seed=1)
    x = np.ones((2000, 10))
    assert len({agent.choose(x) for _ in range(20)}) > 10


@pytest.mark.parametrize(("K", "forced"), [(3, 3), (50, 4)])
def test_practical_pulls_only_as_many_arms_of_one_model_first_as_it_has_features(K: int, forced: int) -> None:
    rng = np.random.default_rng(2)
    agent = LinUCB(feature_bound=9.0, alpha="practical", shared=True).agent(K, 4)
    theta, chosen = np.array([1.0, -1.0, 0.5, 0.0]), []
    for _ in range(forced + 20):
        x = rng.normal(size=(K, 4))
        chosen.append(agent.choose(x))
        agent.update(chosen[-1], x, float(x[chosen[-1]] @ theta))
    assert chosen[:forced] == list(range(forced))
    assert chosen[forced : 2 * forced] != list(range(forced, 2 * forced))


def test_many_arms_that_are_nearly_tied_are_tied_as_in_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    state = linear.FAMILY.empty(1, K=4, d=1, n=0, A=1)
    linear.FAMILY.fresh(state, {"ridge": 1.0})
    state.theta_hat[:] = 1.0
    zeros = np.zeros((1, 4))
    x = np.array([[[0.0], [4e-16], [0.0], [9e-16]]])  # tied beside rewards of size 1
    chosen = []
    for enough in (0, 10**9):
        monkeypatch.setattr(linear, "MANY_PRODUCTS", enough)
        for step in range(40):
            context = np.zeros((1, 1), dtype=np.int64)
            block = Block(
                np.uint64(1), step, np.zeros(1, dtype=np.int64), context, x, zeros, zeros, np.zeros((1, 1)), 1.0
            )
            chosen.append(int(linear.FAMILY.choose_once(block, (np.zeros(1),), state)))
    assert chosen[:40] == chosen[40:]
    assert set(chosen) == {0, 1, 2, 3}


def test_equal_rows_among_many_are_equal() -> None:
    agent = LinUCB(feature_bound=20.0, alpha=0.1, shared=True).agent(5003, 50, seed=1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 50))
    for row in X:
        agent.update(0, row, float(rng.normal()))
    x = np.tile(rng.normal(size=50), (5003, 1))
    assert len(set(agent.scores(x).mean.tolist())) == 1
    assert agent.propensities(x).max() < 1e-3


def test_contexts_of_a_batch_are_of_the_kind_that_kernels_are_compiled_for() -> None:
    agent: Any = LinUCB(feature_bound=9.0, alpha=1.0, shared=True).agent(3, 2)
    with agent._questions(np.zeros((2, 3, 2))) as contexts:
        assert all(features.flags.writeable for features in contexts)


@pytest.mark.filterwarnings("error")
def test_products_that_overflow_are_refused() -> None:
    agent = LinUCB(ridge=1.0, alpha=1.0).agent(8, 14)
    X = np.zeros((2, 14))
    X[0, :2] = 1e160, -1e160
    with pytest.raises(InvalidParameter, match="X must be small enough"):
        agent.scores_many(X)


def test_a_batch_is_learnt_while_the_process_ends() -> None:
    code = """
import threading, time
import numpy as np
from armspan.agents import batch
X, arms, y = np.ones((3000, 400)), np.zeros(3000, dtype=np.int64), np.ones(3000)
def late():
    time.sleep(0.5)
    print(batch.sums(X, arms, y, 2)[0].pulls)
threading.Thread(target=late).start()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "3000.0", done.stderr


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_one_bad_number_among_many_rows_is_refused(bad: float) -> None:
    agent = LinUCB(feature_bound=9.0, alpha=1.0, shared=True).agent(5, 3)
    x = np.zeros((5, 3))
    x[3, 1] = bad
    with pytest.raises(Exception, match="x must be"):
        agent.choose(x)
    assert agent.decisions == 0
