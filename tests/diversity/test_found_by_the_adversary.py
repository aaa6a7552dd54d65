"""What someone with computations of their own found wrong in audits: each case once."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.truth.ties.tie import Tie

from armspan import LinUCB, audit
from armspan.diversity import audit_log
from armspan.diversity.judged import Judged
from armspan.environments import FiniteContexts
from armspan.errors import InvalidParameter
from tests.diversity.naive_truth import is_diverse, shares_and_spreads

OFFSETS = (0.0, 1e5, 1e7, 1e9)


def _log(offset: float, seed: int, *, flat: bool) -> Any:
    """Two arms that lead by the sign of v, beside a feature with an offset, which may be flat where arm 0 leads."""
    rng = np.random.default_rng(seed)
    v = rng.normal(size=3000)
    v += 0.5 * np.sign(v)
    g = rng.normal(size=3000) * (v < 0 if flat else 1)
    arms = rng.integers(2, size=3000)
    return np.column_stack([v, offset + g]), arms, np.where(arms == 0, v, -v) + 0.3 * rng.normal(size=3000)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("seed", range(3))
def test_a_large_offset_hides_no_direction(offset: float, seed: int) -> None:
    flat, full = (audit_log(*_log(offset, seed, flat=flat), intercept=True) for flat in (True, False))
    assert [said.answer for said in flat.verdicts[:2]] == ["no", "no"]
    assert full.verdicts[1].answer == "yes"
    assert flat.rank == full.rank == 3
    assert flat.redundant == full.redundant == ""


@pytest.mark.parametrize("offset", OFFSETS)
def test_nor_does_it_in_contexts_with_known_parameters(offset: float) -> None:
    theta = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]
    for flat, answer in ((True, "no"), (False, "yes")):
        X, _, _ = _log(offset, 0, flat=flat)
        report = audit(contexts=np.column_stack([X, np.ones(len(X))]), theta_hat=theta)
        assert report.verdicts[1].answer == answer


@pytest.mark.parametrize("offset", [0.0, 1e5, 1e7])
def test_exact_audits_span_with_an_offset(offset: float) -> None:
    """Features (offset + k, 1) span for any two k, by integers alone."""
    x = np.array([[offset + k, 1.0] for k in range(4)])
    report = audit(FiniteContexts(x, [[1.0, -offset - 1.4], [-1.0, offset + 1.4]]))
    assert report.verdicts[1].answer == "yes"
    assert [row.rank for row in report.arms] == [2, 2]


def test_an_offset_beyond_what_numbers_hold_is_refused() -> None:
    X, arms, rewards = _log(1e13, 0, flat=False)
    with pytest.raises(InvalidParameter, match="features must be constant, or differ by 1e-10 of their size"):
        audit_log(X, arms, rewards, intercept=True, feature_names=["v", "when"])
    with pytest.raises(InvalidParameter, match="from 1, or leave it out"):
        audit(contexts=X, theta_hat=np.eye(2))


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT])
def test_missing_arms_are_refused(missing: object) -> None:
    X, _, rewards = _log(0.0, 0, flat=False)
    with pytest.raises(InvalidParameter, match=r"arms must not be missing, got .* in row 2"):
        audit_log(X, [0, 1, missing] * 1000, rewards)


def test_arms_that_read_alike_are_refused() -> None:
    X, _, rewards = _log(0.0, 0, flat=False)
    for first, second in ((0, "0"), ("0", 0)):
        with pytest.raises(InvalidParameter, match=f"differ in their names, got {first!r} and {second!r}"):
            audit_log(X, [first, second] * 1500, rewards)
    with pytest.raises(InvalidParameter, match="arms must differ in their names"):
        audit_log(X, np.resize(np.array([0, "0", Path("0")], dtype=object), 3000).tolist(), rewards)


def test_true_is_not_1() -> None:
    X, arms, rewards = _log(0.0, 0, flat=False)
    with pytest.raises(InvalidParameter, match="arms must not mix True and False with other names"):
        audit_log(X, [True if arm else 1 for arm in arms], rewards)
    assert [arm.name for arm in audit_log(X, arms == 1, rewards).arms] == ["False", "True"]


def test_letters_are_no_list_of_names() -> None:
    X, arms, rewards = _log(0.0, 0, flat=False)
    with pytest.raises(InvalidParameter, match="feature_names must be a list of 2 names, got 'ab'"):
        audit_log(X, arms, rewards, feature_names="ab")


@pytest.mark.parametrize("level", [1e-17, 1e-300])
def test_any_level_above_0_will_do(level: float) -> None:
    said = audit_log(*_log(0.0, 0, flat=True), level=level).verdicts[1]
    assert said.answer in ("no", "not known")


def test_a_no_never_reads_as_if_the_need_were_met() -> None:
    """Here the limit is just below what is needed, and both would be printed alike."""
    rng = np.random.default_rng(9)
    v = rng.normal(size=3000)
    X, arms = np.column_stack([v, rng.normal(size=3000) * (v < 0)]), rng.integers(2, size=3000)
    rewards = np.where(arms == 0, v, -v) + 0.3 * rng.normal(size=3000)
    said = audit_log(X, arms.tolist(), rewards, intercept=True).verdicts[1]
    assert said.answer == "no"
    assert "their spread there is less than 0.0033, the least that is needed." in said.reason


def test_nearly_all_is_not_all() -> None:
    report = audit_log(*_log(0.0, 0, flat=False), intercept=True)
    assert report.leadless[1] > 0
    assert "at least 100 %" not in report.verdicts[2].reason


def test_limits_do_not_depend_on_the_order_of_rows() -> None:
    """A column that alternates from row to row must not be split by the parity of rows."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=4000), np.resize([-1.0, 1.0], 4000), np.ones(4000)])
    arms: Any = rng.integers(2, size=4000)
    rewards = np.where(arms == 0, X[:, 0], -X[:, 0]) + 0.3 * rng.normal(size=4000)
    order = rng.permutation(4000)
    here, there = audit_log(X, arms, rewards), audit_log(X[order], arms[order], rewards[order])
    for one, other in zip(here.arms, there.arms, strict=True):
        assert one.spread[1] == pytest.approx(other.spread[1], rel=0.1)


