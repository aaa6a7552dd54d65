"""The audit of logs: faults that were reported once, and what each answer may and may not be."""

import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import armspan
from armspan._typing import BoolArray, IntArray
from armspan.diversity import DiversityReport, LoggedDiversity, audit_log
from armspan.diversity.answers import COUNT_ON, DIVERSE, GAP
from armspan.diversity.evidence import both, leaders
from armspan.diversity.fits import Bands, exact
from armspan.diversity.judged import Judged
from armspan.environments import BoxContexts
from armspan.errors import InvalidParameter
from tests.strategies import Array

QUESTIONS = ("diverse", "gap", "constant")
THETA = np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.5], [0.0, 0.0, 1.0]])
"""Three arms, each best in a third of the plane or so, with an intercept first."""


class Log(NamedTuple):
    """Contexts, arms and rewards."""

    X: Array
    arms: IntArray
    rewards: Array

    def audit(self, **options: Any) -> LoggedDiversity:
        """As a user would."""
        return audit_log(self.X, self.arms.tolist(), self.rewards, **options)

    def judge(self, **options: Any) -> Judged:
        """The same without the words, and without the search for half-spaces, which takes most of the time."""
        return Judged(self.X, self.arms, self.rewards, int(self.arms.max()) + 1, **({"level": 0.05} | options))


def plane(n: int, rng: np.random.Generator) -> Array:
    """An intercept and two normal features."""
    return np.column_stack([np.ones(n), rng.normal(size=(n, 2))])


def log_of(theta: Array, n: int, seed: int, *, noise: float = 0.3, shares: Sequence[float] | None = None) -> Log:
    """A log of arms chosen at random, with these shares, and rewards that are linear in the features."""
    rng = np.random.default_rng(seed)
    X, arms = plane(n, rng), rng.choice(len(theta), size=n, p=shares)
    return Log(X, arms, np.einsum("nd,nd->n", X, theta[arms]) + noise * rng.normal(size=n))


def answers(audit: LoggedDiversity | DiversityReport) -> list[str]:
    return [verdict.answer for verdict in audit.verdicts]


def said(judged: Judged) -> dict[str, str]:
    return {question: judged.answer(question) for question in QUESTIONS}


# -- what a log says ---------------------------------------------------------------------------------------------------


def test_a_log_is_audited_by_fitted_parameters() -> None:
    """Limits of P(best) hold the shares of a million fresh contexts, and the answers are the judge's."""
    log = log_of(THETA, 3000, seed=2)
    audit = audit_log(log.X, np.array(["tea", "milk", "rum"])[log.arms].tolist(), log.rewards, name="drinks")
    assert [arm.name for arm in audit.arms] == ["milk", "rum", "tea"]
    assert [arm.rows for arm in audit.arms] == [int((log.arms == a).sum()) for a in (1, 2, 0)]
    fresh = np.argmax(plane(1_000_000, np.random.default_rng(9)) @ THETA.T, axis=1)
    for arm, a in zip(audit.arms, (1, 2, 0), strict=True):
        low, high = arm.best
        assert low < (fresh == a).mean() < high
        assert high - low < 0.15
        assert arm.known
        assert 0 < arm.share[0] < arm.share[1] < 1
        assert 0 < arm.spread[0] < arm.spread[1] < 1
    assert [verdict.question for verdict in audit.verdicts[:3]] == [COUNT_ON, DIVERSE, GAP]
    assert answers(audit)[:3] == [log.judge().answer(question) for question in ("constant", "diverse", "gap")]
    assert audit.margin == pytest.approx(0.05 * np.std(log.rewards))
    assert (audit.rank, audit.redundant, audit.level) == (3, "", 0.05)
    assert audit.weakest.shape == (3, 3)
    np.testing.assert_allclose(np.linalg.norm(audit.weakest, axis=1), 1)
    text = str(audit)
    assert text.startswith("drinks: 3,000 decisions, 3 arms, 3 features")
    assert all(str(verdict) in text for verdict in audit.verdicts)


def test_arms_are_named_in_order() -> None:
    X, rewards = np.eye(4), np.ones(4)
    for given_arms, wanted in (
        ([10, 9, 9, 10], ["9", "10"]),
        ([1, "b", 1, "b"], ["1", "b"]),
        ([2.0, 1.0, 1.0, 2.0], ["1", "2"]),
        ([0.5, 1.0, 1.0, 0.5], ["0.5", "1.0"]),
    ):
        assert [arm.name for arm in audit_log(X, given_arms, rewards).arms] == wanted
    named = audit_log(X, ["b", "a", "b", "a"], rewards, arm_names=["b", "c", "a"])
    assert [(arm.name, arm.rows) for arm in named.arms] == [("b", 2), ("c", 0), ("a", 2)]


@pytest.mark.parametrize(
    ("diverse", "gap", "wanted"),
    [
        ("yes", "yes", "yes"),
        ("yes", "no", "no"),
        ("no", "yes", "no"),
        ("no", "no", "no"),
        ("no", "not known", "no"),
        ("not known", "no", "no"),
        ("yes", "not known", "not known"),
        ("not known", "yes", "not known"),
        ("not known", "not known", "not known"),
    ],
)
def test_constant_regret_needs_both(diverse: str, gap: str, wanted: str) -> None:
    assert both(diverse, gap) == wanted


