"""Environments that the paper's theory does not speak of: rewards that are not linear, labels, drift."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from armspan import ContextUCB, Greedy, LinTS, LinUCBd, Oracle, audit, regret_bound, simulate
from armspan.environments import (
    DelayedRewards,
    DriftingContexts,
    Environment,
    FiniteContexts,
    RewardTable,
    labelled,
)
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


TWINS = labelled([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1])
"""Rows that are alike, with different labels."""


def test_features_of_several_contexts_do_not_tell_the_rewards() -> None:
    with pytest.raises(NotApplicable, match="contexts 0, 1 of labels have these features, and different mean rewards"):
        TWINS.mean_rewards(TWINS.features[:, 0])
    alike = RewardTable(np.ones((3, 2)), [[1.0, 1, 1], [0, 0, 0]])
    np.testing.assert_array_equal(alike.mean_rewards(np.ones((2, 2))), [1, 0])


@pytest.mark.parametrize("engine", ["cpu", "python"])
@pytest.mark.parametrize(
    "env", [TWINS, DelayedRewards(TWINS, steps=2), DriftingContexts(RNG.normal(size=(2, 3, 2)), 7)], ids=repr
)
def test_the_oracle_knows_what_features_do_not_tell(env: Environment, engine: str) -> None:
    result = simulate(env, Oracle(), horizon=50, runs=3, engine=engine)
    np.testing.assert_array_equal(result.pseudo_regret, 0)


CORNERS, BENT = np.array([[1.0, 0], [0, 1], [1, 1], [2, 1]]), np.array([[1.0, 0, 0, 3], [0, 1, 2, 0]])


@pytest.mark.parametrize("unit", [1e-200, 1e-10, 1.0, 1e10])
def test_what_is_not_linear_is_not_in_any_unit(unit: float) -> None:
    env = RewardTable(CORNERS, unit * BENT, noise=unit)
    assert env.outside_theory == f"rewards of reward table are not linear in the features: off by up to {unit:.3g}"
    straight = RewardTable(CORNERS, unit * CORNERS.T, noise=unit)
    assert straight.outside_theory is None


def test_contexts_that_never_come_make_no_rewards_linear() -> None:
    never = np.column_stack([BENT, [1e12, 0.0]])
    env = RewardTable(np.vstack([CORNERS, [5.0, 5.0]]), never, probabilities=[0.25] * 4 + [0])
    with pytest.raises(NotApplicable, match="off by up to 1"):
        audit(env)


def test_a_misfit_beside_a_small_gap_is_not_rounding() -> None:
    """Rewards of a billion, whose differences decide: the misfit is a few 10⁻¹⁰ of them, and twice the gap."""
    env = RewardTable(np.ones((3, 1)), 1e9 + np.array([[0.0, 0.25, 0.5], [0.625, 0.625, 0.625]]))
    assert env.misfit == pytest.approx(0.25, rel=1e-5)
    assert env.gap == 0.125
    assert env.outside_theory is not None


def test_labels_are_arms() -> None:
    X = np.array([[0.0, 5.0, 1.0], [1.0, 5.0, 0.0], [2.0, 5.0, 4.0], [3.0, 5.0, 1.0]])
    env = labelled(X, ["cat", "dog", "cat", "bird"])
    assert (env.n_arms, env.n_contexts, env.n_features) == (3, 4, 3)  # without what is constant, with the intercept
    np.testing.assert_array_equal(env.reward_table, [[0, 0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0]])
    assert env.feature_bound == pytest.approx(1)
    with pytest.raises(ArmspanError, match=r"y must have 4 labels, of at least 2 kinds, got 1 kind$"):
        labelled(X, ["a"] * 4)
    with pytest.raises(ArmspanError, match="y must have labels of one kind"):
        labelled(X, [None, 1, None, 1])
    with pytest.raises(ArmspanError, match="y must have labels of one kind"):
        labelled(X, ["cat", 1, "cat", 1])
    with pytest.raises(ArmspanError, match="y must have labels of one kind"):
        labelled(X, pd.array([1, None, 2, 1]))


@pytest.mark.parametrize("labels", [[0, 1, np.nan, 1], ["a", "b", np.nan, "b"]])
def test_a_missing_label_is_no_arm(labels: list[Any]) -> None:
    for y in (labels, np.array(labels, dtype=object)):
        with pytest.raises(ArmspanError, match="y must have no missing labels, got nan at 2"):
            labelled(np.eye(4), y)
    with pytest.raises(ArmspanError, match="y must have no masked entries, got one at"):
        labelled(np.eye(4), np.ma.masked_equal([0, 1, 2, 1], 2))


def test_constant_features_are_left_out_whatever_their_mean_is_rounded_to() -> None:
    X = RNG.normal(size=(60, 3))
    for constant in (0.1, 0.5, 1e300, 0.0):
        env = labelled(np.column_stack([X, np.full(60, constant)]), np.arange(60) % 3)
        np.testing.assert_array_equal(env.features, labelled(X, np.arange(60) % 3).features)


@pytest.mark.parametrize("unit", [2.0**-1000, 1e-200, 1e200, 1e307])
def test_features_may_have_any_unit(unit: float) -> None:
    X, y = np.array([[0.0, 1], [1, 5], [2, 3], [3, 1]]), [0, 1, 0, 1]
    np.testing.assert_allclose(labelled(X * [unit, 1], y).features, labelled(X, y).features, rtol=1e-12)


@pytest.mark.parametrize("abrupt", [False, True])
def test_parameters_drift(abrupt: bool) -> None:
    theta = RNG.normal(size=(3, 2, 2))
    env = DriftingContexts(theta, 10, abrupt=abrupt, noise=0.0)
    for step in (1, 4, 10, 11, 17, 25, 30, 31, 34):
        leg, along = (step - 1) // 10, (step - 1) % 10
        share = 0 if abrupt else along / 10
        expected = (1 - share) * theta[leg % 3] + share * theta[(leg + 1) % 3]
        np.testing.assert_allclose(env.parameters(np.array([step]))[0], expected)
    np.testing.assert_array_equal(env.parameters([1, 17]), env.parameters(np.array([1, 17])))
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
