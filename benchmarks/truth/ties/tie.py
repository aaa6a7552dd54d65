"""The tie: an arm leads clearly in a subspace, and has no lead worth the name wherever it would lead outside of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..loggers import Array, two_best
from .parts import (
    CATEGORIES,
    Split,
    categories,
    category_weights,
    coin,
    features,
    mixer,
    noise_sd,
    seed_from,
    shared_arms,
    shared_arms_without_constant,
    shifted,
)
from .problems import Listed, Problem, Rng, Sampled, Sampler
from .search import Room, often, search, tuned


class Stage(NamedTuple):
    """Contexts inside and outside, the arms, the weak one, and contexts outside where it is far behind."""

    split: Split
    theta: Array
    arm: int
    behind: Array

    def leads(self, X: Array) -> Array:
        """The weak arm's leads over each of the others, (n, K - 1)."""
        return _leads(X, self.theta, self.arm)

    def tied(self, X: Array, outside: Array, ahead: Array | float, rng: Rng) -> tuple[Array, Array]:
        """The contexts, with those outside moved to where the arm's lead is `ahead`, if it was larger; which were."""
        X, leads, ahead = X.copy(), self.leads(X), np.broadcast_to(ahead, len(X))
        moved = np.flatnonzero(outside & (leads.min(1) > ahead))
        if len(moved):
            to = self.behind[rng.integers(len(self.behind), size=len(moved))]
            leads, leads_there, ahead = leads[moved], self.leads(to), ahead[moved][:, None]
            lost = leads_there < ahead
            way = np.where(lost, (leads - ahead) / np.where(lost, leads - leads_there, 1.0), np.inf).min(1)
            X[moved] += way[:, None] * (to - X[moved])
        return X, moved


def _leads(X: Array, theta: Array, arm: int) -> Array:
    return X @ (theta[arm] - np.delete(theta, arm, 0)).T


