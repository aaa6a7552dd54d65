"""The compiled form of a linear policy that counts the proof's frames and error events as it goes."""

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment
from armspan.kernels.block import Block, Tally
from armspan.kernels.watched import Watch, advance_watched
from armspan.policies.cells import Cells
from armspan.policies.learners import LinearLearner
from armspan.theory import Schedule


class WatchedLearner(LinearLearner):
    """A linear policy with a `Watch` on every run, and λ_min(V) and the rarest pulls at the marks of the last block."""

    eigenvalues: FloatArray
    rarest: IntArray

    def __init__(
        self, env: Environment, runs: IntArray, *, ridge: float, alpha: Schedule, cells: Cells, horizon: int
    ) -> None:
        super().__init__(env, runs, ridge=ridge, alpha=alpha)
        self._cells, self.watch = cells, fresh_watch(cells, runs.size, horizon)

    def advance(self, block: Block, marks: IntArray, curve: FloatArray, tally: Tally) -> None:
        """Live through the block; see `Learner`."""
        steps = np.arange(block.first + 1, block.first + marks[-1] + 1)
        R, K, d = self.state.b.shape
        grams = np.empty((R, marks.size, K, d, d))
        self.rarest = np.empty((R, marks.size, K), dtype=np.int64)
        cells = self._cells.of(block)
        alpha = self._alpha(steps)
        advance_watched(block, alpha, marks, self.state, cells, self.watch, curve, tally, grams, self.rarest)
        self.eigenvalues = smallest(grams)
        self._rebuild_after(int(steps[-1]))


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
