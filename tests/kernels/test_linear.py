"""The compiled linear step against ridge regression solved from scratch, and its numerical safety."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan.environments import BoxContexts, FiniteContexts
from armspan.kernels import draws, lanes, linear
from armspan.kernels.block import Tally
from armspan.kernels.families import counts as counts_family
from armspan.kernels.families import linear as linear_family
from armspan.policies import ContextUCB, LinUCB
from armspan.policies.learners import FamilyLearner
from armspan.simulation import simulate
from armspan.theory import as_schedule
from tests import naive
from tests.strategies import Array

ONE_RUN = np.zeros(1, dtype=np.int64)


def full(lower: Array) -> Array:
    """A symmetric matrix from its lower triangle."""
    return np.tril(lower) + np.tril(lower, -1).T


def run_learner(d: int, steps: int, ridge: float = 0.5, seed: int = 0, scale: float = 1.0) -> FamilyLearner:
    theta = np.random.default_rng(seed).normal(size=(3, d))
    env = BoxContexts(theta, -scale, scale)
    learner = FamilyLearner(linear_family.FAMILY, env, ONE_RUN, {"ridge": ridge, "alpha": as_schedule(1.0)})
    stream = env.stream(seed, ONE_RUN)
    for first in range(0, steps, 500):
        size = min(500, steps - first)
        tally = Tally(np.zeros(size, dtype=np.int64), np.zeros((1, 1, 3), dtype=np.uint32))
        learner.advance(stream.draw(first, size), np.array([size]), np.empty((1, 1)), tally)
    return learner


@given(st.integers(1, 7), st.integers(1, 60), st.integers(0, 1000))
def test_score_and_learn_are_ridge_regression(d: int, steps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ridge = float(rng.uniform(0.1, 3))
    oracle = naive.NaiveLinUCB(2, d, ridge)
    V, V_inv = np.tile(ridge * np.eye(d), (2, 1, 1)), np.tile(np.eye(d) / ridge, (2, 1, 1))
    b, theta_hat, z = np.zeros((2, d)), np.zeros((2, d)), np.empty(d)
    for _ in range(steps):
        x = rng.normal(size=(1, 2, d))
        means, widths = oracle.estimates(x[0])
        for a in range(2):
            mean, variance = linear.score(V_inv, theta_hat, a, x, 0, d)
            assert mean == pytest.approx(means[a], rel=1e-9, abs=1e-9)
            assert np.sqrt(variance) == pytest.approx(widths[a], rel=1e-9)
        a, y = int(rng.integers(2)), float(rng.normal())
        mean, variance = linear.score(V_inv, theta_hat, a, x, 0, d)
        linear.learn(V, V_inv, b, theta_hat, a, x, 0, y, mean, variance, z, d)
        oracle.update(a, x[0, a], y)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 20])
def test_rebuild_inverts(d: int) -> None:
    state = run_learner(d, 700).state
    linear.rebuild(state)
    for a in range(3):
        V = full(state.V[0, a])
        np.testing.assert_allclose(full(state.V_inv[0, a]), np.linalg.inv(V), rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(state.theta_hat[0, a], np.linalg.solve(V, state.b[0, a]), rtol=1e-9)


def test_rounding_does_not_build_up() -> None:
    """After 10⁵ steps with features 1,000 times longer than the ridge expects, widths are right to 1e-9."""
    state = run_learner(4, 100_000, ridge=1e-3, scale=30.0).state
    x = np.random.default_rng(1).normal(size=(50, 4))
    for a in range(3):
        exact = np.einsum("ni,ij,nj->n", x, np.linalg.inv(full(state.V[0, a])), x)
        ours = np.einsum("ni,ij,nj->n", x, full(state.V_inv[0, a]), x)
        np.testing.assert_allclose(ours, exact, rtol=1e-9)


@pytest.mark.parametrize("d", sorted(linear_family.ALONE))
@pytest.mark.parametrize("n_arms", [4, lanes.MOST_ARMS + 1])
def test_unrolled_kernels_choose_like_the_general_one(n_arms: int, d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    env = BoxContexts(np.random.default_rng(d).normal(size=(n_arms, d)), -1, 1)
    unrolled = simulate(env, LinUCB(), horizon=3000, runs=4)
    monkeypatch.setattr(lanes, "MOST_ARMS", 0)
    monkeypatch.delitem(linear_family.ALONE, d)
    general = simulate(env, LinUCB(), horizon=3000, runs=4)
    np.testing.assert_allclose(unrolled.pseudo_regret, general.pseudo_regret, rtol=1e-9)


def test_every_kernel_is_compiled_for_one_signature() -> None:
    """Whatever the caller's arrays look like: a second signature would be compiled again, for seconds."""
    features = np.asfortranarray(np.random.default_rng(0).normal(size=(2, 3, 2)).astype(np.float32))
    env = FiniteContexts(features, [[1, 2], [3, 4]], noise=1)
    for runs in (3, [5], range(2), np.arange(4, dtype=np.int32)):
        simulate(env, [LinUCB(), ContextUCB()], horizon=50, runs=runs)  # type: ignore[arg-type]
    simulate(BoxContexts([[1, 2], [3, 4]], [0, 1], 2), LinUCB(ridge=1), horizon=50, runs=3)
    simulate(env, [LinUCB(alpha=np.ones(50)), ContextUCB(alpha=lambda t: 1 / t)], horizon=50, runs=2, seed=2**64 - 1)
    for kernel in (
        linear_family.advance_linear_2,
        linear.rebuild,
        counts_family.advance_counts,
        draws.draw_table,
        draws.draw_box,
    ):
        signatures = getattr(kernel, "signatures", [None])
        assert len(signatures) <= 1
