"""Directions that an arm is known in from few rows: draws of its coefficients are not believed there."""

from unittest.mock import patch
from zlib import crc32

import numpy as np
import pytest
from benchmarks.truth.logs import Cell, draw
from hypothesis import given, settings
from hypothesis import strategies as st

from armspan.diversity import audit_log, plausible
from armspan.diversity.plausible import rows_each_way
from tests.strategies import Array


def each_way(Z: Array) -> float:
    return rows_each_way(Z, Z.T @ Z)


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
    """Of 300 normal rows a third counts at least half in the direction that depends most on one row."""
    rng = np.random.default_rng(1)
    assert all(each_way(rng.standard_normal((300, 8))) > 20 for _ in range(20))
    assert each_way(np.eye(5)) == pytest.approx(1)


def test_an_arm_that_a_policy_gave_up_after_few_rewards_is_not_said_to_be_flat() -> None:
    """UCB took an arm three times where a rare flag is set, saw little, and went on without it; but it leads there."""
    cell = Cell("rare-feature", 5, 4, "ucb", 10_000)
    rng = np.random.default_rng([3, crc32(repr(cell).encode())])
    for _ in range(9):  # logs as the tables of docs/accuracy.md draw them; this is the ninth
        problem = draw(cell.family, cell.n_arms, cell.n_features, rng)
        X, arms, rewards = problem.log(cell.logger, cell.rows, rng)
    audit = audit_log(X, arms.tolist(), rewards)
    assert problem.truth(audit.margin).diverse
    assert audit.verdicts[1].answer == "not known"
    with patch.object(plausible, "FEWEST_EACH_WAY", 0.0):
        assert audit_log(X, arms.tolist(), rewards).verdicts[1].answer == "no"
