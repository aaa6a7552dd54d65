"""A problem whose weak arms nearly lead: its contexts, arms and noise, the logs drawn from it, and its true answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..loggers import Array, two_best
from ..problems import SAMPLE, SHARE, SPREAD

Rng = np.random.Generator
Sampler = Callable[[int, Rng], Array]

LOGGERS = ("uniform", "epsilon-greedy", "ucb", "thompson", "softmax")
EPSILON = 0.2
BATCH = 50  # rows after which a logging policy learns
ROUGH = 20_000
MARGIN = 0.05  # of the rewards' sd


@dataclass(frozen=True, eq=False)
class Listed:
    """Contexts of a finite list, (n, d), with weights; the truth is exact."""

    points: Array
    weights: Array | None = None

    @property
    def probs(self) -> Array:
        """The probability of every context, (n,)."""
        n = len(self.points)
        return np.full(n, 1 / n) if self.weights is None else self.weights / self.weights.sum()

    def draw(self, n: int, rng: Rng) -> Array:
        """The contexts of n rows."""
        ends = np.cumsum(self.probs)
        ends[-1] = 1.0
        return self.points[np.searchsorted(ends, rng.random(n), side="right")]

    def mapped(self, M: Array) -> Listed:
        """The same contexts as Mx."""
        return Listed(self.points @ M.T, self.weights)


@dataclass(frozen=True, eq=False)
class Sampled:
    """Contexts that come from a sampler; the truth is that of 200,000 contexts, fixed by the seed."""

    draw: Sampler
    seed: int

    def known(self, n: int, stream: int) -> Listed:
        """A fixed list of n contexts."""
        return Listed(self.draw(n, np.random.default_rng([self.seed, stream])))

    def mapped(self, M: Array) -> Sampled:
        """The same contexts as Mx."""
        return Sampled(lambda n, rng: self.draw(n, rng) @ M.T, self.seed)


class Truth(NamedTuple):
    """The answer to "diverse?" at a margin, P and S of every arm, and the rank of the contexts."""

    diverse: bool
    P: Array
    S: Array
    rank: int


@dataclass(frozen=True, eq=False)
class Reference:
    """What is known about all contexts: their probabilities, the arms' means there, who leads by how much, z."""

    X: Array
    probs: Array
    means: Array
    best: Array
    lead: Array
    z: Array

    @classmethod
    def of(cls, contexts: Listed, theta: Array) -> Reference:
        """Who leads where, and the contexts whitened."""
        X, probs, means = contexts.points, contexts.probs, contexts.points @ theta.T
        M = (X * probs[:, None]).T @ X
        D = 1 / np.sqrt(np.maximum(np.diag(M), 1e-300))
        values, vectors = np.linalg.eigh(D[:, None] * M * D[None, :])
        kept = values > 1e-9 * values[-1]
        W = (vectors[:, kept] / np.sqrt(values[kept])).T * D[None, :]
        return cls(X, probs, means, *two_best(means), X @ W.T)

    def moments(self, margin: float) -> tuple[Array, Array]:
        """Where each arm leads by the margin: the mass (K,), and the eigenvalues (K, rank) of E[zzᵀ1], ascending."""
        K, rank = self.means.shape[1], self.z.shape[1]
        P, E = np.zeros(K), np.zeros((K, rank))
        for a in range(K):
            rows = np.flatnonzero((self.lead >= margin) & (self.best == a))
            if len(rows):
                p, z = self.probs[rows], self.z[rows]
                P[a] = p.sum()
                E[a] = np.linalg.eigvalsh((z * p[:, None]).T @ z)
        return P, np.maximum(E, 0.0)

    def room(self, margin: float) -> tuple[Array, Array]:
        """The moments as multiples of what diversity needs."""
        P, E = self.moments(margin)
        K, rank = E.shape
        return P * K / SHARE, E * K * rank / SPREAD


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """Arms with linear means.

    theta : (K, d) array. Coefficients of each arm.
    sigma : the noise's sd, or about that where it varies.
    weak : the arms that are meant to fail; none in a diverse problem.
    noise : "normal", "skewed" (exponential) or "clicks" (Bernoulli).
    scale : what sigma is multiplied by for every arm, (n, K), in contexts (n, d).
    by_uniform : the margin aimed at is that of uniform logs, even where the best arms' rewards vary less.
    """

    theta: Array
    sigma: float
    contexts: Listed | Sampled
    weak: tuple[int, ...]
    noise: str = "normal"
    scale: Callable[[Array], Array] | None = None
    by_uniform: bool = False

    @property
    def n_arms(self) -> int:
        return len(self.theta)

    @cached_property
    def full(self) -> Reference:
        """By which the truth is known."""
        known = self.contexts if isinstance(self.contexts, Listed) else self.contexts.known(SAMPLE, 1)
        return Reference.of(known, self.theta)

    @cached_property
    def rough(self) -> Reference:
        """Fewer contexts, for a quick look."""
        if isinstance(self.contexts, Listed):
            return self.full
        return Reference.of(self.contexts.known(ROUGH, 2), self.theta)

    def references(self) -> Iterator[Reference]:
        """The rough one and the full one, or the one that is both."""
        yield self.rough
        if self.full is not self.rough:
            yield self.full

    @cached_property
    def reward_sds(self) -> tuple[float, float]:
        """About the sd of the rewards of uniform logs, and of the best arms."""
        r = self.rough
        variances, rows = self.noise_sds(r.X, r.means) ** 2, np.arange(len(r.X))
        mean, top = r.means.mean(1), r.means[rows, r.best]
        uniform = r.probs @ variances.mean(1) + r.probs @ (r.means**2).mean(1) - (r.probs @ mean) ** 2
        greedy = r.probs @ variances[rows, r.best] + r.probs @ top**2 - (r.probs @ top) ** 2
        return float(np.sqrt(uniform)), float(np.sqrt(greedy))

    @property
    def margin(self) -> float:
        """The margin at which the weak arms are meant to fail; that of a log depends on its rewards."""
        return MARGIN * (self.reward_sds[0] if self.by_uniform else min(self.reward_sds))

    def truth(self, margin: float) -> Truth:
        """The true answer at a margin."""
        P, E = self.full.moments(margin)
        K, rank = E.shape
        diverse = bool((P >= SHARE / K).all() and (E[:, 0] >= SPREAD / (K * rank)).all())
        return Truth(diverse, P, E[:, 0], rank)

    def mapped(self, M: Array) -> Problem:
        """The same problem seen through other features, Mx."""
        inverse, scale = np.linalg.inv(M), self.scale
        return replace(
            self,
            theta=self.theta @ inverse,
            contexts=self.contexts.mapped(M),
            scale=None if scale is None else lambda X: scale(X @ inverse.T),
        )

    def noise_sds(self, X: Array, means: Array) -> Array:
        """The noise's sd for every arm in every context, (n, K)."""
        if self.noise == "clicks":
            chance = np.clip(means, 0, 1)
            return np.sqrt(chance * (1 - chance))
        return np.full(means.shape, self.sigma) if self.scale is None else self.sigma * self.scale(X)

    def log(self, logger: str, rows: int, rng: Rng) -> tuple[Array, Array, Array]:
        """Features, arms and rewards of one log."""
        X = np.ascontiguousarray(self.contexts.draw(rows, rng))
        means = X @ self.theta.T
        if self.noise == "clicks":
            outcomes = (rng.random(rows)[:, None] < means).astype(np.float64)
        else:
            draws = rng.exponential(size=rows) - 1 if self.noise == "skewed" else rng.standard_normal(rows)
            outcomes = means + self.noise_sds(X, means) * draws[:, None]
        if logger == "uniform":
            arms = rng.integers(self.n_arms, size=rows)
        elif logger == "softmax":
            arms = np.argmax(means / self.sigma + rng.gumbel(size=means.shape), 1)
        else:
            arms = learn(logger, X, outcomes, self.sigma, rng)
        return X, arms, outcomes[np.arange(rows), arms]


