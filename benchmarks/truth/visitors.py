"""Logs whose rows come in groups (visitors who return, sessions, days), drawn from problems whose truth is known.

These problems were drawn up without knowledge of the rule that they test.

    visited = draw("regulars", 3, 3, rng)
    X, arms, rewards, visitors = visited.log("per-visitor", 3000, rng)
    visited.truth(0.05 * rewards.std())

Each family dresses problems of `logs.py`. Who a visitor is (contexts, effect on rewards) does not depend on how often
they come, every single row has the contexts of the problem, and effects have mean 0 over visitors in every context; so
the truth over endlessly many rows is the problem's own. What a group shares in rewards is taken out of the problem's
noise, whose total stays: the share `icc` of the variance is the group's, the rest is the row's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtr

from . import logs
from .loggers import LOGGERS as POLICIES
from .loggers import Array, choose
from .logs import Cell, Rng
from .problems import Problem, Truth

__all__ = ["FAMILIES", "LOGGERS", "Cell", "Family", "Visited", "cells", "draw", "short_cells"]

LOGGERS = (*POLICIES, "per-visitor")  # per-visitor: each group gets one arm at random (with days as groups: a day)
FEWEST = 20  # a short log has shorter groups, so that as many groups are to be expected (but for the law "shops")
TAIL, MOST = 1.3, 0.1  # heavy-tailed numbers of visits: the tail's exponent, and one visitor's largest part of the log
STRETCH = 0.3  # the longest stretch that one visitor lives in, as a part of the log
WIDER = (0.65, 1.5)  # with few groups the sd of rewards, and so the margin, varies more from log to log


@dataclass(frozen=True, eq=False)
class Visited:
    """A problem whose rows come in groups.

    law: how often visitors come: "same", "geometric", "heavy" (`size` times on average; heavy: less, as nobody makes
    more than a tenth of the log), or "days", "shops" (`size` groups of many rows).
    order: "sessions" (a group's rows side by side), "shuffled", "stretches" (a group lives in a stretch of the log).
    keep: with which probability a visit has the features of the visitor and not new ones: one number for the whole row,
    or 0s and 1s per feature; where `blend` is true, the part of a normal feature's variance that is the visitor's.
    effect: what groups do to rewards: "none", "level" (all arms alike), "taste" (each arm on its own), "both" (half and
    half), "rivals" (tastes that sum to 0 over arms), "slopes" (coefficients per arm), "spenders" (lognormal levels).
    Clicks: each group's click rate has a beta distribution, of which the effect is the normal score; revenue: the
    effect is on the logarithm of the amount.
    """

    family: str
    problem: Problem
    law: str
    size: float
    order: str
    keep: Array
    blend: bool
    effect: str
    icc: float

    def log(self, logger: str, rows: int, rng: Rng) -> tuple[Array, Array, Array, Array]:
        """Features, arms and rewards of one log, and which group each row belongs to (arbitrary integers)."""
        group = self._groups(rows, rng)
        U = self._contexts(group, rng)
        outcomes = self._outcomes(U, group, rng)
        X = U if self.problem.view is None else U @ self.problem.view
        if logger == "per-visitor":
            arms = rng.integers(self.problem.n_arms, size=group.max() + 1)[group]
        else:
            arms = choose(logger, X, outcomes, self.problem.tables.noise_sd, rng)
        names = rng.choice(1_000_000, size=group.max() + 1, replace=False)
        return X, arms, outcomes[np.arange(rows), arms], names[group]

    def truth(self, margin: float) -> Truth:
        """The true answers at a margin: those of the problem, as rows have its contexts and its mean rewards."""
        return self.problem.truth(margin)

    def _groups(self, rows: int, rng: Rng) -> Array:
        """The group of every row, numbered from 0, in the order of the log."""
        if self.law in ("days", "shops"):
            group = np.sort(rng.choice(int(self.size), size=rows, p=rng.dirichlet(np.full(int(self.size), 8.0))))
        else:
            group = np.repeat(np.arange(rows), self._visits(min(self.size, rows / FEWEST), rows, rng))[:rows]
        if self.order == "shuffled":
            return rng.permutation(group)
        if self.order == "stretches":
            length = STRETCH * rng.random(rows)
            begin = rng.random(rows) * (1 - length)
            return group[np.argsort(begin[group] + length[group] * rng.random(rows))]
        return group

    def _visits(self, mean: float, rows: int, rng: Rng) -> Array:
        """How often each of more than enough visitors comes."""
        if self.law == "same":
            return np.full(rows, max(1, round(mean)))
        if self.law == "geometric":
            return rng.geometric(1 / mean, size=rows)
        sizes = mean * (1 - 1 / TAIL) * (1 - rng.random(rows)) ** (-1 / TAIL)
        return np.clip(sizes, 1, MOST * rows).astype(np.int64)

    def _contexts(self, group: Array, rng: Rng) -> Array:
        """Contexts of which each has the distribution of the problem, and which are alike within a group."""
        n = len(group)
        own = self.problem._contexts(group.max() + 1, rng)[group]
        new = self.problem._contexts(n, rng)
        if self.blend:
            U = np.sqrt(self.keep) * own + np.sqrt(1 - self.keep) * new
            if self.problem.kind == "normal":
                U[:, 0] = 1.0
            return U
        return np.where(rng.random((n, 1)) < self.keep, own, new)

    def _outcomes(self, U: Array, group: Array, rng: Rng) -> Array:
        """What every arm would bring in every row."""
        problem, F = self.problem, self.problem.means(U)
        if self.effect == "none":
            return problem._outcomes(U, F, rng)
        scores = self._scores(U, group, rng)
        if problem.noise == "clicks":
            visits = 1 / self.icc - 1  # the sum of the beta distribution's parameters
            return problem._outcomes(U, betaincinv(visits * F, visits * (1 - F), ndtr(scores)), rng)
        if problem.noise == "revenue":
            clicked, row = rng.random((len(U), 1)) < F, rng.standard_normal((len(U), 1))
            return clicked * np.exp(np.sqrt(self.icc) * scores + np.sqrt(1 - self.icc) * row - 0.5)
        sigma = problem.sigma
        rest = replace(problem, sigma=np.sqrt(1 - self.icc) * sigma)
        return rest._outcomes(U, F + np.sqrt(self.icc) * sigma * scores, rng)

    def _scores(self, U: Array, group: Array, rng: Rng) -> Array:
        """The effects of groups, of mean 0 and variance 1 (for slopes: on average over contexts); (n, K)."""
        G, K = group.max() + 1, self.problem.n_arms
        if self.effect == "slopes":
            white = U @ self.problem.tables.root / np.sqrt(self.problem.rank)
            return np.einsum("nr,nrk->nk", white, rng.standard_normal((G, white.shape[1], K))[group])
        level, taste = np.repeat(rng.standard_normal((G, 1)), K, axis=1), rng.standard_normal((G, K))
        if self.effect == "both":
            level = (level + taste) / np.sqrt(2)
        elif self.effect == "taste":
            level = taste
        elif self.effect == "rivals":
            level = (taste - taste.mean(axis=1, keepdims=True)) * np.sqrt(K / (K - 1))
        elif self.effect == "spenders":
            level = (np.exp(level) - np.exp(0.5)) / np.sqrt(np.e * (np.e - 1))
        return level[group]


class Family(NamedTuple):
    """What a family is in life, whether all of it is diverse, and what a draw chooses from (bases: `logs.FAMILIES`)."""

    story: str
    diverse: bool | None
    bases: tuple[str, ...]
    laws: tuple[str, ...]
    orders: tuple[str, ...]
    habits: tuple[str, ...]
    effects: tuple[str, ...]
    icc: tuple[float, float] = (0.1, 0.8)


LAWS, ORDERS = ("same", "geometric", "heavy"), ("sessions", "shuffled", "stretches")
FAMILIES: dict[str, Family] = {
    "sessions": Family(
        "sessions of several decisions, in which a feature or two change; a level per session",
        False,
        ("noise", "one-best-.05", "one-best-.2", "dominated-.02"),
        ("same", "geometric"),
        ("sessions",),
        ("partly", "sticky"),
        ("level",),
    ),
    "regulars": Family(
        "visitors who are the same each time, with a taste for each arm, where arms are alike or nearly so",
        False,
        ("noise", "twins", "one-best-.05", "discrete"),
        ("same", "geometric"),
        ORDERS,
        ("fixed",),
        ("taste",),
    ),
    "rivals": Family(
        "every visitor likes some arms as much as he dislikes others, which evens out over visitors",
        False,
        ("noise", "twins", "dominated-.1", "dominated-.02"),
        LAWS,
        ORDERS,
        ("fixed", "sticky", "blend"),
        ("rivals",),
    ),
    "power-users": Family(
        "a few visitors make a large part of all visits",
        False,
        ("noise", "dominated-.1", "dominated-.3", "flat", "one-best-.2", "just-below"),
        ("heavy",),
        ORDERS,
        ("fixed", "sticky", "partly"),
        ("level", "taste", "both"),
    ),
    "own-slopes": Family(
        "every visitor has coefficients of his own for each arm",
        False,
        ("noise", "one-best-.2", "flat", "dominated-.1"),
        LAWS,
        ORDERS,
        ("fresh", "partly", "blend"),
        ("slopes",),
    ),
    "clickers": Family(
        "click rates that differ from visitor to visitor (beta-binomial); arms alike, or one that never leads",
        False,
        ("noise-clicks", "noise-clicks", "clicks", "rare-clicks"),
        LAWS,
        ORDERS,
        ("fixed", "sticky", "fresh"),
        ("level", "taste", "rivals"),
        (0.05, 0.5),
    ),
    "days": Family(
        "20 to 100 days in order, with a level per day",
        False,
        ("noise", "one-best-.05", "dominated-.1", "twins", "flat"),
        ("days",),
        ("sessions",),
        ("fresh", "partly"),
        ("level",),
    ),
    "day-tastes": Family(
        "20 to 100 days in order, on each of which arms do better or worse than they do in the long run",
        False,
        ("noise", "one-best-.2", "dominated-.3", "just-below", "discrete"),
        ("days",),
        ("sessions",),
        ("fresh", "sticky"),
        ("taste", "both", "rivals"),
        (0.1, 0.6),
    ),
    "weather": Family(
        "features that all rows of a day share, and slopes or tastes per day",
        False,
        ("noise", "flat", "dominated-.1", "one-best-.05"),
        ("days",),
        ("sessions",),
        ("partly",),
        ("both", "slopes"),
        (0.1, 0.6),
    ),
    "shops": Family(
        "very few groups (6 to 15 shops or sites), each with many rows and its own view of the arms",
        False,
        ("noise", "dominated-.1", "dominated-.3", "one-best-.2"),
        ("shops",),
        ("shuffled", "sessions"),
        ("fresh", "partly", "sticky"),
        ("taste", "both"),
        (0.1, 0.5),
    ),
    "strong-regulars": Family(
        "visitors who are the same each time, with tastes of their own, where every arm has contexts to lead in",
        True,
        ("strong-finite", "strong-continuous", "no-gap"),
        LAWS,
        ORDERS,
        ("fixed", "partly", "sticky"),
        ("taste", "rivals", "level"),
    ),
    "weak-regulars": Family(
        "visitors who return, where one arm leads hardly often enough, or there are ties",
        True,
        ("weak-finite", "weak-continuous", "just-above", "tie-atom"),
        LAWS,
        ORDERS,
        ("fixed", "sticky", "blend"),
        ("none", "level", "taste", "slopes"),
    ),
    "good-days": Family(
        "20 to 100 days in order, with a level or tastes per day, where every arm has contexts to lead in",
        True,
        ("strong-finite", "strong-continuous", "no-gap", "tie-atom", "weak-finite"),
        ("days",),
        ("sessions",),
        ("fresh", "sticky", "partly"),
        ("level", "both", "slopes"),
    ),
    "diverse-clickers": Family(
        "click rates that differ from visitor to visitor, where every arm has contexts to lead in (at most 3 arms)",
        True,
        ("rare-clicks-diverse", "clicks"),
        LAWS,
        ORDERS,
        ("fixed", "sticky", "fresh"),
        ("level", "taste"),
        (0.05, 0.5),
    ),
    "big-spenders": Family(
        "a few visitors spend much more than others, whatever they are shown",
        None,
        ("noise", "dominated-.1", "strong-finite", "no-gap", "revenue"),
        LAWS,
        ORDERS,
        ("fixed", "sticky", "partly"),
        ("spenders",),
    ),
    "idle-labels": Family(
        "labels that say nothing: rows are independent",
        None,
        ("noise", "one-best-.05", "just-above", "just-below", "strong-finite", "tie-atom", "clicks"),
        LAWS,
        ORDERS,
        ("fresh",),
        ("none",),
    ),
}
SIZES = {"days": (20.0, 100.0), "shops": (6.0, 15.0)}


def draw(family: str, n_arms: int, n_features: int, rng: Rng) -> Visited:
    """A new problem of a family, whose answers are the same over a wider range of margins than its base needs."""
    kind = FAMILIES[family]
    for _ in range(200):
        problem = logs.draw(str(rng.choice(kind.bases)), n_arms, n_features, rng)
        if problem.family == "one-best-.05":
            problem = replace(problem, sigma=1.8)  # the lead is below all of the wider range of margins
        answers = {problem.truth(m * w)[4:] for m, w in zip(problem.margins, WIDER, strict=True)}
        if len(answers) == 1 and kind.diverse in (None, *(diverse for diverse, _ in answers)):
            return _visited(family, kind, problem, rng)
    raise ValueError(f"no problem of family {family!r} with {n_arms} arms and {n_features} features was found")


def _visited(family: str, kind: Family, problem: Problem, rng: Rng) -> Visited:
    """The groups of a problem. Only of independent features can a part be kept; others are kept whole or not at all."""
    law, order, habit, effect = (str(rng.choice(names)) for names in kind[3:7])
    effect = "level" if problem.noise == "revenue" else effect
    free = np.arange(int(problem.kind != "plain"), problem.theta.shape[1])  # not the intercept
    independent = problem.points is None and problem.gate is None
    blend = habit == "blend" and independent and problem.kind in ("normal", "plain")
    keep = np.array([{"fixed": 1.0, "fresh": 0.0}.get(habit, rng.uniform(0.3, 0.95))])
    if habit == "partly" and independent and len(free) > 1:
        changing = 1 if len(free) == 2 else rng.integers(1, 3)
        keep = 1.0 - np.isin(np.arange(free[-1] + 1), rng.choice(free, changing, replace=False))
    size = float(np.exp(rng.uniform(*np.log(SIZES.get(law, (3.0, 100.0))))))
    size = float(round(size)) if law in SIZES else size
    icc = 0.0 if effect == "none" else float(rng.uniform(*kind.icc))
    return Visited(family, problem, law, size, order, keep, blend, effect, icc)


SHAPES = (
    (2, 2, 1_000),
    (3, 3, 3_000),
    (4, 5, 10_000),
    (2, 6, 3_000),
    (5, 4, 30_000),
    (3, 4, 1_000),
    (2, 3, 10_000),
    (3, 3, 30_000),
)
LARGE = ("regulars", "rivals", "power-users", "day-tastes", "strong-regulars", "idle-labels")


def cells() -> tuple[Cell, ...]:
    """The whole examination: 150 cells."""
    listed = []
    for i, family in enumerate(FAMILIES):
        most = 3 if family == "diverse-clickers" else 5  # few rare clicks are diverse with more arms
        fewest = 3 if family == "weak-regulars" else 2  # weak-continuous may fail to draw with 2 features
        for j, (K, d, rows) in enumerate(SHAPES):
            listed.append(Cell(family, min(K, most), max(d, fewest), LOGGERS[(i + j) % 6], rows))
    listed += [Cell(f, 8 + 2 * (i % 2), 6, LOGGERS[i], 10_000) for i, f in enumerate(LARGE)]
    nulls = ("regulars", "rivals", "days", "weather", "clickers", "own-slopes", "shops", "power-users")
    listed += [Cell(f, 2, 4, logger, 5_000) for f in nulls for logger in ("uniform", "per-visitor")]
    return tuple(listed)


def short_cells() -> tuple[Cell, ...]:
    """A few small cells that a test can afford."""
    chosen = ("regulars", "rivals", "days", "clickers", "strong-regulars", "idle-labels")
    return tuple(Cell(f, 2 + i % 2, 3, LOGGERS[-1 - i], 1_000) for i, f in enumerate(chosen))
