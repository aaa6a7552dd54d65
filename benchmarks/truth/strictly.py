"""How many more rows *diverse?* needs for a yes with the bands that hold by proof."""

from typing import NamedTuple

import numpy as np

from armspan.diversity.judged import Judged
from benchmarks.truth.logs import draw

CASES = tuple((family, size) for family in ("strong-finite", "strong-continuous") for size in ((2, 2), (3, 3), (5, 4)))
FIRST, LAST, STEP = 60, 60_000, 2**0.5
"""Rows that are tried: the first ones of one log, ever more."""


class Needed(NamedTuple):
    """Rows until the usual rule says yes, and the strict one; infinity where that is beyond the last."""

    usual: float
    strict: float


def examine(case: tuple[str, tuple[int, int]], problems: int, level: float = 0.05) -> list[Needed]:
    """One uniform log of each problem."""
    family, (K, d) = case
    rng, found = np.random.default_rng([7, CASES.index(case)]), []
    for _ in range(problems):
        X, arms, rewards = draw(family, K, d, rng).log("uniform", LAST, rng)

        def until_yes(strict: bool, X=X, arms=arms, rewards=rewards) -> float:  # type: ignore[no-untyped-def]
            rows = float(FIRST)
            while rows <= LAST:
                n = int(rows)
                if Judged(X[:n], arms[:n], rewards[:n], K, level=level, strict=strict).answer("diverse") == "yes":
                    return rows
                rows *= STEP
            return np.inf

        found.append(Needed(until_yes(False), until_yes(True)))
    return found
