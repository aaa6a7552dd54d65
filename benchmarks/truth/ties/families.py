"""The families: in most of them one arm fails by ties, by leads below the margin, or for want of contexts."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..loggers import Array
from .parts import (
    categories,
    category_weights,
    coin,
    mixer,
    noise_sd,
    plain,
    seed_from,
    shared_arms,
    shifted,
)
from .problems import Listed, Problem, Rng, Sampled, Sampler
from .search import Room, often, search, tuned
from .tie import Tie


def _rivals(K: int, X: Array, rng: Rng) -> Array:
    """All arms but one, shared evenly; a single one at random."""
    theta = shared_arms(K - 1, X, rng) if K > 2 else rng.standard_normal((1, X.shape[1])) * 0.7
    return shifted(theta, rng)


def _raised(problem: Problem, share: float) -> Problem:
    """The last arm ahead by a share of the margin, which changes with it."""
    raised = problem
    for _ in range(3):
        theta = problem.theta.copy()
        theta[-1, 0] += share * raised.margin
        raised = replace(problem, theta=theta)
    return raised


def _twin(K: int, d: int, rng: Rng, low: float = 0.0, high: float = 0.0) -> Problem | None:
    def make() -> Problem:
        draw = plain(d, rng)
        theta = _rivals(K, draw(3000, rng), rng)
        twin = int(rng.integers(K - 1))
        theta = np.vstack([theta, theta[twin]])
        share, sigma, seed, by_uniform = rng.uniform(low, high), noise_sd(rng), seed_from(rng), coin(rng)
        order = rng.permutation(K)
        problem = Problem(
            theta=theta,
            sigma=sigma,
            contexts=Sampled(draw, seed),
            weak=tuple(int(place) for place in np.argsort(order)[[twin, K - 1]]),
            by_uniform=by_uniform,
        )
        return replace(problem, theta=_raised(problem, share).theta[order]).mapped(mixer(d, rng))

    return search(make)


def _sparse_twin(K: int, d: int, rng: Rng) -> Problem | None:
    def make() -> Problem:
        share, rest = rng.uniform(0.1, 0.3), plain(d, rng)

        def draw(n: int, rng: Rng) -> Array:
            X, u = rest(n, rng), rng.random(n)
            X[:, -1] = np.where(u < share / 2, -1.0, np.where(u < share, 1.0, 0.0))
            return X

        theta = _rivals(K, draw(3000, rng), rng)
        theta = np.vstack([theta, theta[0]])
        theta[-1, -1] += rng.uniform(0.5, 2)
        sigma = noise_sd(rng)
        return Problem(theta=theta, sigma=sigma, contexts=Sampled(draw, seed_from(rng)), weak=(0, K - 1))

    return search(make)


def _combination(K: int, d: int, rng: Rng, mode: str = "") -> Problem | None:
    """mode : "touching", "below" (the margin) or "slab"; the combination itself where not given."""

    def make() -> Problem | None:
        n_parents = 2 if K == 3 else int(rng.integers(2, min(4, K - 1, d) + 1))
        n_parents = 2 if mode == "slab" else n_parents
        draw = plain(d, rng, correlated=rng.random() < 0.3)
        theta = shifted(shared_arms(K - 1, draw(3000, rng), rng), rng)
        distances = ((theta[:, 1:] - theta[int(rng.integers(K - 1)), 1:]) ** 2).sum(1)
        near = rng.random() < 0.7
        parents = np.argsort(distances)[:n_parents] if near else rng.permutation(K - 1)[:n_parents]
        parts = np.full(2, 0.5) if mode == "slab" else rng.dirichlet(np.full(n_parents, 5.0))
        contexts = Sampled(draw, seed_from(rng))
        all_arms = np.vstack([theta, parts @ theta[parents]])
        problem = Problem(theta=all_arms, sigma=noise_sd(rng), contexts=contexts, weak=(K - 1,))
        by_uniform = coin(rng)
        if mode == "touching":
            ties = _touching(draw, theta[parents[1:]] - theta[parents[0]], rng.uniform(0.25, 0.5))
            problem = replace(problem, contexts=Sampled(ties, contexts.seed))
        elif mode == "below":
            share = rng.uniform(0.9, 0.99)
            problem = _raised(replace(problem, by_uniform=by_uniform), share)
        elif mode == "slab":
            listed = replace(problem, contexts=Listed(draw(1500 + 100 * K, rng)), by_uniform=by_uniform)
            slab = tuned(lambda lead: _with_constant(listed, K - 1, lead), 0.01, 2.0, rng.uniform(0.5, 0.95))
            if slab is None:
                return None
            problem = slab
        return problem.mapped(mixer(d, rng))

    return search(make, weak=0.4 if mode == "slab" else 0.0)


def _touching(draw: Sampler, differences: Array, share: float) -> Sampler:
    """Contexts of which a share lie where the differences between arms are 0."""
    inverse = np.linalg.pinv(differences[:, 1:])

    def touching(n: int, rng: Rng) -> Array:
        X = draw(n, rng)
        chosen = rng.random(n) < share
        X[chosen, 1:] -= (X[chosen] @ differences.T) @ inverse.T
        return X

    return touching


def _with_constant(problem: Problem, arm: int, more: float) -> Problem:
    theta = problem.theta.copy()
    theta[arm, 0] += more
    return replace(problem, theta=theta)


def _small_cell(K: int, d: int, rng: Rng) -> Problem | None:
    def make() -> Problem | None:
        X = plain(d, rng, "normal" if rng.random() < 0.6 else "t")(2000 + 150 * K, rng)
        theta = shifted(shared_arms(K, X, rng), rng)
        arm = int(rng.integers(K))
        sigma, by_uniform = noise_sd(rng), coin(rng)
        theta[arm, 0] -= 4
        problem = Problem(theta=theta, sigma=sigma, contexts=Listed(X), weak=(arm,), by_uniform=by_uniform)
        raised = tuned(lambda v: _with_constant(problem, arm, v), 1e-3, 4.0, rng.uniform(0.5, 0.95), log=False)
        return None if raised is None else raised.mapped(mixer(d, rng))

    return search(make, weak=0.4)


def _grid(K: int, d: int, rng: Rng) -> Problem | None:
    def make() -> Problem:
        levels = np.arange(-3, 4) if d == 3 else np.arange(-1, 2)
        points = np.stack(np.meshgrid(np.arange(-2, 2), *[levels] * (d - 2), indexing="ij"), -1).reshape(-1, d - 1)
        X = np.column_stack([np.ones(len(points)), points])
        probs = rng.dirichlet([4, 4, 6, 5])[points[:, 0] + 2] * np.exp(rng.normal(0, 0.5, len(X)))
        probs /= probs.sum()
        theta = np.zeros((K - 1, d))
        if K > 2:
            theta = np.insert(shared_arms(K - 1, np.delete(X, 1, 1), rng, probs=probs), 1, 0.0, axis=1)
            if coin(rng):
                theta[:, 1] += rng.normal(0, 0.1, K - 1)
        theta = shifted(theta, rng)
        last = theta[int(rng.integers(K - 1))].copy()
        last[1] += rng.uniform(0.7, 3)
        contexts = Listed(X, probs)
        return Problem(theta=np.vstack([theta, last]), sigma=noise_sd(rng), contexts=contexts, weak=(K - 1,))

    return search(make, also=often)


def _corners(K: int, d: int, rng: Rng) -> Problem | None:
    def make() -> Problem:
        corners = ((np.arange(2 ** (d - 1))[:, None] >> np.arange(d - 1)) & 1).astype(np.float64)
        chances = rng.uniform(0.35, 0.7, d - 1)
        probs = np.prod(np.where(corners == 1, chances, 1 - chances), 1)
        X = np.column_stack([np.ones(len(corners)), corners])
        theta = shifted(shared_arms(K - 1, X[rng.choice(len(X), 3000, p=probs)], rng), rng)
        difference = np.array([-2.0, 1.0, 1.0, 1.0] + [0.0] * (d - 4))
        last = theta[int(rng.integers(K - 1))] + rng.uniform(0.5, 3) * difference
        contexts = Listed(X, probs)
        return Problem(theta=np.vstack([theta, last]), sigma=noise_sd(rng), contexts=contexts, weak=(K - 1,))

    return search(make, tries=250, also=often)


def _far_out(K: int, d: int, rng: Rng) -> Problem | None:
    def make() -> Problem | None:
        X = plain(d, rng)(600 + 60 * K, rng)
        theta = shared_arms(K - 1, X, rng) if K > 2 else np.zeros((1, d))
        c = rng.standard_normal(d - 1)
        c /= np.linalg.norm(c)
        distance, width = rng.uniform(4, 6), rng.uniform(2, 6)
        slope = rng.uniform(1.0, 2.0) * max(1.0, np.abs(theta[:, 1:]).max())
        last = np.append(-slope * rng.uniform(3.2, 3.8), slope * c)
        if K > 2:
            last[0] += (theta @ np.append(1, 3 * c)).max()
        theta = np.vstack([theta, last])
        sideways = rng.standard_normal((400, d - 1))
        sideways -= np.outer(sideways @ c, c)
        outwards = np.outer(3.6 + distance / 2 * np.exp(rng.standard_normal(400)), c)
        far = np.column_stack([np.ones(400), outwards + width * sideways])
        far = far[_last_leads(far @ theta.T) > 0.3][:150]
        X = X[_last_leads(X @ theta.T) < 0]
        if len(far) < 40:
            return None
        theta, sigma = shifted(theta, rng), noise_sd(rng)

        def with_share(share: float) -> Problem:
            weights = np.append(np.full(len(X), (1 - share) / len(X)), np.full(len(far), share / len(far)))
            contexts = Listed(np.concatenate([X, far]), weights)
            return Problem(theta=theta, sigma=sigma, contexts=contexts, weak=(K - 1,))

        problem = tuned(with_share, 1e-5, 0.05, rng.uniform(0.5, 0.95))
        return None if problem is None else problem.mapped(mixer(d, rng))

    def too_rare_only(room: Room) -> bool:
        return bool(room.P[0] < 1 < room.E[0, 0])

    return search(make, tries=80, weak=0.4, also=too_rare_only)


def _last_leads(means: Array) -> Array:
    return means[:, -1] - means[:, :-1].max(1)


def _flag(K: int, d: int, rng: Rng) -> Problem | None:
    inside = 1 - rng.uniform(0.02, 0.06)
    return Tie(flag=True, inside=inside, weights=[1.0] * (d - 2) + [rng.uniform(0.1, 0.5)]).draw(K, d, rng)


def _small_subspace(K: int, d: int, rng: Rng) -> Problem | None:
    return Tie(inside=rng.uniform(0.1, 0.2)).draw(K, d, rng)


def _diverse(K: int, d: int, rng: Rng, kind: str) -> Problem | None:
    """kind : "normal" or "t", of continuous features; "binary" or "categories"; "listed"."""

    def make() -> Problem:
        sigma, weights = noise_sd(rng, 0.2, 0.5), None
        if kind == "listed":
            n = max(int(rng.integers(30, 101)), 4 * K * d)
            listed = Listed(plain(d, rng)(n, rng), rng.dirichlet(np.full(n, 3.0)))
            X = listed.points[rng.choice(n, 3000, p=listed.weights)]
            return Problem(theta=shifted(shared_arms(K, X, rng), rng), sigma=sigma, contexts=listed, weak=())
        if kind == "binary":
            draw, weights = _half_binary(d, rng), [0.7] * (d // 2) + [1.0] * (d - 1 - d // 2)
        elif kind == "categories":
            draw, weights = _all_categories(d, rng), category_weights(d)
        else:
            draw = plain(d, rng, kind, correlated=kind == "t")
        theta = shifted(shared_arms(K, draw(3000, rng), rng, weights=weights), rng)
        noise, contexts = "skewed" if kind == "t" else "normal", Sampled(draw, seed_from(rng))
        problem = Problem(theta=theta, sigma=sigma, contexts=contexts, weak=(), noise=noise)
        return problem.mapped(mixer(d, rng)) if weights is None else problem

    return search(make, tries=80, good=6.0, least=2.0)


def _half_binary(d: int, rng: Rng) -> Sampler:
    """A constant, binary features and uniform ones."""
    k = d // 2
    chances = rng.uniform(0.3, 0.7, k)

    def draw(n: int, rng: Rng) -> Array:
        return np.column_stack([np.ones(n), rng.random((n, k)) < chances, rng.uniform(-1.7, 1.7, (n, d - 1 - k))])

    return draw


def _all_categories(d: int, rng: Rng) -> Sampler:
    split = categories(d, rng)
    return lambda n, rng: split(n, rng)[0]


class Family(NamedTuple):
    """A family in words, how a problem with K arms and d features is drawn, and the sizes (K, d) at which it exists."""

    words: str
    draw: Callable[[int, int, Rng], Problem | None]
    sizes: tuple[tuple[int, int], ...]


SIZES = ((2, 3), (3, 3), (5, 5), (10, 8), (3, 8), (5, 2))
"""Arms and features."""
WIDE = SIZES[:-1]
"""Most families have no problems with five arms and two features."""

FAMILIES = {
    "twin": Family("two arms are equal", _twin, SIZES),
    "near-twin": Family("one of two equal arms, raised by just less than m", partial(_twin, low=0.9, high=0.99), SIZES),
    "twin-sparse": Family("two arms differ by one feature, which is mostly 0", _sparse_twin, WIDE),
    "convex-combo": Family("an arm is an average of others", _combination, SIZES[1:]),
    "combo-kiss": Family(
        "an average of others, and many contexts where these tie", partial(_combination, mode="touching"), SIZES[1:]
    ),
    "combo-under-margin": Family(
        "an average of others, raised by just less than m", partial(_combination, mode="below"), SIZES[1:]
    ),
    "combo-slab": Family(
        "an average of two others, raised: it leads in a thin slab", partial(_combination, mode="slab"), WIDE[1:]
    ),
    "tie-one-dir": Family("ties outside of a subspace that lacks one direction", Tie().draw, WIDE),
    "tie-many-dirs": Family("ties outside of a subspace that lacks two or three", Tie(many=True).draw, WIDE),
    "near-tie": Family("leads just below m in place of ties", Tie(ahead=(0.9, 0.99)).draw, WIDE),
    "mixed-near-tie": Family("leads of 0.3 m to m in place of ties", Tie(ahead=(0.3, 0.98)).draw, WIDE),
    "plateau-under-margin": Family(
        "an arm whose leads all end just below m", Tie(inside=0.0, ahead=(0.9, 0.99)).draw, SIZES
    ),
    "tie-finite": Family("ties; a short list of contexts", Tie(listed=20).draw, WIDE),
    "tie-finite-uneven": Family(
        "ties; a short list, with some contexts far rarer than others", Tie(listed=30, uneven=True).draw, WIDE
    ),
    "tie-all-at-point": Family("ties in one context, of all arms", Tie(meeting="arm").draw, WIDE),
    "tie-categories": Family("ties in one category", Tie(by_category=True).draw, WIDE),
    "tie-heavy-tails": Family("ties; heavy-tailed, correlated features", Tie(kind="t", correlated=True).draw, WIDE),
    "tie-lognormal": Family("ties; lognormal features", Tie(kind="lognormal").draw, WIDE),
    "tie-scales": Family("ties; features whose sizes differ by powers of ten", Tie(decades=1.3).draw, WIDE),
    "tie-no-constant": Family("ties; no constant feature", Tie(constant=False).draw, WIDE),
    "tie-redundant": Family("ties; one feature is a combination of others", Tie(redundant=True).draw, WIDE),
    "tie-hetero": Family("ties; more noise where they are", Tie(noise="varying", sigma=(0.1, 0.5)).draw, WIDE),
    "tie-skew": Family("ties; skewed noise", Tie(noise="skewed", sigma=(0.3, 1.0)).draw, WIDE),
    "tie-bernoulli": Family("ties; clicks", Tie(kind="uniform", listed=40, noise="clicks").draw, WIDE),
    "tie-small-subspace": Family("ties outside of a subspace with few contexts", _small_subspace, SIZES),
    "rare-flag": Family("ties where a rare flag is set", _flag, WIDE),
    "rare-keep": Family("ties but for rare contexts", Tie(left="rare").draw, WIDE),
    "rare-huge-gap": Family(
        "ties but for rare contexts with large leads", Tie(left="rare and large", sigma=(0.1, 0.4)).draw, WIDE
    ),
    "thin-direction": Family("no ties, but an arm leads only close to a subspace", Tie(left="thin").draw, WIDE),
    "rare-extreme": Family("an arm leads only in rare contexts, far out", _far_out, SIZES),
    "small-cell": Family("an arm leads in slightly too few contexts", _small_cell, SIZES),
    "everyone-ties": Family("all arms tie in all contexts outside of a subspace", Tie(meeting="all").draw, WIDE),
    "near-tie-low-noise": Family(
        "leads just below m; little noise", Tie(ahead=(0.93, 0.99), sigma=(0.02, 0.1)).draw, WIDE
    ),
    "near-tie-high-noise": Family(
        "leads just below m; much noise", Tie(ahead=(0.9, 0.99), sigma=(1.0, 4.0)).draw, WIDE
    ),
    "sparse-grid": Family("a grid; an arm leads on one face, and ties beside it", _grid, WIDE),
    "binary-face": Family(
        "binary features; an arm leads where three are set, and ties where two are", _corners, ((3, 8),)
    ),
    "diverse-normal": Family("diverse: normal features", partial(_diverse, kind="normal"), WIDE),
    "diverse-finite": Family("diverse: a short list of contexts", partial(_diverse, kind="listed"), WIDE),
    "diverse-categories": Family("diverse: categories", partial(_diverse, kind="categories"), WIDE),
    "diverse-heavy-tails": Family("diverse: heavy-tailed features, skewed noise", partial(_diverse, kind="t"), WIDE),
    "diverse-binary": Family("diverse: half of the features are binary", partial(_diverse, kind="binary"), WIDE),
}
