"""Draws of plausible coefficients: distributed as errors are, never narrower than either covariance."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from armspan._typing import FloatArray, IntArray
from armspan.diversity.fits import Fits, fit_arms, scheffe, whiten
from armspan.diversity.plausible import DRAWS, Plausible, _stretch, alike, fewest, led, plausible
from armspan.diversity.sample import Sample


def drawn_by(fits: Fits, z: FloatArray, arms: IntArray) -> Plausible:
    drawn = plausible(fits, Sample.of(z), arms, np.ones(len(fits.theta), dtype=bool), 0.01)
    assert drawn is not None
    return drawn


def drawn_from(seed: int, noise: float = 0.5, n: int = 2000) -> tuple[FloatArray, Fits, Plausible]:
    rng = np.random.default_rng(seed)
    X, arms = np.column_stack([np.ones(n), rng.normal(size=(n, 2))]), rng.integers(2, size=n)
    theta = np.array([[0.3, 1.0, 0.0], [0.0, -1.0, 0.5]])
    white = whiten(X)
    fits = fit_arms(white, arms, (X * theta[arms]).sum(axis=1) + noise * rng.normal(size=n), 2, 0.01)
    return white.z, fits, drawn_by(fits, white.z, arms)


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


def test_arms_that_are_alike_seldom_seem_to_lead() -> None:
    """Two arms that differ by just the margin, fitted anew 200 times: the better one seems to lead the fewest contexts
    by more in 10 % of them, or a little less.

    The bounds are 4 standard errors of 200 tries above, and 10 % less the draws' own error (200 of them) below.
    """
    rng, n, r = np.random.default_rng(8), 400, 6
    white = whiten(np.column_stack([np.ones(n), rng.normal(size=(n, r - 1))]))
    arms = rng.integers(2, size=n)

    def shown(reach: float, margin: float) -> bool:
        fits = fit_arms(white, arms, rng.normal(size=n) + margin * (arms == 0), 2, 0.01)
        bands = scheffe(white.z, fits, 0.01)
        half = reach * np.sqrt(bands.variance.sum(axis=1))
        return int((bands.means @ [1, -1] - margin >= half).sum()) >= fewest(0.1)

    fits = fit_arms(white, arms, rng.normal(size=n), 2, 0.01)
    bands = scheffe(white.z, fits, 0.01)
    reach = alike(white.z, bands.variance, drawn_by(fits, white.z, arms), fewest(0.1), 0.1)
    assert reach is not None
    assert reach[0, 1] == reach[1, 0] < bands.one_arm[0, 1]
    assert 0.02 <= np.mean([shown(float(reach[0, 1]), 0.05) for _ in range(200)]) <= 0.19


def test_rows_that_alternate_are_no_matter() -> None:
    """Every third row is of a kind with one direction alone, in which arms that are alike seldom seem to differ."""
    rng, n = np.random.default_rng(0), 15_000
    X, third = np.zeros((n, 9)), np.arange(n) % 3 == 0
    X[third, 0], X[~third, 1:] = rng.choice([-1.0, 1.0], size=n // 3), rng.normal(size=(n - n // 3, 8))
    arms, rewards, reaches = rng.integers(2, size=n), rng.normal(size=n), []
    for order in (np.arange(n), rng.permutation(n)):
        white = whiten(X[order])
        fits = fit_arms(white, arms[order], rewards[order], 2, 0.01)
        variance, found = scheffe(white.z, fits, 0.01).variance, drawn_by(fits, white.z, arms[order])
        reach = alike(white.z, variance, found, 6, 0.01)
        assert reach is not None
        reaches.append(reach[0, 1])
    assert 0.8 < reaches[0] / reaches[1] < 1.25


def test_nothing_is_said_of_arms_alike_where_contexts_or_arms_are_too_many() -> None:
    z, fits, found = drawn_from(6)
    variance = scheffe(z, fits, 0.01).variance
    assert alike(z, variance, found, 6 / 1000, 0.01) is None
    many = found._replace(known=np.ones(21, dtype=bool))
    assert alike(z, variance, many, 6, 0.01) is None


@given(st.integers(1, 30), st.floats(0.002, 0.1), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_fewer_contexts_than_the_fewest_are_never_enough(k: int, alpha: float, seed: int) -> None:
    z = np.random.default_rng(seed).normal(size=(200, 1))
    low = Sample.of(z).least_spread(np.arange(200) < k, alpha)
    assert k >= fewest(alpha) or low == 0
    assert (fewest(0.01), fewest(0.1)) == (6, 2)  # 2.33² = 5.4 and 1.28² = 1.6


def test_contexts_of_zeros_show_nothing() -> None:
    z, fits, found = drawn_from(6)
    nothing = np.zeros_like(z)
    reach = alike(nothing, scheffe(nothing, fits, 0.01).variance, found, 6, 0.01)
    assert reach is not None
    assert np.isinf(reach).all()
