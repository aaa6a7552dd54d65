"""The compiled forms: what policies have learnt in many runs at once, and the kernels that advance it."""

from collections.abc import Callable

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment
from armspan.kernels import linear as kernels
from armspan.kernels.block import Block, CountState, LinearState, Tally
from armspan.kernels.counts import advance_counts
from armspan.theory import Schedule

UNROLLED: dict[int, Callable[..., None]] = {
    2: kernels.advance_linear_2,
    3: kernels.advance_linear_3,
    4: kernels.advance_linear_4,
}


class LinearLearner:
    """A linear policy; they differ in ridge and α_t alone. Every run and arm begins with V = ridge·I, b = 0, θ̂ = 0."""

    def __init__(self, env: Environment, runs: IntArray, *, ridge: float, alpha: Schedule) -> None:
        R, K, d = runs.size, env.n_arms, env.n_features
        self._alpha = alpha
        self._advance: Callable[..., None] = UNROLLED.get(d, kernels.advance_linear)
        self.state = LinearState(
            V=np.tile(ridge * np.eye(d), (R, K, 1, 1)),
            V_inv=np.tile(np.eye(d) / ridge, (R, K, 1, 1)),
            b=np.zeros((R, K, d)),
            theta_hat=np.zeros((R, K, d)),
            regret=np.zeros(R),
        )

    def advance(self, block: Block, marks: IntArray, curve: FloatArray, tally: Tally) -> None:
        """Live through the block; see `Learner`."""
        steps = np.arange(block.first + 1, block.first + marks[-1] + 1)
        self._advance(block, self._alpha(steps), marks, self.state, curve, tally)
        self._rebuild_after(int(steps[-1]))

    def _rebuild_after(self, step: int) -> None:
        if step % kernels.REBUILD == 0:
            kernels.rebuild(self.state)


class CountLearner:
    """UCB for each context on its own: no pulls to begin with."""

    def __init__(self, env: Environment, runs: IntArray, *, alpha: Schedule) -> None:
        self._alpha = alpha
        shape = (runs.size, env.n_contexts or 0, env.n_arms)
        self.state = CountState(np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(runs.size))

    def advance(self, block: Block, marks: IntArray, curve: FloatArray, tally: Tally) -> None:
        """Live through the block; see `Learner`."""
        steps = np.arange(block.first + 1, block.first + marks[-1] + 1)
        advance_counts(block, self._alpha(steps), marks, self.state, curve, tally)
