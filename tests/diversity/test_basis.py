"""λ₀ and conditional second moments against the oracle's brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan.diversity import best_basis, smallest_eigenvalues
from armspan.diversity.basis import dual_bound, exchange
from armspan.environments import FiniteContexts
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
    assert best_basis(X[:1]).rows == ()
    assert best_basis(np.array([[1.0, 1.0], [2.0, 2.0]])).eigenvalue == 0.0


def brute_force(X: Array) -> float:
    subsets = np.array(list(itertools.combinations(range(len(X)), X.shape[1])))
    return float(np.linalg.svd(X[subsets], compute_uv=False)[:, -1].max() ** 2)


@given(st.integers(1, 4), st.integers(0, 7), st.integers(0, 10**6))
def test_the_pruned_search_finds_the_best_of_all_subsets(d: int, more: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(d + more, d)) * rng.choice([0.1, 1.0, 10.0], size=(d + more, 1))
    basis = best_basis(X)
    assert basis.exact
    assert basis.eigenvalue == pytest.approx(brute_force(X), rel=1e-9)
    assert np.linalg.svd(X[list(basis.rows)], compute_uv=False)[-1] ** 2 == pytest.approx(basis.eigenvalue, rel=1e-9)
    assert dual_bound(X) >= basis.eigenvalue - 1e-12 * (X**2).sum()


@pytest.mark.long
@pytest.mark.parametrize(("kind", "n"), [("normal", 40), ("positive", 28)])
def test_forty_contexts_in_five_dimensions_are_searched_exactly(kind: str, n: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5)) if kind == "normal" else rng.random((n, 5))
    basis = best_basis(X)
    assert basis.exact
    assert basis.eigenvalue == pytest.approx(brute_force(X), rel=1e-9)


def test_a_search_that_is_too_long_ends_with_an_interval_that_holds() -> None:
    X = np.random.default_rng(4).normal(size=(22, 4))
    truth = brute_force(X)
    for most in (1, 30, 300):
        basis = best_basis(X, most_subsets=most)
        assert basis.eigenvalue <= truth * (1 + 1e-12)
        assert basis.upper >= truth * (1 - 1e-12)
    assert not best_basis(X, most_subsets=1).exact
    wide = best_basis(np.random.default_rng(5).normal(size=(120, 12)), most_subsets=20_000)
    assert not wide.exact
    assert 0 < wide.eigenvalue < wide.upper


def test_exchanges_end_where_no_single_one_helps() -> None:
    X = np.random.default_rng(6).normal(size=(30, 6))
    rows = exchange(X)
    value = np.linalg.svd(X[rows], compute_uv=False)[-1]
    for out, new in itertools.product(range(6), np.setdiff1d(np.arange(30), rows)):
        trial = rows.copy()
        trial[out] = new
        assert np.linalg.svd(X[trial], compute_uv=False)[-1] <= value * (1 + 1e-9)


@pytest.mark.long
def test_features_of_different_scale_are_searched_too() -> None:
    X = np.random.default_rng(7).normal(size=(40, 5)) * 10.0 ** np.arange(5)
    basis = best_basis(X)
    truth = brute_force(X)
    assert basis.eigenvalue == pytest.approx(truth, rel=1e-6)
    assert truth * (1 - 1e-9) <= basis.upper < 2 * truth
