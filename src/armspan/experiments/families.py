"""Random bandit problems in ten families, to ask whether what an audit says before is what is seen after.

A family guarantees what its name says and a least lead of the best arm; everything else is left to chance.
"""

from collections.abc import Callable, Sequence

import numpy as np

from armspan._typing import FloatArray
from armspan.environments import BoxContexts, Environment, FiniteContexts, Gaussian, MarkovContexts, Rademacher
from armspan.environments.noise import Noise
from armspan.errors import InvalidParameter

MOST_CONTEXTS = 12
LEAST_LEAD = 0.05
"""Of the best arm in every context, in units of the rewards' scale."""
TRIES = 2000
"""Draws of one context after which the whole problem is drawn anew."""

OneContext = Callable[[np.random.Generator, int | None], FloatArray]
"""Features (K, d) of a context that the given arm is to win; None for whichever arm."""


class _OutOfReach(Exception):
    """No context with the wanted winner and lead was found, or no box with the wanted gap."""


def draw_problem(family: str, rng: np.random.Generator) -> Environment:
    """One random problem of a family."""
    if family not in FAMILIES:
        raise InvalidParameter(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
    return FAMILIES[family](rng)


# -- parts -------------------------------------------------------------------------------------------------------------


def _sizes(rng: np.random.Generator) -> tuple[int, int]:
    """K and d."""
    return int(rng.integers(2, 5)), int(rng.integers(2, 4))


def _vectors(rng: np.random.Generator, *shape: int) -> FloatArray:
    """Vectors in any direction, between 0.7 and 1.3 long."""
    v = rng.standard_normal(shape)
    return v * (rng.uniform(0.7, 1.3, (*shape[:-1], 1)) / np.linalg.norm(v, axis=-1, keepdims=True))


def _noise(rng: np.random.Generator, low: float = 0.2, high: float = 1.0) -> Noise:
    """Gaussian or Rademacher noise with a scale between low and high."""
    scale = low * (high / low) ** rng.random()
    return Gaussian(scale) if rng.random() < 0.5 else Rademacher(scale)


def _contexts(
    rng: np.random.Generator, theta: FloatArray, winners: Sequence[int | None], lead: float, one: OneContext
) -> FloatArray:
    """Features (K, n, d) of one context for each wanted winner, each drawn until it has that winner and the lead."""
    return np.stack([_context(rng, theta, winner, lead, one) for winner in winners], axis=1)


def _context(
    rng: np.random.Generator, theta: FloatArray, winner: int | None, lead: float, one: OneContext
) -> FloatArray:
    for _ in range(TRIES):
        x = one(rng, winner)
        means = np.einsum("kd,kd->k", x, theta)
        best, second = np.sort(means)[:-3:-1]
        if best - second >= lead and winner in (None, int(np.argmax(means))):
            return x
    raise _OutOfReach


def _until_found(draw: Callable[[np.random.Generator], Environment]) -> Callable[[np.random.Generator], Environment]:
    """Draw again where a context or a gap was out of reach."""

    def repeated(rng: np.random.Generator) -> Environment:
        while True:
            try:
                return draw(rng)
            except _OutOfReach:
                continue

    return repeated


def _any_direction(K: int, d: int) -> OneContext:
    return lambda rng, winner: _vectors(rng, K, d)


def _each_wins(rng: np.random.Generator, arms: Sequence[int], d: int, most: int = MOST_CONTEXTS) -> list[int | None]:
    """Winners, in any order, such that each of these arms has at least d contexts: enough to span."""
    extra = rng.integers(0, most - len(arms) * d + 1)
    winners = np.concatenate([np.repeat(np.asarray(arms), d), rng.choice(np.asarray(arms), extra)])
    return [int(a) for a in rng.permutation(winners)]


def _all_or_any(rng: np.random.Generator, K: int, d: int) -> list[int | None]:
    """Enough contexts for each arm in half of the draws, whichever arm wins in the others."""
    if rng.random() < 0.5:
        return _each_wins(rng, range(K), d)
    return [None] * int(rng.integers(K, MOST_CONTEXTS + 1))


def _table(rng: np.random.Generator, lead: float = LEAST_LEAD) -> tuple[FloatArray, FloatArray]:
    """Features (K, n, d) and θ; every arm is best in contexts that span in half of the draws, any arm in the others."""
    K, d = _sizes(rng)
    theta = _vectors(rng, K, d)
    return _contexts(rng, theta, _all_or_any(rng, K, d), lead, _any_direction(K, d)), theta


# -- families ----------------------------------------------------------------------------------------------------------


def _finite_diverse(rng: np.random.Generator) -> Environment:
    """Every arm is best in contexts that span, by at least 0.1."""
    K, d = _sizes(rng)
    theta = _vectors(rng, K, d)
    features = _contexts(rng, theta, _each_wins(rng, range(K), d), 0.1, _any_direction(K, d))
    return FiniteContexts(features, theta, noise=_noise(rng), name="finite-diverse")


def _finite_flat(rng: np.random.Generator) -> Environment:
    """Some arm's features where it is best do not span: too few contexts, or all of them in one subspace."""
    K, d = _sizes(rng)
    theta = _vectors(rng, K, d)
    flat = set(range(K)) if rng.random() < 0.2 else {int(rng.integers(K))}
    others = [a for a in range(K) if a not in flat]
    room = MOST_CONTEXTS - d * len(flat)
    winners: list[int | None] = _each_wins(rng, others, d, room) if others else []
    few = rng.random() < 0.5
    for a in flat:
        winners += [a] * (int(rng.integers(1, d)) if few else d)
    bases = _vectors(rng, K, d - 1, d)

    def one(rng: np.random.Generator, winner: int | None) -> FloatArray:
        x = _vectors(rng, K, d)
        if winner is not None and winner in flat and not few:
            inside = rng.standard_normal(d - 1) @ bases[winner]
            x[winner] = inside * (rng.uniform(0.7, 1.3) / np.linalg.norm(inside))
        return x

    features = _contexts(rng, theta, winners, LEAST_LEAD, one)
    return FiniteContexts(features, theta, noise=_noise(rng), name="finite-flat")


def _finite_dominated(rng: np.random.Generator) -> Environment:
    """One arm is never best; every other one is, in contexts that span."""
    K, d = _sizes(rng)
    theta = _vectors(rng, K, d)
    loser = int(rng.integers(K))
    winners = _each_wins(rng, [a for a in range(K) if a != loser], d)
    features = _contexts(rng, theta, winners, LEAST_LEAD, _any_direction(K, d))
    return FiniteContexts(features, theta, noise=_noise(rng), name="finite-dominated")


def _beta(rng: np.random.Generator) -> Environment:
    """Features from Beta distributions, one for each arm and feature."""
    K, d = _sizes(rng)
    theta = _vectors(rng, K, d)
    if rng.random() < 0.5:
        theta = np.abs(theta)
    a, b = np.exp(rng.uniform(np.log(0.3), np.log(4.0), (2, K, d)))
    n = int(rng.integers(K, MOST_CONTEXTS + 1))
    features = _contexts(rng, theta, [None] * n, LEAST_LEAD, lambda rng, winner: rng.beta(a, b))
    return FiniteContexts(features, theta, noise=_noise(rng), name="beta")


def _sparse(rng: np.random.Generator) -> Environment:
    """Most features, and about half of θ, are 0."""
    K, d = _sizes(rng)
    theta = _vectors(rng, K, d) * (rng.random((K, d)) < 0.6)
    filled = rng.uniform(0.15, 0.4)

    def one(rng: np.random.Generator, winner: int | None) -> FloatArray:
        return _vectors(rng, K, d) * (rng.random((K, d)) < filled)

    features = _contexts(rng, theta, _all_or_any(rng, K, d), LEAST_LEAD, one)
    return FiniteContexts(features, theta, noise=_noise(rng), name="sparse")


def _uneven(rng: np.random.Generator) -> Environment:
    """Some contexts arrive up to 1000 times as often as others: from a Dirichlet distribution, or in equal ratios."""
    features, theta = _table(rng)
    n = features.shape[1]
    p = (
        rng.dirichlet(np.full(n, rng.uniform(0.05, 0.3)))
        if rng.random() < 0.5
        else rng.permutation(np.logspace(-3, 0, n))
    )
    p = np.maximum(p, p.max() / 1000)
    return FiniteContexts(features, theta, p / p.sum(), noise=_noise(rng), name="uneven")


def _markov(rng: np.random.Generator) -> Environment:
    """A chain that stays where it is half of the time or nearly always."""
    features, theta = _table(rng)
    n = features.shape[1]
    stay = 1 - np.exp(rng.uniform(np.log(0.01), np.log(0.5), (n, 1)))
    transition = stay * np.eye(n) + (1 - stay) * rng.dirichlet(np.ones(n), n)
    return MarkovContexts(features, theta, transition, noise=_noise(rng), name="markov")


def _scaled(rng: np.random.Generator) -> Environment:
    """Rewards of scale 50, through the features, θ or both; noise of 5 to 50."""
    features, theta = _table(rng)
    share = rng.choice([0.0, 0.5, 1.0])
    return FiniteContexts(features * 50**share, theta * 50 ** (1 - share), noise=_noise(rng, 5, 50), name="scaled")


def _noisy(rng: np.random.Generator) -> Environment:
    """Noise 3 or 10 on rewards of about 1; the noise counts as their scale for the least lead."""
    scale = float(rng.choice([3.0, 10.0]))
    features, theta = _table(rng, LEAST_LEAD * scale)
    return FiniteContexts(features, theta, noise=_noise(rng, scale, scale), name="noisy")


def _box(rng: np.random.Generator) -> Environment:
    """Features uniform in a box, with a gap of 0.1 to 0.5 of θ's length."""
    K, d = _sizes(rng)
    theta = _vectors(rng, K, d)
    gap = rng.uniform(0.1, 0.5) * float(np.linalg.norm(theta, axis=1).max())
    low = float(rng.choice([0.0, -1.0, -0.3]))
    try:
        return BoxContexts(theta, low, 1.0, gap=gap, noise=_noise(rng), name="box")
    except InvalidParameter as error:  # hardly any draw reaches the gap
        raise _OutOfReach from error


FAMILIES: dict[str, Callable[[np.random.Generator], Environment]] = {
    "finite-diverse": _until_found(_finite_diverse),
    "finite-flat": _until_found(_finite_flat),
    "finite-dominated": _until_found(_finite_dominated),
    "beta": _until_found(_beta),
    "sparse": _until_found(_sparse),
    "uneven": _until_found(_uneven),
    "markov": _until_found(_markov),
    "scaled": _until_found(_scaled),
    "noisy": _until_found(_noisy),
    "box": _until_found(_box),
}
