"""Problems drawn at random: each is what its page says, and the same for the same seed."""

from typing import Any

import numpy as np
import pytest

from armspan import LinUCB, simulate
from armspan.environments import Bernoulli, bent_problem, shared_problem, sparse_problem
from armspan.errors import InvalidParameter


def test_few_features_count_in_a_sparse_problem() -> None:
    env = sparse_problem(4, 30, 5, seed=3)
    assert env.theta.shape == (4, 30)
    assert ((env.theta != 0).sum(axis=1) == 5).all()
    assert len({tuple(np.flatnonzero(row)) for row in env.theta}) > 1
    np.testing.assert_array_equal(env.theta, sparse_problem(4, 30, 5, seed=3).theta)
    assert (env.theta != sparse_problem(4, 30, 5, seed=4).theta).any()


def test_arms_share_one_theta() -> None:
    env = shared_problem(12, 3, seed=1, noise=0.1)
    assert env.theta.shape == (12, 3)
    assert (env.theta == env.theta[0]).all()
    together, apart = simulate(
        env, [LinUCB(alpha=0.2, shared=True), LinUCB(alpha=0.2)], horizon=300, runs=5
    ).pseudo_regret[:, :, -1]
    assert (together < apart).all()  # what is seen of one arm is known of all


@pytest.mark.parametrize("size", [0.0, 0.2, 1.0])
def test_rewards_bend_by_no_more_than_the_size(size: float) -> None:
    env, straight = (bent_problem(3, 5, part, n_contexts=2000, seed=2) for part in (size, 0.0))
    bend = env.reward_table - straight.reward_table
    assert np.abs(bend).max() <= size
    assert np.abs(bend).max() >= 0.99 * size  # and comes close to it
    assert (env.outside_theory is None) == (size == 0)


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (sparse_problem, {"non_zeros": 61}, "non_zeros must be"),
        (sparse_problem, {"n_arms": 0}, "n_arms must be"),
        (shared_problem, {"n_features": 0}, "n_features must be"),
        (bent_problem, {"size": -0.1}, "size must be"),
        (bent_problem, {"n_contexts": 0}, "n_contexts must be"),
        (bent_problem, {"seed": -1}, "seed must be"),
        (shared_problem, {"noise": Bernoulli()}, "mean rewards"),
    ],
)
def test_bad_input(make: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        make(**options)
