"""Logs drawn from problems whose true answers to "diverse?" and "gap?" are known.

These problems were drawn up without knowledge of the rule that they test.

    problem = draw("no-gap", 3, 3, rng)
    X, arms, rewards = problem.log("ucb", 1000, rng)
    problem.truth(0.05 * rewards.std())
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from .loggers import LOGGERS, Array, two_best
from .problems import LEADLESS, Problem, Promise, Truth, fresh

__all__ = ["FAMILIES", "LOGGERS", "Cell", "Problem", "Truth", "cells", "draw", "problems_per_cell", "short_cells"]

Rng = np.random.Generator
Builder = Callable[[str, int, int, Rng], Problem | None]


def draw(family: str, n_arms: int, n_features: int, rng: Rng) -> Problem:
    """A new problem of a family, with parameters drawn at random until the family's promise holds."""
    builder, promise = FAMILIES[family]
    for _ in range(3000):
        problem = builder(family, n_arms, n_features, rng)
        if problem is not None and promise.kept(problem):
            return problem
    raise ValueError(f"no problem of family {family!r} with {n_arms} arms and {n_features} features was found")


def _theta(K: int, r: int, rng: Rng, offset: float = 0.3) -> Array:
    """Coefficients of K arms at random: of like length, or (many arms) tangents of a bowl, so that each can lead."""
    rest = rng.standard_normal((K, r - 1))
    if r < K and (r == 2 or rng.random() < 0.5):
        return np.column_stack([offset * 0.3 * rng.standard_normal(K) - (rest**2).sum(1) / 2, rest])
    rest *= rng.uniform(0.8, 1.2, (K, 1)) / np.linalg.norm(rest, axis=1, keepdims=True)
    return np.column_stack([offset * rng.standard_normal(K), rest * rng.uniform(0.7, 1.5)])


def _common(name: str, K: int, r: int, rng: Rng, extra: Array, sigma: float) -> Problem:
    """All arms alike but for `extra` in the intercept."""
    theta = np.tile(rng.standard_normal(r) * rng.uniform(0.4, 0.7) / np.sqrt(r - 1), (K, 1))
    theta[:, 0] += extra
    kind = "normal" if extra.any() else str(rng.choice(["normal", "plain", "skewed", "box", "tenure"]))
    return Problem(name, K, r, theta, sigma, kind=kind)


def _noise(name: str, K: int, r: int, rng: Rng) -> Problem:
    return _common(name, K, r, rng, np.zeros(K), rng.uniform(0.3, 2.0))


def _one_best(name: str, K: int, r: int, rng: Rng) -> Problem:
    extra = float(name.rsplit("-", 1)[1]) * (np.arange(K) == rng.integers(K))
    return _common(name, K, r, rng, extra, 1.0)


def _faint(name: str, K: int, r: int, rng: Rng) -> Problem:
    problem = _common(name, K, r, rng, np.zeros(K), rng.uniform(0.4, 1.2))
    return replace(problem, theta=problem.theta + rng.uniform(0.002, 0.012) * rng.standard_normal((K, r)) / np.sqrt(r))


def _no_gap(name: str, K: int, r: int, rng: Rng) -> Problem:
    kind = str(rng.choice(["normal", "plain", "skewed", "box"])) if r > 2 else "normal"
    return Problem(name, K, r, _theta(K, r, rng, 0.15), rng.uniform(0.3, 1.2), kind=kind)


def _strong_continuous(name: str, K: int, r: int, rng: Rng) -> Problem:
    theta, sigma = _theta(K, r, rng, 0.1), rng.uniform(0.4, 1.0)
    return Problem(name, K, r, theta, sigma, gate=(theta, sigma * rng.uniform(0.5, 0.7)))


def _finite(name: str, K: int, r: int, rng: Rng, floor: float = 0.5, murky: float = 0.0) -> Problem | None:
    """A short list of contexts, each arm leading by floor noise sds in a few; the mass `murky` is near ties."""
    theta, sigma = _theta(K, r, rng, 0.1 if K > 4 else 0.3), rng.uniform(0.4, 1.0)
    U = fresh("normal", r, 4000, rng)
    best, lead = two_best(U @ theta.T)
    few = int(rng.integers(r + 1, 3 * r)) if K < 5 else 4 * r
    chosen = [np.flatnonzero((best == a) & (lead >= floor * sigma))[:few] for a in range(K)]
    if min(map(len, chosen)) < r:
        return None
    rows = np.concatenate(chosen)
    probs = rng.gamma(2.0, size=len(rows))
    probs *= (1 - murky) / probs.sum()
    if murky:
        ties = np.flatnonzero(lead < 0.02 * sigma)[:4]
        if not len(ties):
            return None
        rows, probs = np.append(rows, ties), np.append(probs, np.full(len(ties), murky / len(ties)))
    return Problem(name, K, r, theta, sigma, points=U[rows], probs=probs)


