"""How often an audit's answers are wrong, on logs of known truth that were drawn up without knowledge of its rule."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np

from armspan.diversity.evidence import PART, evidence
from armspan.diversity.judged import Judged
from benchmarks.truth import visitors
from benchmarks.truth.loggers import Array
from benchmarks.truth.logs import Cell, Problem, Truth, draw, problems_per_cell

QUESTIONS = ("diverse", "gap")
COLUMNS = (
    *(f"{q}: {words}" for q in QUESTIONS for words in ("false yes", "false no")),
    *(f"{q}: {words}" for q in QUESTIONS for words in ("true yes", "true no")),
    "coverage of P(best), all arms",
    "coverage of the spread",
)
SUMMARY = ("false yes", "false no", "worst cell", "diverse: yes, no", "gap: yes, no", "P(best)", "spread")
ALONE = (*SUMMARY[:4], SUMMARY[5])
"""What is also shown of logs that are judged as if rows were independent."""
ROUNDING = 1e-9
SAMPLED = 50_000
"""Contexts by which the truth of continuous problems is known, at least."""


@dataclass
class Score:
    """Answers of the logs of one cell: how many of each, by truth, and how many intervals of P(best) missed.

    plain : answers to *diverse?* by Scheffé's bands for all pairs of arms alone, where they were asked for.
    """

    cell: Cell
    diverse: Counter[tuple[bool, str]] = field(default_factory=Counter)
    gap: Counter[tuple[bool, str]] = field(default_factory=Counter)
    constant: Counter[tuple[bool, str]] = field(default_factory=Counter)
    plain: Counter[tuple[bool, str]] = field(default_factory=Counter)
    missed: int = 0
    spread_missed: int = 0
    logs: int = 0

    def add(self, found: Judged, problem: Problem) -> Truth:
        """Count what was said of one log."""
        truth = problem.truth(found.margin)
        self.logs += 1
        self.diverse[bool(truth.diverse), found.answer("diverse")] += 1
        self.gap[bool(truth.gap), found.answer("gap")] += 1
        self.constant[truth.diverse and truth.gap, found.answer("constant")] += 1
        sampled = 0.0 if problem.points is not None else 1 / SAMPLED  # then truth has an error of its own
        self.missed += bool(_outside(truth.best, found.best, truth.best * (1 - truth.best) * sampled).any())
        self.spread_missed += int(_outside(truth.S, found.evidence.spread, 3 * truth.S * sampled).sum())
        return truth

    def share(self, question: str, answer: str) -> float:
        """The share of all logs that got this answer."""
        counts: Counter[tuple[bool, str]] = getattr(self, question)
        return sum(count for (_, said), count in counts.items() if said == answer) / self.logs

    def numbers(self) -> list[float]:
        """Under the heads of `COLUMNS`."""
        wrong = [self.rate(q, truth, said) for q in QUESTIONS for truth, said in ((False, "yes"), (True, "no"))]
        decided = [self.rate(q, truth, said) for q in QUESTIONS for truth, said in ((True, "yes"), (False, "no"))]
        return [*wrong, *decided, 1 - self.missed / self.logs, 1 - self.spread_missed / (self.logs * self.cell.n_arms)]

    def rate(self, question: str, truth: bool, answer: str) -> float:
        """The share of the logs with this truth that got this answer; nan where there are none."""
        counts: Counter[tuple[bool, str]] = getattr(self, question)
        total = sum(count for (true, _), count in counts.items() if true is truth)
        return counts[truth, answer] / total if total else float("nan")


def _outside(truth: Array, interval: Array, variance: Array) -> Array:
    """Which true numbers (K,) lie outside of their intervals (K, 2), by more than 4 errors of their own."""
    slack = 4 * np.sqrt(np.maximum(variance, 0.0)) + ROUNDING
    return np.asarray((truth < interval[:, 0] - slack) | (truth > interval[:, 1] + slack))


def plainly(found: Judged, level: float) -> str:
    """The answer to *diverse?* by Scheffé's bands for all pairs of arms alone."""
    bands = found.bands._replace(one_arm=found.bands.all_arms)
    return evidence(found.sample, bands, found.margin, level / PART).diverse


