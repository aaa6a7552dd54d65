"""The compiled form of a linear policy that counts the proof's frames and error events as it goes."""

from collections.abc import Mapping

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment
from armspan.events.regions import Regions
from armspan.kernels.block import Block, Tally
from armspan.kernels.events import EventCounts, advance_counting
from armspan.kernels.families.linear import FAMILY
from armspan.policies.learners import FamilyLearner
from armspan.theory import Schedule


class CountingLearner(FamilyLearner):
    """A linear policy that counts the proof's events in every run as it goes.

    It also keeps λ_min(V) and the rarest pulls at the marks of the last block.

    Parameters
    ----------
    env : Environment
        Where it runs.
    runs : (R,) array
        Numbers of the runs.
    knobs : dict
        What the linear family is told.
    regions : Regions
        Where pulls are counted.
    horizon : int
        Steps of a run.
    """

    eigenvalues: FloatArray
    rarest: IntArray

    def __init__(
        self,
        env: Environment,
        runs: IntArray,
        knobs: Mapping[str, float | Schedule],
        *,
        regions: Regions,
        horizon: int,
    ) -> None:
        super().__init__(FAMILY, env, runs, knobs)
        self._regions, self.counted = regions, nothing_counted(regions, runs.size, horizon)

    def _live(
        self, block: Block, knobs: tuple[FloatArray, ...], marks: IntArray, curve: FloatArray, tally: Tally
    ) -> None:
        R, K, d = self.state.b.shape
        grams = np.empty((R, marks.size, K, d, d))
        self.rarest = np.empty((R, marks.size, K), dtype=np.int64)
        regions = self._regions.of(block)
        told = self.state, self.regret, regions, self.counted
        advance_counting(block, knobs[0], marks, *told, curve, tally, grams, self.rarest)
        self.eigenvalues = smallest(grams)


def nothing_counted(regions: Regions, n_runs: int, horizon: int) -> EventCounts:
    """Nothing counted yet."""
    (K, n), R, F = regions.basis.shape, n_runs, horizon.bit_length()
    return EventCounts(
        basis=regions.basis,
        needed=np.asarray(regions.basis.any(axis=0)),
        p=regions.p,
        pulls=np.zeros((R, F, n, K), dtype=np.int64),
        good_pulls=np.zeros((R, n, K), dtype=np.int64),
        arrivals=np.zeros((R, n), dtype=np.int64),
        bad=np.zeros(R, dtype=np.int64),
        frame=np.zeros(R, dtype=np.int64),
        irregular=np.zeros((R, F), dtype=np.bool_),
        clouded=np.zeros((R, F), dtype=np.bool_),
        steps=np.zeros((R, F, 4), dtype=np.int64),
        regret=np.zeros((R, F, 4)),
        misses=np.zeros((R, F), dtype=np.int64),
        last=np.zeros(R, dtype=np.int64),
    )


def smallest(grams: FloatArray) -> FloatArray:
    """λ_min of each V (…, d, d), of which the lower triangle counts."""
    return np.asarray(np.linalg.eigvalsh(grams)[..., 0], dtype=np.float64)
