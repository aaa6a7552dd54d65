"""A user's own environment, written in plain Python, with the same interface as the built-in ones."""

from typing import TYPE_CHECKING, Any

import numpy as np

from armspan import _validate, diversity
from armspan._typing import FloatArray, IntArray
from armspan.environments.assumptions import Assumption, Assumptions
from armspan.environments.base import Environment
from armspan.environments.noise import as_noise
from armspan.errors import NotApplicable

if TYPE_CHECKING:
    from armspan.kernels.block import Block


class CustomEnvironment(Environment):
    """Wraps any object with `n_arms`, `n_features`, `context(step, rng)` and `mean_rewards(x)`.

    context returns features (K, d), or (d,) shared by the arms; it may use the given `numpy.random.Generator` and the
    step number, and nothing else that changes, so that every policy meets the same contexts. mean_rewards takes those
    features as (K, d) and returns (K,). Optional: `noise`, `feature_bound`, `parameter_bound`, `name`.
    """

    compiled = False

    def __init__(self, source: Any) -> None:
        if isinstance(source, type):
            raise NotApplicable(f"env must be an environment, not a class; write {source.__name__}(…)")
        missing = [name for name in ("n_arms", "n_features", "context", "mean_rewards") if not hasattr(source, name)]
        if missing:
            raise NotApplicable(
                f"env must be an armspan environment or have n_arms, n_features, context and mean_rewards; "
                f"{type(source).__name__} lacks {', '.join(missing)}"
            )
        self._source = source
        self.name = str(getattr(source, "name", type(source).__name__))
        self.n_arms = _validate.whole("n_arms", source.n_arms, at_least=2)
        self.n_features = _validate.whole("n_features", source.n_features, at_least=1)
        self.n_contexts = None
        self.noise = as_noise(getattr(source, "noise", 1.0))
        self.gap = float("nan")
        for bound in ("feature_bound", "parameter_bound"):
            if hasattr(source, bound):
                setattr(self, bound, _validate.real(bound, getattr(source, bound), above=0))

    @property
    def source(self) -> Any:
        """The user's object."""
        return self._source

    @property
    def reward_scale(self) -> float:
        known = hasattr(self, "feature_bound") and hasattr(self, "parameter_bound")
        return super().reward_scale if known else self.noise_scale

    def stream(self, seed: int, runs: IntArray) -> "CustomStream":
        return CustomStream(self, seed, runs)

    def context(self, step: int, rng: np.random.Generator) -> FloatArray:
        """Features (K, d) of one step, checked."""
        x = self._source.context(step, rng)
        if np.shape(x) == (self.n_features,):
            x = np.broadcast_to(x, (self.n_arms, self.n_features))
        return _validate.array(f"context of step {step}", x, shape=(self.n_arms, self.n_features))

    def mean_rewards(self, x: FloatArray) -> FloatArray:
        x = x.view()
        x.flags.writeable = False  # choices are made in this context, too
        return _validate.array("mean_rewards", self._source.mean_rewards(x), shape=(self.n_arms,))

    def diversity_per_arm(self) -> tuple[FloatArray, FloatArray, int | None]:
        raise NotApplicable(f"{self.name} is written in Python: its diversity is not known")

    def assumptions(self) -> Assumptions:
        raise NotApplicable(f"{self.name} is written in Python: its assumptions cannot be checked")

    def arrivals(self) -> Assumption:
        return Assumption("1.4", "Stochastic arrivals", True, "Contexts are drawn by the user's own function.")


class CustomStream:
    """Asks the user's object for contexts, with a generator that is reset for each (seed, run, step)."""

    def __init__(self, env: CustomEnvironment, seed: int, runs: IntArray) -> None:
        self._env, self._seed, self._runs = env, np.uint64(seed), runs
        self._bits = np.random.Philox(key=0)
        self._rng = np.random.Generator(self._bits)
        self._state: Any = self._bits.state

    def draw(self, first: int, size: int) -> "Block":
        from armspan.kernels.block import per_step_block
        from armspan.kernels.draws import draw_noise

        env, R, B = self._env, self._runs.size, size + size % 2
        x, means = np.zeros((R, B, env.n_arms, env.n_features)), np.zeros((R, B, env.n_arms))
        for r, run in enumerate(self._runs):
            for i in range(size):
                x[r, i] = env.context(first + i + 1, self._generator(int(run), first + i))
                means[r, i] = env.mean_rewards(x[r, i])
                env.noise.check(f"mean_rewards of step {first + i + 1}", means[r, i].min(), means[r, i].max())
        losses = diversity.losses(means)
        noise = np.empty((R, B))
        draw_noise(self._seed, self._runs, first, env.noise.code, env.noise.scale, noise)
        told = env.reward_scale, env.noise.clicks
        return per_step_block(self._seed, first, self._runs, x, means, losses, noise, *told)

    def _generator(self, run: int, step: int) -> np.random.Generator:
        position = {"counter": np.array([0, step, 0, 0], np.uint64), "key": np.array([self._seed, run], np.uint64)}
        self._bits.state = self._state | {"state": position}
        return self._rng
