"""Ties: equal arms are equal in any unit and precision, and the ε-mixture is the same one however it is asked for."""

from collections import Counter

import numpy as np
import pytest

import armspan
from armspan import Greedy, LinUCB, LinUCBd
from armspan.agents import Statistics
from armspan.errors import InvalidParameter

X = np.random.default_rng(1).standard_normal((400, 3)) / 3


@pytest.mark.parametrize("unit", [1e-13, 1.0, 1e13])
def test_an_arm_that_leads_is_chosen_in_any_unit_of_the_reward(unit: float) -> None:
    agent = Greedy(feature_bound=3.0).agent(n_arms=2, n_features=3, seed=0)
    for x in X:
        agent.update(0, x, unit * (1 + x[0]))
        agent.update(1, x, unit * x[1])
    mean = agent.scores_many(X).mean
    clear = np.abs(mean[:, 0] - mean[:, 1]) > 1e-6 * unit
    assert clear.sum() > 300
    expected = mean.argmax(axis=1)[clear]
    assert agent.choose_many(X[clear]) == expected.tolist()
    assert [agent.choose(x) for x in X[clear]] == expected.tolist()
    assert all(agent.propensities(x).max() == 1 for x in X[clear])


@pytest.mark.parametrize("unit", [1e-13, 1e13])
def test_a_simulation_is_the_same_in_any_unit_of_the_reward(unit: float) -> None:
    features, theta = [[[1.0, 0.2]], [[0.3, 1.0]]], [[0.5, 0.1], [0.2, 0.6]]
    for engine in ("cpu", "python"):
        curves = []
        for scale in (1.0, unit):
            env = armspan.environments.FiniteContexts(features, np.multiply(theta, scale), noise=0.5 * scale)
            curves.append(armspan.simulate(env, LinUCBd(), horizon=400, runs=5, seed=3, engine=engine).regret / scale)
        np.testing.assert_allclose(curves[1], curves[0], rtol=1e-9)


@pytest.mark.parametrize("d", [2, 9, 33])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arms_that_learnt_the_same_in_another_order_are_tied(d: int, dtype: str) -> None:
    rng = np.random.default_rng(d)
    agent = LinUCB(alpha=1.0, ridge=1.0, feature_bound=5.0).agent(n_arms=2, n_features=d, seed=2, dtype=dtype)
    rows, rewards = rng.standard_normal((300, d)) / np.sqrt(d), rng.random(300)
    for i in range(300):
        agent.update(0, rows[i], rewards[i])
        agent.update(1, rows[299 - i], rewards[299 - i])
    x = rng.standard_normal(d) / np.sqrt(d)
    assert agent.propensities(x).tolist() == [0.5, 0.5]
    counts = Counter(agent.choose(x) for _ in range(400))
    assert min(counts[0], counts[1]) > 130  # fails by chance in one of 10¹²
    assert agent.decide(x).propensity == 0.5


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rows", [False, True])
def test_a_quick_choice_and_a_decision_draw_the_same_mixture(dtype: str, rows: bool) -> None:
    quick, slow = (
        LinUCB(alpha=1.0, ridge=1.0, feature_bound=5.0).agent(4, 3, seed=5, epsilon=0.3, dtype=dtype) for _ in range(2)
    )
    contexts = np.random.default_rng(4).standard_normal((500, 4, 3)) / 3
    if not rows:
        contexts = np.ascontiguousarray(contexts[:, 0])
    strays = 0
    for x in contexts:
        best, (arm, decision) = int(slow.scores(x).index.argmax()), (quick.choose(x), slow.decide(x))
        assert arm == decision.arm
        strays += arm != best
        for agent in (quick, slow):
            agent.update(arm, x, float(x.ravel()[0]))
    assert 70 < strays < 160  # 500 · 0.3 · 3/4 = 112.5 ± 9.3 are expected


