"""Rows that belong together: their groups count as one where errors are measured, and answers allow for that."""

from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan._typing import FloatArray, IntArray
from armspan.diversity import audit_log
from armspan.diversity.drift import drift
from armspan.diversity.fits import fit_arms, whiten
from armspan.diversity.groups import Groups, numbered
from armspan.diversity.judged import Judged
from armspan.diversity.sample import Sample
from armspan.errors import InvalidParameter

Log = tuple[FloatArray, IntArray, FloatArray, IntArray]
labels = st.lists(st.integers(0, 6), min_size=2, max_size=40).filter(lambda of: len(set(of)) > 1)


def visits(
    seed: int, *, visitors: int = 200, each: int = 10, K: int = 2, taste: float = 1.0, opposite: bool = False
) -> Log:
    """Visitors with a taste for each arm come back with the same context; all arms earn the same on average."""
    rng = np.random.default_rng(seed)
    numbers = rng.permutation(np.repeat(np.arange(visitors), each))
    X = np.column_stack([np.ones(visitors), rng.normal(size=(visitors, 2))])[numbers]
    liked = taste * rng.normal(size=(visitors, K))
    if opposite:
        liked -= liked.mean(axis=1, keepdims=True)
    arms = rng.integers(K, size=len(numbers))
    return X, arms, liked[numbers, arms] + 0.5 * rng.normal(size=len(numbers)), numbers


@given(labels)
def test_sums_and_halves_are_those_of_the_groups(of: list[int]) -> None:
    values, numbers = np.random.default_rng(len(of)).normal(size=(len(of), 2)), np.array(of)
    groups = Groups(len(of), numbers)
    expected = [values[numbers == g].sum(axis=0) for g in np.unique(numbers)]
    assert groups.count == len(set(of))
    np.testing.assert_allclose(groups.sums(values), expected, atol=1e-12)
    one, other = groups.halves
    assert sorted([*one, *other]) == list(range(len(of)))
    assert not set(numbers[one]) & set(numbers[other])
    kept = values[:, 0] > 0
    if kept.any():
        inside = groups.some(kept)
        assert (inside.rows, inside.count) == (kept.sum(), len(set(numbers[kept])))
        assert np.unique(numbers)[groups.present(kept)].tolist() == np.unique(numbers[kept]).tolist()


@given(labels, st.integers(1, 12))
def test_no_block_divides_rows_of_one_group_that_follow_each_other(of: list[int], blocks: int) -> None:
    numbers = np.array(of)
    edges = Groups(len(of), numbers).starts(np.linspace(0, len(of), blocks + 1).astype(int))
    assert (edges[0], edges[-1]) == (0, len(of))
    assert all(a < b for a, b in pairwise(edges))
    assert all(numbers[edge] != numbers[edge - 1] for edge in edges[1:-1])


@given(labels)
def test_a_row_is_worth_what_its_group_leaves_of_it(of: list[int]) -> None:
    """As if all rows of a group were alike: then a mean varies as that of so many rows."""
    sizes = np.bincount(of)
    groups = Groups(len(of), np.array(of))
    assert Groups(len(of)).worth == 1.0
    assert groups.worth * len(of) == pytest.approx(len(of) ** 2 / (sizes**2).sum())
    assert groups.worth * len(of) <= groups.count + 1e-9


