"""The sums over a log's rows, arm by arm, however rows are dealt out to the arms."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armspan.agents import batch


@given(n=st.integers(1, 60), K=st.integers(1, 5), d=st.integers(1, 4), most=st.integers(1, 40), cores=st.integers(1, 6))
def test_they_are_those_of_each_arms_own_rows(n: int, K: int, d: int, most: int, cores: int) -> None:
    rng = np.random.default_rng(n)
    X, arms, y = rng.normal(size=(n, d)), rng.integers(K, size=n), rng.normal(size=n)
    with patch.multiple(batch, DEALT=most, FEWEST=1, SHARED=0, available_cores=lambda: cores):
        found = batch.sums(X, arms, y, K)
    for k, one in enumerate(found):
        own, rewards = X[arms == k], y[arms == k]
        np.testing.assert_allclose(one.gram, sum((np.outer(x, x) for x in own), np.zeros((d, d))), atol=1e-12)
        np.testing.assert_allclose(
            one.moment, sum((r * x for r, x in zip(rewards, own, strict=True)), np.zeros(d)), atol=1e-12
        )
        assert one.pulls == len(own)
        np.testing.assert_allclose(one.squares, sum(r * r for r in rewards), atol=1e-12)


def test_a_number_that_is_too_large_spoils_its_own_arm_alone() -> None:
    X, arms = np.array([[1.0, 1e200], [2.0, 3.0]]), np.array([0, 1])
    bad, good = batch.sums(X, arms, np.array([1.0, 1e200]), 2)
    assert not np.isfinite(bad.gram).all()
    np.testing.assert_array_equal(good.gram, [[4.0, 6.0], [6.0, 9.0]])
    np.testing.assert_array_equal(good.moment, [2e200, 3e200])