def test_single_precision_learns_the_same_quickly_and_slowly() -> None:
    quick, slow = (LinUCB(alpha=1.0, feature_bound=3.0).agent(2, 3, seed=0, dtype="float32") for _ in range(2))
    for x in X:
        quick.update(0, x, x[0])
        slow.update(0, x.tolist(), x[0])
    np.testing.assert_array_equal(quick.scores(X[0]).width, slow.scores(X[0]).width)
    assert quick.rewards == slow.rewards == len(X)


REWARDS = [0.1, 0.2, -0.3]
"""They sum to 0, but not in every order: what is left is rounding, to which no arm should owe its lead."""
POLICIES = [
    Greedy(feature_bound=1.0),
    LinUCB(ridge=1.0, alpha=0.0, feature_bound=1.0),
    armspan.EpsilonGreedy(),
    armspan.KernelUCB(eta=0.0),
]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{policy.name}-{policy.compiled}")
@pytest.mark.parametrize("kept", [False, True])
def test_arms_whose_rewards_cancel_are_tied(policy: armspan.policies.Policy, kept: bool) -> None:
    """Arms of which 0 is known look alike, up to the rounding of what cancelled; kept : after a way through a file."""
    agent = policy.agent(n_arms=3, n_features=2, seed=1)
    x = np.array([0.6, 0.3])
    features = np.array([x, x, x])
    for arm, order in enumerate(((0, 1, 2), (2, 1, 0), (1, 2, 0))):
        for reward in np.array(REWARDS)[list(order)]:
            agent.update(arm, features, reward)
    agent = type(agent).from_bytes(agent.to_bytes()) if kept else agent
    means = agent.scores(features).mean
    assert np.abs(means).max() < 1e-15
    assert np.ptp(agent.propensities(features)) < 1e-12
    counts = Counter(agent.choose(features) for _ in range(300))
    assert min(counts[arm] for arm in range(3)) > 50  # fails by chance in fewer than one of 10⁹
    agent.update(0, features, 1e-6)
    assert agent.propensities(features)[0] > 0.9  # but a small lead is a lead


def test_asking_does_not_change_ties_where_squares_are_not_known() -> None:
    """Arms from sums without Σy² do not tell how large rewards are, whichever way one asks."""
    agent = LinUCB(ridge=1.0, alpha=0.0, feature_bound=1.0).agent(n_arms=1, n_features=2, seed=1)
    for arm in (1, 2):
        agent.add_arm(arm, Statistics(np.zeros((2, 2)), np.zeros(2), 0.0))
    for arm, order in ((1, (0, 1, 2)), (2, (2, 1, 0))):
        for place in order:
            agent.update(arm, np.array([0.6, 0.3]), REWARDS[place])
    before = agent.propensities([0.6, 0.3])
    decided = agent.decide_many(np.array([[0.6, 0.3]]))
    after, copied = agent.propensities([0.6, 0.3]), agent.copy().propensities([0.6, 0.3])
    np.testing.assert_array_equal(after, before)
    np.testing.assert_array_equal(copied, before)
    assert decided.propensities[0] == before[decided.arms[0]]


@pytest.mark.parametrize("squares", [-5.0, np.inf, 1e305])
def test_squares_that_are_none_are_refused_and_change_nothing(squares: float) -> None:
    agent = LinUCB(alpha=1.0, feature_bound=2.0).agent(2, 2, seed=0)
    with pytest.raises(InvalidParameter, match=r"prior\.squares must be the sum of squared rewards"):
        agent.add_arm("new", Statistics(np.eye(2), np.zeros(2), 1e-9, squares))
    agent.update(0, [1.0, 0.0], 1.0)
    assert (agent.arms, agent.copy().rewards) == ((0, 1), 1)


def test_infinite_indices_are_tied() -> None:
    agent = LinUCB(alpha=1e308, ridge=1e-4, feature_bound=200.0).agent(3, 2, seed=1)
    x = np.full(2, 50.0)
    with np.errstate(over="ignore"):
        assert agent.decide(x).propensity == pytest.approx(1 / 3)
        assert agent.propensities(x) == pytest.approx(np.full(3, 1 / 3))
    assert len({agent.choose(x) for _ in range(60)}) == 3
