"""How often an audit says that rewards drift: where they do, and where they only seem to."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from armspan.diversity.drift import Drift, drift
from armspan.diversity.evidence import LEVEL, PART
from armspan.diversity.fits import whiten
from armspan.diversity.sample import Sample
from benchmarks.drifting_logs import MORE_LOGS
from benchmarks.drifting_problems import LOGS
from benchmarks.truth.loggers import Array
from benchmarks.truth.logs import Cell, cells, draw

STILL = "everything above, from noise to offsets"
"""What the logs of known truth are called, none of which drifts."""
LONGEST = 20_000
"""Rows of those logs, at most."""


KEPT_BACK = 5
"""One of so many parts of a log, the last, shows whether a half-life found in the others predicts better."""
REFITS = 16


class Seen(NamedTuple):
    """How many logs of one kind seemed to drift, and with which half-lives, as parts of the log.

    errors : of logs without their last fifth that seemed to drift, the squared error in that fifth of a model with the
    half-life, relative to one that remembers everything.
    """

    name: str
    drifts: bool
    rows: int
    logs: int
    half_lives: tuple[float, ...]
    errors: tuple[float, ...]


def kinds() -> list[str | Cell]:
    """What is examined: logs that may drift, and cells of `logs`, which do not."""
    return [*LOGS, *MORE_LOGS, *(cell for cell in cells() if cell.rows <= LONGEST)]


def examine(kind: str | Cell, logs: int) -> Seen:
    """Draw logs of one kind, a tenth as many of a cell, and look for drift."""
    if isinstance(kind, Cell):
        return _look(STILL, False, _of_cell(kind), -(-logs // 10))
    drifts, write = (LOGS | MORE_LOGS)[kind]
    return _look(kind, drifts, write, logs)


def _of_cell(cell: Cell) -> Callable[[int], tuple[Array, Array, Array]]:
    def write(seed: int) -> tuple[Array, Array, Array]:
        rng = np.random.default_rng([seed, crc32(repr(cell).encode())])
        return draw(cell.family, cell.n_arms, cell.n_features, rng).log(cell.logger, cell.rows, rng)

    return write


def _look(name: str, drifts: bool, write: Callable[[int], Any], logs: int) -> Seen:
    found, errors, rows = [], [], 0
    for seed in range(logs):
        X, arms, rewards = write(seed)
        seen, rows = _drift(X, arms, rewards), len(X)
        found += [] if seen is None else [seen.half_life / rows]
        cut = rows - rows // KEPT_BACK
        earlier = None if name == STILL else _drift(X[:cut], arms[:cut], rewards[:cut])
        if earlier is not None:
            forgets, remembers = (_error(X, arms, rewards, cut, h) for h in (earlier.half_life, np.inf))
            errors.append(forgets / remembers)
    return Seen(name, drifts, rows, logs, tuple(found), tuple(errors))


def _drift(X: Array, arms: Array, rewards: Array) -> Drift | None:
    return drift(Sample.of(whiten(X).z), arms, rewards, int(arms.max()) + 1, LEVEL / PART)


def _error(X: Array, arms: Array, rewards: Array, cut: int, half_life: float) -> float:
    """The mean squared error from row `cut` on, of regressions on the rows before, weighted by age, refitted often."""
    size, edges = np.sqrt((X**2).mean(axis=0)), np.linspace(cut, len(X), REFITS + 1).astype(int)
    x, total = X / np.where(size > 0, size, 1.0), 0.0
    for start, stop in pairwise(edges):
        weight = np.sqrt(0.5 ** ((start - 1 - np.arange(start)) / half_life))
        for a in np.unique(arms[start:stop]):
            own, new = arms[:start] == a, start + np.flatnonzero(arms[start:stop] == a)
            theta = np.linalg.lstsq(x[:start][own] * weight[own, None], weight[own] * rewards[:start][own], rcond=1e-6)[
                0
            ]
            total += float(((rewards[new] - x[new] @ theta) ** 2).sum())
    return total / (len(X) - cut)
