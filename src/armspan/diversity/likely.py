"""What a log leaves likely: mean rewards that are drawn from a Bayesian linear model of it.

In whitened coordinates z an arm's parameter is the one that all arms share plus a part of its own, and the own parts
are N(0, τ²I). The noise and τ come from the log itself (empirical Bayes): an arm with few rows is drawn close to the
others, or far from them, as arms with many rows are. To τ² one number is added that is as large as rewards vary, so
that few arms that look alike are not taken to be alike. It is a guess of what the truth may look like, not a limit.
"""

from dataclasses import dataclass

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.diversity.scales import sizes_apart

MOST_CONTEXTS = 2000
"""Contexts that are kept of a longer log."""
ROUNDS = 30
LEAST = 1e-12
"""Variances are at least this part of the rewards' mean square."""


@dataclass(frozen=True, eq=False)
class Likely:
    """A log's model.

    contexts : (m, d) some of its contexts, with the longest. z : (m, r) the same, whitened.
    theta : (K, r) what is expected of the arms.
    axes, spread : (K, r, r), (K, r) the parameters are off by spread along each column of axes, independently.
    noise : the standard deviation of rewards around their means. clicks : whether all rewards are 0 or 1.
    """

    contexts: FloatArray
    z: FloatArray
    theta: FloatArray
    axes: FloatArray
    spread: FloatArray
    noise: float
    clicks: bool

    @property
    def sizes_apart(self) -> float:
        """By how many times features differ in size."""
        return sizes_apart(self.contexts[:, None])

    def mean_rewards(self, rng: np.random.Generator) -> FloatArray:
        """One draw of the mean reward (K, m) of each arm in each context."""
        off = self.spread * rng.standard_normal(self.spread.shape)
        means = (self.theta + np.einsum("kij,kj->ki", self.axes, off)) @ self.z.T
        return np.clip(means, 0.0, 1.0) if self.clicks else means


def likely(X: FloatArray, z: FloatArray, arms: IntArray, rewards: FloatArray, gram: FloatArray) -> Likely | None:
    """The model of a log; gram : (K, r, r) Σzzᵀ of each arm's rows. None where all rewards are the same."""
    n, K = len(X), len(gram)
    sums = np.array([z[arms == a].T @ rewards[arms == a] for a in range(K)])
    common = np.linalg.solve(gram.sum(axis=0), sums.sum(axis=0))
    left = rewards - z @ common
    values, axes = np.linalg.eigh(gram)
    values = np.maximum(values, 0.0)
    along = np.einsum("kji,kj->ki", axes, sums - gram @ common)  # Σz(y - zᵀcommon), along each arm's axes
    least = LEAST * float(rewards @ rewards) / n
    noise_2 = float(left @ left) / n
    own_2 = doubt = noise_2 / gram.shape[1]
    if noise_2 <= least:
        return None
    for _ in range(ROUNDS):
        precision = values + noise_2 / own_2
        own = along / precision
        squares = float(left @ left) - float((own * (2 * along - values * own)).sum())
        used = float((values / precision).sum())
        noise_2 = max(squares / max(n - used, 1.0), least)
        own_2 = (float((own**2 + noise_2 / precision).sum()) + doubt) / (own.size + 1)
    precision = values + noise_2 / own_2
    kept = np.random.default_rng(n).permutation(n)[:MOST_CONTEXTS]
    kept[0] = np.argmax(np.linalg.norm(X, axis=1))
    return Likely(
        contexts=X[kept],
        z=z[kept],
        theta=common + np.einsum("kij,kj->ki", axes, along / precision),
        axes=axes,
        spread=np.sqrt(noise_2 / precision),
        noise=float(np.sqrt(noise_2)),
        clicks=bool(np.isin(rewards, (0.0, 1.0)).all()),
    )
