"""Ties are broken uniformly, by the run's own stream, and only ties are."""

import numpy as np
import pytest
from scipy import stats

from armspan.environments import FiniteContexts
from armspan.kernels.choice import break_tie, is_tie
from armspan.policies import ContextUCB, Greedy, LinUCB, LinUCBd
from armspan.simulation import simulate


def test_ties_go_to_each_tied_arm_alike_and_to_no_other() -> None:
    index = np.array([1.0, 0.5, 1.0 - 1e-14, 0.999, 1.0])
    arms = [break_tie(index, 1.0, 1.0, 0, run, step) for run in range(100) for step in range(100)]
    counts = np.bincount(arms, minlength=5)
    assert counts[1] == counts[3] == 0
    assert stats.chisquare(counts[[0, 2, 4]]).pvalue > 1e-6


def test_what_counts_as_a_tie() -> None:
    assert is_tie(1.0, 1.0, 1.0)
    assert is_tie(0.0, 0.0, 1.0)
    assert is_tie(1e300, 1e300, 1.0)
    assert is_tie(1e-17, 0.0, 1.0)
    assert not is_tie(1e-17, 0.0, 1e-17)
    assert not is_tie(1.0, 1.0 - 1e-11, 1.0)
    assert not is_tie(1e300, 5.0, 1.0)


@pytest.mark.parametrize("policy", [LinUCBd(), LinUCB(alpha=1.0), Greedy(), ContextUCB()])
@pytest.mark.parametrize("engine", ["cpu", "python"])
def test_the_first_choice_among_equal_arms_is_uniform(policy: LinUCBd, engine: str) -> None:
    """Three arms that look alike, of which each has another reward: the first regret tells which was chosen."""
    env = FiniteContexts(np.ones((3, 1, 1)), [[0.0], [1.0], [2.0]])
    runs = 600
    first = simulate(env, policy, horizon=1, runs=runs, engine=engine).pseudo_regret[0, :, 0]
    counts = [np.isclose(first, regret).sum() for regret in (0, 1, 2)]
    assert sum(counts) == runs
    assert stats.chisquare(counts).pvalue > 1e-6