def test_a_log_that_holds_every_row_several_times_says_as_much_as_the_rows() -> None:
    X, arms, rewards, _ = visits(1, visitors=900, each=1, K=3, taste=0.2)
    rewards = rewards + np.array([1.0, -1.0, 0.0])[arms] * X[:, 1] + np.array([0.0, 0.0, 1.0])[arms] * X[:, 2]
    again = np.random.default_rng(2).permutation(np.repeat(np.arange(900), 7))
    once = fit_arms(whiten(X), arms, rewards, 3, 0.01)
    often = fit_arms(whiten(X[again]), arms[again], rewards[again], 3, 0.01, Groups(len(again), again))
    turn = whiten(X[again]).z[np.argsort(again, kind="stable")[::7]]
    back = np.linalg.lstsq(turn, whiten(X).z, rcond=None)[0]
    for a in range(3):
        np.testing.assert_allclose(back.T @ often.covariance[a, 1] @ back, once.covariance[a, 1], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(often.each_way, once.each_way)
    assert often.freedom.tolist() == [
        min(int(n) - 3, int(way) - 1) for n, way in zip(once.rows, once.each_way, strict=True)
    ]
    assert often.rows.tolist() == (7 * once.rows).tolist()
    alone = Judged(X, arms, rewards, 3, level=0.05)
    found = Judged(X[again], arms[again], rewards[again], 3, level=0.05, by=again)
    wrong = Judged(X[again], arms[again], rewards[again], 3, level=0.05)
    np.testing.assert_allclose(found.best, alone.best, atol=0.03)
    assert (wrong.bands.variance < 0.2 * found.bands.variance).all()


def test_arms_that_groups_take_opposite_sides_on_are_less_well_told_apart() -> None:
    for opposite, taste, low, high in ((True, 1.0, 1.3, 1.45), (False, 1.0, 1.0, 1.2)):
        X, arms, rewards, of = visits(3, visitors=500, taste=taste, opposite=opposite)
        fits = fit_arms(whiten(X), arms, rewards, 2, 0.01, Groups(len(of), of))
        assert low <= fits.wider[0, 1] == fits.wider[1, 0] <= high
    X, arms, rewards, of = visits(3, visitors=500, K=25)
    assert fit_arms(whiten(X), arms, rewards, 25, 0.01, Groups(len(of), of)).wider.max() == pytest.approx(np.sqrt(2))


def test_bands_hold_as_often_as_they_should_where_visitors_return() -> None:
    """300 logs: at level 5 %, an interval of P(best) may fail in 15; that 30 fail has probability 2e-4 at most."""
    missed = {"by": 0, "alone": 0}
    for seed in range(300):
        X, arms, rewards, of = visits(seed, visitors=60, each=20)
        X = np.column_stack([np.ones(len(X)), np.sign(X[:, 1])])
        rewards = rewards + 2 * np.where(arms == 0, X[:, 1], -X[:, 1])
        for name, by in (("by", of), ("alone", None)):
            best = Judged(X, arms, rewards, 2, level=0.05, by=by, linear=True).best
            missed[name] += any(not low <= 0.5 <= high for low, high in best)
    assert missed["by"] < 30
    assert missed["alone"] > 100  # which is what labels are for


def test_days_that_differ_are_no_drift_and_days_that_trend_are() -> None:
    seen = {"alone": 0, "by day": 0, "trend": 0}
    for seed in range(10):
        rng, days = np.random.default_rng(seed), np.repeat(np.arange(30), 200)
        X, arms = np.column_stack([np.ones(6000), rng.normal(size=6000)]), rng.integers(2, size=6000)
        y = rng.normal(size=30)[days] + rng.normal(size=6000)
        by_day = Sample.of(X, Groups(6000, days))
        seen["alone"] += drift(Sample.of(X), arms, y, 2, 0.01) is not None
        seen["by day"] += drift(by_day, arms, y, 2, 0.01) is not None
        seen["trend"] += drift(by_day, arms, y + 0.3 * days, 2, 0.01) is not None
    assert seen["by day"] == 0
    assert min(seen["alone"], seen["trend"]) >= 2


def test_words_name_the_groups_and_what_they_leave() -> None:
    X, arms, rewards, of = visits(5, visitors=30, each=20)
    report = audit_log(X, arms.tolist(), rewards, by=[f"visitor {number}" for number in of])
    assert (report.groups, report.verdicts[1].answer) == (30, "not known")
    assert 0.03 < report.worth < 0.06
    assert report.together in str(report)
    assert report.together.startswith("The rows belong to 30 groups. As contexts, they count for about ")
    assert "groups of rows independent" in str(report)
    few = audit_log(X, arms.tolist(), rewards, by=of // 2)
    assert "has rows of 15 groups, and at least 21 are needed" in few.verdicts[1].reason
    one = audit_log(
        X, ["rare" if number == 0 else f"{arm}" for arm, number in zip(arms, of, strict=True)], rewards, by=of
    )
    assert "arm rare: it has rows of 1 group, and at least 21 are needed" in one.verdicts[1].reason
    alone = audit_log(X, arms.tolist(), rewards)
    assert (alone.groups, alone.worth, alone.together) == (None, 1.0, "")
    assert "rows independent" in str(alone)


def test_labels_may_be_names_numbers_or_dates() -> None:
    X, arms, rewards, of = visits(6, visitors=40, each=5)
    dates = pd.Timestamp("2026-01-01") + pd.to_timedelta(of, unit="D")
    said = [
        str(audit_log(X, arms.tolist(), rewards, by=by))
        for by in (of, of.tolist(), [f"v{number}" for number in of], pd.Series(dates))
    ]
    assert len(set(said)) == 1


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("visitor", "by must be a sequence of labels, one per row of X, got 'visitor'"),
        (pd.DataFrame({"user": range(4), "day": range(4)}), "by must be a sequence of labels, one per row of X, got"),
        (np.zeros((4, 1)), "by must be a sequence of labels, one per row of X, got"),
        (np.array(5), "by must be a sequence of labels, one per row of X, got"),
        (dict.fromkeys("abcd", 0), "by must be a sequence of labels, one per row of X, got"),
        (set("abcd"), "by must be a sequence of labels, one per row of X, got"),
        (pa.array(["a", None, "b", "b"]), "by must not be missing, got None in row 1"),
        ([("a", 1), ("a", float("nan")), ("b", 1), ("b", 2)], r"by must not be missing, got \('a', nan\) in row 1"),
        ([Decimal("sNaN"), 1, 2, 3], "by must be names, numbers or dates, got Decimal"),
        ([np.zeros(2), np.ones(2), 1, 2], "by must be names, numbers or dates, got array"),
        ([True, 1, 2, 2], "by must not mix True and False with other labels, since True equals 1"),
        (["a", "b"], "by must have 4 entries, one per row of X, got 2"),
        (["a", "b", None, "b"], "by must not be missing, got None in row 2"),
        ([1.0, 2.0, 1.0, float("nan")], "by must not be missing, got nan in row 3"),
        ([pd.NaT, 1, 1, 2], "by must not be missing, got NaT in row 0"),
        (["a"] * 4, "by must name at least 2 groups of rows, got 1"),
        ([["a"], ["b"], ["a"], ["b"]], r"by must be names, numbers or dates, got \['a'\] in row 0"),
        (np.ma.masked_equal([1, 2, 1, 2], 2), "by must have no masked entries"),
    ],
)
def test_labels_that_are_none_are_refused(by: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        numbered(by, 4)


def tie_visitors(rng: np.random.Generator) -> Log:
    """Arms tie for 3 % of the visitors, so that there is no gap; one log in six holds none of these."""
    of = np.repeat(np.arange(60), 100)
    x = np.where((rng.random(60) < 0.03)[of], 0.0, rng.choice([-1.0, 1.0], 6000) * rng.choice([1.0, 2.0], 6000))
    arms = rng.integers(2, size=6000)
    return np.column_stack([np.ones(6000), x]), arms, np.where(arms == 0, x, -x) + rng.normal(size=6000), of


def few_flagged(rng: np.random.Generator) -> Log:
    """Under a flag both arms earn the same on average, but visitors have tastes, and about two of them see arm 1."""
    of, flag, arm = np.repeat(np.arange(1500), 20), rng.random(1500) < 0.05, (rng.random(1500) < 0.025).astype(np.int64)
    taste = np.where(flag, rng.normal(size=1500), 0.5 * (arm == 0))
    return np.column_stack([np.ones(30_000), flag[of]]), arm[of], taste[of] + 0.5 * rng.normal(size=30_000), of


def follower(rng: np.random.Generator) -> Log:
    """Arms that lead on one side each, and a policy that soon gives every visitor the arm that this one likes."""
    of, x = np.repeat(np.arange(300), 30), rng.choice([-2.0, -1.0, 1.0, 2.0], 9000)
    outcomes = np.column_stack([-0.1 * x, 0.1 * x + rng.normal(size=300)[of]]) + rng.normal(size=(9000, 2))
    arms = rng.integers(2, size=9000)
    for first in range(0, 9000, 30):
        seen = outcomes[first : first + 10]
        early = arms[first : first + 10]
        arms[first + 10 : first + 30] = np.argmax([seen[early == a, a].mean() if a in early else 9.0 for a in (0, 1)])
    return np.column_stack([np.ones(9000), x]), arms, outcomes[np.arange(9000), arms], of


def slope_follower(rng: np.random.Generator) -> Log:
    """Arms alike, and a policy that knows in which contexts a visitor likes arm 1: on one side or on the other."""
    of, x = np.repeat(np.arange(1000), 10), rng.choice([-1.0, 1.0], 10_000)
    likes = rng.normal(size=1000)[of] * x
    arms = np.where(rng.random(10_000) < 0.1, rng.integers(2, size=10_000), likes > 0).astype(np.int64)
    return np.column_stack([np.ones(10_000), x]), arms, arms * likes + rng.normal(size=10_000), of


@pytest.mark.parametrize(
    ("draw", "question", "wrong"),
    [
        (tie_visitors, "gap", "yes"),
        (few_flagged, "gap", "yes"),
        (follower, "diverse", "no"),
        (slope_follower, "gap", "yes"),
    ],
)
def test_what_an_adversary_found(draw: Callable[[np.random.Generator], Log], question: str, wrong: str) -> None:
    """Of these 40 logs of a kind, 7, 2, 40 and 40 were answered wrongly by the first version, and none is now.

    The draws are fixed. One wrong answer is allowed for rounding on other processors.
    """
    answers = []
    for seed in range(40):
        X, arms, rewards, of = draw(np.random.default_rng(seed))
        answers.append(Judged(X, arms, rewards, 2, level=0.05, by=of).answer(question))
    assert answers.count(wrong) <= 1


def test_a_few_visitors_who_never_click_do_not_settle_how_often_others_do() -> None:
    """3 % of the visitors click, most of the time, and about 32 see arm 1: often none of those who click."""
    answers = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        of, arm = np.repeat(np.arange(800), 30), (rng.random(800) < 0.04).astype(np.int64)
        clicks = (rng.random(800) < 0.03)[of] & (rng.random(24_000) < 0.8)
        answers.append(
            Judged(np.ones((24_000, 1)), arm[of], clicks.astype(np.float64), 2, level=0.05, by=of).answer("gap")
        )
    assert "yes" not in answers  # 2 of them were, where 30 rows of a visitor counted as 30 visitors


def test_a_policy_that_follows_single_groups_is_named() -> None:
    X, arms, rewards, of = follower(np.random.default_rng(0))
    said = audit_log(X, arms.tolist(), rewards, by=of).verdicts[1]
    assert (said.answer, "followed what single groups like" in said.reason) == ("not known", True)
    seen = [Judged(*visits(seed)[:3], 2, level=0.05, by=visits(seed)[3]).followed for seed in range(60)]
    assert sum(one is not None for one in seen) <= 4  # at 1 %, more happen with probability 3e-4


def test_an_arm_of_which_few_groups_tell_is_not_known() -> None:
    X, arms, rewards, of = few_flagged(np.random.default_rng(3))
    reason = audit_log(X, arms.tolist(), rewards, by=of, feature_names=["one", "flag"]).verdicts[1].reason
    assert "Too little is known of arm 1 along " in reason
    assert "in effect, fewer than 5 groups tell of it." in reason


def test_strict_bands_know_no_groups() -> None:
    X, arms, rewards, of = visits(7, visitors=40, each=5)
    with pytest.raises(InvalidParameter, match="by must be left out with strict=True"):
        audit_log(X, arms.tolist(), rewards, by=of, strict=True)
