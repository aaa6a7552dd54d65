"""Lines are not believed where an arm was hardly tried: rewards that bend must not make arms that are alike diverse."""

from statistics import NormalDist

import numpy as np
import pytest
from benchmarks.truth import rules
from benchmarks.truth.loggers import choose
from hypothesis import given, settings
from hypothesis import strategies as st

from armspan.diversity import audit_log
from armspan.diversity.elsewhere import FEWEST_ELSEWHERE, elsewhere
from armspan.diversity.fits import exact, fit_arms, scheffe, whiten
from armspan.diversity.sample import Sample
from armspan.errors import InvalidParameter
from tests.strategies import Array


def a_shared_bend(logger: str, rows: int, seed: int) -> tuple[Array, Array, Array]:
    """A log of two arms that are alike: the mean reward of each is |u|."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(-1, 1, rows)
    X = np.column_stack([np.ones(rows), u])
    outcomes = np.abs(u)[:, None] + np.zeros(2) + 0.2 * rng.standard_normal((rows, 1))
    arms = choose(logger, X, outcomes, 0.2, rng)
    return X, arms, outcomes[np.arange(rows), arms]


def answers(logger: str, *, linear: bool) -> list[str]:
    """What twelve logs are said to be."""
    logs = (a_shared_bend(logger, 600, seed) for seed in range(12))
    audits = (audit_log(X, arms.tolist(), rewards, arm_names=[0, 1], linear=linear) for X, arms, rewards in logs)
    return [audit.verdicts[1].answer for audit in audits]


@pytest.mark.parametrize("logger", ["ucb", "greedy", "thompson", "epsilon-greedy"])
def test_arms_that_are_alike_are_not_diverse_because_rewards_bend(logger: str) -> None:
    assert "yes" not in answers(logger, linear=False)


@pytest.mark.parametrize("logger", ["ucb", "thompson"])
def test_lines_alone_would_call_such_arms_diverse(logger: str) -> None:
    """Each policy sorts contexts by the side of the bend."""
    assert answers(logger, linear=True).count("yes") >= 2


@pytest.mark.parametrize("kind", rules.KINDS)
def test_rules_of_people_do_not_make_arms_diverse(kind: str) -> None:
    _, wrong, by_lines = rules.examine(kind, 10)
    assert wrong == 0
    assert by_lines >= 3


@pytest.mark.parametrize("logger", ["uniform", "epsilon-greedy"])
def test_arms_that_were_tried_everywhere_are_believed(logger: str) -> None:
    rng = np.random.default_rng(4)
    X = np.column_stack([np.ones(3000), rng.uniform(-1, 1, 3000)])
    outcomes = X @ np.array([[0.5, 0.5], [1.0, -1.0]]) + 0.3 * rng.standard_normal((3000, 1))
    arms = choose(logger, X, outcomes, 0.3, rng)
    assert audit_log(X, arms.tolist(), outcomes[np.arange(3000), arms]).verdicts[1].answer == "yes"


def test_what_would_settle_it_is_said() -> None:
    X, arms, rewards = next(
        log
        for log in (a_shared_bend("ucb", 600, seed) for seed in range(12))
        if audit_log(log[0], log[1].tolist(), log[2], arm_names=[0, 1], linear=True).verdicts[1].answer == "yes"
    )
    found = audit_log(X, arms.tolist(), rewards)
    assert {verdict.answer for verdict in found.verdicts[:3]} == {"not known"}
    for words in ("rests on a straight line", "not rule out that rewards bend", "Try it there", "--linear"):
        assert words in found.verdicts[1].reason


@given(st.integers(0, 10**6), st.floats(-2, 2))
@settings(max_examples=30, deadline=None)
def test_the_part_that_is_made_up_is_found(seed: int, part: float) -> None:
    """Where arms earn their lines and a known part of their shortfall: within 5 standard errors of it."""
    rng, rows = np.random.default_rng(seed), np.arange(4000)
    X, arms = np.column_stack([np.ones(4000), rng.uniform(-1, 1, 4000)]), rng.integers(2, size=4000)
    white, lines = whiten(X), X @ np.array([[0.0, 0.0], [1.0, -1.0]])
    earned = lines[rows, arms] + part * (lines.max(axis=1) - lines[rows, arms]) + 0.05 * rng.standard_normal(4000)
    fits = fit_arms(white, arms, earned, 2, 0.01)
    found = elsewhere(Sample.of(white.z), exact(lines), fits, arms, earned, 0.01)
    error = found.reach / NormalDist().inv_cdf(0.99)
    assert (np.abs(found.made_up - part) < 5 * error).all()
    assert (error < 0.05).all()
    assert found.even.all()
    assert (found.open() == (np.abs(found.made_up) + found.reach >= 1)).all()
    assert (found.open(1e12) == (np.abs(found.made_up) >= 1)).all()


@pytest.mark.parametrize("few", [FEWEST_ELSEWHERE - 1, FEWEST_ELSEWHERE])
def test_nothing_is_known_of_an_arm_where_it_has_few_rows(few: int) -> None:
    """The second arm leads where u < 0, and has few rows elsewhere."""
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, 2000)
    X, arms = np.column_stack([np.ones(2000), u]), (u < 0).astype(np.int64)
    arms[np.flatnonzero(u > 0.2)[:few]] = 1
    arms[np.flatnonzero(u < -0.2)[:100]] = 0
    rewards = np.where(arms == 0, u, -u) + 0.1 * rng.standard_normal(2000)
    white = whiten(X)
    fits = fit_arms(white, arms, rewards, 2, 0.01)
    assert elsewhere(Sample.of(white.z), scheffe(white.z, fits, 0.01), fits, arms, rewards, 0.01).rows[1] == few
    high = audit_log(X, arms.tolist(), rewards).arms[1].best[1]
    assert high == 1.0 if few < FEWEST_ELSEWHERE else high < 0.6


def test_an_arm_that_looks_best_everywhere_need_not_be_tried_elsewhere() -> None:
    """One arm leads by ten times the noise: there is a gap, though it has no rows where another one looks best."""
    rng = np.random.default_rng(2)
    X, arms = np.column_stack([np.ones(2000), rng.uniform(-1, 1, 2000)]), (rng.random(2000) < 0.1).astype(np.int64)
    rewards = (X * np.array([[2.0, 1.0], [1.0, 1.0]])[arms]).sum(axis=1) + 0.1 * rng.standard_normal(2000)
    verdicts = audit_log(X, arms.tolist(), rewards).verdicts
    assert [verdict.answer for verdict in verdicts[:3]] == ["no", "no", "yes"]


def test_linear_must_be_true_or_false() -> None:
    with pytest.raises(InvalidParameter, match="linear must be True or False, got 1"):
        audit_log([[1.0, 2.0], [1.0, 3.0]], [0, 1], [1.0, 2.0], linear=1)  # type: ignore[arg-type]
