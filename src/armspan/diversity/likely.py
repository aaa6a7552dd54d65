"""What a log leaves likely: mean rewards that are drawn from a Bayesian linear model of it.

In whitened coordinates z an arm's parameter is c + u_a: what all arms share, of which nothing is known beforehand, and
a part of its own, u_a ~ N(0, τ²I). The noise σ and τ come from the log itself, by expectation maximisation: an arm with
few rows is drawn close to the others, or far from them, as arms with many rows are. One number is added to those that
τ² is the mean square of, as large as rewards vary, so that few arms that look alike are not taken to be alike. It is a
guess of what the truth may look like, not a limit of it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.diversity.scales import UNEQUAL, sizes_apart

MOST_CONTEXTS, MOST_NUMBERS = 2000, 4_000_000
"""Contexts that are kept of a longer log, and how large they may be with all arms."""
ROUNDS = 100
LEAST = 1e-12
"""σ² and τ² are at least this part of the rewards' variance."""
FEWEST = 2
"""Rows per direction of the features, below which nothing tells noise from what is to be learnt."""


class Posterior(NamedTuple):
    """c ~ N(common, root·rootᵀ), and u_a = own_a - pull_a·(c - common) + N(0, diag(spread_a²)), along the arm's axes.

    common : (r,). root : (r, r). own, pull, spread : (K, r), along the columns of axes (K, r, r). noise : σ.
    """

    common: FloatArray
    root: FloatArray
    own: FloatArray
    pull: FloatArray
    spread: FloatArray
    noise: float


@dataclass(frozen=True, eq=False)
class Likely:
    """A log, as far as its model needs it.

    contexts : (m, d) some of its contexts, with the longest. z : (m, r) the same, whitened.
    unit : (d,) what each feature is to be divided by: its largest size, or 1 if features have about one size.
    sizes_apart : by how many times they differ in size.
    values, axes : (K, r), (K, r, r) of each arm's Σzzᵀ. along : (K, r) its Σz(y - zᵀshared), along the axes.
    shared : (r,) least squares of all arms together. squares, rows : Σ(y - zᵀshared)² of so many rows.
    mean, scale : of the rewards, and their standard deviation; y above is in units of that.
    clicks : whether all rewards are 0 or 1.
    residual : the residuals' standard deviation of arms with enough rows, None without such arms.
    caveat : why the log cannot be trusted, in words, or "".
    """

    contexts: FloatArray
    z: FloatArray
    unit: FloatArray
    sizes_apart: float
    values: FloatArray
    axes: FloatArray
    along: FloatArray
    shared: FloatArray
    squares: float
    rows: int
    mean: float
    scale: float
    clicks: bool
    residual: float | None
    caveat: str

    @property
    def long_enough(self) -> bool:
        """Whether there are rows enough to tell noise from what is to be learnt."""
        return self.rows >= FEWEST * len(self.shared)

    @property
    def noise(self) -> float:
        """The standard deviation of rewards around their means."""
        return self.scale * self.posterior.noise

    @cached_property
    def posterior(self) -> Posterior:
        """What is known of c and u, with σ and τ fitted."""
        K, r = self.values.shape
        doubt = 1 / r
        noise_2, own_2 = max(self.squares / self.rows, LEAST), doubt
        for _ in range(ROUNDS):
            found, residual = self._given(noise_2, own_2)
            noise_2 = max(residual / self.rows, LEAST)
            moved = np.swapaxes(self.axes, 1, 2) @ found.root  # along each arm's axes
            uncertain = found.spread**2 + found.pull**2 * (moved**2).sum(axis=2)
            own_2 = max((float((found.own**2 + uncertain).sum()) + doubt) / (K * r + 1), LEAST)
        return self._given(noise_2, own_2)[0]

    def _given(self, noise_2: float, own_2: float) -> tuple[Posterior, float]:
        """With σ² and τ² known, and what is expected of Σ(y - zᵀθ)²."""
        known = 1 / (noise_2 + own_2 * self.values)
        precision = np.tensordot(self.axes * (known * self.values)[:, None, :], self.axes, axes=([0, 2], [0, 2]))
        covariance = np.linalg.inv(precision)
        root = np.asarray(np.linalg.cholesky((covariance + covariance.T) / 2), dtype=np.float64)
        common = covariance @ np.einsum("kij,kj->i", self.axes, known * self.along)
        pull = own_2 * known * self.values  # how much of c's error an arm's rows take back
        own = own_2 * known * (self.along - self.values * np.einsum("kji,j->ki", self.axes, common))
        spread = np.sqrt(noise_2 * own_2 * known)
        theta = np.einsum("kji,j->ki", self.axes, common) + own
        moved = np.swapaxes(self.axes, 1, 2) @ root
        variance = spread**2 + (1 - pull) ** 2 * (moved**2).sum(axis=2)
        fitted = self.squares - float((theta * (2 * self.along - self.values * theta)).sum())
        expected = fitted + float((self.values * variance).sum())
        return Posterior(common, root, own, pull, spread, float(np.sqrt(noise_2))), expected

    def mean_rewards(self, rng: np.random.Generator) -> FloatArray:
        """One draw of the mean reward (K, m) of each arm in each context."""
        found = self.posterior
        error = found.root @ rng.standard_normal(len(found.common))
        own = found.own - found.pull * np.einsum("kji,j->ki", self.axes, error)
        own = own + found.spread * rng.standard_normal(found.spread.shape)
        theta = self.shared + found.common + error + np.einsum("kij,kj->ki", self.axes, own)
        means = self.scale * (theta @ self.z.T)
        return np.clip(means, 0.0, 1.0) if self.clicks else means

    def expected_rewards(self) -> FloatArray:
        """The mean of such draws, before those of clicks are cut off at 0 and 1."""
        found = self.posterior
        theta = self.shared + found.common + np.einsum("kij,kj->ki", self.axes, found.own)
        return np.asarray(self.scale * (theta @ self.z.T))


def likely(
    X: FloatArray,
    z: FloatArray,
    arms: IntArray,
    rewards: FloatArray,
    gram: FloatArray,
    *,
    residual: float | None = None,
    caveat: str = "",
) -> Likely:
    """The model of a log; z : (n, r) its whitened contexts. gram : (K, r, r) Σzzᵀ of each arm's rows."""
    n, K = len(X), len(gram)
    scale = float(rewards.std())
    y = rewards / scale
    shared = np.linalg.solve(gram.sum(axis=0), z.T @ y)
    left = y - z @ shared
    values, axes = np.linalg.eigh(gram)
    sums = np.array([z[arms == a].T @ left[arms == a] for a in range(K)])
    most = int(np.clip(MOST_NUMBERS // (K * X.shape[1]), 200, MOST_CONTEXTS))
    largest, apart = np.abs(X).max(axis=0), sizes_apart(X[:, None])
    unit = np.where(largest > 0, largest, 1.0) if apart > UNEQUAL else np.ones(X.shape[1])
    kept = np.sort(np.random.default_rng(n).permutation(n)[:most])
    longest = int(np.argmax(np.linalg.norm(X / unit, axis=1)))
    if longest not in kept:
        kept[0] = longest
    return Likely(
        contexts=X[kept],
        z=z[kept],
        unit=unit,
        sizes_apart=apart,
        values=np.maximum(values, 0.0),
        axes=axes,
        along=np.einsum("kji,kj->ki", axes, sums),
        shared=shared,
        squares=float(left @ left),
        rows=n,
        mean=float(rewards.mean()),
        scale=scale,
        clicks=bool(np.isin(rewards, (0.0, 1.0)).all()),
        residual=residual,
        caveat=caveat,
    )
