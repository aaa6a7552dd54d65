"""Runs in lanes are runs alone, to the last bit: both are strict arithmetic, the same operations in the same order."""

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armspan.environments import BoxContexts, FiniteContexts, MarkovContexts, Rademacher
from armspan.kernels import lanes
from armspan.kernels.block import Tally
from armspan.kernels.families import family, linear
from armspan.kernels.lanes import LANES
from armspan.policies import Greedy, LinUCBd
from armspan.policies.learners import FamilyLearner
from armspan.simulation import octaves, simulate

SIZES = [(K, d) for d in LANES for K in (2, lanes.MOST_ARMS)]
STEPS = 62 if numba.config.DISABLE_JIT else 202  # type: ignore[attr-defined]
"""Several tiles, and an end in the middle of one."""


def world(kind: str, K: int, d: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    features, theta = rng.uniform(-1, 1, (K, 4, d)), rng.normal(size=(K, d))
    if kind == "box":
        return BoxContexts(theta, -1.0, 1.0, noise=0.5)
    if kind == "chain":
        return MarkovContexts(features, theta, rng.dirichlet(np.ones(4), size=4), noise=0.5)
    if kind == "ties":
        return FiniteContexts(np.ones((K, 2, d)), np.ones((K, d)) * np.arange(K)[:, None], noise=Rademacher(1.0))
    return FiniteContexts(features, theta, noise=0.5)


def lived(env: Any, policy: Any, runs: Any, steps: int, advance: Any) -> tuple[FamilyLearner, Any, Any]:
    """A learner after so many steps by one kernel, its curve and its suboptimal pulls."""
    learner = FamilyLearner(family(policy.compiled), env, runs, policy.knobs(env))
    learner._kernel = advance
    marks = np.unique([1, 2, 9, steps // 2, steps])
    curve, pulls = np.empty((runs.size, marks.size)), np.zeros((runs.size, octaves.count(steps), env.n_arms), np.uint32)
    learner.advance(env.stream(7, runs).draw(0, steps), marks, curve, Tally(octaves.bins_of(0, steps, steps), pulls))
    return learner, curve, pulls


@pytest.mark.parametrize("kind", ["table", "chain", "box", "ties"])
@pytest.mark.parametrize(("K", "d"), SIZES)
@pytest.mark.parametrize("n_runs", [1, 16, 33, 50])
def test_lanes_and_runs_alone_agree(kind: str, K: int, d: int, n_runs: int) -> None:
    env, runs = world(kind, K, d, K + 10 * d), np.arange(100, 100 + n_runs)
    for policy in (LinUCBd(), Greedy()):
        one = lived(env, policy, runs, STEPS, linear.UNROLLED.get(d, linear.advance_linear))
        for advance in (LANES[d], linear.advance(K, d)):
            other = lived(env, policy, runs, STEPS, advance)
            np.testing.assert_array_equal(other[1], one[1])
            np.testing.assert_array_equal(other[2], one[2])
            np.testing.assert_array_equal(other[0].regret, one[1][:, -1])
            for ours, theirs in zip(other[0].state, one[0].state, strict=True):
                square = ours.ndim == 4  # then the lower triangle counts
                np.testing.assert_array_equal(np.tril(ours) if square else ours, np.tril(theirs) if square else theirs)


@given(st.sampled_from(SIZES), st.sampled_from(["table", "chain", "box"]), st.integers(0, 2**32), st.integers(17, 70))
@settings(max_examples=15)
def test_however_runs_are_grouped(size: tuple[int, int], kind: str, seed: int, n_runs: int) -> None:
    env = world(kind, *size, seed % 1000)
    whole = simulate(env, LinUCBd(), horizon=90, runs=n_runs, seed=seed, workers=1, engine="cpu")
    few = simulate(env, LinUCBd(), horizon=90, runs=[0, n_runs // 2, n_runs - 1], seed=seed, workers=1, engine="cpu")
    rows = [0, n_runs // 2, n_runs - 1]
    np.testing.assert_array_equal(whole.pseudo_regret[:, rows], few.pseudo_regret)
    assert whole.suboptimal_pulls is not None
    assert few.suboptimal_pulls is not None
    np.testing.assert_array_equal(whole.suboptimal_pulls[:, rows], few.suboptimal_pulls)


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_draws_are_turned_to_one_row_per_step(kind: Any) -> None:
    tile, G, B = lanes.TILE, 2, 11
    numbers, starts = np.arange(9 * B).astype(kind), B * np.minimum(np.arange(16), 8).reshape(G, 8)
    for t, n in ((0, tile), (B - tile, tile), (B - 3, 3), (B - 1, 1)):
        turned = np.zeros((tile * G, 8), kind)
        lanes.turn(numbers, starts, t, n, turned, G)
        np.testing.assert_array_equal(turned[: n * G], np.concatenate([starts + t + ahead for ahead in range(n)]))


@pytest.mark.parametrize("width", [4, 5, 6, 7])
def test_rows_of_a_table_are_turned_to_one_row_per_number(width: int) -> None:
    offset, first = 10, 3
    table, places = np.arange(1000.0), np.random.default_rng(width).integers(0, 900, (3, 8))
    arms = np.full((first + width + 2, 8), -1.0)
    lanes.look_up(table, places, 2, offset, arms, first, width)
    np.testing.assert_array_equal(arms[first:-2], places[2] + offset + np.arange(width)[:, None])
    assert (arms[:first] == -1).all()
    assert (arms[-2:] == -1).all()


def test_large_problems_are_not_put_into_lanes() -> None:
    assert linear.advance(lanes.MOST_ARMS + 1, 2) is linear.advance_alone_2
    assert linear.advance(2, 6) is linear.advance_linear
