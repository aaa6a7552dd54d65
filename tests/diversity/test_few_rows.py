"""What few rows tell: of a rare flag, of an arm where it was hardly tried. Nothing is denied on that ground."""

from unittest.mock import patch

import numpy as np
import pytest
from benchmarks.truth.logs import draw
from hypothesis import given, settings
from hypothesis import strategies as st

from armspan.diversity import audit_log, sample
from armspan.diversity.fits import fit_arms, rows_each_way, whiten
from armspan.diversity.groups import Groups
from armspan.diversity.plausible import plausible
from armspan.diversity.sample import Sample
from tests.strategies import Array


def each_way(Z: Array) -> float:
    return rows_each_way(Z, np.asarray(np.linalg.inv(Z.T @ Z)), Groups(len(Z)))[0]


@given(seed=st.integers(0, 10**6), flagged=st.integers(1, 12))
@settings(max_examples=40)
def test_a_rare_flag_is_known_from_the_rows_that_have_it(seed: int, flagged: int) -> None:
    """In any coordinates, and besides features that vary in all rows, which change it by little."""
    rng = np.random.default_rng(seed)
    flag = np.arange(4000) < flagged
    alone = np.column_stack([~flag, flag]).astype(float)
    assert each_way(alone) == pytest.approx(flagged)
    Z = np.column_stack([np.ones(4000), flag, 0.3 * rng.standard_normal((4000, 2))])
    found = each_way(Z)
    assert 0.3 * flagged < found <= flagged + 0.1
    assert each_way(Z @ rng.standard_normal((4, 4))) == pytest.approx(found, rel=1e-4)
    assert each_way(np.vstack([Z, Z])) == pytest.approx(2 * found, rel=0.05)  # of other rows, perhaps


def test_many_rows_alike_are_enough_in_every_direction() -> None:
    rng = np.random.default_rng(1)
    assert all(each_way(rng.standard_normal((300, 8))) > 20 for _ in range(20))
    assert each_way(np.eye(5)) == pytest.approx(1)


@pytest.mark.parametrize(("flagged", "believed"), [(3, False), (30, True)])
def test_an_arm_that_was_hardly_tried_under_a_flag_is_not_believed(flagged: int, believed: bool) -> None:
    """A policy that learns gives an arm up there after a little bad luck, and those rewards are all there is."""
    rng, n = np.random.default_rng(2), 5000
    X = np.column_stack([np.ones(n), np.arange(n) < 60, rng.standard_normal(n)])
    arms = rng.integers(2, size=n)
    arms[:60] = np.arange(60) < flagged
    white = whiten(X)
    fits = fit_arms(white, arms, rng.standard_normal(n), 2, 0.01)
    drawn = plausible(fits, Sample.of(white.z), arms, np.ones(2, dtype=bool), 0.01)
    assert drawn is not None
    assert drawn.believed.tolist() == [True, believed]


@pytest.mark.parametrize("seed", [28, 36, 45, 52])
def test_a_flag_that_an_arm_was_not_seen_to_lead_under_does_not_make_it_flat(seed: int) -> None:
    """A flag is set in 1 to 3 % of 10,000 rows, and an arm leads in few of them: none of those may be in the log."""
    rng = np.random.default_rng(seed)
    problem = draw("rare-feature-diverse", 5, 4, rng)
    X, arms, rewards = problem.log("uniform", 10_000, rng)
    audit = audit_log(X, arms.tolist(), rewards)
    assert problem.truth(audit.margin).diverse
    assert audit.verdicts[1].answer == "not known"
    with patch.object(sample, "FOURTH", 1e9):  # as if all contexts told as much of the flag
        assert audit_log(X, arms.tolist(), rewards).verdicts[1].answer == "no"
