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


SHARES = [(0.25, 0.25, 0.25, 0.25), (0.99, 0.01), (0.5, 0.5, 0.0), (0.95, 0.01, 0.01, 0.01, 0.01, 0.01)]


@pytest.mark.parametrize("shares", SHARES, ids=str)
def test_the_truth_lies_as_far_from_the_mean_as_draws_do(shares: tuple[float, ...]) -> None:
    """60 random problems: mean squares of standardised distances are about 1 for the arm with the fewest rows.

    They were 6 to 60 where arms had few rows, when what all arms share was taken to be known.
    """
    rng, squares, inside = np.random.default_rng(1), [], []
    for _ in range(60):
        K, d = len(shares), int(rng.integers(2, 5))
        X, arms = rng.normal(size=(500, d)), rng.choice(K, 500, p=shares)
        theta = rng.normal(size=d) + rng.uniform(0.3, 2) * rng.normal(size=(K, d))
        found = model(X, theta, arms, 0.5, rng)
        truth, draws = theta @ found.contexts.T, np.array([found.mean_rewards(rng) for _ in range(60)])
        away = np.abs(truth - found.expected_rewards())[-1] / draws.std(axis=0)[-1]
        squares.append(float((away**2).mean()))
        inside.append(float((away < 1.96).mean()))
    assert 0.5 < np.mean(squares) < 2.5
    assert np.mean(inside) > 0.85


@pytest.mark.parametrize(("noise_2", "own_2"), [(0.3, 0.5), (0.01, 2.0), (1.0, 0.001)])
def test_the_posterior_is_that_of_all_parameters_at_once(noise_2: float, own_2: float) -> None:
    """Against the normal equations of (c, u_1 … u_K): precision ZᵀZ/σ² + diag(0, 1/τ²)."""
    rng = np.random.default_rng(0)
    K, r, n = 3, 2, 40
    arms, z = rng.choice(K, n, p=[0.7, 0.25, 0.05]), whiten(rng.normal(size=(n, r))).z
    gram = np.array([z[arms == a].T @ z[arms == a] for a in range(K)])
    found = likely(z, z, arms, rng.normal(size=n) + z[:, 0] * arms, gram)
    design = np.zeros((n, r * (K + 1)))
    for row, arm in enumerate(arms):
        design[row, :r] = design[row, r * (arm + 1) : r * (arm + 2)] = z[row]
    precision = design.T @ design / noise_2 + np.diag([0.0] * r + [1 / own_2] * (K * r))
    sums = np.array([found.axes[a] @ found.along[a] for a in range(K)])  # Σz(y - zᵀshared)
    covariance = np.linalg.inv(precision)
    mean = covariance @ np.concatenate([sums.sum(axis=0), *sums]) / noise_2
    given, _ = found._given(noise_2, own_2)
    np.testing.assert_allclose(given.common, mean[:r], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(given.root @ given.root.T, covariance[:r, :r], rtol=1e-8, atol=1e-12)
    for a in range(K):
        axes, own = found.axes[a], slice(r * (a + 1), r * (a + 2))
        np.testing.assert_allclose(axes @ given.own[a], mean[own], rtol=1e-8, atol=1e-10)
        pulled = axes @ np.diag(given.pull[a]) @ axes.T
        spread = axes @ np.diag(given.spread[a] ** 2) @ axes.T + pulled @ covariance[:r, :r] @ pulled.T
        np.testing.assert_allclose(spread, covariance[own, own], rtol=1e-7, atol=1e-10)


def test_few_rows_for_many_features() -> None:
    """Fewer rows per arm than features: draws are as far off as they claim, though the noise is hardly known."""
    rng, squares = np.random.default_rng(2), []
    for _ in range(30):
        X, arms, theta = rng.normal(size=(100, 20)), rng.integers(10, size=100), 0.5 * rng.normal(size=(10, 20))
        found = model(X, theta, arms, 0.3, rng)
        draws = np.array([found.mean_rewards(rng) for _ in range(60)])
        apart = (theta @ found.contexts.T - found.expected_rewards()) / draws.std(axis=0)
        squares.append(float((apart**2).mean()))
    assert 0.6 < np.mean(squares) < 1.6


def test_one_arm_alone_tells_nothing_of_another() -> None:
    """It is drawn as far away as rewards vary."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 3))
    found = audit_log(X, [0] * 1000, X @ [1.0, 2.0, -1.0], arm_names=[0, 1]).likely
    assert found is not None
    means = np.array([found.mean_rewards(rng) for _ in range(200)])
    assert 0.5 < (means[:, 1] - means[:, 0]).std() / (X @ [1.0, 2.0, -1.0]).std() < 2.5


def test_clicks_stay_between_0_and_1_and_long_logs_are_cut() -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack([np.ones(5000), rng.uniform(-1, 1, 5000)])
    X[4000] = 1.0, 3.0
    clicks = (rng.random(5000) < 0.02 + 0.01 * X[:, 1]).astype(float)
    found = audit_log(X, rng.integers(2, size=5000).tolist(), clicks).likely
    assert found is not None
    assert found.clicks
    assert len(found.contexts) == MOST_CONTEXTS
    assert (found.contexts == X[4000]).all(axis=1).any()
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
    np.testing.assert_allclose(other.expected_rewards(), unit * one.expected_rewards(), rtol=1e-6, atol=1e-9 * unit)
    np.testing.assert_allclose(other.posterior.spread, one.posterior.spread, rtol=1e-6)  # in units of the rewards' own
    assert other.noise == pytest.approx(unit * one.noise)


def test_every_context_of_a_short_log_is_kept_once() -> None:
    X = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0], [0.5, 1.0]])
    found = audit_log(X, [0, 1, 0, 1], np.array([0.0, 1.0, 2.0, 1.0])).likely
    assert found is not None
    assert sorted(map(tuple, found.contexts)) == sorted(map(tuple, X))
