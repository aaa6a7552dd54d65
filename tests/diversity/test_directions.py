"""Weakest directions: all of those in which nothing varies, whatever the units, and their names."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import null_space
from sklearn.datasets import load_digits

import armspan
from armspan.diversity.directions import always, combination, plainest
from armspan.diversity.moments import weakest
from tests.strategies import Array


@given(st.integers(1, 5), st.integers(0, 2), st.integers(0, 3), st.integers(0, 10**6))
def test_all_directions_without_variation_are_found(free: int, absent: int, tied: int, seed: int) -> None:
    """Independent columns, columns that are always 0, and sums of others, in any order and unit."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, free))
    X = np.hstack([X, np.zeros((40, absent)), X @ rng.integers(-2, 3, size=(free, tied))])
    X = X[:, rng.permutation(X.shape[1])] * 10.0 ** rng.integers(-4, 5, size=X.shape[1])
    d, rank = X.shape[1], np.linalg.matrix_rank(X / np.maximum(np.abs(X).max(axis=0), 1e-300))
    smallest, directions = weakest(X.T @ X / 40)
    if rank == d:
        assert smallest > 0
        return
    assert smallest == 0
    assert directions.shape == (d, d - rank)
    np.testing.assert_allclose(directions.T @ directions, np.eye(d - rank), atol=1e-9)
    length = np.linalg.norm(X, axis=0)
    assert (np.abs(X @ directions) <= 1e-6 * (length[:, None] * np.abs(directions)).sum(axis=0) + 1e-300).all()


def test_the_digits_rank_and_directions_add_up() -> None:
    """Images of a kind: some pixels are always 0, and in some kinds others depend on each other."""
    digits, more = load_digits(), 0
    for kind in range(10):
        own = digits.data[digits.target == kind][:100] / 16
        smallest, directions = weakest(own.T @ own / len(own))
        assert (smallest, directions.shape[1]) == (0.0, 64 - np.linalg.matrix_rank(own))
        np.testing.assert_allclose(own @ directions, 0.0, atol=1e-7)
        more += directions.shape[1] > (own == 0).all(axis=0).sum()
    assert more > 0


NAMES = ["web", "age", "app", "shop", "one"]


def kinds(n: int = 200) -> Array:
    """One of web, app and shop is 1, age is anything, one is 1."""
    rng = np.random.default_rng(0)
    which = rng.integers(3, size=n)
    return np.column_stack([which == 0, rng.normal(size=n), which == 1, which == 2, np.ones(n)]).astype(float)


def test_one_column_too_many_is_named_in_the_audit() -> None:
    theta = np.array([[1.0, 0.5, 0.0, 0.0, 0.0], [0.0, -0.5, 1.0, 0.8, 0.0]])
    report = armspan.audit(contexts=kinds(), theta_hat=theta, feature_names=NAMES)
    assert report.lambda_0 == 0
    assert report.verdicts[1].answer == "yes"  # in the directions that there are
    rule = "these columns always add up to the same: web, app, shop; so one says nothing new"
    assert [row.words for row in report.arms] == [f"where arm {a} is best, {rule}" for a in (0, 1)]
    for row in report.arms:
        np.testing.assert_allclose(np.abs(row.weakest_direction), [0.5, 0, 0.5, 0.5, 0.5], atol=1e-9)


def test_two_sets_of_kinds_are_named_one_by_one() -> None:
    """With an intercept each set is a column too many; without one, the two sets add up to the same."""
    rng = np.random.default_rng(1)
    first, second = rng.integers(3, size=300), rng.integers(2, size=300)
    X = np.column_stack([*(first == i for i in range(3)), *(second == i for i in range(2)), np.ones(300)]).astype(float)
    names, constant = ["a", "b", "c", "x", "y", "one"], np.arange(6) == 5
    smallest, space = weakest(X.T @ X)
    assert (smallest, space.shape[1]) == (0.0, 2)
    direction = plainest(space, np.ones(6), constant)
    assert always(names, direction, constant) == (
        "these columns always add up to the same: x, y; so one says nothing new"
    )
    _, space = weakest(X[:, :5].T @ X[:, :5])
    assert always(names, plainest(space, np.ones(5), constant[:5]), constant[:5]) == "a + b + c always equals x + y"


