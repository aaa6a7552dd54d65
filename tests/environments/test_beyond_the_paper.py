"""Environments that the paper's theory does not speak of: rewards that are not linear, labels, drift."""

from typing import Any

import numpy as np
import pytest

from armspan import ContextUCB, Greedy, LinTS, LinUCBd, audit, regret_bound, simulate
from armspan.environments import DriftingContexts, FiniteContexts, RewardTable, labelled
from armspan.errors import ArmspanError, NotApplicable

RNG = np.random.default_rng(2)
FEATURES, THETA = RNG.normal(size=(3, 6, 2)), RNG.normal(size=(3, 2))


def test_a_linear_reward_table_is_finite_contexts() -> None:
    finite = FiniteContexts(FEATURES, THETA)
    table = RewardTable(FEATURES, finite.reward_table)
    assert table.outside_theory is None
    np.testing.assert_allclose(table.theta, THETA, atol=1e-10)
    one, other = (simulate(env, [LinUCBd(), ContextUCB()], horizon=200, runs=3) for env in (finite, table))
    np.testing.assert_allclose(one.pseudo_regret, other.pseudo_regret, atol=1e-9)
    assert audit(table).verdicts[0].answer == audit(finite).verdicts[0].answer


def test_rewards_are_those_of_the_table() -> None:
    rewards = RNG.normal(size=(3, 6))
    env = RewardTable(FEATURES, rewards, noise=0.0)
    result = simulate(env, [LinUCBd(), LinTS(), Greedy()], horizon=50, runs=2, engine="python")
    np.testing.assert_allclose(result.regret, result.pseudo_regret)
    np.testing.assert_array_equal(env.mean_rewards(FEATURES[:, 4]), rewards[:, 4])
    cpu = simulate(env, [LinUCBd(), LinTS(), Greedy()], horizon=50, runs=2, engine="cpu")
    np.testing.assert_allclose(cpu.pseudo_regret, result.pseudo_regret, atol=1e-9)
    fit = [np.linalg.lstsq(FEATURES[a], rewards[a], rcond=None)[0] for a in range(3)]
    off = max(np.abs(FEATURES[a] @ fit[a] - rewards[a]).max() for a in range(3))
    assert env.misfit == pytest.approx(off)


@pytest.mark.parametrize("ask", [audit, regret_bound, lambda env: env.assumptions()])
def test_theory_is_silent_where_rewards_are_not_linear_or_drift(ask: Any) -> None:
    bent = RewardTable(FEATURES, RNG.normal(size=(3, 6)))
    drifting = DriftingContexts(RNG.normal(size=(2, 3, 2)), 10)
    with pytest.raises(NotApplicable, match="not linear in the features: off by up to"):
        ask(bent)
    with pytest.raises(NotApplicable):
        ask(drifting)


def test_labels_are_arms() -> None:
    X = np.array([[0.0, 5.0, 1.0], [1.0, 5.0, 0.0], [2.0, 5.0, 4.0], [3.0, 5.0, 1.0]])
    env = labelled(X, ["cat", "dog", "cat", "bird"])
    assert (env.n_arms, env.n_contexts, env.n_features) == (3, 4, 3)  # without what is constant, with the intercept
    np.testing.assert_array_equal(env.reward_table, [[0, 0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0]])
    assert env.feature_bound == pytest.approx(1)
    with pytest.raises(ArmspanError, match="y must have 4 labels, of at least 2 kinds"):
        labelled(X, ["a"] * 4)
    with pytest.raises(ArmspanError, match="y must have labels of one kind"):
        labelled(X, [None, 1, None, 1])


@pytest.mark.parametrize("abrupt", [False, True])
def test_parameters_drift(abrupt: bool) -> None:
    theta = RNG.normal(size=(3, 2, 2))
    env = DriftingContexts(theta, 10, abrupt=abrupt, noise=0.0)
    for step in (1, 4, 10, 11, 17, 25, 30, 31, 34):
        leg, along = (step - 1) // 10, (step - 1) % 10
        share = 0 if abrupt else along / 10
        expected = (1 - share) * theta[leg % 3] + share * theta[(leg + 1) % 3]
        np.testing.assert_allclose(env.parameters(np.array([step]))[0], expected)
    block = env.stream(3, np.array([0, 5])).draw(0, 40)
    for r, i in ((0, 0), (0, 16), (1, 33)):
        c = block.contexts[r, i]
        means = (block.x[c] * env.parameters(np.array([i + 1]))[0]).sum(axis=1)
        np.testing.assert_allclose(block.means[c], means)
        np.testing.assert_allclose(block.losses[c], means.max() - means)


def test_drift_is_the_same_on_both_engines_however_it_is_cut() -> None:
    env = DriftingContexts(RNG.normal(size=(2, 3, 2)), 25)
    cpu, python = (
        simulate(env, [LinUCBd(), LinTS()], horizon=150, runs=3, engine=engine) for engine in ("cpu", "python")
    )
    np.testing.assert_allclose(cpu.pseudo_regret, python.pseudo_regret, atol=1e-9)
    with pytest.raises(ArmspanError, match="low must be < high"):
        DriftingContexts(RNG.normal(size=(2, 3, 2)), 25, low=1.0, high=0.0)
