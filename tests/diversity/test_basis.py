"""λ₀ and conditional second moments against the oracle's brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan.diversity import best_basis, smallest_eigenvalues
from armspan.environments import FiniteContexts
from armspan.errors import NotApplicable
from tests import naive
from tests.strategies import Array, tables


@given(tables())
def test_lambda_0_is_the_weakest_arms_best_basis(table: tuple[Array, Array]) -> None:
    features, theta = table
    assert FiniteContexts(features, theta).lambda_0() == pytest.approx(naive.lambda_0(features, theta), abs=1e-9)


@given(tables(), st.integers(0, 10**6))
def test_second_moments(table: tuple[Array, Array], seed: int) -> None:
    features, theta = table
    weights = np.random.default_rng(seed).dirichlet(np.ones(features.shape[1]))
    means = naive.mean_rewards(features, theta)
    p, smallest = smallest_eigenvalues(np.swapaxes(features, 0, 1), means, weights)
    expected = naive.second_moment_min_eigenvalue(features, theta, weights)
    np.testing.assert_allclose(smallest, expected, atol=1e-9)
    for a, contexts in enumerate(naive.optimal_contexts(features, theta)):
        assert p[a] == pytest.approx(weights[contexts].sum())


def test_best_basis_names_its_rows() -> None:
    X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 0.8]])
    assert best_basis(X).rows == (0, 2)
    assert best_basis(X[:1]) == ((), 0.0)
    assert best_basis(np.array([[1.0, 1.0], [2.0, 2.0]])).eigenvalue == 0.0


def test_a_search_that_is_too_long_is_refused() -> None:
    with pytest.raises(NotApplicable, match="candidates"):
        best_basis(np.ones((60, 20)))
