"""Two policies compared run by run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import armspan
from armspan.errors import InvalidParameter
from armspan.simulation.comparison import compared
from armspan.simulation.student import half_width, quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 29, 99, 9999, 10**6])
def test_students_quantile_is_scipys(freedom: int) -> None:
    assert quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)


def test_a_single_run_has_no_width() -> None:
    assert np.isnan(half_width(2.0, 1))
    assert np.isnan(half_width(np.zeros((2, 3)), 1)).all()


@given(st.integers(0, 10**6), st.integers(2, 40))
def test_the_interval_is_that_of_the_paired_t_test(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.gamma(2, 10, n), rng.gamma(2, 12, n)
    found = compared(("a", "b"), 10, one, other)
    expected = stats.ttest_rel(other, one).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-9)
    assert found.ahead == pytest.approx(np.mean(other > one))


def test_the_answer() -> None:
    env = armspan.environments.paper_1b()
    result = armspan.simulate(env, [armspan.LinUCBd(), armspan.Greedy()], horizon=3_000, runs=20)
    found = result.compare("LinUCB-d", "greedy")
    assert found.better == "LinUCB-d"
    assert str(found).startswith("LinUCB-d loses less than greedy after 3,000 steps, 20 runs. Regret of greedy minus")
    assert result.compare("greedy", "LinUCB-d").better == "LinUCB-d"
    assert result.compare("greedy", "LinUCB-d").difference == -found.difference
    same = result.compare("greedy", "greedy")
    assert (same.better, same.ahead, same.difference) == (None, 0.5, 0.0)
    assert str(same).startswith("Not known whether")


def test_a_single_run_says_nothing() -> None:
    found = compared(("a", "b"), 10, np.array([1.0]), np.array([5.0]))
    assert found.better is None
    assert "interval" not in str(found)


def test_small_rewards_are_not_rounded_to_nothing() -> None:
    """In another unit the same policy is better, and the words say by how much."""
    env = armspan.environments.paper_1b()
    small = armspan.environments.FiniteContexts(env.features, env.theta * 1e-4, noise=1e-4)
    result = armspan.simulate(small, [armspan.LinUCBd(), armspan.Greedy()], horizon=3_000, runs=20)
    found, rows = result.compare("LinUCB-d", "greedy"), result.summary()
    assert f": {found.difference:.4f} (95 % interval {found.low:.4f} to {found.high:.4f})" in str(found)
    assert f">{found.difference:.4f}<" in found._repr_html_()
    for row in rows:
        assert f" {row.mean:.4f}  {row.sd:.4f} " in str(rows)
    why = armspan.recommend(small, horizon=300).line
    assert "regret 0.00" in why
    assert "0.0 ±" not in why


def test_bad_names() -> None:
    result = armspan.simulate(armspan.environments.paper_1b(), armspan.Greedy(), horizon=10, runs=2)
    with pytest.raises(InvalidParameter, match="policy must be one of greedy, got 'nobody'"):
        result.compare("greedy", "nobody")
