"""UCB for each context in lanes: the choices of runs alone, to the last bit."""

from typing import Any

import numpy as np
import pytest

from armspan.environments import Bernoulli, FiniteContexts
from armspan.kernels import lanes_of_counts as lanes
from armspan.kernels.families import counts
from armspan.kernels.grouped import Grouped
from armspan.policies import ContextUCB
from armspan.simulation import simulate
from tests.kernels.test_lanes import STEPS, lived
from tests.kernels.test_lanes import world as linear_world


def world(kind: str, K: int) -> Any:
    if kind == "clicks":
        rng = np.random.default_rng(K)
        return FiniteContexts(rng.random((K, 3, 2)) / 2, rng.random((K, 2)), noise=Bernoulli())
    return linear_world(kind, K, 2, K)


@pytest.mark.parametrize("kind", ["table", "chain", "ties", "clicks"])
@pytest.mark.parametrize("K", [2, 3, 5, 8])
@pytest.mark.parametrize("n_runs", [1, 16, 33, 50])
def test_lanes_and_runs_alone_agree(kind: str, K: int, n_runs: int) -> None:
    env, runs = world(kind, K), np.arange(100, 100 + n_runs)
    one = lived(env, ContextUCB(), runs, STEPS, counts.advance_counts)
    for advance in (lanes.advance_counts_in_lanes, counts.advance(K, 2)):
        other = lived(env, ContextUCB(), runs, STEPS, advance)
        np.testing.assert_array_equal(other[1], one[1])
        np.testing.assert_array_equal(other[2], one[2])
        for ours, theirs in zip(other[0].state, one[0].state, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert other[0].state.pulls.sum() == n_runs * STEPS


def test_many_contexts_are_not_put_into_lanes() -> None:
    """What is known of them is put into rows for every block, and taken back."""
    for n, fits in ((4, True), (40, False)):
        env = FiniteContexts(np.ones((2, n, 1)), [[1.0], [2.0]])
        block = env.stream(1, np.arange(8)).draw(0, 200)
        kernel = counts.advance(2, 1)
        assert isinstance(kernel, Grouped)
        assert kernel.fits(block, (np.zeros((8, n, 2)),)) == fits
        whole = simulate(env, ContextUCB(), horizon=200, runs=20, engine="cpu")
        few = simulate(env, ContextUCB(), horizon=200, runs=[0, 19], engine="cpu")
        np.testing.assert_array_equal(whole.pseudo_regret[:, [0, 19]], few.pseudo_regret)


def test_many_arms_are_not_put_into_lanes() -> None:
    assert counts.advance(lanes.MOST_ARMS + 1, 2) is counts.advance_counts