def examine(
    cell: Cell,
    logs: int,
    *,
    level: float = 0.05,
    strict: bool = False,
    seed: int = 0,
    quieter: float = 1.0,
    one_each: bool = False,
    plain: bool = False,
) -> Score:
    """Draw the logs of a cell and judge them.

    quieter : what the noise is divided by. one_each : draw a new problem for every log, where problems differ much.
    plain : fill `Score.plain`.
    """
    score = Score(cell)
    rng = np.random.default_rng([seed, crc32(repr(cell).encode())])
    problems, each = (logs, 1) if one_each else problems_per_cell(logs)
    for _ in range(problems):
        problem = draw(cell.family, cell.n_arms, cell.n_features, rng)
        problem = problem if quieter == 1 else replace(problem, sigma=problem.sigma / quieter)
        for _ in range(each):
            X, arms, rewards = problem.log(cell.logger, cell.rows, rng)
            found = Judged(X, arms, rewards, cell.n_arms, level=level, strict=strict)
            truth = score.add(found, problem)
            if plain:
                score.plain[bool(truth.diverse), plainly(found, level)] += 1
    return score


def examine_visits(cell: Cell, logs: int) -> tuple[Score, Score]:
    """The same for logs whose rows come in groups: judged with the groups' labels, and as if rows were independent."""
    rng, by, alone = np.random.default_rng(crc32(repr(cell).encode())), Score(cell), Score(cell)
    problems, each = problems_per_cell(2 * logs)  # groups are few, so that problems should be many
    for _ in range(problems):
        visited = visitors.draw(cell.family, cell.n_arms, cell.n_features, rng)
        for _ in range(-(-each // 2)):
            X, arms, rewards, labels = visited.log(cell.logger, cell.rows, rng)
            for score, groups in ((by, labels), (alone, None)):
                score.add(Judged(X, arms, rewards, cell.n_arms, level=0.05, by=groups), visited.problem)
    return by, alone


def summary(scores: Sequence[Score]) -> list[str]:
    """One family's scores under the heads of `SUMMARY`: wrong answers of both questions, decided ones, coverage."""
    wrong, worst = [], 0.0
    for truth, said in ((False, "yes"), (True, "no")):
        both = sum((getattr(score, q) for score in scores for q in QUESTIONS), Counter[tuple[bool, str]]())
        total = sum(count for (true, _), count in both.items() if true is truth)
        wrong.append(f"{both[truth, said]} of {total:,}")
        rates = [score.rate(q, truth, said) for score in scores for q in QUESTIONS]
        worst = max([worst, *(rate for rate in rates if rate == rate)])
    decided = []
    for q in QUESTIONS:
        parts = []
        for truth, said in ((True, "yes"), (False, "no")):
            counts = sum((getattr(score, q) for score in scores), Counter[tuple[bool, str]]())
            total = sum(count for (true, _), count in counts.items() if true is truth)
            parts.append(f"{counts[truth, said] / total:.0%}" if total else "–")
        decided.append(", ".join(parts))
    logs = sum(score.logs for score in scores)
    arms = sum(score.logs * score.cell.n_arms for score in scores)
    covered = [1 - sum(s.missed for s in scores) / logs, 1 - sum(s.spread_missed for s in scores) / arms]
    return [*wrong, f"{worst:.1%}", *decided, *(f"{share:.1%}" for share in covered)]


def goal_cells() -> tuple[tuple[Cell, float], ...]:
    """Clear cases, which an audit should decide, each with what its noise is divided by."""
    sizes, loggers = ((2, 2), (3, 3), (5, 4), (10, 8)), ("uniform", "epsilon-greedy")
    wanted: list[tuple[str, int, tuple[str, ...], float]] = [
        ("strong-finite", 3_000, loggers, 1.0),
        ("strong-continuous", 3_000, loggers, 1.0),
        ("strong-finite", 3_000, loggers, 2.0),
        ("strong-continuous", 3_000, loggers, 2.0),
        ("strong-finite", 3_000, loggers, 4.0),
        ("strong-continuous", 3_000, loggers, 4.0),
        ("dominated-.3", 10_000, loggers, 1.0),
        ("flat", 10_000, loggers, 1.0),
        ("dominated-.1", 10_000, loggers[:1], 1.0),
        ("dominated-.02", 100_000, loggers[:1], 1.0),
        ("one-best-.05", 100_000, loggers[:1], 1.0),
    ]
    listed = [
        (Cell(family, K, d, logger, rows), quieter)
        for family, rows, some, quieter in wanted
        for K, d in (sizes if rows < 100_000 else sizes[:3])[2 * (quieter > 1) :]
        for logger in some
    ]
    many = ("strong-finite", "strong-continuous")  # of the largest size, which needs more rows
    listed += [(Cell(family, *sizes[-1], logger, 10_000), 1.0) for family in many for logger in loggers]
    return tuple(listed)
