"""Covariate diversity against brute force over directions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan.diversity import least_diverse_half_space
from armspan.diversity.moments import smallest_of, weakest
from armspan.environments import paper_1a, paper_1b
from tests.strategies import Array


def moment(X: Array, weights: Array, u: Array) -> float:
    inside = X @ u >= 0
    return float(np.linalg.eigvalsh(np.einsum("n,ni,nj->ij", weights[inside], X[inside], X[inside]))[0])


@pytest.mark.long
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_the_plane_is_searched_exactly(m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(m, 2)), rng.dirichlet(np.ones(m))
    found = least_diverse_half_space(X, weights)
    assert found.certain
    angles = np.linspace(0, 2 * np.pi, 5000, endpoint=False)
    inside = np.column_stack([np.cos(angles), np.sin(angles)]) @ X.T >= 0
    brute = np.linalg.eigvalsh(np.einsum("an,n,ni,nj->aij", inside, weights, X, X, optimize=True))[:, 0].min()
    assert found.eigenvalue <= brute + 1e-12
    assert moment(X, weights, found.direction) == pytest.approx(found.eigenvalue, abs=1e-12)


@pytest.mark.parametrize("d", [3, 5])
def test_in_space_the_search_beats_random_directions(d: int) -> None:
    rng = np.random.default_rng(d)
    X, weights = rng.normal(size=(400, d)), np.full(400, 1 / 400)
    found = least_diverse_half_space(X, weights)
    random = min(moment(X, weights, u) for u in rng.normal(size=(2000, d)))
    assert 0 < found.eigenvalue <= random
    assert found.certain is (d == 3)  # in five dimensions there are too many half-spaces to look at
    assert moment(X, weights, found.direction) == pytest.approx(found.eigenvalue)


def test_an_empty_half_space_is_found() -> None:
    X = np.random.default_rng(0).random((50, 4))
    found = least_diverse_half_space(X, np.full(50, 0.02))
    assert (found.eigenvalue, found.certain) == (0.0, True)


def test_of_many_features_all_count_in_the_end() -> None:
    """The first rows lie in one half-space; the others, which the search does not compare by, fill the rest."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.random((50, 3)), rng.normal(size=(500, 3))])
    weights = np.full(550, 1 / 550)
    found = least_diverse_half_space(X, weights, most=50)
    assert found.eigenvalue == pytest.approx(moment(X, weights, found.direction))
    assert found.eigenvalue > 0
    assert not found.certain
    assert least_diverse_half_space(X[:, :2], weights, most=50).certain  # in the plane all rows are compared by


def test_one_dimension() -> None:
    weights = np.array([0.5, 0.5])
    assert least_diverse_half_space(np.array([[1.0], [-2.0]]), weights).eigenvalue == 0.5
    assert least_diverse_half_space(np.array([[1.0], [2.0]]), weights).eigenvalue == 0.0


def test_section_6_covariate_diversity_fails_in_figures_1a_and_1b() -> None:
    for env in (paper_1a(), paper_1b()):
        for a in range(2):
            found = least_diverse_half_space(env.features[a], env.probabilities)
            assert (found.eigenvalue, found.certain) == (0.0, True)


def test_borders_that_are_met_twice_make_no_cell() -> None:
    """Every half-space holds one of x and -3x, for two different x: nothing is ever flat."""
    for seed in range(30):
        B = np.random.default_rng(seed).normal(size=(2, 2))
        assert least_diverse_half_space(np.vstack([B, -3 * B]), np.full(4, 0.25)).eigenvalue > 0


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_many_moments_at_once_are_judged_as_one_by_one(d: int, seed: int) -> None:
    """Full ones, of very different scales too; some with too few features, and some that lack one altogether."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 9, d)) * 10.0 ** rng.uniform(-4, 4, size=(12, 1, d))
    X[:3, d - 1 :] = 0.0
    X[3:6, :, 0] = 0.0
    moments = np.swapaxes(X, 1, 2) @ X
    expected = np.array([weakest(M)[0] for M in moments])
    np.testing.assert_allclose(smallest_of(moments), expected, rtol=1e-6)
    np.testing.assert_array_equal(smallest_of(moments) == 0, expected == 0)