def test_columns_in_other_units_are_told_as_such() -> None:
    X, arms, rewards = _log(0.0, 0, flat=False)
    centimetres = np.column_stack([X, 100 * X[:, 1]])
    report = audit_log(centimetres, arms, rewards, feature_names=["v", "height_m", "height_cm"])
    assert "height_cm is always about 100 times height_m" in report.redundant


def test_agents_tell_it_too() -> None:
    agent = LinUCB(alpha=1.0, ridge=1.0).agent(1, feature_names=["m", "cm", "kg"])
    for m, kg in ((1.0, 5.0), (2.0, 3.0), (3.0, 1.0), (4.0, 7.0)):
        agent.update(0, [m, 100 * m, kg], 1.0)
    assert "cm is always about 100 times m" in str(agent.diversity())


def test_three_columns_of_different_size_are_told_at_one_scale() -> None:
    X, arms, rewards = _log(0.0, 0, flat=False)
    names = ["v", "grams", "sum_in_kg"]
    report = audit_log(
        np.column_stack([X[:, 0], 1000 * X[:, 1], X[:, 0] + X[:, 1]]), arms, rewards, feature_names=names
    )
    assert all(name in report.redundant for name in names)


def test_equal_arms_lead_nowhere() -> None:
    env = FiniteContexts([[1.0, 0.0], [0.0, 1.0]], np.zeros((2, 2)))
    assert "less than 0" not in audit(env).verdicts[2].reason


MARGIN = 0.05
NEAR_TIES = np.array([[1.0, 1.0, 0.0238], [-1.0, -1.0, -0.0238]])
NEW_ARM = np.array([[0.0, 0.0], [-0.16, -0.04], [-1.0, 1.0]])
TAIL, SLOPE, LEADS = 2.2, 1.5, 0.007
HEAVY_MARGIN = MARGIN * np.sqrt(SLOPE**2 * TAIL / (TAIL - 2) + 1)
"""5 % of what rewards vary by, where features have a Pareto tail x^-2.2 on both sides."""