@dataclass(frozen=True, kw_only=True)
class Tie:
    """A construction with ties.

    kind, correlated : of the continuous features.
    constant : whether one feature is.
    by_category : the subspace is all categories but one.
    many : whether several directions are missing in the subspace, not one.
    inside : the share of contexts in it; drawn where not given.
    flag : the missing direction is an indicator.
    weights : of the slopes, for `shared_arms`.
    ahead : the range of the arm's leads outside, as shares of the margin.
    meeting : all arms are equal at one point; "arm": the contexts that are moved go there; "all": all those outside do.
    listed : at least so many contexts, in a list; 0: contexts are continuous.
    uneven : whether some of them are far rarer than others.
    noise : that of `Problem`, or "varying" with the context.
    decades : by how many powers of ten features differ in size.
    redundant : one feature is a combination of others.
    left : what is left of the leads outside: "rare" ones, "rare and large" ones, or "thin" ones, near the subspace.
    sigma : the range of the noise's sd.
    """

    kind: str = "normal"
    correlated: bool = False
    constant: bool = True
    by_category: bool = False
    many: bool = False
    inside: float | None = None
    flag: bool = False
    weights: Sequence[float] | None = None
    ahead: tuple[float, float] = (0.0, 0.0)
    meeting: str = ""
    listed: int = 0
    uneven: bool = False
    noise: str = "normal"
    decades: float = 0.0
    redundant: bool = False
    left: str = ""
    sigma: tuple[float, float] = (0.1, 1.0)

    def draw(self, K: int, d: int, rng: Rng) -> Problem | None:
        """A problem with K arms and d features."""
        d -= self.redundant
        missing = self._missing(d)

        def misses_only_these(room: Room) -> bool:
            return often(room) and bool(room.E[0, missing] > 2)

        also = often if self.left or self.meeting == "all" else None if self.inside == 0 else misses_only_these
        return search(lambda: self._try(K, d, rng), also=also, weak=0.4 if self.left else 0.0)

    def _missing(self, d: int) -> int:
        """How many directions are missing in the subspace."""
        return CATEGORIES[d][1] if self.by_category else min(d - 1, 3) if self.many else 1

    def _split(self, d: int, rng: Rng) -> Split:
        """Contexts whose last features are 0 inside of the subspace."""
        if self.by_category:
            return categories(d, rng)
        inside = rng.uniform(0.4, 0.7) if self.inside is None else self.inside
        rest = features(self.kind, d - self.constant, rng, self.correlated)
        missing = self._missing(d)

        def draw(n: int, rng: Rng) -> tuple[Array, Array]:
            U = rest(n, rng)
            outside = rng.random(n) >= inside
            if self.flag:
                U[:, -1] = outside
            else:
                U[~outside, -missing:] = 0.0
            return np.column_stack([np.ones(n), U]) if self.constant else U, outside

        return draw

    def _try(self, K: int, d: int, rng: Rng) -> Problem | None:
        split, missing = self._split(d, rng), self._missing(d)
        X, outside = split(3000, rng)
        if self.constant:
            weights = category_weights(d) if self.by_category else self.weights
            theta = shared_arms(K, X, rng, weights=weights, even=not self.meeting)
        else:
            theta = shared_arms_without_constant(K, X, rng)
        point = np.eye(d)[0]
        if self.meeting:
            point[1:] = rng.normal(0, 0.5, d - 1)
            point[d - missing :] = rng.choice([-1, 1], missing) * rng.uniform(0.4, 0.9, missing)
            theta[:, 0] = -theta[:, 1:] @ point[1:]
        theta = shifted(theta, rng) if self.constant else theta
        best, _ = two_best(X @ theta.T)
        arm = int(rng.choice(np.argsort(-np.bincount(best[~outside], minlength=K))[: K // 2]))
        sigma, by_uniform = noise_sd(rng, *self.sigma), coin(rng)
        X, outside = split(4000, rng)
        behind = X[outside & (_leads(X, theta, arm).min(1) < -0.25)][:60]
        if len(behind) < 5:
            return None
        stage = Stage(split, theta, arm, behind)
        scale = _varying(arm, K, missing, rng) if self.noise == "varying" else None
        seed = seed_from(rng)

        def sampled(margin: float) -> Sampled:
            return Sampled(self._sampler(stage, self.ahead[0] * margin, self.ahead[1] * margin, point), seed)

        problem = Problem(
            theta=theta,
            sigma=sigma,
            contexts=sampled(0.0),
            weak=tuple(range(K)) if self.meeting == "all" else (arm,),
            noise="normal" if scale else self.noise,
            scale=scale,
            by_uniform=by_uniform,
        )
        if self.ahead[1]:
            for _ in range(2):  # the margin changes with the contexts
                problem = replace(problem, contexts=sampled(problem.margin))
        if self.left:
            some_left = self._with_some_left(problem, stage, rng)
            return None if some_left is None else self._mixed(some_left, rng)
        return self._mixed(self._with_list(problem, rng) if self.listed else problem, rng)

    def _mixed(self, problem: Problem, rng: Rng) -> Problem:
        """The same problem seen through other features, but for indicators."""
        if self.redundant:
            return _with_redundant_feature(problem, rng)
        if self.by_category or self.flag:
            return problem
        d, strength = problem.theta.shape[1], 1.2 if self.correlated else 0.7
        return problem.mapped(mixer(d, rng, constant=self.constant, strength=strength, decades=self.decades))

    def _sampler(self, stage: Stage, low: float, high: float, point: Array) -> Sampler:
        def draw(n: int, rng: Rng) -> Array:
            X, outside = stage.split(n, rng)
            X, moved = stage.tied(X, outside, rng.uniform(low, high, n) if high > low else low, rng)
            if self.meeting:
                X[outside if self.meeting == "all" else moved] = point
            return X

        return draw

    def _with_some_left(self, problem: Problem, stage: Stage, rng: Rng) -> Problem | None:
        """A list of contexts in which some of the leads outside are left, but not enough."""
        (K, d), missing = stage.theta.shape, self._missing(stage.theta.shape[1])
        n = 400 + 60 * K + 40 * d
        X, outside = stage.split(n, rng)
        tied, moved = stage.tied(X, outside, 0.0, rng)
        if len(moved) < 5 * d:
            return None
        left = moved
        if self.left == "rare and large":
            left = moved[np.argsort(-stage.leads(X).min(1)[moved])[: max(3 * d, len(moved) // 4)]]
        target = rng.uniform(0.5, 0.95)

        def thin(width: float) -> Problem:
            points = tied.copy()
            points[moved] = X[moved]
            points[moved, d - missing :] *= width
            return replace(problem, contexts=Listed(points))

        def rare(share: float) -> Problem:
            weights = np.ones(n)
            weights[left] = 1 - share
            contexts = Listed(np.concatenate([tied, X[left]]), np.append(weights, np.full(len(left), share)))
            return replace(problem, contexts=contexts)

        return tuned(thin if self.left == "thin" else rare, 1e-4, 1.0, target)

    def _with_list(self, problem: Problem, rng: Rng) -> Problem:
        """The same problem with a list of contexts."""
        K, d = problem.theta.shape
        per_coefficient = 3 if self.uneven or self.noise == "clicks" else 2.4
        n = int(max(rng.integers(self.listed, 101), per_coefficient * K * d))
        X, probs = problem.contexts.draw(n, rng), rng.dirichlet(np.full(n, 0.6 if self.uneven else 5.0))
        contexts = Listed(X, np.maximum(probs, 2e-4) if self.uneven else probs)
        problem = replace(problem, contexts=contexts, by_uniform=False)
        if self.noise != "clicks":
            return problem
        means = X @ problem.theta.T
        scale = 0.9 / (means.max() - means.min())
        theta = problem.theta * scale
        theta[:, 0] += 0.05 - scale * means.min()
        variance = contexts.probs @ (problem.noise_sds(X, X @ theta.T) ** 2).mean(1)
        return replace(problem, theta=theta, sigma=float(np.sqrt(variance)))


def _varying(arm: int, K: int, missing: int, rng: Rng) -> Callable[[Array], Array]:
    """Noise that grows with the last features, and that the weak arm has more of."""
    factors = np.ones(K)
    factors[arm], slope = rng.uniform(1, 2), rng.uniform(1.5, 3)
    return lambda X: (0.5 + slope * np.minimum(np.abs(X[:, -missing:]).max(1), 1.5))[:, None] * factors


def _with_redundant_feature(problem: Problem, rng: Rng) -> Problem:
    """The same problem with one more feature, a combination of others."""
    K, d = problem.theta.shape
    c = rng.normal(size=d)
    if coin(rng):
        c = np.eye(d)[0] - np.eye(d)[int(rng.integers(1, d))]
    b = rng.normal(0, 0.3, K)
    theta = np.column_stack([problem.theta - b[:, None] * c, b])
    return replace(problem, theta=theta, contexts=problem.contexts.mapped(np.vstack([np.eye(d), c])), by_uniform=False)
