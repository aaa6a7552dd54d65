"""The perturbed adversary (Kannan et al. 2018): it sees past choices and picks contexts, and chance moves these."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armspan import _validate, diversity
from armspan._typing import FloatArray, IntArray
from armspan.environments.assumptions import Assumption
from armspan.environments.base import Environment
from armspan.environments.noise import as_noise
from armspan.errors import InvalidParameter, NotApplicable

if TYPE_CHECKING:
    from armspan.kernels.block import Block, Tally

TAIL = 1e-6
"""How likely a feature vector may be longer than feature_bound."""
STARVE = "starve"


@dataclass(frozen=True, eq=False)
class History:
    """What an adversary sees of R runs: pulls (R, K), the sums of xxᵀ (R, K, d, d) and of yx (R, K, d) of each arm."""

    pulls: IntArray
    gram: FloatArray
    moments: FloatArray

    def estimates(self, ridge: float, *, shared: bool) -> FloatArray:
        """What a greedy policy takes the arms' parameters (R, K, d) to be."""
        gram, moments = self.gram, self.moments
        if shared:
            gram, moments = (np.broadcast_to(s.sum(axis=1, keepdims=True), s.shape) for s in (gram, moments))
        return np.asarray(np.linalg.solve(gram + ridge * np.eye(gram.shape[-1]), moments[..., None])[..., 0])


Adversary = Callable[[History], FloatArray]
"""From what was done to where the features of each arm and run (R, K, d) shall lie, none longer than 1."""