def _tie_atom(name: str, K: int, r: int, rng: Rng) -> Problem | None:
    low, high = {"tie-atom": (2.0, 6.0), "gap-just-above": (1.15, 1.3), "gap-just-below": (0.75, 0.87)}[name]
    return _finite(name, K, r, rng, 0.4, LEADLESS * rng.uniform(low, high))


def _thinned(name: str, K: int, r: int, rng: Rng) -> Problem | None:
    """One arm's contexts, or those of them that make it vary in every direction, are as rare as the family says."""
    target = rng.uniform(*{"weak-finite": (1.6, 3.9), "just-above": (1.16, 1.29), "just-below": (0.76, 0.86)}[name])
    problem = _finite(name, K, r, rng, rng.uniform(0.25, 0.6), 0.05 * (rng.random() < 0.4))
    if problem is None:
        return None
    base_probs = problem.tables.weight
    U, arm = problem.tables.U.copy(), rng.integers(K)
    rare, in_share = problem.tables.best == arm, rng.random() < 0.5
    if in_share:  # spread the arm's contexts out, so that how often it leads is the matter and not how they vary
        U[np.ix_(rare, np.arange(1, r))] *= np.exp(rng.uniform(0.0, 2.7, (rare.sum(), 1)))
        best, lead = two_best(U @ problem.theta.T)
        if (best[rare] != arm).any() or lead[rare].min() < 0.2 * problem.sigma:
            return None
        problem = replace(problem, points=U)
    else:
        rare[np.flatnonzero(rare)[: r - 1]] = False

    def thin(log_factor: float) -> Problem:
        probs = base_probs * np.where(rare, np.exp(log_factor), 1.0)
        return replace(problem, probs=probs / probs.sum())

    def excess(log_factor: float) -> float:
        thinner = thin(log_factor)
        return min(thinner.room(thinner.truth(float(np.mean(thinner.margins))))) - target

    thinner = _bisected(thin, excess, -9.0, 0.0)
    if thinner is None or (in_share and np.greater(*thinner.room(thinner.truth(float(np.mean(thinner.margins)))))):
        return None
    return thinner


def _bisected(
    make: Callable[[float], Problem], excess: Callable[[float], float], low: float, high: float
) -> Problem | None:
    """The problem at the point between low and high where `excess`, negative at low, becomes positive."""
    if excess(high) < 0 or excess(low) > 0:
        return None
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return make(high)


def _weak_continuous(name: str, K: int, r: int, rng: Rng) -> Problem | None:
    """One arm lowered until it leads just often enough; in half of the problems contexts near a tie never occur."""
    theta, sigma, arm = _theta(K, r, rng, 0.1), rng.uniform(0.4, 1.0), rng.integers(K)
    target, floor = rng.uniform(1.7, 3.7), rng.uniform(0.3, 0.5) * sigma * (rng.random() < 0.5)

    def lower(shift: float) -> Problem:
        lowered = theta.copy()
        lowered[arm, 0] += shift
        return Problem(name, K, r, lowered, sigma, gate=(lowered, floor) if floor else None)

    def excess(shift: float) -> float:
        problem = lower(shift).rough()
        if not problem.rank:  # the gate leaves no contexts
            return -target
        return min(problem.room(problem.truth(float(np.mean(problem.margins))))) - target

    return _bisected(lower, excess, -6.0, 0.0)


def _dominated(name: str, K: int, r: int, rng: Rng) -> Problem | None:
    """K-1 diverse arms, and one that is a blend of them (of one, two or all) less a constant; twins: less nothing."""
    less = 0.0 if name == "twins" else float(name.rsplit("-", 1)[1])
    if K == 2:
        base = _common(name, 1, r, rng, np.ones(1), 1.0)
    else:
        diverse = _no_gap(name, K - 1, r, rng) if rng.random() < 0.6 else _finite(name, K - 1, r, rng)
        if diverse is None or diverse.kind == "plain" or not Promise(diverse=True, low=1.5).kept(diverse):
            return None
        base = diverse
    blended = 1 if name == "twins" else min(K - 1, int(rng.choice([1, 2, K - 1])))
    weights = np.zeros(K - 1)
    weights[rng.choice(K - 1, blended, replace=False)] = rng.dirichlet(np.ones(blended))
    worse = weights @ base.theta
    worse[0] -= less
    theta = np.insert(base.theta, rng.integers(K), worse, axis=0)
    return replace(base, n_arms=K, theta=theta, sigma=rng.uniform(0.3, 1.0))


