"""What problems are put together from: contexts, arms that share them, and other features that carry the same."""

from collections.abc import Callable, Sequence

import numpy as np

from ..loggers import Array
from .problems import Rng, Sampler

Split = Callable[[int, Rng], tuple[Array, Array]]
"""Draws n contexts (n, d), and says which of them (n,) lie outside of a subspace."""

CATEGORIES = {3: (2, 1), 5: (2, 2), 8: (3, 3)}
"""By number of features: how many categories there are, and how many continuous features."""


def features(kind: str, d: int, rng: Rng, correlated: bool = False) -> Sampler:
    """Continuous features: "normal", "t", "uniform" or "lognormal"."""
    freedom = rng.uniform(3, 5)
    root: Array = np.eye(d)
    if correlated:
        rho = rng.uniform(0.5, 0.95)
        root = np.linalg.cholesky(np.full((d, d), rho) + (1 - rho) * np.eye(d))

    def draw(n: int, rng: Rng) -> Array:
        if kind == "uniform":
            return rng.uniform(-1.7, 1.7, (n, d))
        if kind == "lognormal":
            return np.exp(0.7 * rng.standard_normal((n, d))) - 1.28
        normal = rng.standard_normal((n, d)) @ root.T
        return normal / np.sqrt(rng.chisquare(freedom, n) / freedom)[:, None] if kind == "t" else normal

    return draw


def plain(d: int, rng: Rng, kind: str = "normal", correlated: bool = False) -> Sampler:
    """A constant and continuous features, d in all."""
    rest = features(kind, d - 1, rng, correlated)
    return lambda n, rng: np.column_stack([np.ones(n), rest(n, rng)])


def categories(d: int, rng: Rng) -> Split:
    """Categories crossed with continuous features: a constant, indicators, features, features of the last category.

    The last category lies outside.
    """
    n_categories, k = CATEGORIES[d]
    last = rng.uniform(0.2, 0.45)
    shares = np.append(rng.dirichlet(np.full(n_categories - 1, 3.0)) * (1 - last), last)

    def draw(n: int, rng: Rng) -> tuple[Array, Array]:
        category = rng.choice(n_categories, size=n, p=shares)
        U = rng.standard_normal((n, 3))
        outside = category == n_categories - 1
        indicators = category[:, None] == np.arange(1, n_categories)
        return np.column_stack([np.ones(n), indicators, U[:, :k], outside[:, None] * U[:, : k - 1]]), outside

    return draw


def category_weights(d: int) -> list[float]:
    """How much the slopes of such features differ between arms."""
    n_categories, k = CATEGORIES[d]
    return [0.7] * (n_categories - 1) + [1.0] * k + [0.7] * (k - 1)


def spread_out(K: int, d: int, rng: Rng) -> Array:
    """K vectors that point in different directions."""
    if d == 1:
        return rng.permutation(np.linspace(-1, 1, K) + rng.uniform(-0.15, 0.15, K) / (K - 1))[:, None]
    if d == 2:
        angles = 2 * np.pi * (np.arange(K) + rng.uniform(-0.25, 0.25, K)) / K + rng.uniform(0, 6.28)
        return rng.permutation(np.column_stack([np.cos(angles), np.sin(angles)]) * rng.uniform(0.8, 1.2, (K, 1)))
    tried = [rng.standard_normal((K, d)) for _ in range(12)]
    units = [C / np.linalg.norm(C, axis=1, keepdims=True) for C in tried]
    farthest = max(units, key=lambda C: (((C[:, None] - C[None]) ** 2).sum(2) + 9 * np.eye(K)).min())
    return farthest * rng.uniform(0.8, 1.2, (K, 1))


def _gap_sd(means: Array) -> float:
    return float(np.std(means - means.mean(1, keepdims=True)) + 1e-12)


def _balanced(theta: Array, X: Array, probs: Array) -> Array:
    """The arms with other constants, so that they share the contexts."""
    K, means = len(theta), X @ theta.T
    scale, shift = _gap_sd(means), np.zeros(K)
    for t in range(50):
        P = np.bincount((means + shift).argmax(1), weights=probs, minlength=K)
        shift += 2.0 * scale * (1 / K - P) / (1 + 0.08 * t)
    return theta + np.outer(shift, np.eye(theta.shape[1])[0])


def shared_arms(
    K: int, X: Array, rng: Rng, *, weights: Sequence[float] | None = None, probs: Array | None = None, even: bool = True
) -> Array:
    """K arms with different slopes whose gaps have sd 1 in the contexts X; the first feature is constant.

    weights : of every slope but the constant's; those below 1 are not spread out.
    even : whether the arms lead equally often.
    """
    n, d = X.shape
    if weights is None:
        slopes = spread_out(K, d - 1, rng)
    else:
        slopes = 0.3 * rng.standard_normal((K, d - 1)) * np.asarray(weights)
        large = np.flatnonzero(np.asarray(weights) >= 1)
        slopes[:, large] = spread_out(K, len(large), rng)
    slopes = slopes / (X[:, 1:].std(0) + 1e-9)
    theta = np.column_stack([-slopes @ X[:, 1:].mean(0), slopes])
    if even:
        theta = _balanced(theta, X, np.full(n, 1 / n) if probs is None else probs)
    return theta / _gap_sd(X @ theta.T)


def shared_arms_without_constant(K: int, X: Array, rng: Rng) -> Array:
    """The same where no feature is constant."""
    theta = spread_out(K, X.shape[1], rng)
    return theta / _gap_sd(X @ theta.T)


def shifted(theta: Array, rng: Rng) -> Array:
    """All arms plus one vector: gaps stay as they are."""
    d = theta.shape[1]
    return theta + 0.5 * rng.standard_normal(d) / np.sqrt(d)


def mixer(d: int, rng: Rng, *, constant: bool = True, strength: float = 0.7, decades: float = 0.0) -> Array:
    """A map to features that mix the old ones; a constant stays.

    strength : how much they are stretched, as a logarithm.
    decades : powers of ten by which their sizes differ.
    """
    k = d - constant
    M = np.eye(d)
    Q1 = np.linalg.qr(rng.standard_normal((k, k)))[0]
    Q2 = np.linalg.qr(rng.standard_normal((k, k)))[0]
    B = Q1 @ np.diag(np.exp(rng.uniform(-strength, strength, k))) @ Q2
    if decades:
        B = (10 ** rng.uniform(-decades, decades, k))[:, None] * B
    M[d - k :, d - k :] = B
    if constant and not decades:
        M[1:, 0] = rng.normal(0, 0.5, k)
    return M


def noise_sd(rng: Rng, low: float = 0.1, high: float = 1.0) -> float:
    """A noise's sd, uniform in its logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def seed_from(rng: Rng) -> int:
    return int(rng.integers(2**31))


def coin(rng: Rng) -> bool:
    return bool(rng.random() < 0.5)
