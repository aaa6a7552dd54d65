"""Continuous contexts: features uniform in a box, fresh for each arm and step (Figure 1c of the paper)."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from armspan import _validate, diversity
from armspan._typing import FloatArray, IntArray
from armspan.environments.assumptions import Assumption
from armspan.environments.base import Environment
from armspan.environments.noise import as_noise
from armspan.errors import InvalidParameter

if TYPE_CHECKING:
    from armspan.kernels.block import Block

LEAST_ACCEPTANCE = 1e-3
"""A gap that fewer draws than this reach is refused: the simulation would draw forever."""


class BoxContexts(Environment):
    """Features uniform in a box, independently for each arm and step, redrawn until the best arm leads by `gap`.

    The attribute `gap` is the least lead that the best arm really has, if that is more than what was asked for.

    Parameters
    ----------
    theta : (K, d) array
        Parameter of each arm.
    low, high : float or (d,) array, defaults 0 and 1
        Corners of the box.
    gap : float, default 0
        The least lead of the best arm, the paper's Δ; 0 accepts every draw.
    noise : float or noise, default 1
        The standard deviation of Gaussian noise, or `Gaussian(scale)`, `Rademacher(scale)` or `Bernoulli()`.
    name : str
        Its name in reports.
    """

    drawn_from: ClassVar[str | None] = "box"

    def __init__(
        self,
        theta: Any,
        low: Any = 0.0,
        high: Any = 1.0,
        gap: float = 0.0,
        noise: Any = 1.0,
        *,
        name: str = "box contexts",
    ) -> None:
        self.name = name
        self.theta = _validate.array("theta", theta, shape=("arms", "features"))
        self.n_arms, self.n_features = self.theta.shape
        self.n_contexts = None
        if self.n_arms < 2:
            raise InvalidParameter(f"theta must have at least 2 arms on its first axis, got {self.n_arms}")
        self.low, self.high = corners(low, high, self.n_features)
        self.gap = _validate.real("gap", gap, at_least=0)
        self.noise = as_noise(noise)
        self.feature_bound = float(np.linalg.norm(np.maximum(abs(self.low), abs(self.high))))
        self.parameter_bound = float(np.linalg.norm(self.theta, axis=1).max())
        if not np.isfinite([self.feature_bound**2, self.parameter_bound**2]).all():
            raise InvalidParameter("low, high and theta must be small enough that their squares are finite numbers")
        low_corner = np.minimum(self.theta * self.low, self.theta * self.high).sum(axis=1)
        high_corner = np.maximum(self.theta * self.low, self.theta * self.high).sum(axis=1)
        self.noise.check("mean rewards in the box", float(low_corner.min()), float(high_corner.max()))
        self._check_gap()

    def _check_gap(self) -> None:
        """Refuse a gap that is out of reach, or that hardly any draw reaches; raise one that every draw passes."""
        most = np.where(self.theta > 0, self.high, self.low)
        least = np.where(self.theta > 0, self.low, self.high)
        tops, bottoms = (most * self.theta).sum(axis=1), (least * self.theta).sum(axis=1)
        reach = max(tops[a] - np.delete(bottoms, a).max() for a in range(self.n_arms))
        certain = max(bottoms[a] - np.delete(tops, a).max() for a in range(self.n_arms))
        if self.gap <= max(certain, 0.0):  # every draw has it
            self.gap = float(max(certain, 0.0))
            return
        if self.gap >= reach:
            raise InvalidParameter(f"gap must be below {reach:.6g}, the largest lead in this box, got {self.gap:g}")
        rng, hits, draws = np.random.default_rng(0), 0, 10_000
        for part in np.array_split(np.arange(draws), -(-draws * self.theta.size // 1_000_000)):  # to bound the memory
            u = rng.random((part.size, self.n_arms, self.n_features))
            means = np.einsum("nkd,kd->nk", self.low + (self.high - self.low) * u, self.theta)
            hits += int((diversity.leads(means) >= self.gap).sum())
        accepted = hits / draws
        if accepted < LEAST_ACCEPTANCE:
            raise InvalidParameter(
                f"gap must be reached by at least {LEAST_ACCEPTANCE:g} of the draws, "
                f"got {self.gap:g}, which {accepted:g} reach"
            )

    def stream(self, seed: int, runs: IntArray) -> "BoxStream":
        return BoxStream(self, seed, runs)

    def mean_rewards(self, x: FloatArray) -> FloatArray:
        return np.einsum("kd,kd->k", x, self.theta)

    def diversity_per_arm(self) -> tuple[FloatArray, FloatArray, int | None]:
        samples = max(1000, min(100_000, 20_000_000 // self.theta.size))
        x, means = self.sample(samples)
        p, smallest = diversity.smallest_eigenvalues(x, means, np.full(samples, 1 / samples))
        return p, smallest, samples

    def certain_spans(self) -> tuple[bool | None, ...]:
        """By a closed form, in exact arithmetic; see `Environment`.

        Each arm has its own features, so arm a can lead by up to top_a - max bottom_b: its largest mean minus the
        largest of the others' smallest means. If that is more than the gap, it leads by more than the gap on an open
        set of draws; these have a probability above 0, and its features there, an open set too, span. Otherwise it
        leads by the gap with probability 0.
        """
        tops, bottoms = zip(*map(self._range, self.theta), strict=True)
        others = [max(bottoms[b] for b in range(self.n_arms) if b != a) for a in range(self.n_arms)]
        return tuple(tops[a] - others[a] > Fraction(self.gap) for a in range(self.n_arms))

    def certain_half_space(self) -> FloatArray | None:
        """Away from a feature that never changes its sign there is nothing. See `Environment`."""
        for sign, nothing in ((-1.0, self.low >= 0), (1.0, self.high <= 0)):
            if nothing.any():
                return sign * np.eye(self.n_features)[int(np.argmax(nothing))]
        return None

    def _range(self, theta: FloatArray) -> tuple[Fraction, Fraction]:
        """The largest and the smallest mean of an arm in the box, exactly."""
        top, bottom = Fraction(0), Fraction(0)
        for parameter, low, high in zip(theta.tolist(), self.low.tolist(), self.high.tolist(), strict=True):
            ends = Fraction(parameter) * Fraction(low), Fraction(parameter) * Fraction(high)
            top, bottom = top + max(ends), bottom + min(ends)
        return top, bottom

    def arrivals(self) -> Assumption:
        return Assumption("1.4", "Stochastic arrivals", True, "Contexts are drawn independently from a continuous set.")


def corners(low: Any, high: Any, n_features: int) -> tuple[FloatArray, FloatArray]:
    """The lowest and the highest corner (d,) of a box, from numbers or arrays."""
    ends = []
    for name, value in (("low", low), ("high", high)):
        number = isinstance(value, str) or np.isscalar(value)
        whole = np.full(n_features, _validate.real(name, value)) if number else value
        ends.append(_validate.array(name, whole, shape=(n_features,)))
    if (ends[0] >= ends[1]).any():
        j = int(np.argmax(ends[0] >= ends[1]))
        raise InvalidParameter(f"low must be < high, got {ends[0][j]:g} and {ends[1][j]:g} for feature {j}")
    return ends[0], ends[1]


class BoxStream:
    """Draws features in a box, for some runs."""

    def __init__(self, env: BoxContexts, seed: int, runs: IntArray) -> None:
        self._env, self._seed, self._runs = env, np.uint64(seed), runs
        self._block: tuple[FloatArray, ...] = ()
        self._contexts = np.empty((0, 0), dtype=np.int64)

    def draw(self, first: int, size: int) -> "Block":
        from armspan.kernels.block import Block
        from armspan.kernels.draws import draw_box, draw_noise

        env, K, d = self._env, self._env.n_arms, self._env.n_features
        R, B = self._runs.size, size + size % 2
        if self._contexts.shape != (R, B):  # new memory for every block would make threads wait for each other
            self._contexts = np.arange(R * B).reshape(R, B)
            self._block = np.empty((R * B, K, d)), np.empty((R * B, K)), np.empty((R * B, K)), np.empty((R, B))
        x, means, losses, noise = self._block
        draw_box(self._seed, self._runs, first, env.low, env.high, env.theta, env.gap, x, means, losses)
        draw_noise(self._seed, self._runs, first, env.noise.code, env.noise.scale, noise)
        told = env.reward_scale, env.noise.clicks
        return Block(self._seed, first, self._runs, self._contexts, x, means, losses, noise, *told)
