"""How often an audit says that rewards drift: where they do, and where they only seem to."""

from collections.abc import Callable
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from armspan.diversity.drift import drift
from armspan.diversity.evidence import LEVEL, PART
from armspan.diversity.fits import whiten
from benchmarks.drifting_logs import MORE_LOGS
from benchmarks.drifting_problems import LOGS
from benchmarks.truth.loggers import Array
from benchmarks.truth.logs import Cell, cells, draw

STILL = "everything above, from noise to offsets"
"""What the logs of known truth are called, none of which drifts."""
LONGEST = 20_000
"""Rows of those logs, at most."""


class Seen(NamedTuple):
    """How many logs of one kind seemed to drift, and with which half-lives, as parts of the log."""

    name: str
    drifts: bool
    rows: int
    logs: int
    half_lives: tuple[float, ...]


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
    found, rows = [], 0
    for seed in range(logs):
        X, arms, rewards = write(seed)
        seen, rows = drift(whiten(X).z, arms, rewards, int(arms.max()) + 1, LEVEL / PART), len(X)
        found += [] if seen is None else [seen.half_life / rows]
    return Seen(name, drifts, rows, logs, tuple(found))