def test_other_dependent_columns_are_a_combination() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 3)) @ np.array([[1.0, 0, 0, 2.0], [0, 1.0, 0, 1.0], [0, 0, 1.0, 0]])
    _, space = weakest(X.T @ X)
    direction = plainest(space, np.ones(4), np.zeros(4, dtype=bool))
    expected = np.array([2.0, 1.0, 0.0, -1.0]) / np.sqrt(6)
    np.testing.assert_allclose(np.abs(direction), np.abs(expected), atol=1e-9)
    assert always("abcd", direction, np.zeros(4, dtype=bool)) == ""
    assert combination("abcd", direction) == "+0.82·a +0.41·b -0.41·d"
    two = np.column_stack([np.full(9, 3.0), np.arange(9.0), np.ones(9)])
    _, space = weakest(two.T @ two)
    constant = np.array([True, False, True])
    direction = plainest(space, np.array([3.0, 5.0, 1.0]), constant)
    assert always("abc", direction, constant) == "a and c never change; so c says nothing new"


@given(st.integers(0, 10**6))
def test_the_plainest_direction_leaves_out_all_that_it_can(seed: int) -> None:
    """It lies in the space, and the features in it are dependent only all together."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 6))
    X = rng.integers(-2, 3, size=(3, d)).astype(float)
    space = null_space(X)
    if space.shape[1] == 0:
        return
    direction = plainest(space, np.linalg.norm(X, axis=0), np.zeros(d, dtype=bool))
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    np.testing.assert_allclose(X @ direction, 0.0, atol=1e-9)
    used = np.flatnonzero(np.abs(direction) > 1e-9)
    assert np.linalg.matrix_rank(X[:, used]) == used.size - 1
    for j in used:
        rest = used[used != j]
        assert rest.size == 0 or np.linalg.matrix_rank(X[:, rest]) == rest.size


def test_agents_name_combinations_like_the_audit() -> None:
    policy = armspan.LinUCBd(feature_bound=2.0, parameter_bound=1.0)
    rng = np.random.default_rng(3)
    options: dict[str, Any] = {"arms": ["a", "b"], "n_features": 4, "feature_names": NAMES[:4], "intercept": True}
    for dtype in ("float64", "float32"):
        agent = policy.agent(**options, dtype=dtype)
        X = kinds(3000)[:, :4]
        agent.update(["a"] * len(X), X, rng.normal(size=len(X)))
        first, second = agent.diversity()
        rule = "these columns always add up to the same: web, app, shop; so intercept says nothing new"
        assert first.words == f"where arm a was pulled, {rule}"
        np.testing.assert_allclose(np.abs(first.weakest_direction), [0.5, 0, 0.5, 0.5, 0.5], atol=1e-3)
        assert second.words == "arm b was never pulled"
    agent = policy.agent(arms=["a", "b"], n_features=3)
    X = rng.normal(size=(500, 1)) * [1.0, 2.0, 0.0] + rng.normal(size=(500, 1)) * [0.0, 1.0, 0.0]
    agent.update(["a"] * 500, X, np.zeros(500))
    assert agent.diversity()[0].words == "arm a was seen least along feature 2: not at all"
    agent = policy.agent(arms=["a", "b"], n_features=4, feature_names=["web", "app", "old", "shop"], intercept=True)
    agent.update(["a"] * 3, np.eye(4)[[0, 1, 3]], np.zeros(3))
    agent.update(["b"] * 2, np.ones((2, 4)), np.zeros(2))
    assert [row.words for row in agent.diversity()] == [
        "arm a was seen least along old: not at all, nor along 1 more direction",
        "where arm b was pulled, web and app never change; so app says nothing new; it was not seen along 3 more "
        "directions either",
    ]
    agent = policy.agent(arms=["a", "b"], n_features=3)
    X = rng.normal(size=(500, 3)) @ np.array([[1.0, 1.0, 0], [0.1, -0.1, 0], [0, 0, 1.0]])
    agent.update(["b"] * 500, X, np.zeros(500))
    assert re.match(r"arm b was seen least along [+-]0\.7\d·feature 0 [+-]0\.7\d·feature 1", agent.diversity()[1].words)
