"""Do a log's rewards drift? What is said is checked against regressions written down one by one, and known truths."""

from typing import Any

import numpy as np
import pytest

from armspan import LinUCB, recommend
from armspan._typing import FloatArray, IntArray
from armspan.diversity import audit_log
from armspan.diversity.drift import HALF_LIVES, RIDGE, Drift, _losses, drift
from armspan.diversity.sample import Sample
from armspan.environments import DriftingContexts


def log(n: int, seed: int, jump: float = 0.0, K: int = 3) -> tuple[FloatArray, IntArray, FloatArray]:
    """Uniform choices; after 60 % of the rows all parameters move by about `jump`."""
    rng = np.random.default_rng(seed)
    X, arms = np.column_stack([np.ones(n), rng.normal(size=(n, 2))]), rng.integers(K, size=n)
    theta, other = rng.normal(size=(K, 3)), jump * rng.normal(size=(K, 3))
    late = (np.arange(n) >= 0.6 * n)[:, None]
    return X, arms, np.einsum("nd,nd->n", X, theta[arms] + late * other[arms]) + rng.normal(size=n)


def test_losses_are_those_of_weighted_regressions() -> None:
    rng, n, K, r, blocks = np.random.default_rng(3), 137, 3, 2, 10
    z, arms, y = rng.normal(size=(n, r)), rng.integers(K, size=n), rng.normal(size=n)
    edges = [int(k * n / blocks) for k in range(blocks + 1)]
    block = np.searchsorted(edges, np.arange(n), side="right") - 1
    found = _losses(z, arms, y, K, np.linspace(0, n, blocks + 1).astype(int))
    for i in range(n):
        own = (arms == arms[i]) & (block < block[i])
        for h, half_life in enumerate((np.inf, *HALF_LIVES)):
            weight = 0.5 ** ((block[i] - 1 - block[own]) / half_life)
            V = RIDGE * np.eye(r) + (z[own] * weight[:, None]).T @ z[own]
            error = y[i] - z[i] @ np.linalg.solve(V, z[own].T @ (weight * y[own]))
            assert found[i, h] == pytest.approx(error**2)


def seen(X: FloatArray, arms: IntArray, y: FloatArray, alpha: float) -> Drift | None:
    return drift(Sample.of(X), arms, y, 3, alpha)


def test_what_stays_does_not_seem_to_drift() -> None:
    """60 logs at level 10 %: 17 or more by chance in one of 10⁴, were the test exact; it is far stricter."""
    found = [seen(*log(400 + 20 * seed, seed), 0.1) for seed in range(60)]
    assert sum(one is not None for one in found) < 17


def test_a_jump_is_seen_and_rows_in_any_other_order_are_not() -> None:
    X, arms, y = log(3000, 0, jump=1.0)
    found, order = seen(X, arms, y, 0.01), np.random.default_rng(1).permutation(3000)
    assert found is not None
    assert 30 <= found.half_life <= 750
    assert 0.05 < found.gain < 0.9
    assert seen(X[order], arms[order], y[order], 0.01) is None


@pytest.mark.parametrize("rows", [2, 100, 191])
def test_short_logs_say_nothing(rows: int) -> None:
    X, arms, y = log(rows, 0, jump=50.0)
    assert seen(X, arms, y, 0.4) is None


def test_an_audit_answers_nothing_else_and_a_recommendation_forgets() -> None:
    X, arms, y = log(6000, 2, jump=1.0)
    for strict in (True, False):
        report = audit_log(X, arms.tolist(), y, strict=strict)
        assert report.drift is not None
        assert [verdict.answer for verdict in report.verdicts[:3]] == ["not known"] * 3
        assert f"half_life={report.drift.half_life:.0f}" in str(report)
    assert report.drift is not None
    found = recommend(report)
    assert found.policy == LinUCB(alpha="practical", half_life=report.drift.half_life)
    again = recommend(report, horizon=2000)
    assert again.policy == found.policy
    assert again.why[0].startswith("No rehearsal: in the worlds drawn from a log nothing changes with time.")
    chance: Any = recommend(report, propensities=True)
    assert chance.alternatives[0].policy == found.policy
    assert "epsilon=0.1" in chance.alternatives[0].words
    X, arms, y = log(6000, 2)
    assert audit_log(X, arms.tolist(), y).drift is None


def test_a_rehearsal_tries_half_lives_where_parameters_change() -> None:
    theta = np.random.default_rng(15).normal(size=(4, 3, 3))
    env = DriftingContexts(theta, 2000, low=-1.0)
    found = recommend(env, horizon=6000)
    assert isinstance(found.policy, LinUCB)
    assert found.policy.half_life in (100.0, 200.0, 500.0)
    never = next(one for one in found.alternatives if one.policy == LinUCB(alpha="practical", feature_bound=1.74))
    assert float(never.words.split()[0]) > 3