class PerturbedContexts(Environment):
    """Features are what an adversary picks, plus N(0, σ²) in every coordinate, independent for each arm and step.

    Normal numbers have no bound, so feature_bound is the length that features exceed with probability 10⁻⁶ at most.

    Parameters
    ----------
    theta : (K, d) array
        Parameter of each arm.
    sigma : float
        σ, how far chance moves the features.
    adversary : "starve", (K, d) array or function, default "starve"
        "starve" knows θ and what a greedy policy would believe, and shows the contexts in which that costs most, so
        that a policy never learns how good the arms are. An array gives fixed points around which features lie. A
        function takes a `History` and returns points (R, K, d). No point may be longer than 1.
    shared : bool, default False
        Whether the adversary assumes a victim that learns one θ for all arms.
    noise : float or noise, default 1
        The standard deviation of Gaussian noise, or `Gaussian(scale)` or `Rademacher(scale)`.
    name : str
        Its name in reports.
    """

    answers = True

    def __init__(
        self,
        theta: Any,
        sigma: float,
        *,
        adversary: Any = STARVE,
        shared: bool = False,
        noise: Any = 1.0,
        name: str = "perturbed contexts",
    ) -> None:
        self.name, self.shared = name, bool(shared)
        self.theta = _validate.array("theta", theta, shape=("arms", "features"))
        self.n_arms, self.n_features = self.theta.shape
        if self.n_arms < 2:
            raise InvalidParameter(f"theta must have at least 2 arms, one per row, got {self.n_arms}")
        self.sigma = _validate.real("sigma", sigma, at_least=0)
        self.n_contexts, self.gap, self.noise = None, float("nan"), as_noise(noise)
        if self.noise.clicks:
            raise InvalidParameter("noise must not be clicks: features have no bound, so mean rewards leave 0 to 1")
        self.feature_bound = 1 + self.sigma * (math.sqrt(self.n_features) + math.sqrt(2 * math.log(1 / TAIL)))
        self.parameter_bound = float(np.linalg.norm(self.theta, axis=1).max())
        self.adversary = _known(adversary, self.theta.shape)

    @property
    def outside_theory(self) -> str | None:
        return f"the contexts of {self.name} depend on what the policy does"

    def points(self, history: History) -> FloatArray:
        """Where the adversary puts the features (R, K, d).

        Parameters
        ----------
        history : History
            What has been done so far.
        """
        shape = (len(history.pulls), *self.theta.shape)
        if isinstance(self.adversary, str):
            from armspan.kernels.adversary import starve  # imports numba, which takes its time

            points = np.empty(shape)
            starve(self.theta, history.estimates(self.feature_bound**2, shared=self.shared), points)
            return points
        if isinstance(self.adversary, np.ndarray):
            return np.broadcast_to(self.adversary, shape)
        return _within(_validate.array("what adversary returns", self.adversary(history), shape=shape))

    def stream(self, seed: int, runs: IntArray) -> "PerturbedStream":
        return PerturbedStream(self, seed, runs)

    def facing(self, learner: Any, runs: IntArray) -> "Opposed":
        return Opposed(self, learner, runs.size)

    def mean_rewards(self, x: FloatArray) -> FloatArray:
        return np.asarray((x * self.theta).sum(axis=-1))

    def diversity_per_arm(self) -> tuple[FloatArray, FloatArray, int | None]:
        raise NotApplicable(f"the diversity of {self.name} depends on what the policy does")

    def sample(self, size: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
        raise NotApplicable(f"the contexts of {self.name} depend on what the policy does")

    def arrivals(self) -> Assumption:
        return Assumption("1.4", "Stochastic arrivals", False, "An adversary picks the contexts.")


def _known(adversary: Any, shape: tuple[int, int]) -> Any:
    """An adversary in one of its forms."""
    if isinstance(adversary, str) or adversary is None:
        if adversary != STARVE:
            raise InvalidParameter(f'adversary must be "{STARVE}", an array or a function, got {adversary!r:.40}')
        return adversary
    return adversary if callable(adversary) else _within(_validate.array("adversary", adversary, shape=shape))


def _within(points: FloatArray) -> FloatArray:
    longest = float(np.linalg.norm(points, axis=-1).max())
    if longest > 1 + 1e-9:
        raise InvalidParameter(f"the adversary's points must be at most 1 long, got {longest:.6g}")
    return points


class PerturbedStream:
    """Draws how far chance moves the features; only the player knows where they lie."""

    def __init__(self, env: PerturbedContexts, seed: int, runs: IntArray) -> None:
        self._env, self._seed, self._runs = env, np.uint64(seed), runs

    def draw(self, first: int, size: int) -> "Block":
        from armspan.kernels.block import per_step_block
        from armspan.kernels.draws import draw_noise, draw_normals

        env, R, B = self._env, self._runs.size, size + size % 2
        K, d = env.n_arms, env.n_features
        moved, nothing, noise = np.empty((R, B, K * d)), np.zeros((R, B, K)), np.empty((R, B))
        draw_normals(self._seed, self._runs, first, env.sigma, moved)
        draw_noise(self._seed, self._runs, first, env.noise.code, env.noise.scale, noise)
        x = moved.reshape(R, B, K, d)
        return per_step_block(self._seed, first, self._runs, x, nothing, nothing, noise, env.reward_scale)


class Opposed:
    """A learner that meets the adversary, step by step, because the next contexts depend on what it does."""

    def __init__(self, env: PerturbedContexts, learner: Any, n_runs: int) -> None:
        self._env, self._learner = env, learner
        K, d = env.n_arms, env.n_features
        self._history = History(
            np.zeros((n_runs, K), dtype=np.int64), np.zeros((n_runs, K, d, d)), np.zeros((n_runs, K, d))
        )
        self._regret, self._coded = np.zeros(n_runs), np.zeros((n_runs, 1))

    def advance(self, block: "Block", marks: IntArray, curve: FloatArray, tally: "Tally") -> None:
        """Live through the block; see `Learner`."""
        R, B = block.contexts.shape
        moved, start = block.x.reshape(R, B, self._env.n_arms, self._env.n_features), 0
        for m, mark in enumerate(marks):
            for i in range(start, mark):
                arms, losses = self._step(block, moved[:, i], i, tally)
                self._regret += losses
                tally.pulls[np.arange(R), tally.bins[i], arms] += losses > 0
            curve[:, m], start = self._regret, mark

    def _step(self, block: "Block", moved: FloatArray, i: int, tally: "Tally") -> tuple[IntArray, FloatArray]:
        """Let the learner meet one step of all runs; which arms it pulled, and what they cost.

        It is told that arm a costs a + 1, so that its regret tells which arm it has pulled.
        """
        (R, K, _), rows = moved.shape, np.arange(len(moved))
        x = self._env.points(self._history) + moved
        means = np.einsum("rkd,kd->rk", x, self._env.theta)
        codes = np.tile(np.arange(1.0, K + 1), (R, 1))
        step = block._replace(
            first=block.first + i,
            contexts=rows[:, None],
            x=np.ascontiguousarray(x),
            means=means,
            losses=codes,
            noise=np.ascontiguousarray(block.noise[:, i : i + 1]),
        )
        before, now = self._coded.copy(), self._coded
        aside = tally._replace(bins=np.zeros(1, dtype=tally.bins.dtype), pulls=np.zeros((R, 1, K), np.uint32))
        self._learner.advance(step, np.array([1]), now, aside)
        arms = np.rint(now - before).astype(np.int64)[:, 0] - 1
        chosen, rewards = x[rows, arms], means[rows, arms] + step.noise[:, 0]
        self._history.pulls[rows, arms] += 1
        self._history.gram[rows, arms] += chosen[:, :, None] * chosen[:, None, :]
        self._history.moments[rows, arms] += rewards[:, None] * chosen
        return arms, diversity.losses(means)[rows, arms]