def _alternating(rng: np.random.Generator, n: int = 12_000) -> tuple[Any, Any, Any]:
    """Every fourth row is of another kind; in 2 % of these each arm leads by far, elsewhere by nearly the margin."""
    v = (np.arange(n) % 4 == 0) * rng.choice([-1.0, 0.0, 1.0], p=[0.02, 0.96, 0.02], size=n)
    X = np.column_stack([v, v * rng.choice([0.5, 1.5], size=n), rng.choice([-1.0, 1.0], size=n)])
    arms = rng.integers(2, size=n)
    return X, arms, (X * NEAR_TIES[arms]).sum(axis=1) + rng.normal(size=n)


def _newly_added(rng: np.random.Generator, n: int = 50_000) -> tuple[Any, Any, Any]:
    """The third arm has 25 rows, and ties with the first one where that must lead to be diverse."""
    X = np.column_stack([np.ones(6), [-8, -6, -1, 1, 4, 6]])[rng.integers(6, size=n)]
    arms = rng.integers(2, size=n)
    arms[rng.choice(n, 25, replace=False)] = 2
    return X, arms, (X * NEW_ARM[arms]).sum(axis=1) + rng.normal(size=n)


def _heavy_tailed(rng: np.random.Generator, n: int = 3000) -> tuple[Any, Any, Any]:
    """One feature; the first arm leads by the margin in 0.7 % of the contexts, those beyond q, and needs 0.75 %."""
    x, arms = rng.choice([-1.0, 1.0], size=n) * (1 + rng.pareto(TAIL, size=n)), rng.integers(2, size=n)
    q = (2 * LEADS) ** (-1 / TAIL)  # P(x > q) = q^-2.2/2
    theta = SLOPE + HEAVY_MARGIN / q / 2 * np.array([1, -1])
    return x[:, None], arms, x * theta[arms] + rng.normal(size=n)


@pytest.mark.long
@pytest.mark.parametrize(
    ("drawn", "margin", "seeds"),
    [
        (_alternating, MARGIN, (0, 1, 2, 3)),
        (_newly_added, MARGIN, (4, 15, 18)),
        (_heavy_tailed, HEAVY_MARGIN, (6, 18, 20, 37)),
    ],
)
def test_what_is_nearly_diverse_is_not_called_so(drawn: Any, margin: float, seeds: tuple[int, ...]) -> None:
    """These logs fooled a test of how far the nearest problem is that is not diverse, which had to search for it."""
    for seed in seeds:
        X, arms, rewards = drawn(np.random.default_rng(seed))
        judged = Judged(X, arms, rewards, int(arms.max()) + 1, level=0.05, margin=margin)
        assert judged.answer("diverse") != "yes", seed


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 21, 36, 69, 73])
def test_leads_just_short_of_the_margin_are_not_enough(seed: int) -> None:
    """12 % of such logs were called diverse: bands were for arms that tie, and here one leads by 0.985 m or more."""
    rng, problem = np.random.default_rng(seed), None
    while problem is None:
        problem = Tie(ahead=(0.985, 0.99), sigma=(0.2, 0.24)).draw(2, 8, rng)
    judged = Judged(*problem.log("uniform", 10_000, rng), 2, level=0.05)
    assert not problem.truth(judged.margin).diverse
    assert judged.answer("diverse") != "yes"


@pytest.mark.parametrize(("drawn", "theta"), [(_alternating, NEAR_TIES), (_newly_added, NEW_ARM)])
def test_what_is_nearly_diverse_is_not_so_in_truth(drawn: Any, theta: Any) -> None:
    points, rows = np.unique(drawn(np.random.default_rng(0), 100_000)[0], axis=0, return_counts=True)
    P, S = shares_and_spreads(points, rows / rows.sum(), theta, MARGIN)
    assert not is_diverse(P, S, theta.shape[1])
    assert min(min(P) * len(P) / 0.015, min(S) * len(P) * theta.shape[1] / 0.01) < 0.9
