"""Quantiles and exact limits, against SciPy's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from armspan.diversity.quantiles import beta_cdf, binomial_limits, f_quantile

LEVELS = st.floats(1e-6, 0.4)


@given(st.floats(0.5, 1e5), st.floats(0.5, 1e5), st.floats(0.0, 1.0))
def test_the_distribution_function_of_beta(a: float, b: float, probability: float) -> None:
    """Where it is neither 0 nor 1; small a and b to 1e-12, others to what logarithms of factorials leave."""
    x = float(stats.beta.ppf(probability, a, b))
    assert beta_cdf(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), abs=1e-12 if max(a, b) <= 50 else 1e-9)


@given(st.floats(0.5, 1e5), st.floats(0.5, 1e5))
def test_a_distribution_function_begins_at_0_and_ends_at_1(a: float, b: float) -> None:
    assert beta_cdf(0.0, a, b) == beta_cdf(-0.5, a, b) == 0.0
    assert beta_cdf(1.0, a, b) == beta_cdf(1.5, a, b) == 1.0
    assert beta_cdf(a / (a + b), a, b) + beta_cdf(b / (a + b), b, a) == pytest.approx(1, abs=1e-9)


@given(LEVELS, st.integers(1, 60), st.integers(5, 10**6))
def test_quantiles_of_f(alpha: float, d1: int, d2: int) -> None:
    assert f_quantile(1 - alpha, d1, d2) == pytest.approx(stats.f.ppf(1 - alpha, d1, d2), rel=1e-7)


@given(LEVELS, st.integers(5, 10**5))
def test_one_dimension_is_students_t(alpha: float, freedom: int) -> None:
    t = stats.t.ppf(1 - alpha / 2, freedom)
    assert f_quantile(1 - alpha, 1, freedom) == pytest.approx(t**2, rel=1e-7)


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), LEVELS)
def test_limits_of_a_probability_are_clopper_and_pearsons(counted: tuple[int, int], alpha: float) -> None:
    hits, n = counted
    wanted = stats.binomtest(hits, n).proportion_ci(1 - 2 * alpha, method="exact")
    assert binomial_limits(hits, n, alpha) == pytest.approx((wanted.low, wanted.high), rel=1e-6, abs=1e-12)


@given(st.integers(1, 10**4), LEVELS)
def test_none_and_all_have_closed_forms(n: int, alpha: float) -> None:
    """No hit in n trials has probability (1 - p)ⁿ."""
    high = 1 - alpha ** (1 / n)
    assert binomial_limits(0, n, alpha) == pytest.approx((0, high), rel=1e-9)
    assert binomial_limits(n, n, alpha) == pytest.approx((1 - high, 1), rel=1e-9)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(1e-4, 0.4))
def test_each_limit_is_wrong_with_its_probability(counted: tuple[int, int], alpha: float) -> None:
    """At the lower limit so many hits or more have probability alpha; at the upper limit, so many or fewer."""
    hits, n = counted
    low, high = binomial_limits(hits, n, alpha)
    if hits > 0:
        assert stats.binom.sf(hits - 1, n, low) == pytest.approx(alpha, rel=1e-7)
    if hits < n:
        assert stats.binom.cdf(hits, n, high) == pytest.approx(alpha, rel=1e-7)
