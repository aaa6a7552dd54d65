"""How often an audit says that problems of ties are diverse, and how often it finds the true answer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np

from armspan.diversity.judged import Judged
from benchmarks.truth.audits import Score
from benchmarks.truth.logs import Cell
from benchmarks.truth.ties.families import FAMILIES
from benchmarks.truth.ties.problems import LOGGERS

LOGS_OF_A_PROBLEM = 5
FEWEST = 20
"""Logs whose truth is no, at least, for a cell's share of false yes to mean anything."""


def cells(families: Mapping[str, Any] = FAMILIES, loggers: Sequence[str] = LOGGERS) -> tuple[Cell, ...]:
    """Every family at all its sizes, with every logging policy."""
    logged = ("uniform", 1_000), ("uniform", 10_000), *((logger, 3_000) for logger in loggers)
    return tuple(
        Cell(name, K, d, logger, rows)
        for name, family in families.items()
        for K, d in family.sizes
        for logger, rows in logged
    )


def examine(cell: Cell, logs: int, families: Mapping[str, Any] = FAMILIES, *, lines: bool = False) -> Score:
    """Draw the logs of a cell and judge them; lines : also as if rewards were linear, into `Score.plain`."""
    score, family = Score(cell), families[cell.family]
    rng = np.random.default_rng(crc32(repr(cell).encode()))
    for first in range(0, logs, LOGS_OF_A_PROBLEM):
        while (problem := family.draw(cell.n_arms, cell.n_features, rng)) is None:  # with two features, one in four
            pass
        for _ in range(min(LOGS_OF_A_PROBLEM, logs - first)):
            X, arms, rewards = problem.log(cell.logger, cell.rows, rng)
            found = Judged(X, arms, rewards, cell.n_arms, level=0.05)
            score.logs += 1
            truth = problem.truth(found.margin).diverse
            score.diverse[truth, found.answer("diverse")] += 1
            if lines:
                found = Judged(X, arms, rewards, cell.n_arms, level=0.05, linear=True)
                score.plain[truth, found.answer("diverse")] += 1
    return score


def together(scores: Sequence[Score]) -> Score:
    """The answers of all these cells in one score."""
    diverse = sum((score.diverse for score in scores), Counter[tuple[bool, str]]())
    plain = sum((score.plain for score in scores), Counter[tuple[bool, str]]())
    return Score(scores[0].cell, diverse=diverse, plain=plain)


def n_logs(score: Score, truth: bool) -> int:
    """How many logs have this truth."""
    return sum(count for (true, _), count in score.diverse.items() if true is truth)


def worst(scores: Sequence[Score]) -> float:
    """The largest share of false yes in any cell; nan if all have too few logs."""
    shares = [score.rate("diverse", False, "yes") for score in scores if n_logs(score, False) >= FEWEST]
    return max(shares, default=float("nan"))