def learn(logger: str, X: Array, outcomes: Array, sigma: float, rng: Rng) -> Array:
    """The arms of a policy with one ridge regression (ridge 1) per arm; outcomes[t, a]: what arm a would bring."""
    (n, d), K = X.shape, outcomes.shape[1]
    arms = np.empty(n, dtype=np.int64)
    V, b = np.tile(np.eye(d), (K, 1, 1)), np.zeros((K, d))
    for first in range(0, n, BATCH):
        x = X[first : first + BATCH]
        V_inv = np.linalg.inv(V)
        V_inv = (V_inv + V_inv.transpose(0, 2, 1)) / 2
        scores = x @ (V_inv @ b[:, :, None])[:, :, 0].T
        if logger == "ucb":
            scores = scores + np.sqrt(np.maximum((np.matmul(x[None], V_inv) * x[None]).sum(2).T, 0))
        elif logger == "thompson":
            values, vectors = np.linalg.eigh(V_inv)
            root = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
            errors = np.matmul(rng.standard_normal((K, len(x), d)), root.transpose(0, 2, 1))
            scores = scores + sigma * (errors * x[None]).sum(2).T
        chosen = np.argmax(scores + 1e-9 * rng.random(scores.shape), 1)  # ties are broken at random
        if logger == "epsilon-greedy":
            chosen = np.where(rng.random(len(x)) < EPSILON, rng.integers(K, size=len(x)), chosen)
        arms[first : first + BATCH] = chosen
        rewards = outcomes[np.arange(first, first + len(x)), chosen]
        for a in np.unique(chosen):
            own = chosen == a
            V[a] += x[own].T @ x[own]
            b[a] += rewards[own] @ x[own]
    return arms
