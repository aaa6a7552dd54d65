"""What environments know of themselves: rewards, best arms, gap, bounds, assumptions."""

import numpy as np
import pytest
from hypothesis import given

from armspan.environments import (
    PAPER_1A_LEVEL,
    BoxContexts,
    FiniteContexts,
    MarkovContexts,
    Rademacher,
    diversity_dial,
    paper_1a,
    paper_1b,
    paper_1c,
)
from armspan.errors import InvalidParameter
from tests import naive
from tests.strategies import Array, tables


@given(tables())
def test_the_truth_of_a_finite_environment(table: tuple[Array, Array]) -> None:
    features, theta = table
    env = FiniteContexts(features, theta)
    means = naive.mean_rewards(features, theta)
    np.testing.assert_allclose(env.reward_table.T, means, atol=1e-12)
    assert env.gap == pytest.approx(naive.gap(features, theta), abs=1e-9)
    assert env.feature_bound == pytest.approx(max(np.linalg.norm(x) for x in features.reshape(-1, features.shape[2])))
    assert env.parameter_bound == pytest.approx(max(np.linalg.norm(parameter) for parameter in theta))
    for c in range(env.n_contexts):
        np.testing.assert_allclose(env.mean_rewards(features[:, c]), means[c], atol=1e-12)
    for a, contexts in enumerate(naive.optimal_contexts(features, theta)):
        assert list(env.optimal_contexts(a)) == contexts


