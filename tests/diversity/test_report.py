"""audit: what it measures, and what it says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armspan
from armspan.diversity import DiversityReport
from armspan.diversity.basis import best_basis
from armspan.diversity.measure import FEWEST, _around, problem_numbers
from armspan.diversity.meta import climb, counts, counts_with, meta_contexts
from armspan.diversity.moments import weakest_of
from armspan.environments import (
    BoxContexts,
    FiniteContexts,
    MarkovContexts,
    diversity_dial,
    paper_1a,
    paper_1b,
    paper_1c,
)
from armspan.errors import ArmspanError, InvalidParameter, NotApplicable
from tests.strategies import Array


def answers(report: DiversityReport) -> list[str]:
    return [verdict.answer for verdict in report.verdicts]


def test_the_papers_problem() -> None:
    report = armspan.audit(paper_1a())
    assert report.lambda_0 == pytest.approx(0.00799, abs=5e-6)
    assert report.lambda_0_upper == report.lambda_0
    assert (report.p, report.p_interval) == (0.25, (0.25, 0.25))
    assert report.delta == pytest.approx(paper_1a().feature_bound * np.sqrt(2 / 0.0079871), rel=1e-4)
    assert report.margin == pytest.approx(0.14)
    assert answers(report) == ["yes", "yes", "yes", "no", "yes"]
    assert [row.probability for row in report.arms] == [0.5, 0.5]
    np.testing.assert_allclose(report.arms[1].features, paper_1a().optimal_features(1))
    np.testing.assert_allclose(report.arms[1].basis_features, [[0.3, 0.7], [0.2, 0.8]])
    assert answers(armspan.audit(paper_1b())) == ["yes", "yes", "yes", "no", "yes"]


def test_a_gap_that_noise_hides_is_called_tiny() -> None:
    features, theta = np.eye(2)[None].repeat(2, axis=0), np.array([[1e-3, 0], [0, 1e-3]])
    noisy, quiet = (armspan.audit(FiniteContexts(features, theta, noise=noise)).verdicts[2] for noise in (0.5, 0.05))
    assert (noisy.answer, quiet.answer) == ("yes", "yes")
    assert "Beside noise of 0.5 that is tiny: to see it takes about 2e+05 pulls" in noisy.reason  # (0.5 / 0.001)²
    assert quiet.reason == "In every context, an arm that is not best falls behind by Δ = 0.001 or more."


def test_the_weakest_direction_is_named() -> None:
    features = np.zeros((2, 4, 3))
    features[0] = np.array([[1, 1, 0], [1, -1, 0], [0, 0.1, 0.2], [0, 0.1, 0.1]])
    features[1] = np.array([[0.1, 0, 0], [0.1, 0, 0], [0, 1, 1], [0.5, 1, 0]])
    report = armspan.audit(FiniteContexts(features, np.ones((2, 3)) * [1, 0.2, 0.3]))
    assert "Where arm 0 is best, features do not vary along feature 2." in str(report)
    np.testing.assert_allclose(np.abs(report.arms[0].weakest_direction), [0, 0, 1], atol=1e-12)
    assert report.verdicts[0].answer == "no"
    assert report.lambda_0 == 0
    assert report.delta == np.inf


def test_problems_that_break_an_assumption_say_which() -> None:
    never = FiniteContexts([[[1.0, 0], [0, 1.0]], [[0.1, 0], [0, 0.1]]], [[1, 1], [1, 1]])
    for report, sentence in (
        (armspan.audit(never), "Never best: arm 1."),
        (armspan.audit(diversity_dial(0.0)), "do not span"),
    ):
        assert answers(report)[:3] == ["no", "no", "yes"]
        assert sentence in report.verdicts[0].reason
        assert report.verdicts[1].reason == report.verdicts[0].reason
    tie = FiniteContexts(
        [[[1.0, 0], [0, 1.0], [0.5, 0.5], [0.1, 0], [0, 0.1]], [[0.1, 0], [0, 0.1], [0.5, 0.5], [1.0, 0], [0, 1.0]]],
        [[1, 1], [1, 1]],
    )
    assert tie.gap == pytest.approx(0.9)  # pulls in the tied context cost nothing
    assert armspan.audit(tie).verdicts[0].answer == "yes"
    assert armspan.regret_bound(tie).total < np.inf
    box = BoxContexts([[1.0, -1.0], [-1.0, 1.0]])
    assert answers(armspan.audit(box))[:3] == ["no", "yes", "no"]
    assert "no gap" in armspan.audit(box).verdicts[0].reason


def test_symmetric_features_make_greedy_safe() -> None:
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False) + 0.1
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    env = FiniteContexts([circle, circle], [[1.0, 0.3], [-0.4, 1.0]])
    assert answers(armspan.audit(env))[3] == "yes"


def test_rare_contexts_count_in_p() -> None:
    a = paper_1a()
    assert armspan.audit(FiniteContexts(a.features, a.theta, [0.4, 0.1, 0.2, 0.3])).p == pytest.approx(0.1)
    chain = MarkovContexts(a.features, a.theta, 0.5 * np.eye(4) + 0.125)
    assert armspan.audit(chain).p == pytest.approx(0.25)


def test_continuous_contexts_get_meta_contexts() -> None:
    env = BoxContexts([[1.0, -1.0], [-1.0, 1.0]], gap=0.2)
    report = armspan.audit(env)
    assert not report.exact
    assert 0 < report.p_interval[0] <= report.p <= report.p_interval[1]
    assert report.lambda_0 > 0
    assert armspan.regret_bound(env).total > 0
    assert "0.5" in f"{report.arms[0].probability:.2f}"


def test_meta_contexts_are_those_of_section_5() -> None:
    """Disjoint, within r = ½√(λ₀/d) of their vector, and as frequent as a fresh sample says."""
    env = BoxContexts([[1.0, -1.0], [-1.0, 1.0]], gap=0.2)
    x, means = env.sample(20_000)
    best = np.argmax(means, axis=1)
    meta = meta_contexts([x[best == a, a] for a in range(2)], len(x), problem_numbers(env))
    assert meta is not None
    assert meta.radius == pytest.approx(np.sqrt(meta.lambda_0 / 2) / 2)
    fresh, fresh_means = env.sample(20_000, seed=9)
    shares = []
    for a in range(2):
        basis = meta.bases[a]
        assert np.linalg.svd(basis, compute_uv=False)[-1] ** 2 >= meta.lambda_0 * (1 - 1e-12)
        X = fresh[np.argmax(fresh_means, axis=1) == a, a]
        found = counts(X, basis, meta.radius)
        for i in range(2):
            projections = X @ (basis / np.linalg.norm(basis, axis=1, keepdims=True)).T
            inside = (np.linalg.norm(X - basis[i], axis=1) <= meta.radius) & (projections.argmax(axis=1) == i)
            assert found[i] == inside.sum()
        shares.append(found.min() / 20_000)
    assert min(shares) == pytest.approx(meta.p, abs=4.5 * np.sqrt(2 * meta.p / 10_000))


def test_moving_one_vector_is_counted_like_any_basis() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        d = int(rng.integers(1, 5))
        X, basis, places, i = rng.random((200, d)), rng.random((d, d)), rng.random((7, d)), int(rng.integers(d))
        for place, found in zip(places, counts_with(X, basis, i, places, 0.3), strict=True):
            trial = basis.copy()
            trial[i] = place
            np.testing.assert_array_equal(found, counts(X, trial, 0.3))


def climbed(X: Array, spots: Array, basis: Array, lambda_0: float, radius: float) -> Array:
    """`climb`, trial by trial, over all rows."""
    for _ in range(20):
        best = basis
        for i in range(len(basis)):
            near = X[np.linalg.norm(X - basis[i], axis=1) <= radius]
            for place in [*spots, *([near.mean(axis=0)] if len(near) else [])]:
                trial = basis.copy()
                trial[i] = place
                if np.linalg.svd(trial, compute_uv=False)[-1] ** 2 >= lambda_0:
                    fuller = [sorted(counts(X, one, radius)) for one in (best, trial)]
                    best = trial if fuller[1] > fuller[0] else best
        if best is basis:
            return basis
        basis = best
    return basis


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_a_basis_climbs_to_where_contexts_are_many(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, d = rng.uniform(-1, 1, size=(400, 3)), 3
    spots = X[:25]
    start = best_basis(spots)
    lambda_0, radius = 0.3 * start.eigenvalue, float(rng.uniform(0.1, 0.6))
    basis = spots[list(start.rows)]
    found, expected = climb(X, spots, basis, lambda_0, radius), climbed(X, spots, basis, lambda_0, radius)
    assert sorted(counts(X, found, radius)) == sorted(counts(X, expected, radius))
    assert np.linalg.matrix_rank(found) == d


def test_arms_that_can_be_best_but_were_not_seen_to_be() -> None:
    """By the closed form every arm of this box can be best, so that theory promises a constant; it cannot be told."""
    report = armspan.audit(paper_1c(0))
    assert (report.p, report.lambda_0) == (0.0, 0.0)
    assert 3 / 200_000 < report.p_interval[1] < 4 / 200_000
    assert [row.spans for row in report.arms] == [True] * 5
    verdict = report.verdicts[0]
    assert verdict.answer == "yes"
    assert verdict.reason == (
        "Every arm's own contexts span, but some contexts are too rare to measure λ₀ and p. Never seen best in 200,000 "
        "sampled contexts: arm 2, arm 3, so the probability is below 1.5e-05."
    )
    assert "some contexts are too rare to measure λ₀, δ and p" in str(report)
    assert report.arms[2].words == "arm 2 was not best in 200,000 sampled contexts, but it can be"
    with pytest.raises(NotApplicable, match=r"constant for paper 1c, seed 0 cannot be computed.*too rare to measure"):
        armspan.regret_bound(paper_1c(0))


def test_an_arm_of_a_box_that_is_never_best() -> None:
    report = armspan.audit(BoxContexts([[1.0, 0.5], [-1.0, -0.5]], low=0.1))
    assert [row.spans for row in report.arms] == [True, False]
    assert report.verdicts[0].answer == "no"
    assert report.verdicts[0].reason == (
        "Never best: arm 1. Making sure that such an arm is worse costs regret of at least log T."
    )
    assert report.arms[1].words == "arm 1 is never best"


def test_what_only_a_sample_can_tell_is_not_known() -> None:
    """A box that does not know its closed form: an arm that was not seen best may be rare, or never best."""

    class Sampled(BoxContexts):
        def certain_spans(self) -> tuple[bool | None, ...]:
            return (None,) * self.n_arms

    report = armspan.audit(Sampled(paper_1c(0).theta, gap=0.5))
    assert report.verdicts[0].answer == "not known"
    assert report.verdicts[0].reason == (
        "Never seen best in 200,000 sampled contexts: arm 2, arm 3, so the probability is below 1.5e-05."
    )
    with pytest.raises(NotApplicable, match="no theorem applies"):
        armspan.regret_bound(Sampled(paper_1c(0).theta, gap=0.5))


@pytest.mark.long
def test_seen_contexts_are_audited_like_a_problem() -> None:
    a = paper_1a()
    x = np.swapaxes(a.features, 0, 1)
    report, truth = armspan.audit(contexts=np.repeat(x, 3, axis=0), theta_hat=a.theta), armspan.audit(a)
    assert report.lambda_0 == pytest.approx(truth.lambda_0)
    assert [row.probability for row in report.arms] == pytest.approx([0.5, 0.5])
    assert answers(report) == ["not known"] * 5  # what holds in 12 contexts may fail in others
    many = armspan.audit(contexts=np.repeat(x, 300, axis=0), theta_hat=a.theta)
    assert answers(many)[:4] == answers(truth)[:4] == ["yes", "yes", "yes", "no"]
    assert (answers(many)[4], answers(truth)[4]) == ("not known", "yes")
    assert "of the contexts the best arm leads by" in many.verdicts[2].reason
    few, some = (np.random.default_rng(0).normal(size=(n, 2)) for n in (200, 2000))
    shared = armspan.audit(contexts=few, theta_hat=[[1, 0], [0, 1]])
    assert answers(shared)[:3] == ["not known", "yes", "not known"]
    assert answers(armspan.audit(contexts=some, theta_hat=[[1, 0], [0, 1]]))[:3] == ["no", "yes", "no"]
    wide = armspan.audit(contexts=np.random.default_rng(0).normal(size=(400, 30)), theta_hat=np.eye(2, 30))
    assert 0 < wide.lambda_0 < wide.lambda_0_upper
    named = armspan.audit(a, arm_names=["tea", "coffee"], feature_names=["age", "sex"])
    assert [row.name for row in named.arms] == ["tea", "coffee"]
    assert "Where arm tea is best, features vary least along sex" in str(named)
    with pytest.raises(InvalidParameter, match="arm_names must have 2 entries, got 1"):
        armspan.audit(a, arm_names=["tea"])
    for options in ({}, {"contexts": x}, {"theta_hat": a.theta}, {"env": a, "contexts": x, "theta_hat": a.theta}):
        with pytest.raises(InvalidParameter, match="an environment, or both contexts and theta_hat"):
            armspan.audit(**options)
    with pytest.raises(InvalidParameter, match=r"contexts must have shape \(n, 2\), got shape \(5, 3\)"):
        armspan.audit(contexts=np.ones((5, 3)), theta_hat=a.theta)


def test_features_that_never_vary_are_named_one_by_one() -> None:
    """Two features are always 0: the weakest direction is one of them, not some mixture."""
    X = np.random.default_rng(1).normal(size=(100, 4)) * [1, 0, 1, 0]
    report = armspan.audit(contexts=X, theta_hat=[[1, 0, 0, 0], [0, 0, 1, 0]], feature_names=["a", "b", "c", "d"])
    assert [row.rank for row in report.arms] == [2, 2]
    assert report.arms[0].words == "where arm 0 is best, features do not vary along b, nor in 1 more direction"
    X[:, 1] = X[:, 0] + 1e-5 * np.random.default_rng(2).normal(size=100)
    for tolerance, rank in ((1e-9, 3), (1e-3, 2)):
        assert armspan.audit(contexts=X, theta_hat=np.eye(2, 4), rank_tolerance=tolerance).optimal_rank == rank
    with pytest.raises(InvalidParameter, match="rank_tolerance must be >= 0 and < 1, got 2"):
        armspan.audit(contexts=X, theta_hat=np.eye(2, 4), rank_tolerance=2)


@pytest.mark.parametrize("given", [{"margin": 0.1}, {"level": 0.2}])
def test_an_environment_has_no_margin_and_no_level(given: dict[str, Any]) -> None:
    """They are for answers from data; once they were ignored without a word."""
    with pytest.raises(InvalidParameter, match="margin and level are for contexts and theta_hat"):
        armspan.audit(paper_1a(), **given)


def test_sampled_contexts_have_intervals() -> None:
    """In a symmetric box each of two arms is best half of the time."""
    report = armspan.audit(BoxContexts([[1.0, -1.0], [-1.0, 1.0]]))
    assert report.gap == 0
    for row in report.arms:
        assert row.probability_interval[0] < 0.5 < row.probability_interval[1]
        assert row.second_moment_interval[0] < row.second_moment < row.second_moment_interval[1]
    assert "95 % intervals: arm 0 is best in 49" in str(report)
    assert report.verdicts[0].answer == "no"


def test_an_interval_that_would_often_miss_is_not_printed() -> None:
    """λ_min of few contexts is too low: here the interval of ten misses in half of the samples, of 300 in one of 20."""
    env = BoxContexts([[1.0, 0.2, -0.5, 0.4], [0.2, 1.0, 0.5, -0.4]])
    x, means = env.sample(200_000)
    mine = x[means[:, 0] > means[:, 1], 0]
    truth = float(np.linalg.eigvalsh(mine.T @ mine / len(mine))[0])
    rng, held = np.random.default_rng(0), {}
    for n in (10, FEWEST):
        found = (_spread_of(mine[rng.integers(len(mine), size=n)]) for _ in range(400))
        held[n] = np.mean([low <= truth <= high for low, high in found])
    assert held[10] < 0.8  # which is why it is not printed
    assert held[FEWEST] > 0.9
    rare = armspan.audit(paper_1c(3))
    for row in rare.arms:
        assert np.isinf(row.second_moment_interval[1]) == (len(row.features) < FEWEST)


def _spread_of(X: Any) -> tuple[float, float]:
    smallest, weak = weakest_of(X, np.full(len(X), 1 / len(X)), 1e-9)
    return _around(smallest, (X @ weak[:, 0]) ** 2)


def test_a_sample_never_says_that_greedy_is_not_covered() -> None:
    """0 lies within the box, so every half-space holds an open set; the sample just misses it."""
    for theta in ([[1, 0.2, 0.1, 0.3], [0.1, 1, 0.2, 0.4]], [[1, 0.2], [0.1, 1]]):
        inside, outside = (armspan.audit(BoxContexts(theta, low, 1)).verdicts[3] for low in (-0.001, 0.001))
        assert (inside.answer, outside.answer) == ("not known", "no")
    assert armspan.audit(BoxContexts([[1, 0.2], [0.1, 1]], -1, -0.5)).verdicts[3].answer == "no"


def test_an_arm_that_a_sample_does_not_show_is_not_called_worse() -> None:
    """Arms 2 and 3 of this draw can be best: a sample of it may not say what that costs."""
    env = paper_1c(0)
    report = armspan.audit(contexts=env.sample(5000, seed=1)[0], theta_hat=env.theta)
    said = str(report)
    assert report.verdicts[0].answer == "no"
    assert "Arm 2 is best in none of these contexts." in said
    assert "never best" not in said
    assert "log T" not in said
    assert "theory" not in report.verdicts[0].question
    assert "arm 2 is best in at most 0.0019 % of the contexts" in str(armspan.audit(env))


@pytest.mark.long
def test_a_basis_that_is_hardly_ever_met_has_no_constant() -> None:
    """Every arm was seen to span, so theory promises a constant, but which one cannot be measured."""
    verdict = armspan.audit(paper_1c(4)).verdicts[0]
    assert verdict.answer == "yes"
    assert "No basis was found near which contexts arrive often" in verdict.reason
    with pytest.raises(NotApplicable, match="too rare to measure"):
        armspan.regret_bound(paper_1c(4))


def test_the_unit_of_a_feature_does_not_change_what_spans() -> None:
    X, theta = np.random.default_rng(3).normal(size=(300, 2)), np.eye(2)
    for unit in (1e-9, 1.0, 1e9):
        report = armspan.audit(contexts=X * [unit, 1], theta_hat=theta / [[unit], [1]])
        assert [row.rank for row in report.arms] == [2, 2]
        assert all(row.second_moment > 0 for row in report.arms)
        assert answers(report)[:3] == ["not known", "yes", "not known"]
    plain, wide = (armspan.audit(contexts=X * [unit, 1], theta_hat=theta / [[unit], [1]]) for unit in (1e6, 1e9))
    assert wide.lambda_0 == pytest.approx(plain.lambda_0, rel=1e-3)  # set by the other feature alone


def test_arms_that_only_tie_are_not_called_never_best() -> None:
    x = np.random.default_rng(4).normal(size=(50, 2))
    same = armspan.audit(FiniteContexts([x, x], np.ones((2, 2))))
    assert same.verdicts[1].reason == (
        "Never best alone, only tied: arm 0, arm 1. Theory asks that each arm is best alone somewhere."
    )
    seen = armspan.audit(contexts=x, theta_hat=np.ones((2, 2)))
    assert answers(seen)[:3] == ["no", "not known", "no"]
    assert [row.words for row in seen.arms] == [f"arm {a} is best alone in none of these contexts" for a in range(2)]


@pytest.mark.long
def test_many_rows_are_audited_in_little_memory() -> None:
    X = np.random.default_rng(5).normal(size=(100_000, 3))
    report = armspan.audit(contexts=X, theta_hat=np.eye(2, 3))
    assert 0 < report.lambda_0 <= report.lambda_0_upper < 100


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: armspan.audit("x"), "audit needs an environment that knows its truth, got str"),  # type: ignore[arg-type]
        (lambda: armspan.audit(paper_1a(), arm_names=3), "arm_names must have 2 entries, got int"),  # type: ignore[arg-type]
        (lambda: armspan.audit(contexts=np.full((5, 2), 1e200), theta_hat=np.eye(2)), "squares are finite numbers"),
        (lambda: armspan.diversity.audit_log(np.eye(2), [0, 1], [1, 2], feature_names=["q"]), "feature_names must"),
        (lambda: armspan.diversity.audit_log(np.eye(2), [[0], [1]], [1, 2]), "arms must be names or numbers"),
        (lambda: armspan.diversity.audit_log(np.eye(2) * 1e150, [0, 1], [1, 2]), "X and rewards must be at most 1e"),
        (lambda: armspan.regret_bound(MarkovContexts(paper_1a().features, paper_1a().theta, np.full((4, 4), 0.25))),
         "contexts that arrive independently"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(armspan.ArmspanError, match=sentence):
        call()


FRAME = pd.DataFrame({"age": [1.0, 2.0], "arm": [0, 1]})


@pytest.mark.parametrize(
    "call",
    [
        lambda: armspan.audit(FRAME),  # type: ignore[arg-type]
        lambda: armspan.audit("log.csv"),  # type: ignore[arg-type]
        lambda: armspan.audit(Path("log.csv")),  # type: ignore[arg-type]
        lambda: armspan.audit(np.eye(2)),  # type: ignore[arg-type]
        lambda: armspan.audit([[1.0, 2.0]]),  # type: ignore[arg-type]
        lambda: armspan.audit(contexts=FRAME),
    ],
)
def test_logs_are_sent_to_their_own_audit(call: Callable[[], object]) -> None:
    """One sentence that names the function and the command; nothing of the kind is said of other objects."""
    sentence = r"; logged decisions are audited by armspan\.diversity\.audit_log, or by the command armspan audit$"
    with pytest.raises(ArmspanError, match=sentence):
        call()
    with pytest.raises(NotApplicable, match=r"got object$"):
        armspan.audit(object())  # type: ignore[arg-type]
