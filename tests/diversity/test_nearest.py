"""The distance from problems that are not diverse: the nearest points by SciPy, and how often chance goes as far."""

from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from scipy.stats import chi2

from armspan._typing import BoolArray, FloatArray
from armspan.diversity import evidence
from armspan.diversity.logged import Judged
from armspan.diversity.nearest import Estimates, Nearest, distinct

MARGIN = 0.05


def far_off(normals: FloatArray, wanted: FloatArray) -> float:
    """The least ‖y‖² with normals·y >= wanted, by Lawson and Hanson's least distance programming."""
    matrix, aim = np.vstack([normals.T, wanted]), np.append(np.zeros(normals.shape[1]), 1.0)
    rest = matrix @ nnls(matrix, aim)[0] - aim
    y = -rest[:-1] / rest[-1]
    return float(y @ y)


def looked(
    z: FloatArray, theta: FloatArray, roots: FloatArray, thin: Callable[[BoolArray], bool] = lambda mine: not mine.any()
) -> Nearest:
    rows = np.ones(len(z), dtype=np.int64)
    return Nearest(z, rows, Estimates(theta, roots), MARGIN, lambda held: float(chi2.ppf(0.95, held)), thin)


@given(st.integers(2, 5), st.integers(1, 5), st.integers(1, 60), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_nearest_point_is_that_of_a_least_distance_program(K: int, r: int, m: int, seed: int) -> None:
    """With two arms the program is convex; with more, a context that another rival has taken costs nothing."""
    rng = np.random.default_rng(seed)
    z, theta, roots = rng.normal(size=(m, r)), rng.normal(size=(K, r)), rng.normal(size=(K, r, r))
    kept, arm = rng.random(m) < 0.2, int(rng.integers(K))
    nearest = looked(z, theta, roots)
    rivals = nearest._rivals(arm, theta)
    found = nearest.point(arm, kept, rivals)
    assert (found.leads[~kept] <= MARGIN + 1e-6 * (1 + np.abs(theta).max())).all()
    normals = np.array([nearest._normal(arm, c, b) for c, b in enumerate(rivals)])[~kept]
    wanted = np.array([nearest._lead(arm, c, b) for c, b in enumerate(rivals)])[~kept]
    if not (wanted > 0).any():
        assert found.far == found.held == 0
        return
    least = far_off(normals, wanted)
    if K == 2:
        assert found.far == pytest.approx(least, rel=1e-5)
    else:
        assert found.far <= least * (1 + 1e-5)
    assert found.cost.sum() == pytest.approx(found.far)
    assert np.count_nonzero(found.cost) <= found.held <= K * r


def test_chance_seldom_goes_farther_than_its_critical_value() -> None:
    """Two arms that are alike in all contexts: 5 % of 2,000 estimates at most, and 4 standard errors (2 %)."""
    rng = np.random.default_rng(3)
    z, roots = rng.normal(size=(40, 3)), rng.normal(size=(2, 3, 3))
    none, farther = np.zeros(40, dtype=bool), 0
    for _ in range(2000):
        errors = np.einsum("kij,kj->ki", roots, rng.normal(size=(2, 3)))
        found = looked(z, errors, roots).point(0, none)
        farther += found.held > 0 and found.far > chi2.ppf(0.95, found.held)
    assert 20 <= farther <= 140


def test_an_arm_that_ties_outside_of_a_plane_is_seldom_too_far() -> None:
    """It leads clearly in a plane, which the search must find: 5 % of 100 estimates at most, and 4 errors (9 %)."""
    rng = np.random.default_rng(5)
    z = rng.normal(size=(400, 3))
    z[:150, 2], z[:150, 0] = 0.0, np.abs(z[:150, 0]) + 0.5
    z[150:, 0] = 0.0  # where both arms are alike
    truth, roots = np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), np.tile(0.1 * np.eye(3), (2, 1, 1))

    def thin(mine: BoolArray) -> bool:
        return float(np.linalg.eigvalsh(z[mine].T @ z[mine] / 400)[0]) < 0.02

    assert looked(z, truth, roots, thin).seems_thin(0)
    estimates = truth + 0.1 * rng.normal(size=(100, 2, 3))
    seems = [looked(z, theta, roots, thin) for theta in estimates]
    assert sum(not one.seems_thin(0) for one in seems) >= 50  # noise makes it look diverse
    assert sum(one.too_far(0) for one in seems) <= 14


def test_an_arm_that_leads_clearly_in_all_directions_is_too_far() -> None:
    rng = np.random.default_rng(6)
    z = np.column_stack([np.ones(300), rng.normal(size=(300, 2))])
    theta = np.array([[0.0, 2.0, 0.0], [0.0, -2.0, 0.0]])
    nearest = looked(z, theta, np.tile(0.1 * np.eye(3), (2, 1, 1)), lambda mine: mine.sum() < 30)
    assert nearest.too_far(0)
    assert nearest.too_far(1)
    assert not looked(z, theta, np.tile(3.0 * np.eye(3), (2, 1, 1)), lambda mine: mine.sum() < 30).too_far(0)


def test_distinct_contexts_are_counted() -> None:
    z, rows, which = distinct(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0 + 1e-12]]))
    assert sorted(rows.tolist()) == [1, 2]
    np.testing.assert_allclose(z[which], [[1, 2], [0, 1], [1, 2]])


def test_many_arms_and_features_are_called_diverse_where_bands_do_not_show_it() -> None:
    """Ten arms and eight features, where the best arm leads by 0.3 or more and noise is 0.8."""
    rng, answers = np.random.default_rng(2), []
    for _ in range(3):
        theta = np.column_stack([0.1 * rng.normal(size=10), rng.normal(size=(10, 7))])
        theta[:, 1:] /= np.linalg.norm(theta[:, 1:], axis=1, keepdims=True)
        X = np.column_stack([np.ones(12_000), rng.normal(size=(12_000, 7))])
        means = np.sort(X @ theta.T, axis=1)
        X = X[means[:, -1] - means[:, -2] > 0.3][:3000]
        arms = rng.integers(10, size=len(X))
        rewards = (X * theta[arms]).sum(axis=1) + 0.8 * rng.normal(size=len(X))
        found = Judged(X, arms, rewards, 10, level=0.05)
        with patch.object(evidence, "_too_far", return_value=False):
            without = Judged(X, arms, rewards, 10, level=0.05)
        answers.append((without.answer("diverse"), found.answer("diverse")))
    assert ("not known", "yes") in answers
    assert set(answers) <= {("not known", "yes"), ("not known", "not known"), ("yes", "yes")}
