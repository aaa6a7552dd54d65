"""Families of problems whose mean rewards are not linear in the logged features; in most of them, some arm never leads.

Means are a straight part plus curves of the features, weighted by arm, and sometimes passed through a logistic link.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from .loggers import Array
from .newcomers import Family
from .problems import LEADLESS, Problem

Rng = np.random.Generator
Curves = Callable[[Array], Array]
Source = Callable[[int, Rng], Array]
Maker = Callable[[int, int, Rng], Problem]

POINTS = 40_000  # contexts over which the truth is computed
TRIES = 30
CLEAR = 1.5  # how far the truth stays from every threshold, as a factor

SHAPES: dict[str, Callable[[Array], Array]] = {
    "v": np.abs,
    "square": np.square,
    "peak": lambda t: np.exp(-0.5 * t**2),
    "pulse": lambda t: (np.abs(t) < 1).astype(np.float64),
    "hinge": lambda t: np.maximum(t, 0.0),
    "step": lambda t: (t > 0).astype(np.float64),
    "saturation": lambda t: 1.0 - np.exp(-np.maximum(t + 2.0, 0.0)),
    "logistic": lambda t: 1.0 / (1.0 + np.exp(-np.clip(4.0 * t, -30.0, 30.0))),
    "wave": lambda t: 1.0 + np.cos(2.0 * np.pi * t),
    "log": lambda t: np.log(np.maximum(t, 0.02)),
    "exp": lambda t: np.exp(np.clip(t, -6.0, 3.0)),
}


@dataclass(frozen=True, eq=False)
class Bent(Problem):
    """Means lift + u'theta + curves(u) coefs', or the logistic function of it. A log draws its contexts from `source`.

    `points` is the list of contexts, or a large sample from `source`.
    """

    curves: Curves | None = None
    coefs: Array | None = None
    lift: Array | None = None
    logistic: bool = False
    source: Source | None = None

    def means(self, U: Array) -> Array:
        F: Array = U @ self.theta.T
        if self.lift is not None:
            F += self.lift
        if self.curves is not None and self.coefs is not None:
            F += self.curves(U) @ self.coefs.T
        return np.asarray(1.0 / (1.0 + np.exp(-F))) if self.logistic else F

    def _contexts(self, n: int, rng: Rng) -> Array:
        return super()._contexts(n, rng) if self.source is None else self.source(n, rng)


@dataclass(frozen=True, eq=False)
class Hidden(Bent):
    """The one curve is the chance, given the logged features, that an unlogged yes-no variable is yes."""

    def _chance(self, U: Array) -> tuple[Array, Array]:
        """The chance of a yes in each context, and what a yes adds to the reward of each arm."""
        assert self.curves is not None
        assert self.coefs is not None
        return self.curves(U)[:, 0], self.coefs[:, 0]

    def _noise_variances(self, U: Array, F: Array, weight: Array) -> Array:
        chance, gain = self._chance(U)
        return np.asarray(self.sigma**2 + gain**2 * float(weight @ (chance * (1 - chance))))

    def _outcomes(self, U: Array, F: Array, rng: Rng) -> Array:
        chance, gain = self._chance(U)
        surprise = (rng.random(len(U)) < chance).astype(np.float64) - chance
        noise = self.sigma * rng.standard_normal(len(U))[:, np.newaxis]
        return np.asarray(F + np.outer(surprise, gain) + noise)


# Contexts


def scatter(kind: str, mix: Array, n: int, rng: Rng) -> Array:
    """An intercept (none for the kind `bare`) and mixed numbers."""
    shape = (n, len(mix))
    if kind == "even":
        draws = rng.uniform(-1.7, 1.7, shape)
    elif kind == "skewed":
        draws = np.exp(0.7 * rng.standard_normal(shape)) - 1.278
    elif kind == "heavy":
        draws = rng.standard_t(5, shape) / 1.3
    elif kind == "twin peaks":
        draws = rng.choice([-1.0, 1.0], shape) + 0.4 * rng.standard_normal(shape)
    else:
        draws = rng.standard_normal(shape)
    return draws @ mix if kind == "bare" else np.column_stack([np.ones(n), draws @ mix])


def days(d: int, n: int, rng: Rng) -> Array:
    """An intercept, the hour of the day (more in the morning and the evening), the weekday, and numbers."""
    peaks = np.where(rng.random(n) < 0.5, 9.0, 20.0) + 2.0 * rng.standard_normal(n)
    hour = np.where(rng.random(n) < 0.4, rng.uniform(0.0, 24.0, n), peaks) % 24.0
    others = [rng.integers(7, size=n).astype(np.float64), *rng.standard_normal((max(d - 3, 0), n))]
    return np.column_stack([np.ones(n), hour, *others][:d])


def people(d: int, n: int, rng: Rng) -> Array:
    """An intercept, income (skewed, higher for the older), age, years as a customer, and numbers."""
    age = 18.0 + 62.0 * rng.beta(1.5, 2.0, n)
    income = np.exp(1.0 + 0.01 * (age - 40.0) + 0.7 * rng.standard_normal(n))
    years = rng.exponential(3.0, n)
    return np.column_stack([np.ones(n), income, age, years, *rng.standard_normal((max(d - 4, 0), n))])[:, :d]


def groups(G: int, d: int, n: int, rng: Rng) -> Array:
    """G categories as indicator columns, of unequal frequency, and numbers."""
    shares = 1.0 / np.arange(2, G + 2)
    category = rng.choice(G, size=n, p=shares / shares.sum())
    return np.hstack([np.eye(G)[category], rng.standard_normal((n, d - G))])


def _scattered(d: int, rng: Rng) -> Source:
    kinds = ["normal", "even", "skewed", "heavy", "twin peaks"]
    mix = np.eye(d - 1) + (0.4 * rng.standard_normal((d - 1, d - 1)) if rng.random() < 0.4 else 0.0)
    return partial(scatter, str(rng.choice(kinds)), mix)


def _lattice(d: int, rng: Rng) -> tuple[Array, Array]:
    """A finite grid of levels of unequal frequency, with an intercept."""
    levels = np.linspace(-1.5, 1.5, {2: 15, 3: 9, 4: 7, 5: 5}.get(d, 3))
    rest = np.array(list(product(levels, repeat=d - 1)))
    return np.column_stack([np.ones(len(rest)), rest]), rng.dirichlet(np.full(len(rest), 3.0))


# Curves


def along(kind: str, directions: Array, at: Array, U: Array) -> Array:
    """Curves of one kind along directions, from where each of them starts."""
    return np.asarray(SHAPES[kind](U @ directions.T - at))


def products(pairs: Array, middle: Array, scale: Array, U: Array) -> Array:
    """Products of pairs of features, each taken from its middle, in its own scale."""
    Z = (U - middle) / scale
    return np.asarray(Z[:, pairs[:, 0]] * Z[:, pairs[:, 1]])


def ratios(pairs: Array, low: Array, scale: Array, U: Array) -> Array:
    """One feature over another, both counted from a low value up so that they are positive."""
    Z = np.maximum((U - low) / scale, 0.0)
    return np.asarray(Z[:, pairs[:, 0]] / (0.3 + Z[:, pairs[:, 1]]))


def bottleneck(middle: Array, scale: Array, U: Array) -> Array:
    """The smallest of all features but the intercept."""
    return np.asarray(((U - middle) / scale)[:, 1:].min(axis=1, keepdims=True))


def bells(centres: Array, width: float, middle: Array, scale: Array, U: Array) -> Array:
    """A round peak at each centre."""
    Z = ((U - middle) / scale)[:, 1:]
    return np.exp(-0.5 * ((Z[:, np.newaxis] - centres) ** 2).sum(axis=2) / width**2)


def sectors(i: int, j: int, middle: Array, scale: Array, U: Array) -> Array:
    """The two saddles of a pair of features."""
    Z = (U - middle) / scale
    return np.column_stack([Z[:, i] ** 2 - Z[:, j] ** 2, 2.0 * Z[:, i] * Z[:, j]])


def by_category(G: int, curves: tuple[Curves, ...], U: Array) -> Array:
    """A curve for each of the G categories, zero in the others."""
    return np.hstack([U[:, [g]] * curve(U) for g, curve in zip(range(G), curves, strict=True)])


def beside(parts: tuple[Curves, ...], U: Array) -> Array:
    """Several sets of curves, side by side."""
    return np.hstack([part(U) for part in parts])


def best_of(theta: Array, lift: Array, U: Array) -> Array:
    """The highest of several lines."""
    return np.asarray((U @ theta.T + lift).max(axis=1, keepdims=True))


def _scales(U: Array) -> tuple[Array, Array]:
    """Where each feature has its middle, and its sd (1 for a constant)."""
    sd = U.std(axis=0)
    return np.median(U, axis=0), np.where(sd > 1e-9, sd, 1.0)


def _aimed(kind: str, U: Array, J: int, rng: Rng, column: int | None = None, sharp: float | None = None) -> Curves:
    """J curves of a kind, along one feature or along random directions, each in its own place."""
    sd = U.std(axis=0)
    free = sd > 1e-9
    directions = np.zeros((J, U.shape[1]))
    if column is None:
        directions[:, free] = rng.standard_normal((J, int(free.sum()))) / sd[free]
    else:
        directions[:, column] = 1.0 / sd[column]
    steep = rng.uniform(0.7, 1.6, J) if sharp is None else np.full(J, sharp)
    directions *= (steep / (U @ directions.T).std(axis=0))[:, np.newaxis]
    along_them = U @ directions.T
    at = np.array([np.quantile(s, rng.uniform(0.2, 0.8)) for s in along_them.T])
    return partial(along, kind, directions, at)


def _pairs(d: int, rng: Rng) -> Array:
    """Two pairs of different features, without the intercept."""
    return np.array([rng.choice(np.arange(1, d), 2, replace=False) for _ in range(2)])


# Arms


def _slopes(U: Array, rng: Rng) -> Array:
    """Random slopes of a line with sd 1."""
    sd = U.std(axis=0)
    free = sd > 1e-9
    slopes = np.zeros(U.shape[1])
    slopes[free] = rng.standard_normal(int(free.sum())) / sd[free]
    return np.asarray(slopes / (U @ slopes).std())


def _weights(curves: Curves, U: Array, strength: float, rng: Rng) -> Array:
    """Weights of the curves whose sum has sd `strength`."""
    values = curves(U)
    weights = rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 1.0, values.shape[1])
    return np.asarray(weights * strength / max(float((values @ weights).std()), 1e-6))


def _strength(rng: Rng) -> float:
    """The sd of the bend, in sds of the noise: mild to strong."""
    return float(np.exp(rng.uniform(np.log(0.3), np.log(6.0))))


def _lift(K: int, sd: float, rng: Rng) -> Array:
    """Constants: none, too slight to matter, one arm above, one below, or a ladder; sd is that of the rewards."""
    unit, mode = 0.05 * sd, int(rng.integers(6))
    lift = np.zeros(K)
    if mode == 1:
        lift = rng.uniform(0.0, 0.3, K) * unit
    elif mode in (2, 3):
        lift[0] = rng.uniform(2.5, 15.0) * unit
    elif mode == 4:
        lift[0] = -rng.uniform(2.5, 15.0) * unit
    elif mode == 5:
        lift = np.cumsum(rng.uniform(2.5, 6.0, K)) * unit
    return lift


def _level(F: Array) -> Array:
    """Constants that make all arms the best about equally often."""
    K = F.shape[1]
    lift, size = np.zeros(K), float(F.std())
    for step in range(25):
        shares = np.bincount((F + lift).argmax(axis=1), minlength=K) / len(F)
        lift -= size / (1 + 0.3 * step) * (shares - 1 / K)
    return lift


def _built(
    U: Array,
    theta: Array,
    curves: Curves,
    coefs: Array,
    lift: Array,
    source: Source | None,
    rng: Rng,
    probs: Array | None = None,
    noise: str = "",
    logistic: bool = False,
    form: type[Bent] = Bent,
) -> Problem:
    """The problem with noise of sd 1, then in a random scale, the arms in random order, shown in a random way."""
    K, d = theta.shape
    order, scale = rng.permutation(K), 1.0 if logistic else float(10.0 ** rng.uniform(-1.0, 1.0))
    noise = noise or str(rng.choice(["normal", "normal", "uneven", "student"]))
    return form(
        "",
        K,
        d,
        theta[order] * scale,
        scale,
        points=np.ascontiguousarray(U),
        probs=probs,
        noise=noise,
        tilt=rng.uniform(-0.5, 0.5, K) if noise == "uneven" else None,
        view=_view(d, rng),
        curves=curves,
        coefs=coefs[order] * scale,
        lift=lift[order] * scale,
        logistic=logistic,
        source=source,
    )


def _view(d: int, rng: Rng) -> Array | None:
    """How the features are shown: mostly as they are, else rescaled or mixed."""
    kind = rng.random()
    if kind < 0.6:
        return None
    scales = np.diag(10.0 ** rng.uniform(-0.5, 0.5, d))
    return np.asarray(np.linalg.qr(rng.standard_normal((d, d)))[0] @ scales if kind > 0.8 else scales)


def _shared(
    K: int,
    U: Array,
    curves: Curves,
    source: Source | None,
    rng: Rng,
    probs: Array | None = None,
    form: type[Bent] = Bent,
) -> Problem:
    """All arms have one bent baseline and differ by constants at most."""
    strength = _strength(rng)
    weights = _weights(curves, U, strength, rng)
    slope = rng.choice([0.0, 0.5]) * _slopes(U, rng)
    lift = _lift(K, float(np.hypot(1.0, (curves(U) @ weights + U @ slope).std())), rng)
    noise = "normal" if form is Hidden else ""
    coefs = np.tile(weights, (K, 1))
    return _built(U, np.tile(slope, (K, 1)), curves, coefs, lift, source, rng, probs, noise, form=form)


def _scaled(K: int, U: Array, curves: Curves, source: Source | None, rng: Rng) -> Problem:
    """All arms have one bent gain, positive everywhere, in different sizes: the largest is always best."""
    strength = _strength(rng)
    weights = np.abs(_weights(curves, U, strength, rng))
    sizes = 1.0 + np.cumsum(rng.uniform(0.15, 0.6, K))
    slope = rng.choice([0.0, 0.5]) * _slopes(U, rng)
    coefs = np.outer(sizes, weights) / sizes.mean()
    return _built(U, np.tile(slope, (K, 1)), curves, coefs, np.zeros(K), source, rng)


def _own_lines(K: int, U: Array, rng: Rng, power: float = 1.0) -> tuple[Array, Array]:
    """Lines of which each is the best somewhere, and the constants that make it so."""
    theta = power * np.array([rng.uniform(0.5, 1.5) * _slopes(U, rng) for _ in range(K)])
    return theta, _level(U @ theta.T)


# Families in which some arm does not lead in enough contexts


def _baseline(kind: str, J: int) -> Maker:
    """All arms share curves of one kind, in scattered contexts or on a grid of levels."""

    def make(K: int, d: int, rng: Rng) -> Problem:
        if rng.random() < 0.3:
            U, p = _lattice(d, rng)
            return _shared(K, U, _aimed(kind, U, J, rng), None, rng, p)
        source = _scattered(d, rng)
        U = source(POINTS, rng)
        return _shared(K, U, _aimed(kind, U, J, rng), source, rng)

    return make


def _one_feature(kind: str, whose: Callable[[int, int, Rng], Array], column: int, scaled: bool) -> Maker:
    """All arms share a curve of one realistic feature, by constants or by sizes."""

    def make(K: int, d: int, rng: Rng) -> Problem:
        source: Source = partial(whose, d)
        U = source(POINTS, rng)
        curves = _aimed(kind, U, 1, rng, column)
        return (_scaled if scaled else _shared)(K, U, curves, source, rng)

    return make


def _hours(K: int, d: int, rng: Rng) -> Problem:
    source: Source = partial(days, d)
    directions = np.zeros((2, d))
    directions[:, 1] = np.array([1.0, 2.0]) / 24.0
    U, curves = source(POINTS, rng), partial(along, "wave", directions, rng.random(2))
    return (_scaled if rng.random() < 0.4 else _shared)(K, U, curves, source, rng)


def _log_income(K: int, d: int, rng: Rng) -> Problem:
    source: Source = partial(people, d)
    direction = np.eye(d)[[1]]
    return _shared(K, source(POINTS, rng), partial(along, "log", direction, np.zeros(1)), source, rng)


def _products(K: int, d: int, rng: Rng) -> Problem:
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    return _shared(K, U, partial(products, _pairs(d, rng), *_scales(U)), source, rng)


def _ratios(K: int, d: int, rng: Rng) -> Problem:
    source: Source = partial(people, d) if rng.random() < 0.5 else _scattered(d, rng)
    U = source(POINTS, rng)
    curves = partial(ratios, _pairs(d, rng), np.quantile(U, 0.01, axis=0), _scales(U)[1])
    return (_scaled if rng.random() < 0.5 else _shared)(K, U, curves, source, rng)


def _bottleneck(K: int, d: int, rng: Rng) -> Problem:
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    return _shared(K, U, partial(bottleneck, *_scales(U)), source, rng)


def _bare(K: int, d: int, rng: Rng) -> Problem:
    source: Source = partial(scatter, "bare", np.eye(d) + 0.3 * rng.standard_normal((d, d)))
    U = source(POINTS, rng)
    return _shared(K, U, _aimed(str(rng.choice(["v", "hinge", "peak"])), U, 2, rng), source, rng)


def _hidden(K: int, d: int, rng: Rng) -> Problem:
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    return _shared(K, U, _aimed(str(rng.choice(["peak", "logistic", "pulse"])), U, 1, rng), source, rng, form=Hidden)


def _regimes(K: int, d: int, rng: Rng) -> Problem:
    G = min(3, d - 1)
    source: Source = partial(groups, G, d)
    U = source(POINTS, rng)
    kinds = rng.choice(["v", "step", "saturation", "square", "hinge"], G)
    curves = tuple(_aimed(str(kind), U, 1, rng, int(rng.integers(G, d))) for kind in kinds)
    return _shared(K, U, partial(by_category, G, curves), source, rng)


def _clicks(K: int, d: int, rng: Rng) -> Problem:
    """Click chances with parallel log odds, straight or with a hinge."""
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    curves = _aimed("hinge", U, 1, rng)
    coefs = np.full((K, 1), rng.choice([0.0, 1.5]))
    theta = np.tile(rng.uniform(1.5, 4.0) * _slopes(U, rng), (K, 1))
    lift = np.zeros(K)
    if rng.random() < 0.7:
        lift = np.cumsum(rng.uniform(0.1, 1.0, K))
    lift -= rng.uniform(0.0, 3.0) + lift.mean()
    noise = str(rng.choice(["clicks", "clicks", "revenue"]))
    return _built(U, theta, curves, coefs, lift, source, rng, noise=noise, logistic=True)


def _leader(K: int, d: int, rng: Rng) -> Problem:
    """One arm leads everywhere; each other falls short by a constant and a curve of its own."""
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    curves = _aimed(str(rng.choice(["peak", "hinge", "logistic", "v"])), U, K, rng)
    coefs = -_strength(rng) * np.diag(rng.uniform(0.5, 1.5, K)) / curves(U).std(axis=0)
    coefs[0] = 0.0
    lift = -rng.uniform(0.0, 0.5, K)
    lift[0] = 0.0
    return _built(U, np.tile(_slopes(U, rng), (K, 1)), curves, coefs, lift, source, rng)


def _blend(K: int, d: int, rng: Rng) -> Problem:
    """All arms but one have bent means of their own; the last is a blend of them, so it never leads."""
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    curves = _aimed(str(rng.choice(["v", "peak", "logistic"])), U, K + 1, rng)
    theta, _ = _own_lines(K - 1, U, rng, float(rng.uniform(0.2, 1.0)))
    coefs = _strength(rng) * rng.standard_normal((K - 1, K + 1)) / (curves(U).std(axis=0) * np.sqrt(K + 1))
    lift = _level(U @ theta.T + curves(U) @ coefs.T)
    mix = np.vstack([np.eye(K - 1), rng.dirichlet(np.full(K - 1, 2.0))])
    return _built(U, mix @ theta, curves, mix @ coefs, mix @ lift, source, rng)


def _twins(K: int, d: int, rng: Rng) -> Problem:
    """Arms with peaks of their own, but two of them with the same."""
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    centres = rng.standard_normal((K - 1, d - 1))
    curves = partial(bells, centres, float(rng.uniform(0.8, 1.6)), *_scales(U))
    coefs = rng.uniform(1.0, 6.0) * np.eye(K - 1)
    lift, copied = _level(curves(U) @ coefs.T), np.append(np.arange(K - 1), 0)
    theta = np.tile(_slopes(U, rng), (K, 1))
    return _built(U, theta, curves, coefs[copied], lift[copied], source, rng)


def _niches(K: int, d: int, rng: Rng) -> Problem:
    """Arms on one bent baseline, each with a thin band along a direction in which it alone is better."""
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    bands, base = _aimed("pulse", U, K, rng, sharp=rng.uniform(12.0, 40.0)), _aimed("v", U, 1, rng)
    weights = _weights(base, U, _strength(rng), rng)
    coefs = np.hstack([rng.uniform(0.5, 3.0) * np.eye(K), np.tile(weights, (K, 1))])
    return _built(U, np.zeros((K, d)), partial(beside, (bands, base)), coefs, np.zeros(K), source, rng)


def _rare_tail(K: int, d: int, rng: Rng) -> Problem:
    """One arm is the best of all, except that the others gain beyond a limit that few contexts pass."""
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    tails = np.array([_slopes(U, rng) for _ in range(K)])
    at = np.array([np.quantile(s, 1 - rng.uniform(0.05, 0.5) * 0.015 / K) for s in (U @ tails.T).T])
    base = _aimed(str(rng.choice(["square", "saturation", "hinge"])), U, 2, rng)
    weights = _weights(base, U, _strength(rng), rng)
    coefs = np.hstack([8.0 * np.eye(K), np.tile(weights, (K, 1))])
    lift = np.zeros(K)
    lift[0] = rng.uniform(2.5, 8.0) * 0.05 * float(np.hypot(1.0, (base(U) @ weights).std()))
    curves = partial(beside, (partial(along, "hinge", tails, at), base))
    return _built(U, np.zeros((K, d)), curves, coefs, lift, source, rng)


def _blind(K: int, d: int, rng: Rng) -> Problem:
    """Every arm leads somewhere, but in one category one of them is a copy of another (or short of it)."""
    G = 2 if d < 6 else 3
    source: Source = partial(groups, G, d)
    U = source(POINTS, rng)
    curves = partial(by_category, G, tuple(_aimed("peak", U, K, rng, int(rng.integers(G, d))) for _ in range(G)))
    coefs = rng.uniform(1.5, 5.0) * np.tile(np.eye(K), (1, G))
    theta = np.tile(_slopes(U, rng), (K, 1))
    theta[:, G:] += 0.5 * rng.standard_normal((K, d - G))
    for g in range(G):
        rows = U[:, g] == 1.0
        theta[:, g] = _level((U @ theta.T + curves(U) @ coefs.T)[rows])
    theta[0, G:] = theta[1, G:]
    coefs[0, :K] = coefs[1, :K]
    theta[0, 0] = theta[1, 0] - rng.choice([0.0, 0.5])
    return _built(U, theta, curves, coefs, np.zeros(K), source, rng)


def _shadow(K: int, d: int, rng: Rng) -> Problem:
    """One arm stays a constant (or nothing) below the best of the others, which have lines of their own."""
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    lines, lift = _own_lines(K - 1, U, rng, float(rng.uniform(0.5, 3.0)))
    theta, levels = np.vstack([lines, np.zeros(d)]), np.append(lift, -rng.choice([0.0, rng.uniform(0.0, 0.5)]))
    base = _aimed(str(rng.choice(["v", "peak", "step"])), U, 1, rng)
    weights = rng.choice([0.0, 1.0]) * _weights(base, U, _strength(rng), rng)
    coefs = np.hstack([np.eye(K)[:, [-1]], np.tile(weights, (K, 1))])
    return _built(U, theta, partial(beside, (partial(best_of, lines, lift), base)), coefs, levels, source, rng)


def _losses(K: int, d: int, rng: Rng) -> Problem:
    """Arms as good as the best of them, except that each of the others loses beyond a limit."""
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    curves = _aimed(str(rng.choice(["hinge", "step", "exp"])), U, K - 1, rng)
    coefs = np.vstack([np.zeros(K - 1), -_strength(rng) * np.eye(K - 1) / curves(U).std(axis=0)])
    lift = -np.append(0.0, rng.choice([0.0, 0.1]) * rng.random(K - 1))
    return _built(U, np.tile(_slopes(U, rng), (K, 1)), curves, coefs, lift, source, rng)


# Diverse families


def _own_slopes(K: int, d: int, rng: Rng) -> Problem:
    """Lines of their own on top of one bent baseline."""
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    curves = _aimed(str(rng.choice(["v", "peak", "step", "square"])), U, 2, rng)
    weights = _weights(curves, U, _strength(rng), rng)
    theta, lift = _own_lines(K, U, rng, float(rng.uniform(0.5, 2.0)))
    return _built(U, theta, curves, np.tile(weights, (K, 1)), lift, source, rng)


def _own_peaks(K: int, d: int, rng: Rng) -> Problem:
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    curves = partial(bells, 0.8 * rng.standard_normal((K, d - 1)), float(rng.uniform(1.0, 1.8)), *_scales(U))
    coefs = rng.uniform(2.0, 6.0) * np.eye(K)
    theta = np.tile(rng.choice([0.0, 1.0]) * _slopes(U, rng), (K, 1))
    return _built(U, theta, curves, coefs, _level(curves(U) @ coefs.T), source, rng)


def _own_hours(K: int, d: int, rng: Rng) -> Problem:
    source: Source = partial(days, d)
    U = source(POINTS, rng)
    directions = np.zeros((K, d))
    directions[:, 1] = 1.0 / 24.0
    curves = partial(along, "wave", directions, (np.arange(K) + rng.random()) / K)
    coefs = rng.uniform(0.7, 4.0) * np.eye(K)
    theta = np.tile(rng.choice([0.0, 0.7]) * _slopes(U, rng), (K, 1))
    return _built(U, theta, curves, coefs, _level(curves(U) @ coefs.T), source, rng)


def _saddles(K: int, d: int, rng: Rng) -> Problem:
    source: Source = partial(scatter, str(rng.choice(["normal", "even"])), np.eye(d - 1))
    U = source(POINTS, rng)
    i, j = (int(k) for k in _pairs(d, rng)[0])
    turns = 2.0 * np.pi * (np.arange(K) + rng.random()) / K
    coefs = rng.uniform(0.4, 2.5) * np.column_stack([np.cos(turns), np.sin(turns)])
    theta = np.tile(_slopes(U, rng), (K, 1))
    return _built(U, theta, partial(sectors, i, j, *_scales(U)), coefs, np.zeros(K), source, rng)


def _own_odds(K: int, d: int, rng: Rng) -> Problem:
    source = _scattered(d, rng)
    U = source(POINTS, rng)
    theta, lift = _own_lines(K, U, rng, float(rng.uniform(1.0, 3.0)))
    theta += rng.uniform(0.0, 2.0) * _slopes(U, rng)
    curves, coefs = _aimed("hinge", U, 1, rng), np.full((K, 1), rng.choice([0.0, 1.5]))
    return _built(U, theta, curves, coefs, lift - 1.0, source, rng, noise="clicks", logistic=True)


def _own_logs(K: int, d: int, rng: Rng) -> Problem:
    source: Source = partial(people, d)
    U = source(POINTS, rng)
    curves = partial(along, "log", np.eye(d)[[1]], np.zeros(1))
    coefs = rng.uniform(0.5, 2.0) * rng.standard_normal((K, 1))
    theta = rng.uniform(0.5, 1.5) * np.array([_slopes(U, rng) for _ in range(K)])
    theta[:, 1] = 0.0
    return _built(U, theta, curves, coefs, _level(U @ theta.T + curves(U) @ coefs.T), source, rng)


# Drawing


def _clear(problem: Problem, diverse: bool) -> bool:
    """Whether the answers are as intended at both margins, and far from every threshold."""
    gaps = []
    for margin in problem.margins:
        truth = problem.truth(margin)
        room = min(problem.room(truth))
        if truth.diverse != diverse or (room < CLEAR if diverse else room > 1 / CLEAR):
            return False
        if LEADLESS / CLEAR < truth.leadless < LEADLESS * CLEAR:
            return False
        gaps.append(truth.gap)
    return gaps[0] == gaps[1]


def _named(name: str, make: Maker, diverse: bool) -> Callable[[int, int, Rng], Problem | None]:
    """The first of a few attempts whose answers are clear."""

    def draw(K: int, d: int, rng: Rng) -> Problem | None:
        for _ in range(TRIES):
            problem = make(K, d, rng)
            if _clear(problem, diverse):
                return replace(problem, family=name)
        return None

    return draw


Row = tuple[str, str, tuple[tuple[int, int], ...], Maker]

NARROW: tuple[Row, ...] = (
    ("bent v", "all arms share V shapes", ((2, 2), (3, 4), (5, 3), (4, 8)), _baseline("v", 1)),
    ("bent peak", "all arms share ridges and dips", ((2, 3), (3, 2), (4, 5), (6, 4)), _baseline("peak", 2)),
    ("bent hinges", "all arms share kinks", ((2, 4), (4, 3), (3, 6), (6, 2)), _baseline("hinge", 3)),
    ("bent steps", "all arms share thresholds", ((2, 3), (3, 5), (5, 2), (4, 4)), _baseline("step", 3)),
    ("bent squares", "all arms share a parabola", ((2, 2), (4, 4), (3, 7), (6, 3)), _baseline("square", 2)),
    (
        "bent saturation",
        "returns diminish; one arm has the largest share of them everywhere",
        ((2, 3), (3, 4), (5, 4), (4, 7)),
        _one_feature("saturation", people, 1, True),
    ),
    ("bent hours", "all arms share the rhythm of the day", ((2, 2), (3, 3), (5, 4), (4, 6)), _hours),
    ("bent products", "all arms share products of features", ((2, 3), (3, 4), (5, 3), (4, 8)), _products),
    ("bent ratios", "all arms share ratios of features", ((2, 3), (3, 5), (6, 3), (4, 4)), _ratios),
    ("bent bottleneck", "all arms share the least of the features", ((2, 3), (3, 6), (5, 4), (6, 3)), _bottleneck),
    ("bent income", "all arms share the logarithm of income", ((2, 2), (3, 4), (5, 3), (4, 6)), _log_income),
    (
        "bent growth",
        "rewards explode with a feature; one arm has the most of it",
        ((2, 3), (3, 2), (5, 4), (4, 5)),
        _one_feature("exp", people, 1, True),
    ),
    (
        "bent ages",
        "all arms share a U shape in age",
        ((2, 3), (3, 4), (6, 3), (4, 7)),
        _one_feature("square", people, 2, False),
    ),
    ("bent bare", "no intercept; all arms share kinks", ((2, 2), (3, 4), (5, 3), (4, 6)), _bare),
    ("bent hidden", "all arms depend on an unlogged yes-no variable", ((2, 2), (3, 4), (5, 3), (4, 6)), _hidden),
    ("bent regimes", "all arms share a curve in each category", ((2, 3), (3, 5), (5, 4), (4, 8)), _regimes),
    ("bent clicks", "click chances with parallel log odds", ((2, 3), (3, 4), (5, 3), (4, 6)), _clicks),
    ("bent leader", "one arm leads everywhere, by leads that vary", ((2, 3), (3, 2), (5, 4), (4, 7)), _leader),
    ("bent blend", "one arm is a blend of the others' bent means", ((3, 3), (4, 2), (5, 5), (6, 4)), _blend),
    ("bent twins", "two of the arms share one peak", ((3, 3), (4, 3), (5, 4), (6, 5)), _twins),
    ("bent niches", "each arm is better in a thin band only", ((2, 3), (3, 4), (5, 3), (4, 6)), _niches),
    ("bent tail", "all arms but one gain in rare extremes only", ((2, 3), (3, 4), (5, 3), (4, 6)), _rare_tail),
    ("bent blind", "in one category an arm is a copy of another", ((2, 4), (3, 5), (4, 4), (3, 8)), _blind),
    ("bent shadow", "one arm stays just below the best of the others", ((3, 2), (3, 4), (4, 3), (6, 5)), _shadow),
    ("bent losses", "all arms but the best lose beyond a limit", ((2, 2), (2, 4), (3, 3), (4, 6)), _losses),
)
WIDE: tuple[Row, ...] = (
    ("bent own slopes", "diverse: lines on one bent baseline", ((2, 3), (3, 4), (4, 5), (5, 3)), _own_slopes),
    ("bent own peaks", "diverse: a peak for each arm", ((2, 3), (3, 3), (4, 3), (3, 4)), _own_peaks),
    ("bent own hours", "diverse: each arm has its time of day", ((2, 2), (3, 3), (4, 4), (2, 6)), _own_hours),
    ("bent saddles", "diverse: the arms share sectors of two features", ((2, 3), (3, 4), (4, 3), (2, 6)), _saddles),
    ("bent own odds", "diverse: click chances with crossing log odds", ((2, 3), (3, 4), (4, 5), (5, 3)), _own_odds),
    ("bent own logs", "diverse: by the logarithm of income and more", ((2, 3), (3, 4), (4, 5), (2, 6)), _own_logs),
)

FAMILIES: dict[str, Family] = {
    name: Family(words, sizes, _named(name, make, diverse))
    for rows, diverse in ((NARROW, False), (WIDE, True))
    for name, words, sizes, make in rows
}
