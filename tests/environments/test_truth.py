"""What environments know of themselves: rewards, best arms, gap, bounds, assumptions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from armspan.environments import (
    PAPER_1A_LEVEL,
    BoxContexts,
    Environment,
    FiniteContexts,
    MarkovContexts,
    Rademacher,
    RewardTable,
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


def farthest_lead(env: BoxContexts, a: int) -> float:
    """The largest lead of arm a in the box by a linear program: max t with θ_aᵀx_a - θ_bᵀx_b ≥ t for all b ≠ a."""
    K, d = env.theta.shape
    rows = []
    for b in range(K):
        if b != a:
            row = np.zeros((K, d))
            row[a], row[b] = -env.theta[a], env.theta[b]
            rows.append(np.append(row, 1.0))
    sides = [(low, high) for low, high in zip(env.low, env.high, strict=True)] * K
    found = linprog(np.append(np.zeros(K * d), -1.0), A_ub=rows, b_ub=np.zeros(K - 1), bounds=[*sides, (None, None)])
    assert found.status == 0
    return -float(found.fun)


@given(st.integers(2, 5), st.integers(1, 4), st.sampled_from([0.0, 0.05, 0.5]), st.integers(0, 10**6))
def test_which_arms_of_a_box_can_be_best_is_decided_exactly(K: int, d: int, share: float, seed: int) -> None:
    """Against a linear program; and an arm that a sample shows to be best was not said to be never best."""
    rng = np.random.default_rng(seed)
    theta, low = rng.normal(size=(K, d)), rng.normal(size=d)
    theta *= rng.choice([0.1, 1.0, 3.0], size=(K, 1))
    high = low + rng.random(d) + 0.1
    reach = max(farthest_lead(BoxContexts(theta, low, high), a) for a in range(K))
    try:
        env = BoxContexts(theta, low, high, gap=max(share * reach, 0.0))
    except InvalidParameter:  # hardly any draw has such a gap
        return
    leads = [farthest_lead(env, a) for a in range(K)]
    for a, spans in enumerate(env.certain_spans()):
        if abs(leads[a] - env.gap) > 1e-6:  # where the program's tolerance does not decide
            assert spans is (leads[a] > env.gap)
    p, _, _ = env.diversity_per_arm()
    assert all(spans or p[a] == 0 for a, spans in enumerate(env.certain_spans()))


def test_the_border_of_the_closed_form() -> None:
    """A lead that reaches the gap and no more has probability 0; the least more has not."""
    assert BoxContexts(np.zeros((2, 2))).certain_spans() == (False, False)
    assert BoxContexts([[1.0], [1.0]]).certain_spans() == (True, True)
    assert BoxContexts([[1.0], [-1.0]]).certain_spans() == (True, False)  # both are 0 at best and at worst
    assert BoxContexts([[1.0], [-1.0]], low=-1e-300).certain_spans() == (True, True)
    assert BoxContexts([[1.0], [0.5]], gap=0.5).certain_spans() == (True, False)
    assert BoxContexts([[1.0], [0.5]], gap=np.nextafter(0.5, 0)).certain_spans() == (True, True)
    assert BoxContexts([[1.0], [-1.0]], 1, 2).certain_spans() == (True, False)
    assert paper_1a().certain_spans() == (True, True)
    assert diversity_dial(0.0).certain_spans() == (False, False)


def test_figure_1c_each_of_the_arms_can_be_optimal_in_most_draws() -> None:
    """Arm a can win by more than Δ iff Σθ_a⁺ - max over b ≠ a of Σθ_b⁻ > Δ, which settles Assumption 1.5."""
    unseen = 0
    for seed in range(60):
        env = paper_1c(seed)
        above = [sum(max(value, 0.0) for value in row) for row in env.theta]
        below = [sum(min(value, 0.0) for value in row) for row in env.theta]
        expected = tuple(above[a] - max(below[b] for b in range(5) if b != a) > 0.5 for a in range(5))
        assert env.certain_spans() == expected
        diverse = env.assumptions()[4]
        assert diverse.holds is all(expected)
        if all(expected) and "too rarely" in diverse.reason:
            unseen += 1
            assert "never best" not in diverse.reason
    assert unseen > 20  # sampling alone would have called these hopeless


def test_box_assumptions() -> None:
    rare = paper_1c(0).assumptions()
    assert rare.hold
    assert rare[4].reason == (
        "Every arm can be best, in contexts that span the feature space. But in 100,000 draws arms 2, 3 were best too "
        "rarely to measure that; arms 2, 3 were not at all, so the probability is below 3e-05."
    )
    assert BoxContexts([[1.0, -1.0], [-1.0, 1.0]], gap=0.1).assumptions().hold
    (failed,) = [a for a in BoxContexts([[1.0], [-1.0]], 1, 2).assumptions() if not a.holds]
    assert failed.reason == (
        "Arm 1 is never best alone; making sure that an arm is worse costs regret of at least log T."
    )


def test_what_only_a_sample_can_tell_is_not_known() -> None:
    """The same boxes without their closed form."""

    class Sampled(BoxContexts):
        def certain_spans(self) -> tuple[bool | None, ...]:
            return Environment.certain_spans(self)

    env = Sampled(paper_1c(0).theta, gap=0.5)
    diverse = env.assumptions()[4]
    assert (diverse.holds, diverse.answer) == (None, "not known")
    assert diverse.reason == (
        "In 100,000 draws arms 2, 3 were best too rarely to tell whether they span; arms 2, 3 were not at all, so the "
        "probability is below 3e-05."
    )
    assert "not known" in str(env.assumptions())
    assert not env.assumptions().hold
    assert Sampled([[1.0, -1.0], [-1.0, 1.0]], gap=0.1).assumptions().hold  # what was seen is proof


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


def test_how_many_contexts_arrive_in_plain_words() -> None:
    for n, words in ((1, "The same context arrives every time."), (3, "3 contexts arrive independently.")):
        assert FiniteContexts(np.ones((2, n, 1)), [[1.0], [2.0]]).assumptions()[3].reason == words
        assert RewardTable(np.ones((n, 1)), np.ones((2, n))).arrivals().reason == words


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


MOVES = np.random.default_rng(3).dirichlet(np.ones(5), size=5)


@pytest.mark.parametrize(
    "make",
    [
        FiniteContexts,
        lambda features, theta: MarkovContexts(features, theta, MOVES),
        lambda features, theta: RewardTable(features, theta @ np.asarray(features).reshape(-1, 5, 3)[0].T),
    ],
)
def test_features_that_all_arms_share_are_given_once(make: Callable[[Array, Array], Any]) -> None:
    rng = np.random.default_rng(2)
    x, theta = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    once, each = make(x, theta), make(np.tile(x, (4, 1, 1)), theta)
    np.testing.assert_array_equal(once.features, each.features)
    np.testing.assert_allclose(once.reward_table, theta @ x.T)
