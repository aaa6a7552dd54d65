"""The compiled form of a linear policy that counts the proof's frames and error events as it goes."""

from collections.abc import Mapping

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment
from armspan.kernels.block import Block, Tally
from armspan.kernels.families.linear import FAMILY
from armspan.kernels.watched import Watch, advance_watched
from armspan.policies.cells import Cells
from armspan.policies.learners import FamilyLearner
from armspan.theory import Schedule


class WatchedLearner(FamilyLearner):
    """A linear policy with a `Watch` on every run, and λ_min(V) and the rarest pulls at the marks of the last block."""

    eigenvalues: FloatArray
    rarest: IntArray

    def __init__(
        self,
        env: Environment,
        runs: IntArray,
        knobs: Mapping[str, float | Schedule],
        *,
        cells: Cells,
        horizon: int,
    ) -> None:
        super().__init__(FAMILY, env, runs, knobs)
        self._cells, self.watch = cells, fresh_watch(cells, runs.size, horizon)

    def _live(
        self, block: Block, knobs: tuple[FloatArray, ...], marks: IntArray, curve: FloatArray, tally: Tally
    ) -> None:
        R, K, d = self.state.b.shape
        grams = np.empty((R, marks.size, K, d, d))
        self.rarest = np.empty((R, marks.size, K), dtype=np.int64)
        cells = self._cells.of(block)
        told = self.state, self.regret, cells, self.watch
        advance_watched(block, knobs[0], marks, *told, curve, tally, grams, self.rarest)
        self.eigenvalues = smallest(grams)


def fresh_watch(cells: Cells, n_runs: int, horizon: int) -> Watch:
    """Nothing counted yet."""
    (K, n), R, F = cells.basis.shape, n_runs, horizon.bit_length()
    return Watch(
        basis=cells.basis,
        needed=np.asarray(cells.basis.any(axis=0)),
        p=cells.p,
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
