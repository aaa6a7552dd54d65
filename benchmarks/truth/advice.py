"""How far an audit's lesser statements can be trusted: "about N times as many rows", and the answer on greedy."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from zlib import crc32

import numpy as np

from armspan.diversity.evidence import LEAST_SPREAD
from armspan.diversity.judged import Judged
from armspan.diversity.logged import audit_log
from benchmarks.truth.loggers import Array
from benchmarks.truth.logs import Cell, draw

MOST_ROWS = 100_000
FACTORS = (0.5, 1, 2)
"""What the advised number of rows is multiplied by, to see whether the question is settled then."""
WITHIN = 0.1
"""Contexts whose least spread is this near to the threshold, relatively, are left out: their truth is not known."""


@dataclass
class Advised:
    """Open questions of one cell: how many there were, and how many were settled with so many rows."""

    cell: Cell
    open: int
    beyond: int
    settled: Counter[float]


def advice_cells() -> list[Cell]:
    """Logs that are too short for an answer, most of them."""
    families = ("strong-finite", "strong-continuous", "weak-finite", "dominated-.3", "flat", "one-best-.2", "clicks")
    sizes, loggers = ((2, 2), (3, 3), (5, 4)), ("uniform", "epsilon-greedy", "ucb")
    return [Cell(f, K, d, logger, 600) for f, (K, d), logger in product(families, sizes, loggers)]


def examine_advice(cell: Cell, logs: int) -> Advised:
    """Draw logs of a cell; where *diverse?* is open, draw as many rows as advised, and half and twice as many."""
    rng = np.random.default_rng(crc32(repr(cell).encode()))
    found = Advised(cell, 0, 0, Counter())
    for _ in range(logs):
        problem = draw(cell.family, cell.n_arms, cell.n_features, rng)
        judged = Judged(*problem.log(cell.logger, cell.rows, rng), cell.n_arms, level=0.05)
        if judged.answer("diverse") != "not known" or judged.blind or not judged.fits.known.all():
            continue
        times = judged.more("diverse").times
        if times == 0 or 2 * times * cell.rows > MOST_ROWS:
            found.beyond += 1
            continue
        found.open += 1
        for factor in FACTORS:
            longer = problem.log(cell.logger, int(factor * times * cell.rows), rng)
            found.settled[factor] += Judged(*longer, cell.n_arms, level=0.05).answer("diverse") != "not known"
    return found


def _normal(n: int, shift: Array, rng: np.random.Generator) -> Array:
    return np.asarray(rng.standard_normal((n, 2)) + shift)


def _box(n: int, shift: Array, rng: np.random.Generator) -> Array:
    return np.asarray(rng.uniform(-1, 1, (n, 2)) + shift)


def _skewed(n: int, shift: Array, rng: np.random.Generator) -> Array:
    return np.asarray(rng.exponential(1, (n, 2)) - 1 + shift)


def _islands(n: int, shift: Array, rng: np.random.Generator) -> Array:
    centres = np.array([[1.0, 0.2], [-0.6, 0.9], [-0.4, -1.1]])
    return np.asarray(centres[rng.integers(3, size=n)] + 0.2 * rng.standard_normal((n, 2)) + shift)


CONTEXTS: dict[str, Callable[[int, Array, np.random.Generator], Array]] = {
    "normal": _normal,
    "box": _box,
    "skewed": _skewed,
    "islands": _islands,
}


def least_spread(X: Array) -> float:
    """The least λ_min(E[zzᵀ1{zᵀu ≥ 0}]) over 720 directions u of whitened contexts (n, 2)."""
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    z = X @ vectors / np.sqrt(values)
    angles = np.arange(720) * np.pi / 360
    least = np.inf
    for angle in angles:
        inside = z[z @ np.array([np.cos(angle), np.sin(angle)]) >= 0]
        least = min(least, float(np.linalg.eigvalsh(inside.T @ inside / len(z))[0]))
    return least


def examine_greedy(kind: str, logs: int) -> tuple[str, Counter[tuple[bool, str]]]:
    """Draw contexts of one kind, shifted at random, and count the answers on greedy by their truth."""
    rng = np.random.default_rng(crc32(kind.encode()))
    counts: Counter[tuple[bool, str]] = Counter()
    while counts.total() < logs:
        shift = rng.uniform(0, 2.5) * rng.standard_normal(2)
        least = least_spread(CONTEXTS[kind](100_000, shift, rng)) * 2 / LEAST_SPREAD
        if abs(least - 1) < WITHIN:
            continue
        for rows in (300, 1_000, 10_000):
            X, arms = CONTEXTS[kind](rows, shift, rng), rng.integers(2, size=rows)
            verdict = audit_log(X, arms.tolist(), X[:, 0] * arms + rng.standard_normal(rows)).verdicts[3]
            counts[least > 1, verdict.answer] += 1
    return kind, counts
