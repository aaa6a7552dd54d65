"""What is said before a run against what is seen after it, for random problems of ten families."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from armspan.experiments.families import FAMILIES
from armspan.experiments.predictions import SAID, VERDICTS, Prediction, confusion, foreseen, predict

RUNS, HORIZON = 100, 300_000


def examine(number: int, seed: int = 0) -> Prediction:
    """One problem by its number."""
    os.environ["NUMBA_NUM_THREADS"] = "1"
    rng = np.random.default_rng([seed, number])
    return predict(list(FAMILIES)[number % len(FAMILIES)], rng, runs=RUNS, horizon=HORIZON, seed=number)


def confusion_of(
    problems: int, seed: int, work: Callable[[Callable[[int], Prediction], Sequence[int]], Iterator[Any]]
) -> tuple[list[list[str]], list[str]]:
    """The table with its head, and notes. work : maps a function over numbers."""
    found: tuple[Prediction, ...] = tuple(work(partial(examine, seed=seed), range(problems)))
    table = confusion(found)
    rows = [["said before", *VERDICTS], *([said, *(str(table[said][v]) for v in VERDICTS)] for said in SAID)]
    regret, last = foreseen(found)
    ratios = np.array([e.regret / max(e.forecast.regret, 1e-9) for e in found])
    later = [e.last_exploration / max(e.forecast.last_exploration, 1.0) for e in found if e.verdict == "constant"]
    wrong = [f"{e.family} (said {e.said}, seen {e.verdict})" for e in found if e.contradicts]
    notes = [
        f"{problems} problems, {RUNS} runs of {HORIZON:,} steps each. Contradictions: {len(wrong)}"
        + (f": {'; '.join(wrong)}." if wrong else "."),
        "",
        f"The regret lay in the forecast's interval for {regret:.0%} of the problems, the last exploration, where it "
        f"was over, for {last:.0%}. Measured regret over forecast: 95 % of the problems between "
        f"{np.quantile(ratios, 0.025):.2f} and {np.quantile(ratios, 0.975):.2f}; last exploration between "
        f"{np.quantile(later, 0.025):.2f} and {np.quantile(later, 0.975):.2f}.",
    ]
    return rows, notes