def test_arrays_cannot_be_changed_behind_our_back() -> None:
    features = np.ones((2, 1, 1))
    env = FiniteContexts(features, [[1.0], [2.0]])
    features[:] = 5.0
    assert env.features[0, 0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        env.features[0, 0, 0] = 3.0


def test_the_papers_problems_satisfy_the_assumptions() -> None:
    for env in (paper_1a(), paper_1b()):
        assumptions = env.assumptions()
        assert [a.number for a in assumptions] == ["1.1", "1.2", "1.3", "1.4", "1.5"]
        assert assumptions.hold
        assert str(assumptions).count("holds") == 5


def test_no_gap() -> None:
    env = FiniteContexts([[[1.0], [2.0]], [[1.0], [2.0]]], [[1.0], [1.0]])
    assert env.gap == 0
    assert [a.number for a in env.assumptions() if not a.holds] == ["1.2", "1.5"]


def test_arms_that_tie_for_best_do_not_close_the_gap() -> None:
    """Where all arms tie no pull costs anything; where two tie, what counts is how far the others are behind them."""
    all_tie = FiniteContexts([[[1.0], [2.0]], [[1.0], [1.0]]], [[1.0], [1.0]])
    assert all_tie.gap == 1.0
    assert [a.number for a in all_tie.assumptions() if not a.holds] == ["1.5"]
    rewards = np.array([[1.0, 1.0, 0.7], [0.2, 0.2 + 1e-16, 0.2], [0.0, 0.9, 0.1]])  # a row a context
    env = FiniteContexts(rewards.T[:, :, None], np.ones((3, 1)))
    assert env.gap == pytest.approx(0.3)
    assert [list(env.optimal_contexts(a)) for a in range(3)] == [[], [2], []]  # C_a asks for a single best arm
    assert FiniteContexts(rewards.T[:, :, None], np.ones((3, 1)), [0.0, 0.5, 0.5]).gap == pytest.approx(0.8)


def test_contexts_that_never_arrive_do_not_set_the_feature_bound() -> None:
    a = paper_1a()
    features = np.concatenate([a.features, np.full((2, 1, 2), 30.0)], axis=1)
    env = FiniteContexts(features, a.theta, [0.25, 0.25, 0.25, 0.25, 0.0])
    assert env.feature_bound == a.feature_bound
    with pytest.raises(InvalidParameter, match="features must not all be 0 in the contexts that arrive"):
        FiniteContexts([[[0.0], [1.0]], [[0.0], [2.0]]], [[1.0], [1.0]], [1.0, 0.0])


def test_an_arm_that_is_never_best() -> None:
    env = FiniteContexts([[[1.0, 0], [0, 1.0]], [[0.1, 0], [0, 0.1]]], [[1, 1], [1, 1]])
    (failed,) = [a for a in env.assumptions() if not a.holds]
    assert failed.number == "1.5"
    assert "Arm 1 is never best" in failed.reason


def test_contexts_that_do_not_span() -> None:
    (failed,) = [a for a in diversity_dial(0.0).assumptions() if not a.holds]
    assert "do not span" in failed.reason


def test_noise_beyond_the_papers_and_markov_arrivals_are_named() -> None:
    env = MarkovContexts(paper_1a().features, paper_1a().theta, np.full((4, 4), 0.25), Rademacher(2.0))
    assumptions = env.assumptions()
    assert "2-subgaussian" in assumptions[2].reason
    assert "ergodic" in assumptions[3].reason


def test_box_assumptions_by_sampling() -> None:
    assert not paper_1c(0).assumptions().hold  # some arm is never best there
    assert BoxContexts([[1.0, -1.0], [-1.0, 1.0]], gap=0.1).assumptions().hold


def test_paper_1c_draws_theta_on_the_sphere() -> None:
    env = paper_1c(7)
    np.testing.assert_allclose(np.linalg.norm(env.theta, axis=1), 10.0)
    assert env.theta.shape == (5, 4)
    assert (env.gap, env.feature_bound) == (0.5, 2.0)
    assert not np.array_equal(env.theta, paper_1c(8).theta)
    assert np.array_equal(env.theta, paper_1c(7).theta)


def test_the_dial_keeps_the_rewards_and_turns_the_diversity() -> None:
    levels = [0.0, 0.001, 0.01, PAPER_1A_LEVEL, 0.3, 1.0]
    values = [diversity_dial(level).lambda_0() for level in levels]
    assert values[0] == 0.0
    assert values == sorted(values)
    for level in levels:
        np.testing.assert_allclose(diversity_dial(level).reward_table, paper_1a().reward_table, atol=1e-12)
        assert diversity_dial(level).gap == pytest.approx(0.14)
    np.testing.assert_allclose(diversity_dial(PAPER_1A_LEVEL).features, paper_1a().features, atol=1e-12)
    top = diversity_dial(1.0)
    for arm in range(2):
        one, other = top.optimal_features(arm)
        assert one @ other == pytest.approx(0.0, abs=1e-12)


def test_sample_is_the_first_contexts_of_run_0() -> None:
    x, means = paper_1a().sample(7, seed=3)
    assert x.shape == (7, 2, 2)
    np.testing.assert_allclose(means, np.einsum("nkd,kd->nk", x, paper_1a().theta))


def test_what_never_arrives_counts_for_nothing() -> None:
    a = paper_1a()
    env = FiniteContexts(a.features, a.theta, [0.5, 0.0, 0.5, 0.0])
    assert env.lambda_0() == 0.0
    assert [list(env.optimal_contexts(arm)) for arm in (0, 1)] == [[0], [2]]
    assert FiniteContexts(a.features, a.theta, [0.5, 0.0, 0.0, 0.5]).gap == pytest.approx(0.22)


def test_arms_that_differ_by_rounding_alone_are_equally_good() -> None:
    env = FiniteContexts([[[0.1, 0.2]], [[0.3, 0.0]]], [[1.0, 1.0], [1.0, 1.0]])
    assert env.gap == 0
    assert not env.optimal_contexts(0).size


def test_the_gap_of_a_box() -> None:
    assert BoxContexts([[1.0], [-1.0]], 1, 2).gap == 2.0  # arm 0 leads by at least that everywhere
    assert BoxContexts([[1.0], [-1.0]]).gap == 0.0
    assert not BoxContexts(np.zeros((2, 2))).assumptions().hold
    env = BoxContexts([[1.0, 0.0], [0.0, 1.0]], gap=0.3)
    assert env.gap == 0.3
    assert env.best_arm(np.array([[0.2, 0.9], [0.9, 0.8]])) == 1


def test_large_environments_are_built_quickly() -> None:
    n = 1000
    cycle = 0.9 * np.roll(np.eye(n), 1, axis=1) + 0.1 * np.eye(n)
    features = np.random.default_rng(0).normal(size=(2, n, 3))
    assert MarkovContexts(features, np.eye(2, 3), cycle).probabilities == pytest.approx(np.full(n, 1 / n))
    BoxContexts(np.random.default_rng(0).normal(size=(100, 100)))


def test_repr_says_what_it_is() -> None:
    assert repr(paper_1a()) == "<paper 1a: n_arms=2, n_features=2, n_contexts=4, gap=0.14>"
