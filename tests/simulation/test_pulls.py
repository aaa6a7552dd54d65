"""Suboptimal pulls by arm and time: counted step by step, the same on every engine, saved and joined."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan import ContextUCB, Greedy, LinUCB, LinUCBd, concatenate, load_result, simulate
from armspan.environments import BoxContexts, FiniteContexts, paper_1a
from armspan.simulation import octaves

FOUR = [LinUCBd(), LinUCB(ridge=0.5, alpha=1.0), Greedy(), ContextUCB()]


@given(st.integers(1, 700), st.integers(0, 1000))
def test_pulls_are_those_that_cost_something(horizon: int, seed: int) -> None:
    """Against the curve itself, which has a checkpoint at every step; the loss tells the arm where there are two."""
    result = simulate(paper_1a(), FOUR, horizon=horizon, runs=2, seed=seed, checkpoints=range(1, horizon + 1))
    assert result.suboptimal_pulls is not None
    lost = np.diff(result.pseudo_regret, axis=2, prepend=0.0) > 1e-9
    bins = octaves.bins_of(0, horizon, horizon)
    for b in range(octaves.count(horizon)):
        np.testing.assert_array_equal(result.suboptimal_pulls[:, :, b].sum(axis=2), lost[:, :, bins == b].sum(axis=2))


@pytest.mark.long
def test_all_engines_count_the_same() -> None:
    for env, policies in ((paper_1a(), FOUR), (BoxContexts([[1.0, 0.2, 0.1], [0.1, 1.0, 0.3]], gap=0.05), FOUR[:3])):
        fast = simulate(env, policies, horizon=600, runs=3)
        naive = simulate(env, policies, horizon=600, runs=3, engine="python")
        watched = simulate(env, policies, horizon=600, runs=3, events=True)
        assert fast.suboptimal_pulls is not None
        for other in (naive, watched):
            assert other.suboptimal_pulls is not None
            np.testing.assert_array_equal(fast.suboptimal_pulls, other.suboptimal_pulls)
        assert fast.suboptimal_pulls.sum() > 0


def test_a_tie_up_to_rounding_costs_nothing() -> None:
    """0.1 + 0.2 is not 0.3 in floating point, and yet both arms are equally good."""
    env = FiniteContexts([[[1.0, 1.0]], [[1.0, 1.0]]], [[0.1, 0.2], [0.3, 0.0]])
    result = simulate(env, LinUCBd(), horizon=300, runs=2)
    assert result.suboptimal_pulls is not None
    assert result.suboptimal_pulls.sum() == 0
    assert result.pseudo_regret.max() == 0


def test_pulls_are_saved_joined_and_may_be_missing(tmp_path: Path) -> None:
    halves = [simulate(paper_1a(), FOUR[:2], horizon=400, runs=part) for part in (range(3), range(3, 5))]
    whole = simulate(paper_1a(), FOUR[:2], horizon=400, runs=5)
    joined = concatenate(halves)
    joined.save(tmp_path / "r.npz")
    for other in (joined, load_result(tmp_path / "r.npz")):
        assert whole.suboptimal_pulls is not None
        assert other.suboptimal_pulls is not None
        np.testing.assert_array_equal(other.suboptimal_pulls, whole.suboptimal_pulls)
    with np.load(tmp_path / "r.npz") as archive:
        older = {name: archive[name] for name in archive.files if name != "suboptimal_pulls"}
    np.savez(tmp_path / "old.npz", **older)
    old = load_result(tmp_path / "old.npz")
    assert old.suboptimal_pulls is None
    assert concatenate([old]).growth("LinUCB-d").verdict == "undecided"


@pytest.mark.parametrize("horizon", [1, 2, 3, 17, 255, 256, 500_000, 2**32])
def test_bins_cover_all_steps_once(horizon: int) -> None:
    ends = octaves.edges(horizon)
    assert ends[0] == horizon
    assert ends[-1] == 0
    assert (np.diff(ends) < 0).all()
    if horizon >= octaves.SHORTEST:
        assert octaves.per_octave(np.ones(octaves.count(horizon)))[0] == 5