# -- (a) nothing is made out of noise ----------------------------------------------------------------------------------


@pytest.mark.long
def test_pure_noise_is_never_called_diverse() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        log = Log(plane(1000, rng), rng.integers(3, size=1000), rng.normal(size=1000))
        assert "yes" not in said(log.judge()).values()
        if seed < 3:
            assert "yes" not in answers(log.audit())
        log = Log(rng.normal(size=(1000, 3)), log.arms, log.rewards)
        assert "yes" not in said(log.judge()).values()


@pytest.mark.long
def test_clicks_at_one_rate_are_never_called_diverse() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rate = (0.01, 0.05, 0.2, 0.5)[seed % 4]
        log = Log(plane(5000, rng), rng.integers(3, size=5000), (rng.random(5000) < rate).astype(float))
        assert "yes" not in said(log.judge()).values()
        if seed < 2:
            assert "yes" not in answers(log.audit())


def test_an_arm_without_a_click_is_not_known_to_have_none() -> None:
    """40 visits of an arm that is clicked in 2 %: most likely none clicked, and its residuals are all 0."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, arms = plane(2040, rng), np.repeat([0, 1, 2], [1000, 1000, 40])
        clicks = (rng.random(2040) < 0.02) & (arms < 2)
        log = Log(X, arms, clicks.astype(float)).judge()
        assert log.answer("diverse") == "not known"
        assert log.best[2, 1] > 0.5


@pytest.mark.long
def test_an_arm_that_is_best_everywhere_is_never_called_diverse() -> None:
    """By 0.05, with noise 1: neither is any other arm ever best, nor is the lead as large as 5 % of the rewards' sd."""
    common = np.tile([0.3, 0.5, -0.4], (3, 1))
    common[1, 0] += 0.05
    for seed in range(30):
        log = log_of(common, 1000 if seed % 2 else 10_000, seed, noise=1.0)
        assert "yes" not in said(log.judge()).values()


def wide_misses(bands: Bands, truth: Array, reach: Array) -> BoolArray:
    """In which contexts some difference between two arms' mean rewards lies outside of its band."""
    K = truth.shape[1]
    missed = np.zeros(len(truth), dtype=bool)
    for a in range(K):
        for b in range(a):
            error = (bands.means[:, a] - bands.means[:, b]) - (truth[:, a] - truth[:, b])
            missed |= np.abs(error) > bands.half(reach[a, b], bands.variance[:, a], bands.variance[:, b])
    return missed


@pytest.mark.long
@pytest.mark.parametrize("strict", [False, True])
def test_bands_hold_in_all_contexts_at_once(strict: bool) -> None:
    """A log's bands are to fail somewhere with probability 1 % (a fifth of the level).

    Of 75 logs more than 6 fail with probability 1e-5 at that rate. By half of Scheffé's reach more than half fail.
    """
    failed, failed_by_half, widths = 0, 0, []
    for seed in range(75):
        log = log_of(THETA, 400, seed, noise=1.0)
        judged, truth = log.judge(strict=strict), log.X @ THETA.T
        failed += int(wide_misses(judged.bands, truth, judged.bands.all_arms).any())
        failed_by_half += int(wide_misses(judged.bands, truth, judged.bands.all_arms / 2).any())
        widths.append(wide_misses(judged.bands, truth, judged.bands.mostly).mean())
    assert failed <= 6
    assert strict or failed_by_half >= 15  # no wider than need be
    assert np.mean(widths) <= 0.01  # of the contexts, for all three pairs at once


def test_the_reach_of_bands_is_that_of_scheffe_student_and_bonferroni() -> None:
    log = log_of(THETA, 500, seed=0)
    judged = log.judge()
    rows = np.bincount(log.arms)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        freedom = min(rows[a], rows[b]) - 3
        everywhere = np.sqrt(3 * stats.f.ppf(1 - 0.01 / 3, 3, freedom))
        one = np.sqrt(3 * stats.f.ppf(1 - 0.01 / 2, 3, freedom))
        mostly = stats.t.ppf(1 - 0.01 / 9 / 2, freedom)
        found = [reach[a, b] for reach in (judged.bands.all_arms, judged.bands.one_arm, judged.bands.mostly)]
        assert found == pytest.approx([everywhere, one, mostly], rel=1e-6)


# -- (b) no gap --------------------------------------------------------------------------------------------------------


def test_contexts_without_a_gap_are_told_so_by_problem_sample_and_log() -> None:
    env = BoxContexts([[1, 0], [-0.5, 0.8], [-0.5, -0.8]], -1, 1, gap=0.0)
    x = env.sample(5000, seed=3)[0]
    for report in (armspan.audit(env), armspan.audit(contexts=x, theta_hat=env.theta)):
        assert answers(report)[:3] == ["no", "yes", "no"]
        assert "log T" in report.verdicts[2].reason
    rng = np.random.default_rng(0)
    X, arms = rng.uniform(-1, 1, size=(20_000, 2)), rng.integers(3, size=20_000)
    rewards = np.einsum("nd,nd->n", X, env.theta[arms]) + 0.1 * rng.normal(size=20_000)
    audit = audit_log(X, arms.tolist(), rewards)
    assert answers(audit)[:3] == ["no", "yes", "no"]
    best, second = np.sort(rng.uniform(-1, 1, size=(10**6, 2)) @ env.theta.T, axis=1)[:, :-3:-1].T
    assert audit.leadless[0] < (best - second < audit.margin).mean() < audit.leadless[1]
    assert "playing the best arm still teaches about every arm" in audit.verdicts[2].reason


