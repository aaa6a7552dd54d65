"""The model of a log: what it draws is as far from the truth as it claims, in problems of known truth."""

import numpy as np
import pytest

from armspan.diversity import audit_log
from armspan.diversity.fits import whiten
from armspan.diversity.likely import MOST_CONTEXTS, Likely, likely


def model(X: np.ndarray, theta: np.ndarray, arms: np.ndarray, noise: float, rng: np.random.Generator) -> Likely:
    rewards = np.einsum("nd,nd->n", X, theta[arms]) + noise * rng.normal(size=len(X))
    z = whiten(X).z
    found = likely(X, z, arms, rewards, np.array([z[arms == a].T @ z[arms == a] for a in range(len(theta))]))
    assert found is not None
    return found


def test_the_truth_lies_as_far_from_the_mean_as_draws_do() -> None:
    """200 random problems: the mean square of standardised distances is 1, within five standard errors."""
    rng = np.random.default_rng(1)
    squares = []
    for _ in range(200):
        K, d = int(rng.integers(2, 6)), int(rng.integers(1, 5))
        X, arms = rng.normal(size=(120, d)), rng.integers(K, size=120)
        theta = rng.normal(size=d) + rng.uniform(0.3, 2) * rng.normal(size=(K, d))
        found = model(X, theta, arms, 0.5, rng)
        truth = theta @ found.contexts.T
        expected, draws = found.theta @ found.z.T, np.array([found.mean_rewards(rng) for _ in range(60)])
        squares.append(float((((truth - expected) / draws.std(axis=0)) ** 2).mean()))
    assert np.mean(squares) == pytest.approx(1.0, abs=5 * np.std(squares) / len(squares) ** 0.5)
    assert np.std(squares) / len(squares) ** 0.5 < 0.1


def test_an_arm_with_few_rows_is_drawn_from_what_other_arms_are_like() -> None:
    rng = np.random.default_rng(2)
    theta = np.concatenate([rng.normal(size=(9, 3)) * 2, [[0.0, 0.0, 0.0]]])
    X, arms = rng.normal(size=(2000, 3)), np.append(rng.integers(9, size=1998), [9, 9])
    found = model(X, theta, arms, 0.1, rng)
    assert found.noise == pytest.approx(0.1, rel=0.1)
    known, thin = found.spread[:9].max(), found.spread[9]
    assert known < 0.02
    assert sorted(thin > 1.0) == [False, False, True]  # two rows tell of two directions


def test_clicks_stay_between_0_and_1_and_long_logs_are_cut() -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack([np.ones(5000), rng.uniform(-1, 1, 5000)])
    X[4000] = 1.0, 3.0
    clicks = (rng.random(5000) < 0.02 + 0.01 * X[:, 1]).astype(float)
    found = audit_log(X, rng.integers(2, size=5000).tolist(), clicks).likely
    assert found is not None
    assert found.clicks
    assert len(found.contexts) == MOST_CONTEXTS
    assert (found.contexts[0] == X[4000]).all()
    means = found.mean_rewards(rng)
    assert means.shape == (2, MOST_CONTEXTS)
    assert 0 <= means.min() <= means.max() <= 1


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_of_the_rewards_do_not_matter(unit: float) -> None:
    rng = np.random.default_rng(4)
    X, arms, rewards = rng.normal(size=(300, 2)), rng.integers(3, size=300).tolist(), rng.normal(size=300)
    one, other = audit_log(X, arms, rewards).likely, audit_log(X, arms, unit * rewards).likely
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(other.theta, unit * one.theta, rtol=1e-9)
    np.testing.assert_allclose(other.spread, unit * one.spread, rtol=1e-9)