def _flat(name: str, K: int, r: int, rng: Rng) -> Problem:
    """Some arms lead in one segment only (or only where a feature is 0, as for new users), so they see it not vary."""
    kind = str(rng.choice(["segment", "tenure"]))
    theta = 0.3 * rng.standard_normal((K, r)) if r == 2 else _theta(K, r, rng, 0.2) * 0.5
    theta[:, 1] = 0.3 * rng.standard_normal(K)
    confined = rng.permutation(K) < (1 if rng.random() < 0.5 else max(1, K // 2))
    theta[confined, 0] += rng.uniform(0.3, 1.5)
    theta[confined, 1] -= rng.uniform(3.0, 7.0)
    if r == 2:
        theta[~confined, 0] -= 0.5
    return Problem(name, K, r, theta, rng.uniform(0.3, 1.2), kind=kind)


def _non_linear(name: str, K: int, r: int, rng: Rng) -> Problem:
    theta = _theta(K, r, rng, 0.3) * rng.uniform(0.2, 1.0)
    if rng.random() < 0.3:
        theta[:, 1:] = theta[0, 1:]
    bend = str(rng.choice(["square", "tanh", "fold", "cross"] if r > 2 else ["square", "tanh", "fold"]))
    bends = rng.standard_normal(K) * (rng.random(K) < 0.7) * rng.uniform(0.5, 1.5)
    return Problem(name, K, r, theta, rng.uniform(0.3, 1.0), bend=bend, bends=bends)


def _grid(r: int, rng: Rng) -> tuple[Array, Array]:
    """An intercept and r - 1 independent features of 2 to 5 values each between -1 and 1; their probabilities."""
    sizes = rng.integers(2, 6 if r <= 4 else 4 if r <= 6 else 3, size=r - 1)
    points = np.array([(1.0, *row) for row in product(*(np.linspace(-1, 1, n) for n in sizes))])
    probs = np.array([np.prod(row) for row in product(*(rng.dirichlet(np.full(n, 4.0)) for n in sizes))])
    return points, probs / probs.sum()


def _discrete(name: str, K: int, r: int, rng: Rng) -> Problem:
    points, probs = _grid(r, rng)
    return Problem(name, K, r, _theta(K, r, rng), rng.uniform(0.3, 1.2), points=points, probs=probs)


def _clicks(name: str, K: int, r: int, rng: Rng) -> Problem:
    """Click rates linear in bounded features, all within the family's range; in some draws one arm is dominated.

    The features are uniform, or of few values, or a list of kinds of visitors, one arm clearly better for each.
    """
    ranges = {"rare-clicks": (0.005, 0.03), "rare-clicks-diverse": (0.002, 0.06), "revenue": (0.02, 0.4)}
    low, high = ranges.get(name, (0.1, 0.6))
    theta = _theta(K, r, rng, 0.2)
    if name != "rare-clicks-diverse" and rng.random() < 0.25:
        theta[rng.integers(K), 0] -= 2.0
    if name == "noise-clicks":
        low = float(np.exp(rng.uniform(np.log(0.004), np.log(0.4))))
        high = low * rng.uniform(1.0, 1.6)
        theta[:] = theta[0]
    reach = np.abs(theta[:, 1:]).sum(1)
    bottom, top = (theta[:, 0] - reach).min(), (theta[:, 0] + reach).max()
    theta *= (high - low) / (top - bottom)
    theta[:, 0] += low - bottom * (high - low) / (top - bottom)
    noise, features = "revenue" if name == "revenue" else "clicks", rng.random()
    if features < 0.25:
        return Problem(name, K, r, theta, 0.0, kind="box", noise=noise)
    points, probs = _grid(r, rng)
    if features > 0.5:
        corners = np.column_stack([np.ones(4000), np.clip(1.5 * rng.uniform(-1, 1, (4000, r - 1)), -1, 1)])
        best, lead = two_best(corners @ theta.T)
        clear = [np.flatnonzero(best == a) for a in range(K)]
        points = corners[np.concatenate([rows[np.argsort(-lead[rows])[: len(rows) // 6][: 20 * r]] for rows in clear])]
        probs = rng.dirichlet(np.full(len(points), 2.0))
    return Problem(name, K, r, theta, 0.0, points=points, probs=probs, noise=noise)


def _rare_feature(name: str, K: int, r: int, rng: Rng) -> Problem:
    """A flag that is set in 0.2 to 5 % of the rows: every arm has to lead there too, or it sees the flag never vary."""
    points, share = fresh("normal", r, 120, rng), np.exp(rng.uniform(np.log(0.002), np.log(0.05)))
    flag = np.arange(120) < 60
    points[:, 1] = flag
    probs = rng.gamma(2.0, size=120)
    probs *= np.where(flag, share / probs[flag].sum(), (1 - share) / probs[~flag].sum())
    theta = np.insert(_theta(K, r - 1, rng, 0.1), 1, rng.uniform(0.1, 2.0) * rng.standard_normal(K), axis=1)
    return Problem(name, K, r, theta, rng.uniform(0.3, 1.0), points=points, probs=probs)


def _one_hot(name: str, K: int, d: int, rng: Rng) -> Problem:
    """An intercept, a full set of indicator columns (they sum to the intercept) and the rest continuous."""
    levels = max(2, (d - 1) // 2)
    theta = np.column_stack(
        [rng.uniform(0.1, 1.2) * rng.standard_normal((K, levels)), _theta(K, d - levels, rng)[:, 1:]]
    )
    view = np.column_stack([np.arange(d - 1) < levels, np.eye(d - 1)]).astype(np.float64)
    return Problem(name, K, d, theta, rng.uniform(0.3, 1.0), kind=f"hot{levels}", view=view)


BASES = ("strong-finite", "strong-continuous", "no-gap", "weak-finite", "dominated-.1", "flat")


def _dressed(name: str, K: int, d: int, rng: Rng) -> Problem:
    """A problem of another family with other noise, or other features that carry the same."""
    base = replace(draw(str(rng.choice(BASES)), K, d - (name == "copied-column"), rng), family=name, n_features=d)
    if name == "heavy-tails":
        return replace(base, noise="student")
    if name == "uneven-noise":
        return replace(base, noise="uneven", tilt=rng.uniform(-0.9, 0.9, K))
    if name == "scaled":
        return replace(base, view=np.diag(np.append(1.0, 10.0 ** rng.uniform(0.0, 4.0, d - 1))))
    if name == "correlated":  # features share a factor, and their means are far from 0
        view = np.eye(d)
        view[1, 2:] = rng.uniform(3.0, 15.0, d - 2)
        view[0, 1:] = rng.uniform(-5.0, 5.0, d - 1)
        return replace(base, view=view)
    if name == "offsets":  # times, balances, identifiers: features that differ by little of their size
        view = np.eye(d)
        view[0, 1:] = 10.0 ** rng.uniform(2.0, 9.0, d - 1)
        return replace(base, view=view)
    return replace(base, view=np.column_stack([np.eye(d - 1), rng.standard_normal(d - 1)]))


NEITHER, ANY = Promise(diverse=False, gap=False, high=0.5), Promise()
FAMILIES: dict[str, tuple[Builder, Promise]] = {
    "noise": (_noise, NEITHER),
    "noise-clicks": (_clicks, NEITHER),
    "one-best-.05": (_one_best, NEITHER),
    "one-best-.2": (_one_best, Promise(diverse=False, gap=True)),
    "dominated-.02": (_dominated, Promise(diverse=False, high=0.0)),
    "dominated-.1": (_dominated, Promise(diverse=False, high=0.0)),
    "dominated-.3": (_dominated, Promise(diverse=False, high=0.0)),
    "twins": (_dominated, Promise(diverse=False, gap=False, high=0.0)),
    "faint": (_faint, NEITHER),
    "flat": (_flat, Promise(diverse=False, high=0.5, p_low=3.0)),
    "no-gap": (_no_gap, Promise(diverse=True, gap=False, low=1.5)),
    "tie-atom": (_tie_atom, Promise(diverse=True, gap=False, low=2.0)),
    "strong-finite": (_finite, Promise(diverse=True, gap=True, low=5.0)),
    "strong-continuous": (_strong_continuous, Promise(diverse=True, gap=True, low=5.0)),
    "weak-finite": (_thinned, Promise(diverse=True, low=1.5, high=4.0)),
    "weak-continuous": (_weak_continuous, Promise(diverse=True, low=1.5, high=4.0)),
    "just-above": (_thinned, Promise(diverse=True, low=1.15, high=1.3)),
    "just-below": (_thinned, Promise(diverse=False, low=0.75, high=0.87)),
    "gap-just-above": (_tie_atom, Promise(diverse=True, gap=False, low=2.0)),
    "gap-just-below": (_tie_atom, Promise(diverse=True, gap=True, low=2.0)),
    "non-linear": (_non_linear, ANY),
    "discrete": (_discrete, ANY),
    "clicks": (_clicks, ANY),
    "rare-clicks": (_clicks, ANY),
    "rare-clicks-diverse": (_clicks, Promise(diverse=True, low=1.5)),
    "revenue": (_clicks, ANY),
    "rare-feature": (_rare_feature, ANY),
    "rare-feature-diverse": (_rare_feature, Promise(diverse=True)),
    "one-hot": (_one_hot, ANY),
    "heavy-tails": (_dressed, ANY),
    "uneven-noise": (_dressed, ANY),
    "scaled": (_dressed, ANY),
    "correlated": (_dressed, ANY),
    "copied-column": (_dressed, ANY),
    "offsets": (_dressed, ANY),
}


@dataclass(frozen=True)
class Cell:
    """One entry of the examination: a family at one size, logged by one policy."""

    family: str
    n_arms: int
    n_features: int
    logger: str
    rows: int


def problems_per_cell(logs: int) -> tuple[int, int]:
    """How to spread the logs of a cell: (problems, logs of each), about ten logs to a problem."""
    problems = max(1, round(logs / 10))
    return problems, -(-logs // problems)


MAIN = ("noise", "one-best-.05", "dominated-.1", "flat", "no-gap", "strong-finite", "strong-continuous", "weak-finite")
MAIN_SIZES = ((2, 2, 300), (3, 3, 1_000), (5, 4, 3_000), (10, 8, 10_000))
SIZES = ((2, 3, 300), (3, 4, 1_000), (4, 5, 3_000), (2, 8, 1_000), (5, 4, 10_000), (3, 3, 10_000))
LONG = (
    "dominated-.02",
    "one-best-.05",
    "strong-finite",
    "strong-continuous",
    "no-gap",
    "flat",
    "just-above",
    "just-below",
)


RARE = "rare-feature-diverse"


def cells() -> tuple[Cell, ...]:
    """The whole examination: 351 cells.

    Drawing 200 logs for every cell (20 problems, 10 logs of each) with their truths takes 6 to 9 minutes on one core (a
    shared 2-core machine): 165 to 265 s for the problems, 150 to 185 s for the logs, 55 to 65 s for the truths.
    """
    listed = [Cell(f, K, d, logger, n) for f in MAIN for K, d, n in MAIN_SIZES for logger in LOGGERS]
    for i, family in enumerate(f for f in FAMILIES if f not in (*MAIN, RARE)):
        for j, (K, d, n) in enumerate(SIZES):
            fewest = 4 if family in ("rare-feature", "one-hot", "copied-column") else 2
            most = 3 if family == "rare-clicks-diverse" else 10  # few are diverse with more arms
            listed.append(Cell(family, min(K, most), max(d, fewest), LOGGERS[(i + j) % 5], n))
    listed += [Cell(RARE, K, 4, logger, rows) for K, rows in ((3, 3_000), (5, 10_000)) for logger in LOGGERS]
    listed += [Cell(f, K, d, "uniform", 100_000) for f in LONG for K, d in ((2, 2), (5, 4))]
    listed += [Cell(f, 3, 3, "uniform", 100_000) for f in ("weak-continuous", "gap-just-above", "faint", "rare-clicks")]
    adaptive = zip(("dominated-.02", "no-gap", "strong-finite", "noise", "weak-finite"), LOGGERS[1:] * 2, strict=False)
    listed += [Cell(f, 3, 3, logger, 100_000) for f, logger in adaptive]
    return tuple(listed)


def short_cells() -> tuple[Cell, ...]:
    """A few small cells that a test can afford."""
    chosen = ("noise", "one-best-.05", "dominated-.3", "flat", "no-gap", "strong-finite", "strong-continuous", "clicks")
    listed = [Cell(f, 2 + i % 2, 3, LOGGERS[i % 5], 1_000) for i, f in enumerate(chosen)]
    listed += [Cell(f, 2, 3, "uniform", 3_000) for f in ("strong-finite", "strong-continuous", "tie-atom", "twins")]
    return tuple(listed)
