"""A bandit problem whose true answers are known: its contexts, its means, its noise, and the sums over them.

A problem lives on latent contexts u; the log shows x = u'view (the truth does not change under such a map, because
contexts are whitened by C⁻¹ᐟ², on the range of C). Contexts are a finite list, where the truth is exact, or come from a
sampler, where the truth is that of a fixed sample of 200,000 contexts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from .loggers import Array, choose, fourth_moments, sums_between, two_best

SAMPLE = 200_000
ROUGH = 10_000
SHARE, SPREAD, LEADLESS = 0.015, 0.01, 0.01  # diverse: P >= SHARE/K and S >= SPREAD/(K d); gap: leadless <= LEADLESS
TIE = 1e-9  # a smaller lead is a tie


class Truth(NamedTuple):
    """P and S of every arm at a margin, Prob[max lead < margin], Prob[arm is the strict best], and the two answers."""

    P: Array
    S: Array
    leadless: float
    best: Array
    diverse: bool
    gap: bool


class Tables(NamedTuple):
    """What `truth` needs, computed once: contexts and weights, leads, sums at margin 0, and the range of margins."""

    U: Array
    weight: Array
    best: Array
    lead: Array
    mass: Array
    moments: Array
    root: Array
    noise_sd: float
    margins: tuple[float, float]


def fresh(kind: str, rank: int, n: int, rng: np.random.Generator) -> Array:
    """Contexts (n of them) of a continuous kind. All but `plain` and `hot` have an intercept in column 0."""
    U = np.empty((n, rank))
    U[:, 0] = 1.0
    rest = U[:, 1:]
    if kind == "box":
        rest[:] = rng.uniform(-1.0, 1.0, rest.shape)
    elif kind == "skewed":
        rest[:] = np.exp(0.7 * rng.standard_normal(rest.shape)) - 1.278
    elif kind == "plain":
        U[:] = rng.standard_normal(U.shape)
    elif kind.startswith("hot"):
        levels = int(kind[3:])
        edges = np.cumsum(1.0 / np.arange(2, levels + 2))
        U[:, :levels] = np.searchsorted(edges / edges[-1], rng.random(n))[:, None] == np.arange(levels)
        U[:, levels:] = rng.standard_normal((n, rank - levels))
    else:
        rest[:] = rng.standard_normal(rest.shape)
        if kind == "segment":
            U[:, 1] = rng.random(n) < 0.4
        elif kind == "tenure":
            U[:, 1] = (rng.random(n) < 0.5) * (0.5 + rng.exponential(0.5, n))
    return U


@lru_cache(maxsize=24)
def sample(kind: str, rank: int, n: int) -> Array:
    """The fixed contexts over which the truth of every problem of one kind is computed."""
    U = fresh(kind, rank, n, np.random.default_rng([n, rank, *kind.encode()]))
    U.flags.writeable = False
    return U


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem. `gate`, where given, has (theta, floor): contexts whose lead under theta is below floor never occur.

    noise: "normal", "student" (3 degrees of freedom), "uneven" (sd depends on arm and context), "clicks" (Bernoulli),
    "revenue" (a click that brings a lognormal amount of mean 1).
    """

    family: str
    n_arms: int
    n_features: int
    theta: Array
    sigma: float
    kind: str = "normal"
    points: Array | None = None
    probs: Array | None = None
    gate: tuple[Array, float] | None = None
    noise: str = "normal"
    tilt: Array | None = None
    bend: str = ""
    bends: Array | None = None
    view: Array | None = None
    size: int = SAMPLE

    def log(self, logger: str, rows: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Features, arms and rewards of one log."""
        U = self._contexts(rows, rng)
        outcomes = self._outcomes(U, self.means(U), rng)
        X = U if self.view is None else U @ self.view
        arms = choose(logger, X, outcomes, self.tables.noise_sd, rng)
        return X, arms, outcomes[np.arange(rows), arms]

    def truth(self, margin: float) -> Truth:
        """The true answers at a margin. Margin 0 (a log of equal rewards) is read as its limit from above."""
        t = self.tables
        margin = max(float(margin), TIE)
        below, moments = sums_between(t.U, t.weight, t.best, t.lead, TIE, margin, self.n_arms)
        P = np.maximum(t.mass - below, 0.0)
        S = np.maximum(np.linalg.eigvalsh(t.root.T @ (t.moments - moments) @ t.root)[:, 0], 0.0)
        leadless = max(1.0 - float(P.sum()), 0.0)
        diverse = bool(P.min() >= SHARE / self.n_arms and S.min() >= SPREAD / (self.n_arms * self.rank))
        return Truth(P, S, leadless, t.mass.copy(), diverse, leadless <= LEADLESS)

    def room(self, truth: Truth) -> tuple[float, float]:
        """The smallest P and the smallest S, as multiples of their thresholds."""
        return float(truth.P.min() * self.n_arms / SHARE), float(truth.S.min() * self.n_arms * self.rank / SPREAD)

    @property
    def rank(self) -> int:
        """The rank of C, which stands for d in the threshold on S."""
        return int(self.tables.root.shape[1])

    @property
    def margins(self) -> tuple[float, float]:
        """The least and the largest margin to expect: 0.05 sd of the rewards, whichever arms the log favours."""
        return self.tables.margins

    def means(self, U: Array) -> Array:
        """The mean reward of every arm in the contexts U, shape (n, K)."""
        F: Array = U @ self.theta.T
        if self.bends is not None:
            u, v = U[:, -1], U[:, -2]
            shapes: dict[str, Callable[[], Array]] = {
                "square": lambda: u**2 - 1,
                "tanh": lambda: np.tanh(3 * u),
                "fold": lambda: np.abs(u) - 0.8,
                "cross": lambda: u * v,
            }
            F += np.multiply.outer(shapes[self.bend](), self.bends)
        return F

    @cached_property
    def tables(self) -> Tables:
        """The sums over all contexts of the problem."""
        U = sample(self.kind, self.theta.shape[1], self.size) if self.points is None else self.points
        if self.gate is not None:
            U = U[two_best(U @ self.gate[0].T)[1] >= self.gate[1]]
        weight = np.full(len(U), 1.0 / max(len(U), 1)) if self.probs is None else self.probs
        F = self.means(U)
        best, lead = two_best(F)
        mass, moments = sums_between(U, weight, best, lead, TIE, np.inf, self.n_arms)
        values, vectors = np.linalg.eigh((U * weight[:, None]).T @ U)
        kept = values > 1e-10 * values[-1]
        first, second, top = weight @ F, weight @ F**2, F.max(axis=1)
        noise = self._noise_variances(U, F, weight)
        mixed, greedy = second.mean() - first.mean() ** 2 + noise.mean(), weight @ top**2 - (weight @ top) ** 2 + noise
        sds = np.sqrt(np.concatenate([second - first**2 + noise, [mixed], greedy]))
        low, high = (0.6, 1.6) if self.noise in ("student", "revenue") else (0.93, 1.07)
        margins = (0.05 * low * float(sds.min()), 0.05 * high * float(sds.max()))
        root = vectors[:, kept] / np.sqrt(values[kept])
        return Tables(U, weight, best, lead, mass, moments, root, float(np.sqrt(noise.mean())), margins)

    def settled(self) -> bool:
        """Whether the answers are the same over all margins to expect, and known beyond 4 standard errors."""
        t, K = self.tables, self.n_arms
        low, high = (self.truth(m) for m in self.margins)
        if (low.diverse, low.gap) != (high.diverse, high.gap):
            return False
        if self.points is not None:
            return True
        n = len(t.U)
        for m, truth in zip(self.margins, (low, high), strict=True):
            share, spread = SHARE / K, SPREAD / (K * self.rank)
            inner = t.root.T @ (t.moments - sums_between(t.U, t.weight, t.best, t.lead, TIE, m, K)[1]) @ t.root
            directions = np.linalg.eigh(inner)[1][:, :, 0] @ t.root.T
            fourth = fourth_moments(t.U, t.weight, t.best, t.lead, m, directions)
            error_P, error_S = np.sqrt(truth.P / n + 1 / n**2), np.sqrt(fourth / n + 9 / n**2)
            short_P, short_S = (share - truth.P) / error_P, (spread - truth.S) / error_S
            near = bool((np.abs(short_P) < 4).any() or (np.abs(short_S) < 4).any())
            fails = bool((short_P >= 4).any() or (short_S >= 4).any())  # one clear failure outweighs all near misses
            near_gap = abs(truth.leadless - LEADLESS) < 4 * np.sqrt(truth.leadless / n + 1 / n**2)
            if near_gap or (near and not fails):
                return False
        return True

    def rough(self) -> Problem:
        """The same problem with its truth taken from few contexts: a quick look before the full sums."""
        return self if self.points is not None else replace(self, size=ROUGH)

    def _contexts(self, n: int, rng: np.random.Generator) -> Array:
        if self.points is not None:
            return self.points[rng.choice(len(self.points), size=n, p=self.probs)]
        rank = self.theta.shape[1]
        if self.gate is None:
            return fresh(self.kind, rank, n, rng)
        blocks, have = [], 0
        rate = len(self.tables.U) / self.size
        while have < n:
            U = fresh(self.kind, rank, int(1.05 * (n - have) / rate) + 50, rng)
            blocks.append(U[two_best(U @ self.gate[0].T)[1] >= self.gate[1]])
            have += len(blocks[-1])
        return np.concatenate(blocks)[:n]

    def _noise_sds(self, U: Array) -> Array:
        """The noise sd of every arm in every context, for uneven noise."""
        slopes = np.zeros(self.n_arms) if self.tilt is None else self.tilt
        return self.sigma * np.exp(np.clip(np.multiply.outer(U[:, -1], slopes), -1.2, 1.2))

    def _noise_variances(self, U: Array, F: Array, weight: Array) -> Array:
        """The mean noise variance of every arm."""
        if self.noise in ("clicks", "revenue"):
            return weight @ ((np.e if self.noise == "revenue" else 1.0) * F - F**2)
        return weight @ self._noise_sds(U) ** 2 if self.noise == "uneven" else np.full(self.n_arms, self.sigma**2)

    def _outcomes(self, U: Array, F: Array, rng: np.random.Generator) -> Array:
        n = len(U)
        if self.noise in ("clicks", "revenue"):
            clicked = (rng.random(n)[:, None] < F).astype(np.float64)
            return clicked if self.noise == "clicks" else clicked * np.exp(rng.standard_normal(n) - 0.5)[:, None]
        if self.noise == "student":
            return F + (self.sigma / np.sqrt(3.0)) * rng.standard_t(3, n)[:, None]
        draws = rng.standard_normal(n)[:, None]
        return F + (self._noise_sds(U) if self.noise == "uneven" else self.sigma) * draws


class Promise(NamedTuple):
    """What every problem of a family keeps: the answers, and how far its weakest arm is from the thresholds.

    low and high bound the smaller of min P and min S in multiples of their thresholds; p_low bounds min P alone.
    """

    diverse: bool | None = None
    gap: bool | None = None
    low: float = 0.0
    high: float = np.inf
    p_low: float = 0.0

    def kept(self, problem: Problem) -> bool:
        """Whether the problem keeps the promise at all margins to expect (a quick look on few contexts comes first)."""
        rough = problem.rough()
        if rough.gate is not None and len(rough.tables.U) < 0.1 * rough.size:
            return False
        return (rough is problem or self._holds(rough, 1.7)) and self._holds(problem, 1.0) and problem.settled()

    def _holds(self, problem: Problem, slack: float) -> bool:
        for margin in problem.margins:
            truth = problem.truth(margin)
            P, S = problem.room(truth)
            if not self.low / slack <= min(P, S) <= self.high * slack or self.p_low / slack > P:
                return False
            if self.diverse is not None and slack == 1.0 and truth.diverse != self.diverse:
                return False
            if self.gap is not None:
                leadless = truth.leadless / LEADLESS
                if leadless > slack if self.gap else leadless <= 1 / slack:
                    return False
        return True