# -- (c), (d) few rows -------------------------------------------------------------------------------------------------


def test_an_arm_with_one_row_is_not_known() -> None:
    """A greedy policy tried it once. What it did not see it cannot call never best."""
    log = log_of(THETA, 1000, seed=1, shares=(0.5, 0.5, 0.0))
    log.arms[500] = 2
    audit = log.audit(arm_names=[0, 1, 2])
    arm = audit.arms[2]
    assert (arm.rows, arm.known) == (1, False)
    assert (arm.best, arm.share, arm.spread, arm.words) == ((0, 1), (0, 1), (0, 3), "not known")
    assert all(other.best[0] == other.share[0] == other.spread[0] == 0 for other in audit.arms)
    assert answers(audit)[:3] == ["not known"] * 3
    assert "Never best" not in str(audit)
    for verdict in audit.verdicts[1:3]:
        assert "Nothing is known of arm 2" in verdict.reason
        assert "at least 21 are needed" in verdict.reason


def test_an_arm_without_rows_is_not_known() -> None:
    audit = log_of(THETA, 3000, seed=1).audit(arm_names=[0, 1, 2, 3])
    assert (audit.arms[3].rows, audit.arms[3].best) == (0, (0.0, 1.0))
    assert "yes" not in answers(audit)
    assert answers(audit)[1] == "not known"


@pytest.mark.parametrize("rows", [1, 2, 5, 10, 20])
def test_so_few_rows_of_an_arm_never_give_a_yes(rows: int) -> None:
    """Even without noise, where the fit is perfect."""
    for seed in range(5):
        log = log_of(THETA, 2000, seed, noise=0.0, shares=(0.5, 0.5, 0.0))
        few = np.random.default_rng(seed).choice(2000, rows, replace=False)
        log.arms[few] = 2
        log.rewards[few] = log.X[few] @ THETA[2]
        judged = log.judge()
        assert judged.fits.known.tolist() == [True, True, False]
        assert said(judged) == dict.fromkeys(QUESTIONS, "not known")
        assert judged.best[2].tolist() == [0, 1]
    enough = log_of(THETA, 2000, 0, noise=0.0, shares=(0.5, 0.45, 0.05))
    assert enough.judge().answer("diverse") == "yes"  # so that the above is not for lack of diversity


def test_two_rows_say_nothing() -> None:
    audit = audit_log([[1.0, 0.0], [0.0, 1.0]], ["a", "b"], [1.0, 0.0])
    assert answers(audit) == ["not known"] * 4
    for arm in audit.arms:
        assert not arm.known
        assert (arm.best, arm.share, arm.spread) == ((0, 1), (0, 1), (0, 2))
    assert audit.leadless == (0, 1)


# -- (e) clear cases ---------------------------------------------------------------------------------------------------


def test_a_strongly_diverse_log_is_called_diverse() -> None:
    for seed in range(5):
        assert log_of(THETA, 3000, seed).judge().answer("diverse") == "yes"
    audit = log_of(THETA, 3000, seed=0).audit()
    assert answers(audit)[1] == "yes"
    assert "the weakest is arm 2" in audit.verdicts[1].reason  # it is best in 19 % of the contexts, the others in 40 %
    assert all(arm.share[0] > audit.needed[0] and arm.spread[0] > audit.needed[1] for arm in audit.arms)


def test_a_log_with_both_promises_constant_regret() -> None:
    """Contexts near a tie never occur: those with a lead below 0.5 are left out."""
    log = log_of(THETA, 12_000, seed=4)
    second, best = np.sort(log.X @ THETA.T, axis=1)[:, 1:].T
    clear = best - second > 0.5
    audit = Log(log.X[clear], log.arms[clear], log.rewards[clear]).audit()
    assert answers(audit)[:3] == ["yes", "yes", "yes"]
    assert "will stop exploring by itself" in audit.verdicts[0].reason
    assert audit.leadless[1] <= 0.01


