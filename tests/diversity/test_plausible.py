"""Draws of plausible coefficients: distributed as errors are, never narrower than either covariance."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from armspan._typing import FloatArray
from armspan.diversity.fits import Fits, fit_arms, whiten
from armspan.diversity.plausible import DRAWS, Plausible, _stretch, led, plausible


def drawn_from(seed: int, noise: float = 0.5, n: int = 2000) -> tuple[FloatArray, Fits, Plausible]:
    rng = np.random.default_rng(seed)
    X, arms = np.column_stack([np.ones(n), rng.normal(size=(n, 2))]), rng.integers(2, size=n)
    theta = np.array([[0.3, 1.0, 0.0], [0.0, -1.0, 0.5]])
    white = whiten(X)
    fits = fit_arms(white, arms, (X * theta[arms]).sum(axis=1) + noise * rng.normal(size=n), 2, 0.01)
    return white.z, fits, plausible(fits, white.z, arms)


@given(st.integers(1, 6), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_a_stretched_covariance_is_at_least_both(r: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, B = (part @ part.T for part in rng.normal(size=(2, r, r + 3)))
    M = _stretch(A, B)
    wide = M @ A @ M.T
    slack = 1e-9 * np.trace(A + B)
    assert min(np.linalg.eigvalsh(wide - A)[0], np.linalg.eigvalsh(wide - B)[0]) > -slack


def test_draws_have_the_covariance_of_the_errors() -> None:
    """200 draws: their standard deviations are within 25 % (5 standard errors) of those that were estimated."""
    _, fits, found = drawn_from(3)
    assert len(found.theta) == DRAWS
    np.testing.assert_array_equal(found.theta[0], fits.theta)
    for a in range(2):
        wide = np.diag(fits.covariance[a].max(axis=0))
        np.testing.assert_allclose(found.theta[1:, a].std(axis=0), np.sqrt(wide), rtol=0.25)


def test_rewards_without_noise_leave_one_answer() -> None:
    z, fits, found = drawn_from(4, noise=0.0)
    np.testing.assert_allclose(found.theta, np.tile(fits.theta, (DRAWS, 1, 1)), atol=1e-9)
    sets = led(z, found, 0.05, 0.025)
    means = z @ fits.theta.T
    np.testing.assert_array_equal(sets[0].by_share, means[:, 0] - means[:, 1] >= 0.05)


def test_all_but_a_few_draws_stay_below_the_quantile() -> None:
    z, _, found = drawn_from(5, noise=3.0)
    shares = [float(((z @ theta.T) @ [1, -1] >= 0.05).mean()) for theta in found.theta]
    limit = led(z, found, 0.05, 0.025)[0].by_share.mean()
    assert np.mean(np.array(shares) <= limit) >= 0.975
