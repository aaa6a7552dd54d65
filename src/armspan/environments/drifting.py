"""Arms whose parameters drift: slowly from one set to the next, or at once."""

from typing import TYPE_CHECKING, Any

import numpy as np

from armspan import _validate, diversity
from armspan._typing import FloatArray, IntArray
from armspan.environments.assumptions import Assumption
from armspan.environments.base import Environment
from armspan.environments.box import corners
from armspan.environments.noise import as_noise
from armspan.errors import InvalidParameter, NotApplicable

if TYPE_CHECKING:
    from armspan.kernels.block import Block


class DriftingContexts(Environment):
    """Features uniform in a box, independently for each arm and step, and parameters that change with time.

    Parameters
    ----------
    theta : (J, K, d) array
        Sets of parameters that the arms have in turn; after the last set comes the first again.
    period : int
        Steps from one set to the next.
    abrupt : bool, default False
        Whether the parameters jump to the next set. If not, they move there in a straight line.
    low, high : float or (d,) array, defaults 0 and 1
        Corners of the box.
    noise : float or noise, default 1
        The standard deviation of Gaussian noise, or `Gaussian(scale)`, `Rademacher(scale)` or `Bernoulli()`.
    name : str
        Its name in reports.
    """

    def __init__(
        self,
        theta: Any,
        period: int,
        *,
        abrupt: bool = False,
        low: Any = 0.0,
        high: Any = 1.0,
        noise: Any = 1.0,
        name: str = "drifting contexts",
    ) -> None:
        self.name, self.abrupt = name, bool(abrupt)
        self.theta = _validate.array("theta", theta, shape=("sets", "arms", "features"))
        self.period = _validate.whole("period", period, at_least=1)
        _, self.n_arms, self.n_features = self.theta.shape
        if self.n_arms < 2:
            raise InvalidParameter(f"theta must have at least 2 arms on its second axis, got {self.n_arms}")
        self.n_contexts, self.gap, self.noise = None, float("nan"), as_noise(noise)
        self.low, self.high = corners(low, high, self.n_features)
        self.feature_bound = float(np.linalg.norm(np.maximum(abs(self.low), abs(self.high))))
        self.parameter_bound = float(np.linalg.norm(self.theta, axis=2).max())
        ends = np.stack([self.theta * self.low, self.theta * self.high])
        lowest, highest = ends.min(axis=0).sum(axis=-1).min(), ends.max(axis=0).sum(axis=-1).max()
        self.noise.check("mean rewards in the box", float(lowest), float(highest))

    @property
    def outside_theory(self) -> str | None:
        return f"the parameters of {self.name} change with time"

    @property
    def changes_within(self) -> int | None:
        return self.period

    def parameters(self, steps: Any) -> FloatArray:
        """The parameters θ (B, K, d) of the arms at B steps.

        Parameters
        ----------
        steps : (B,) array
            Step numbers 1, 2, ….
        """
        steps = np.asarray(steps)
        if steps.ndim != 1 or steps.dtype.kind not in "iu" or (steps < 1).any():
            raise InvalidParameter(f"steps must be a list of integers >= 1, got {' '.join(repr(steps).split()):.60}")
        legs, along = np.divmod(steps.astype(np.int64) - 1, self.period)
        now, then = self.theta[legs % len(self.theta)], self.theta[(legs + 1) % len(self.theta)]
        share = np.zeros(len(steps)) if self.abrupt else along / self.period
        return now + share[:, None, None] * (then - now)

    def stream(self, seed: int, runs: IntArray) -> "DriftingStream":
        return DriftingStream(self, seed, runs)

    def mean_rewards(self, x: FloatArray) -> FloatArray:
        raise NotApplicable(f"mean rewards of {self.name} depend on the step")

    def mean_rewards_at(self, x: FloatArray, context: int, step: int) -> FloatArray:
        return np.einsum("kd,kd->k", x, self.parameters(np.array([step]))[0])

    def diversity_per_arm(self) -> tuple[FloatArray, FloatArray, int | None]:
        raise NotApplicable(f"the diversity of {self.name} depends on the step")

    def arrivals(self) -> Assumption:
        return Assumption("1.4", "Stochastic arrivals", True, "Features are drawn independently at every step.")


class DriftingStream:
    """Draws features in the box, and rewards by the parameters of each step."""

    def __init__(self, env: DriftingContexts, seed: int, runs: IntArray) -> None:
        self._env, self._seed, self._runs = env, np.uint64(seed), runs

    def draw(self, first: int, size: int) -> "Block":
        from armspan.kernels.block import per_step_block
        from armspan.kernels.draws import draw_box, draw_noise

        env, R, B = self._env, self._runs.size, size + size % 2
        K, d = env.n_arms, env.n_features
        x, means, losses, noise = np.empty((R * B, K, d)), np.empty((R * B, K)), np.empty((R * B, K)), np.empty((R, B))
        draw_box(self._seed, self._runs, first, env.low, env.high, env.theta[0], 0.0, x, means, losses)
        rows = x.reshape(R, B, K, d)
        means = np.einsum("rbkd,bkd->rbk", rows, env.parameters(np.arange(first + 1, first + B + 1)))
        draw_noise(self._seed, self._runs, first, env.noise.code, env.noise.scale, noise)
        told = env.reward_scale, env.noise.clicks
        return per_step_block(self._seed, first, self._runs, rows, means, diversity.losses(means), noise, *told)