def flat_log(seed: int) -> Log:
    """Arm 1 leads among new customers only, so that it never sees the column `old` vary."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(10_000), rng.integers(2, size=10_000), rng.normal(size=10_000)])
    arms = rng.integers(2, size=10_000)
    theta = np.array([[0.0, 0.0, 0.5], [1.0, -9.0, -0.5]])
    return Log(X, arms, np.einsum("nd,nd->n", X, theta[arms]) + 0.5 * rng.normal(size=10_000))


def test_a_flat_log_is_called_not_diverse_and_its_direction_named() -> None:
    for seed in range(3):
        audit = flat_log(seed).audit(feature_names=["one", "old", "age"])
        assert answers(audit)[:2] == ["no", "no"]
        assert "Where arm 1 leads, contexts hardly vary along old" in audit.verdicts[1].reason
        assert "Contexts are not diverse" in audit.verdicts[0].reason
        assert audit.arms[1].spread[1] < audit.needed[1]
        assert audit.arms[1].words == "old"
        np.testing.assert_allclose(np.abs(audit.weakest[1]), [0, 1, 0], atol=0.05)


def test_a_dominated_arm_is_named() -> None:
    worse = np.vstack([THETA, THETA[:2].mean(axis=0) - [0.6, 0, 0]])
    audit = log_of(worse, 10_000, seed=0).audit()
    assert answers(audit)[1] == "no"
    assert audit.verdicts[1].reason.startswith("Arm 3 leads by")
    assert audit.arms[3].best[1] < 0.02


# -- (f) units and columns that say nothing new ------------------------------------------------------------------------


def variants(log: Log) -> dict[str, Array]:
    """The same contexts in other columns."""
    n = len(log.X)
    scaled = {f"× {unit:g}": log.X * [1, unit, 1] for unit in (1e6, 1e-6)}
    turned = log.X @ np.array([[1, 3, -2], [0, 1, 0.5], [0, 0.4, -1]])
    return scaled | {"turned": turned, "a copy": np.column_stack([log.X, log.X[:, 1]]), "a sum": np.column_stack(
        [log.X, log.X @ [2, -1, 3]]), "ones": np.column_stack([log.X, np.full(n, 7.0)])}  # fmt: skip


@pytest.mark.parametrize(
    "log",
    [log_of(THETA, 3000, seed=5), log_of(THETA, 400, seed=6), log_of(0 * THETA, 1000, seed=7), flat_log(1)],
    ids=["diverse", "small", "noise", "flat"],
)
def test_units_and_redundant_columns_change_no_answer(log: Log) -> None:
    plain = log.judge()
    for words, X in variants(log).items():
        other = Log(X, log.arms, log.rewards).judge()
        assert said(other) == said(plain), words
        np.testing.assert_allclose(other.best, plain.best, atol=2e-3, err_msg=words)
        np.testing.assert_allclose(other.evidence.spread, plain.evidence.spread, rtol=1e-3, atol=1e-5, err_msg=words)


def test_redundant_columns_are_named() -> None:
    log = log_of(THETA, 2000, seed=5)
    names, plain = ["one", "a", "b"], log.audit()
    copied = audit_log(
        np.column_stack([log.X, log.X[:, 1]]), log.arms.tolist(), log.rewards, feature_names=[*names, "a2"]
    )
    assert (copied.rank, answers(copied)) == (3, answers(plain))
    assert "vary in 3 directions only: a always equals a2." in copied.redundant
    assert copied.redundant in str(copied)
    assert plain.redundant == ""


def test_the_dummy_trap_changes_no_answer_and_is_said() -> None:
    """A column for each of three kinds and an intercept: one too many."""
    rng = np.random.default_rng(8)
    kind, arms = rng.integers(3, size=4000), rng.integers(2, size=4000)
    X = np.column_stack([np.ones(4000), rng.normal(size=4000), kind == 0, kind == 1, kind == 2]).astype(float)
    theta = np.array([[0, 1, 0.5, 0, -0.5], [0, -1, -0.5, 0, 0.5]])
    rewards = np.einsum("nd,nd->n", X, theta[arms]) + 0.3 * rng.normal(size=4000)
    names = ["one", "age", "web", "app", "shop"]
    trapped, clean = (audit_log(X[:, :d], arms.tolist(), rewards, feature_names=names[:d], name=str(d)) for d in (5, 4))
    assert answers(trapped) == answers(clean)
    assert answers(trapped)[1] == "yes"
    assert (trapped.rank, clean.rank) == (4, 4)
    assert "these columns always add up to the same: web, app, shop" in trapped.redundant
    assert clean.redundant == ""
    for one, other in zip(trapped.arms, clean.arms, strict=True):
        assert one.spread == pytest.approx(other.spread)
        assert one.best == pytest.approx(other.best)


def test_a_column_of_zeros_forbids_a_yes() -> None:
    """It may differ from 0 tomorrow, and no arm has learnt what it does then."""
    log = log_of(THETA, 3000, seed=5)
    X = np.column_stack([log.X, np.zeros(3000)])
    audit = audit_log(X, log.arms.tolist(), log.rewards, feature_names=["one", "a", "b", "new"])
    assert answers(log.audit())[1] == "yes"
    assert answers(audit)[1] == "not known"
    assert audit.verdicts[1].reason.startswith("Always 0 in these rows: new.")
    assert answers(audit)[0] != "yes"
    assert "Always 0" not in str(log.audit())
    flat = flat_log(0)
    judged = Log(np.column_stack([flat.X, np.zeros(10_000)]), flat.arms, flat.rewards).judge()
    assert judged.answer("diverse") == "no"  # which stays true whatever the column will be


# -- (g) rewards that are not linear -----------------------------------------------------------------------------------


def test_rewards_that_are_not_linear_are_not_judged() -> None:
    for seed in range(3):
        log = log_of(THETA, 3000, seed)
        assert log.judge().answer("diverse") == "yes"
        bent = Log(log.X, log.arms, log.rewards + 2 * log.X[:, 1] ** 2 * (log.arms == 1))
        audit = bent.audit()
        assert answers(audit)[:3] == ["not known"] * 3
        for verdict in audit.verdicts[1:3]:
            assert "The rewards of arm 1 are not linear in these features" in verdict.reason
        assert all((arm.best, arm.share) == ((0, 1), (0, 1)) for arm in audit.arms)
        squared = Log(np.column_stack([log.X, log.X[:, 1] ** 2]), log.arms, bent.rewards)
        assert not squared.judge().blind  # the advice was good


def test_a_missing_intercept_is_said_before_anything_else() -> None:
    """Rewards that are linear once there is a column of ones, or all columns of the categories, which sum to it."""
    log = log_of(THETA + np.array([[2.0, 0, 0], [1.0, 0, 0], [3.0, 0, 0]]), 3000, seed=0)
    bare = Log(log.X[:, 1:] + [1.0, 0.0], log.arms, log.rewards)
    first = "No feature is constant: add a column of ones (an intercept) before anything else."
    for verdict in bare.audit().verdicts[1:3]:
        assert verdict.answer == "not known"
        assert verdict.reason.startswith(first)
        assert "are not linear in these features" in verdict.reason
        assert "squares" not in verdict.reason
    assert not Log(np.column_stack([bare.X, np.ones(3000)]), log.arms, log.rewards).judge().blind
    even = np.arange(3000) % 2 == 0
    bent = log.rewards + 2 * log.X[:, 1] ** 2 * (log.arms == 1)
    for constant in (log.X[:, :1], np.column_stack([even, ~even])):
        with_one = Log(np.column_stack([constant, bare.X]), log.arms, bent)
        reason = with_one.audit().verdicts[1].reason
        assert "No feature is constant" not in reason
        assert "squares" in reason


# -- (h) strict, and the level -----------------------------------------------------------------------------------------


def random_log(seed: int) -> Log:
    """Two to four arms, 500 to 5,000 rows, noise of 0.2 to 1."""
    rng = np.random.default_rng([1, seed])
    K, n = int(rng.integers(2, 5)), int(np.exp(rng.uniform(np.log(500), np.log(5000))))
    theta = rng.normal(size=(K, 3)) * [0.2, 1, 1]
    return log_of(theta, n, seed, noise=float(rng.uniform(0.2, 1.0)))


@pytest.mark.long
def test_strict_limits_are_wider_and_answers_agree() -> None:
    decided = 0
    for seed in range(20):
        log = random_log(seed)
        plain, strict = log.judge(), log.judge(strict=True)
        for found, wider in (
            (plain.best, strict.best),
            (plain.evidence.share, strict.evidence.share),
            (np.array([plain.evidence.leadless]), np.array([strict.evidence.leadless])),
        ):
            assert (wider[:, 0] <= found[:, 0]).all()
            assert (wider[:, 1] >= found[:, 1]).all()
        assert (strict.best[:, 1] - strict.best[:, 0]).sum() > (plain.best[:, 1] - plain.best[:, 0]).sum()
        for question in QUESTIONS:
            one, other = plain.answer(question), strict.answer(question)
            assert "not known" in (one, other) or one == other
            decided += other != "not known"
    assert decided > 0


def test_a_larger_noise_scale_is_more_careful() -> None:
    log = log_of(THETA, 3000, seed=0)
    usual = log.judge(strict=True)
    residual = log.rewards - np.einsum("nd,nd->n", log.X, THETA[log.arms])
    same = log.judge(strict=True, noise_scale=float(residual.std()))
    np.testing.assert_allclose(same.best, usual.best, atol=0.01)
    assert (usual.answer("diverse"), log.judge(strict=True, noise_scale=3.0).answer("diverse")) == ("yes", "not known")


@pytest.mark.long
def test_a_stricter_level_makes_no_yes_of_what_is_not_known() -> None:
    definite = 0
    for seed in range(20):
        log = random_log(seed)
        previous = log.judge(level=0.2)
        for level in (0.05, 0.001):
            judged = log.judge(level=level)
            for question in QUESTIONS:
                one, other = previous.answer(question), judged.answer(question)
                assert other in (one, "not known")
                definite += other != "not known"
            assert (judged.best[:, 0] <= previous.best[:, 0]).all()
            assert (judged.best[:, 1] >= previous.best[:, 1]).all()
            previous = judged
    assert definite > 0


def test_a_larger_margin_asks_for_more() -> None:
    log = log_of(THETA, 3000, seed=0)
    usual, large = log.audit(), log.audit(margin=1.5)
    assert (large.margin, answers(large)[2]) == (1.5, "no")
    assert large.leadless[0] > usual.leadless[1]
    assert all(one.share[1] < other.share[1] for one, other in zip(large.arms, usual.arms, strict=True))
    assert all(one.best == other.best for one, other in zip(large.arms, usual.arms, strict=True))


# -- (i) advice --------------------------------------------------------------------------------------------------------

ADVICE = re.compile(r"About (\d+) times as many rows would settle it, above all rows of arm (\w+) \(([\d,]+) now\)")


def test_what_is_not_known_comes_with_advice_that_helps() -> None:
    """Named is the arm with the fewest rows, and with twice as many rows as advised the question is settled."""
    log = log_of(THETA, 1000, seed=3, shares=(0.48, 0.48, 0.04))
    audit = log.audit()
    assert answers(audit)[:3] == ["not known", "yes", "not known"]
    found = ADVICE.search(audit.verdicts[2].reason)
    assert found is not None
    assert found[2] == "2"
    assert int(found[3].replace(",", "")) == (log.arms == 2).sum()
    times = int(found[1])
    assert times >= 2
    many = log_of(THETA, 2 * times * 1000, seed=4, shares=(0.48, 0.48, 0.04))
    assert many.judge().answer("gap") == "no"
    assert "These rows do not settle whether there is a gap." in audit.verdicts[0].reason


def test_advice_on_diversity_names_an_arm_and_a_number() -> None:
    audit = log_of(THETA, 200, seed=3, noise=1.0).audit()
    assert answers(audit)[1] == "not known"
    found = ADVICE.search(audit.verdicts[1].reason)
    assert found is not None
    assert found[2] in {"0", "1", "2"}
    assert log_of(THETA, 2 * int(found[1]) * 200, seed=4, noise=1.0).judge().answer("diverse") == "yes"


def test_advice_to_collect_rows_of_another_arm_says_why() -> None:
    """Of an arm other than the one that the question is about."""
    others = 0
    for seed in (0, 1):
        reason = log_of(THETA, 200, seed=seed, noise=1.0).audit().verdicts[1].reason
        about, found = re.match(r"Arm (\w+) leads by", reason), ADVICE.search(reason)
        if about and found:
            assert (", the least certain where the best arm is in doubt, in" in reason) == (about[1] != found[2])
            others += about[1] != found[2]
    assert others > 0


def test_what_counts_as_best_and_as_a_lead_is_said_below_the_table() -> None:
    audit = log_of(THETA, 200, seed=3, noise=1.0).audit(margin=0.25)
    text = str(audit)
    assert "\nBest: ahead by any lead. Spread there, and leads below: ahead by 0.25 or more.\n" in text
    assert "Keep exploring, as if the answer were no" in audit.verdicts[0].reason


# -- (j) who leads -----------------------------------------------------------------------------------------------------


def naive_leaders(bands: Bands, margin: float, sure: Array, may: Array) -> tuple[IntArray, BoolArray]:
    """Every arm against every other."""
    n, K = bands.means.shape
    surely, can = np.full(n, -1), np.ones((n, K), dtype=bool)
    for i in range(n):
        for a in range(K):
            certain = True
            for b in range(K):
                if a == b:
                    continue
                one, other = bands.variance[i, a], bands.variance[i, b]
                width = np.sqrt(one) + np.sqrt(other) if bands.add else np.sqrt(one + other)
                ahead = bands.means[i, a] - bands.means[i, b]
                certain &= bool(ahead - sure[a, b] * width >= margin)
                can[i, a] &= bool(ahead + may[a, b] * width >= margin)
            if certain:
                surely[i] = a
    return surely, can


def reaches(rng: np.random.Generator, K: int, size: float, known: BoolArray) -> Array:
    """The same for (a, b) and (b, a), infinite where either is not known."""
    half = size * rng.uniform(0.5, 1.5, size=(K, K))
    return np.where(known[:, None] & known[None, :], half + half.T, np.inf)


@given(
    st.integers(2, 7), st.booleans(), st.floats(0.01, 0.5), st.floats(0.1, 3), st.integers(0, 3), st.integers(0, 10**6)
)
def test_leaders_are_those_of_all_pairs(K: int, add: bool, margin: float, size: float, unknown: int, seed: int) -> None:
    """Who surely leads is the same; who may lead is compared with few rivals, so it may be more, never less."""
    rng = np.random.default_rng(seed)
    known = np.arange(K) >= min(unknown, K) if rng.random() < 0.3 else np.ones(K, dtype=bool)
    variance = 0.1 * rng.gamma(1.0, size=(60, K))
    sure, may = reaches(rng, K, size, known), reaches(rng, K, size, known)
    bands = Bands(rng.normal(size=(60, K)), variance, may, sure, sure, sure, add)
    found = leaders(bands, margin, sure=sure, may=may)
    surely, can = naive_leaders(bands, margin, sure, may)
    np.testing.assert_array_equal(found.surely, surely)
    assert (found.may | ~can).all()
    assert found.may[:, ~known].all()
    if K == 2 and known.all():
        np.testing.assert_array_equal(found.may, can)


def test_few_rivals_refute_nearly_all_that_all_pairs_do() -> None:
    rng = np.random.default_rng(0)
    known = np.ones(6, dtype=bool)
    reach = reaches(rng, 6, 0.5, known)
    bands = Bands(rng.normal(size=(500, 6)), 0.1 * rng.gamma(1.0, size=(500, 6)), reach, reach, reach, reach, add=False)
    found = leaders(bands, 0.1, sure=reach, may=reach)
    _, can = naive_leaders(bands, 0.1, reach, reach)
    assert can.sum() <= found.may.sum() <= 1.1 * can.sum()
    assert can.sum() < 0.7 * can.size


@given(st.integers(2, 6), st.floats(0.01, 1), st.integers(0, 10**6))
def test_with_exact_means_who_may_lead_does(K: int, margin: float, seed: int) -> None:
    means = np.random.default_rng(seed).normal(size=(200, K))
    bands = exact(means)
    found = leaders(bands, margin, sure=bands.one_arm, may=bands.all_arms)
    ordered = np.sort(means, axis=1)
    leading = ordered[:, -1] - ordered[:, -2] >= margin
    np.testing.assert_array_equal(found.surely, np.where(leading, np.argmax(means, axis=1), -1))
    np.testing.assert_array_equal(found.may, found.surely[:, None] == np.arange(K))


# -- an intercept ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("names", [None, ["age", "visits"]])
def test_an_intercept_is_a_column_of_ones_added_by_hand(names: list[str] | None, strict: bool) -> None:
    log = log_of(THETA, 600, seed=3)
    X, ones = log.X[:, 1:], np.ones(len(log.X))
    by_hand = log._replace(X=np.column_stack([X, ones])).audit(
        feature_names=[*(names or ["0", "1"]), "intercept"], strict=strict
    )
    added = log._replace(X=X).audit(feature_names=names, intercept=True, strict=strict)
    assert str(added) == str(by_hand)
    for field in fields(LoggedDiversity):
        if field.name != "likely":
            np.testing.assert_array_equal(getattr(added, field.name), getattr(by_hand, field.name))
    assert added.likely is not None
    assert by_hand.likely is not None
    for one, other in zip(vars(added.likely).values(), vars(by_hand.likely).values(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert added.shared_spread != log._replace(X=X).audit().shared_spread


def test_an_intercept_of_a_frame_and_of_features_that_are_0() -> None:
    log = log_of(THETA, 300, seed=3)
    frame = pd.DataFrame({"age": log.X[:, 1], "new": 0.0})
    found = audit_log(frame, log.arms.tolist(), log.rewards, intercept=True)
    assert found.feature_names == ("age", "new", "intercept")
    assert log._replace(X=np.zeros((300, 1))).audit(intercept=True).rank == 1  # arms that differ in their means alone


# -- (k) bad input -----------------------------------------------------------------------------------------------------


def small(**options: Any) -> Callable[[], object]:
    return lambda: audit_log(np.eye(2), ["a", "b"], [1.0, 2.0], **options)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (small(level=0), "level must be > 0, got 0"),
        (small(level=0.5), "level must be > 0 and < 0.5, got 0.5"),
        (small(level=float("nan")), "level must be > 0, got nan"),
        (small(level="5%"), "level must be > 0, got '5%'"),
        (small(margin=0), "margin must be > 0, got 0"),
        (small(margin=-0.1), "margin must be > 0, got -0.1"),
        (small(margin=float("inf")), "margin must be finite and > 0, got inf"),
        (small(noise_scale=0), "noise_scale must be > 0, got 0"),
        (small(noise_scale="1", strict=True), "noise_scale must be > 0, got '1'"),
        (small(arm_names=["a", "c"]), "arms must be among arm_names, got 'b'"),
        (small(arm_names=[["a"], ["b"]]), "arms must be names or numbers"),
        (small(feature_names=["q"]), "feature_names must have 2 entries, got 1"),
        (small(intercept=True, feature_names=["q", "r", "s"]), "feature_names must have 2 entries, got 3"),
        (small(intercept=1), "intercept must be True or False, got 1"),
        (
            lambda: audit_log([[2, 5], [3, 5]], ["a", "b"], [1, 2], feature_names=["q", "five"], intercept=True),
            "intercept must be left out where a feature is constant already, got 'five', which is always 5",
        ),
        (lambda: audit_log(np.eye(2), ["a"], [1.0, 2.0]), "arms must have 2 entries, one per row of X, got 1"),
        (lambda: audit_log(np.eye(2), ["a", "a"], [1.0, 2.0]), "arms must name at least 2 arms, got 1"),
        (lambda: audit_log(np.eye(2), ["a", "b"], [1.0, np.nan]), "rewards must be finite"),
        (lambda: audit_log(np.eye(2), ["a", "b"], [1.0]), "rewards must have shape"),
        (lambda: armspan.audit(contexts=np.eye(2), theta_hat=np.eye(2), level=0.7), "level must be > 0 and < 0.5"),
        (lambda: armspan.audit(contexts=np.eye(2), theta_hat=np.eye(2), margin=0), "margin must be > 0, got 0"),
    ],
)
def test_bad_input_is_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(armspan.ArmspanError, match=re.escape(sentence)) as error:
        call()
    assert "\n" not in str(error.value)


def test_rewards_that_are_all_the_same_say_nothing() -> None:
    log = log_of(THETA, 500, seed=0)
    audit = audit_log(log.X, log.arms.tolist(), np.zeros(500))
    assert answers(audit)[:3] == ["not known"] * 3
    assert audit.verdicts[1].reason == "All rewards are the same."


def a_log(n: int = 3000) -> tuple[Any, list[int], Any]:
    rng = np.random.default_rng(8)
    X, arms = np.column_stack([rng.normal(size=(n, 2)), np.ones(n)]), rng.integers(2, size=n)
    theta = rng.normal(size=(2, 3))
    return X, arms.tolist(), (X * theta[arms]).sum(axis=1) + rng.normal(size=n)


@pytest.mark.parametrize("reward", [0.1, 100000.1])
def test_rewards_that_are_the_same_up_to_rounding_say_nothing(reward: float) -> None:
    """Rounding gives them a standard deviation that is not 0."""
    X, arms, _ = a_log()
    for verdict in audit_log(X, arms, np.full(len(X), reward)).verdicts[:3]:
        assert verdict.answer == "not known"


def test_tiny_units_and_a_context_of_zeros_are_no_trouble() -> None:
    X, arms, rewards = a_log()
    plain, tiny = audit_log(X, arms, rewards), audit_log(X * [1e-200, 1, 1], arms, rewards)
    assert [v.answer for v in plain.verdicts] == [v.answer for v in tiny.verdicts]
    X[0] = 0
    few = audit_log(X, [0] * (len(X) - 1) + [1], rewards)  # one row of arm 1
    assert [v.answer for v in few.verdicts[:3]] == ["not known"] * 3


def test_a_column_of_zeros_is_not_called_harmless() -> None:
    X, arms, rewards = a_log()
    wide = np.column_stack([X, np.zeros(len(X)), X[:, 0]])
    found = audit_log(wide, arms, rewards, feature_names=list("abczd"))
    assert found.redundant == (
        "Always 0 in these rows: z. "
        "The other features vary in 3 directions only: a always equals d. That does no harm here."
    )
    known = armspan.audit(contexts=np.column_stack([X, np.zeros(len(X))]), theta_hat=[[1, 0, 0.5, 0], [0, 1, 0, 0]])
    assert known.verdicts[1].answer == "not known"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: audit_log(np.zeros((4, 2)), [0, 1, 0, 1], np.ones(4)), "X must not be all 0"),
        (lambda: audit_log(np.eye(2), None, [1, 2]), "arms must be a sequence of names"),  # type: ignore[arg-type]
        (lambda: audit_log(np.eye(2), [0, 1], [1, 2], noise_scale=1.0), "noise_scale needs strict=True"),
        (lambda: armspan.audit(contexts=np.zeros((4, 2)), theta_hat=np.eye(2)), "contexts must not all be 0"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_a_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        call()


# -- data frames -------------------------------------------------------------------------------------------------------


def test_a_frames_columns_name_the_features() -> None:
    log = log_of(THETA, 600, seed=1)
    late = log.X[:, 1] > 0
    frame = pd.DataFrame({"one": 1, "age": log.X[:, 1], "late": late})
    plain = audit_log(np.column_stack([np.ones(600), log.X[:, 1], late]), log.arms.tolist(), log.rewards)
    audit = audit_log(frame, log.arms.tolist(), log.rewards)
    assert audit.feature_names == ("one", "age", "late")
    assert answers(audit) == answers(plain)
    np.testing.assert_array_equal(audit.weakest, plain.weakest)
    renamed = audit_log(frame, log.arms.tolist(), log.rewards, feature_names=["i", "a", "l"])
    assert renamed.feature_names == ("i", "a", "l")


def test_a_frame_with_words_is_refused_by_its_column() -> None:
    frame = pd.DataFrame({"age": [0.5, 1.0, 2.0], "new": [True, False, True], "device": ["phone", "tablet", "phone"]})
    sentence = "X must have numbers in column 'device', got 'phone'; turn words into one column of 0 and 1 per category"
    with pytest.raises(InvalidParameter) as error:
        audit_log(frame, [0, 1, 0], [1.0, 2.0, 3.0])
    assert str(error.value) == sentence
    with pytest.raises(InvalidParameter, match="X must have columns with different names, got age, age, device"):
        audit_log(frame.rename(columns={"new": "age"}), [0, 1, 0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("seed", range(4))
def test_a_spread_that_is_rounding_is_0(seed: int) -> None:
    """There are three contexts, so that those in which an arm leads do not span."""
    rng = np.random.default_rng(seed)
    X, arms = rng.normal(size=(3, 3)).round(3)[rng.integers(3, size=4000)], rng.integers(2, size=4000)
    rewards = (X * rng.normal(size=(2, 3))[arms]).sum(axis=1) + 0.01 * rng.normal(size=4000)
    for arm in audit_log(X, arms.tolist(), rewards).arms:
        assert all(value == 0 or value > 1e-9 for value in arm.spread)


def test_only_a_yes_lets_exploration_end() -> None:
    """Two arms, each of which leads by 2 in contexts that span the plane; and rows that are too few."""
    rng, n = np.random.default_rng(0), 2000
    contexts, arms = np.array([[1.0, 0.0], [1.0, 0.6], [-1.0, 0.0], [-1.0, 0.6]]), rng.integers(2, size=n)
    X = contexts[rng.integers(4, size=n)]
    sure = audit_log(X, arms.tolist(), X[:, 0] * (1 - 2 * arms) + 0.1 * rng.normal(size=n))
    unsure = log_of(THETA, 200, seed=1, noise=1.0).audit()
    assert [audit.verdicts[0].answer for audit in (sure, unsure)] == ["yes", "not known"]
    assert sure.so == "So: leave exploration on; that of LinUCB-d ends by itself."
    assert unsure.so == "So: keep exploring."
