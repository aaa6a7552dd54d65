"""The compiled form of a linear policy that counts the proof's frames and error events as it goes."""

import numpy as np

from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.environments import Environment
from armspan.kernels.block import Block
from armspan.kernels.watched import Watch, advance_watched
from armspan.policies.learners import LinearLearner
from armspan.theory import Schedule


class WatchedLearner(LinearLearner):
    """A linear policy with a `Watch` on every run, and λ_min(V) and the rarest pulls at the marks of the last block.

    basis : (K, n) contexts of each arm's basis. p : how often the rarest of them arrives.
    """

    eigenvalues: FloatArray
    rarest: IntArray

    def __init__(
        self,
        env: Environment,
        runs: IntArray,
        *,
        ridge: float,
        alpha: Schedule,
        basis: BoolArray,
        p: float,
        horizon: int,
    ) -> None:
        super().__init__(env, runs, ridge=ridge, alpha=alpha)
        R, K, n, F = runs.size, env.n_arms, basis.shape[1], horizon.bit_length()
        counts = [np.zeros((R, n, K), dtype=np.int64) for _ in range(2)]
        self.watch = Watch(
            basis=basis,
            needed=np.asarray(basis.any(axis=0)),
            p=p,
            pulls=counts[0],
            good_pulls=counts[1],
            arrivals=np.zeros((R, n), dtype=np.int64),
            bad=np.zeros(R, dtype=np.int64),
            frame=np.zeros(R, dtype=np.int64),
            irregular=np.zeros(R, dtype=np.bool_),
            clouded=np.zeros(R, dtype=np.bool_),
            steps=np.zeros((R, F, 4), dtype=np.int64),
            regret=np.zeros((R, F, 4)),
            misses=np.zeros((R, F), dtype=np.int64),
            last=np.zeros(R, dtype=np.int64),
        )

    def advance(self, block: Block, marks: IntArray, curve: FloatArray) -> None:
        """Live through the block; see `Learner`."""
        steps = np.arange(block.first + 1, block.first + marks[-1] + 1)
        R, K, d = self.state.b.shape
        grams = np.empty((R, marks.size, K, d, d))
        self.rarest = np.empty((R, marks.size, K), dtype=np.int64)
        advance_watched(block, self._alpha(steps), marks, self.state, self.watch, curve, grams, self.rarest)
        self.eigenvalues = np.asarray(np.linalg.eigvalsh(grams)[..., 0], dtype=np.float64)  # of the lower triangles
        self._rebuild_after(int(steps[-1]))
