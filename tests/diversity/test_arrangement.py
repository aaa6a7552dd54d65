"""The least diverse of all half-spaces, against every pattern of sides that a linear program finds possible."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import armspan
from armspan.diversity import arrangement, least_diverse_half_space
from armspan.environments import FiniteContexts
from tests.strategies import Array


def eigenvalue(X: Array, weights: Array, inside: Any) -> float:
    """λ_min(E[xxᵀ 1{inside}]), 0 if it is by rounding alone."""
    value = float(np.linalg.eigvalsh(X.T @ np.diag(weights * inside) @ X)[0])
    return value if value > 1e-13 else 0.0


def every_side(X: Array, weights: Array) -> float:
    """The smallest over all u with xᵀu ≠ 0 for every x: a pattern of sides s is possible iff s·xᵀu ≥ 1 has a solution.

    A half-space with xᵀu = 0 for some x holds what one beside it holds, and more.
    """
    m, d = X.shape
    best = math.inf
    for signs in itertools.product([1.0, -1.0], repeat=m - 1):
        s = np.array([1.0, *signs])
        found = linprog(np.zeros(d), A_ub=-s[:, None] * X, b_ub=-np.ones(m), bounds=[(None, None)] * d)
        if found.status == 0:
            best = min(best, eigenvalue(X, weights, s > 0), eigenvalue(X, weights, s < 0))
    return best


def check(X: Array, weights: Array, expected: float) -> None:
    """The half-space of a report, and the search among all of them by itself, without a good guess to begin with."""
    found = least_diverse_half_space(X, weights)
    assert found.certain
    assert found.eigenvalue == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert eigenvalue(X, weights, X @ found.direction >= 0) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    if expected > 0:
        alone = arrangement.worst_of_all(X, weights, math.inf)
        assert alone.complete
        assert alone.direction is not None
        assert alone.eigenvalue == pytest.approx(expected, rel=1e-9)
        assert eigenvalue(X, weights, X @ alone.direction >= 0) == pytest.approx(expected, rel=1e-9)


def around(rng: np.random.Generator, m: int, d: int) -> Array:
    """Features in general position; every half-space holds d of 2m that span."""
    X = rng.normal(size=(m, d))
    return np.vstack([X, -X * rng.uniform(0.1, 2.0, size=(m, 1))])


@given(st.integers(3, 4), st.integers(0, 10**6))
@settings(max_examples=12, deadline=None)
def test_general_position(d: int, seed: int) -> None:
    """Random features, of which those that one half-space holds may or may not span."""
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(7, d)), rng.dirichlet(np.ones(7))
    check(X, weights, every_side(X, weights))


@pytest.mark.long
@given(st.integers(3, 4), st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_opposite_and_repeated_features(d: int, seed: int) -> None:
    """Every feature has one on the other side of the origin, so that no half-space is flat."""
    rng = np.random.default_rng(seed)
    lines = rng.normal(size=(5, d))
    X = np.vstack([lines, -0.5 * lines, 2 * lines[:2]])
    weights = rng.dirichlet(np.ones(len(X)))
    patterns = [s for s in itertools.product([1.0, -1.0], repeat=5) if _possible(lines, np.array(s))]
    expected = min(eigenvalue(X, weights, np.concatenate([s, -np.array(s), s[:2]]) > 0) for s in patterns)
    check(X, weights, expected)


def _possible(X: Array, s: Array) -> bool:
    wanted = linprog(
        np.zeros(X.shape[1]), A_ub=-s[:, None] * X, b_ub=-np.ones(len(X)), bounds=[(None, None)] * X.shape[1]
    )
    return bool(wanted.status == 0)


@pytest.mark.long
@given(st.integers(3, 4), st.integers(0, 10**6))
@settings(max_examples=12, deadline=None)
def test_many_features_in_one_hyperplane(d: int, seed: int) -> None:
    """Small integers: several features lie in one hyperplane, and in planes within it, in all kinds of ways."""
    rng = np.random.default_rng(seed)
    lines = np.unique(rng.integers(-1, 2, size=(8, d)).astype(float), axis=0)
    lines = lines[np.abs(lines).sum(axis=1) > 0][:6]
    keep = [i for i in range(len(lines)) if not any(np.array_equal(lines[i], -lines[j]) for j in range(i))]
    lines = lines[keep]
    X = np.vstack([lines, -lines, np.zeros((1, d))])
    weights = rng.dirichlet(np.ones(len(X)))
    patterns = [np.array(s) for s in itertools.product([1.0, -1.0], repeat=len(lines)) if _possible(lines, np.array(s))]
    expected = min(eigenvalue(X, weights, np.concatenate([s, -s, [1]]) > 0) for s in patterns)
    check(X, weights, expected)


@pytest.mark.long
def test_a_grid_of_features_against_many_directions() -> None:
    """The 26 neighbours of the origin: most hyperplanes hold four lines or more. Random directions are never worse."""
    X = np.array([x for x in itertools.product([-1.0, 0.0, 1.0], repeat=3) if any(x)])
    rng = np.random.default_rng(0)
    for _ in range(5):
        weights = rng.dirichlet(np.ones(26))
        least = min(eigenvalue(X, weights, X @ u >= 0) for u in rng.normal(size=(3000, 3)))
        check(X, weights, least)  # so many directions meet every cell


@pytest.mark.long
@pytest.mark.parametrize(("m", "d"), [(60, 3), (25, 4), (14, 6)])
def test_random_directions_find_nothing_worse(m: int, d: int) -> None:
    rng = np.random.default_rng(m)
    X = around(rng, m, d)
    weights = rng.dirichlet(np.ones(2 * m))
    found = least_diverse_half_space(X, weights)
    assert found.certain
    assert found.eigenvalue > 0
    least = min(eigenvalue(X, weights, X @ u >= 0) for u in rng.normal(size=(5000, d)))
    assert found.eigenvalue <= least * (1 + 1e-9)
    assert eigenvalue(X, weights, X @ found.direction >= 0) == pytest.approx(found.eigenvalue, rel=1e-9)


def test_too_many_half_spaces_are_searched_only(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X, weights = around(rng, 30, 3), np.full(60, 1 / 60)
    truth = least_diverse_half_space(X, weights)
    monkeypatch.setattr(arrangement, "MOST_EIGENVALUES", 800)  # there are 2·C(30, 2) = 870
    found = least_diverse_half_space(X, weights)
    assert not found.certain
    assert found.eigenvalue >= truth.eigenvalue
    grid = np.array([x for x in itertools.product([-1.0, 0.0, 1.0], repeat=3) if any(x)])
    weights = rng.dirichlet(np.ones(26))
    monkeypatch.setattr(arrangement, "MOST_EIGENVALUES", 2 * math.comb(13, 2))  # the first round, and hardly any more
    assert least_diverse_half_space(grid, weights).eigenvalue > 0


def test_greedy_is_covered_in_three_dimensions() -> None:
    """The corners of a cube, for two arms: every half-space holds three that span."""
    cube = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
    env = FiniteContexts([cube, cube], [[1.0, 0.3, 0.1], [-0.4, 1.0, 0.2]])
    verdict = armspan.audit(env).verdicts[3]
    assert verdict.answer == "yes"
    assert "no half-space is worse" in verdict.reason
    # one arm's features are too many to look at all half-spaces: what is certain of the other does not make it certain
    many = np.random.default_rng(2).normal(size=(600, 3))
    half = FiniteContexts([np.repeat(cube / 10, 75, axis=0), many], [[1.0, 0.3, 0.1], [-0.4, 1.0, 0.2]])
    assert armspan.audit(half).verdicts[3].answer == "not known"
