"""How often the growth verdict is wrong, on curves of known growth that were drawn up without knowledge of its rule."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armspan.simulation import octaves
from armspan.simulation.growth import Growth, _gains, growth, slope
from armspan.simulation.plan import as_checkpoints
from benchmarks.truth.curves import FAMILIES, Family
from benchmarks.truth.fresh import FRESH

ALL = (*FAMILIES, *FRESH)
"""The families that were there while the rule was made, and those that came after."""
RUNS, HORIZONS = (20, 50, 100), (5_000, 100_000, 1_000_000)
VERDICTS = ("constant", "logarithmic", "power", "linear", "undecided")
SLOWER_THAN_POWERS = (
    *("log-squared", "log-log", "events-log-squared"),
    *("fresh-forgets-log", "fresh-log-1.5", "fresh-log-cubed"),
)
"""Families between constant and every power, which "logarithmic" is a right word for, as the verdict defines it."""


@dataclass(frozen=True)
class Score:
    """What was concluded of the samples of one family with so many runs and steps."""

    family: Family
    runs: int
    horizon: int
    verdicts: Counter[str]
    wrong: int

    @property
    def samples(self) -> int:
        """How many there were."""
        return sum(self.verdicts.values())


def is_wrong(family: Family, found: Growth, horizon: int) -> bool:
    """Whether a conclusion contradicts the truth; "undecided" never does. A power's interval must hold the exponent."""
    if found.verdict == "undecided":
        return False
    if family.name in SLOWER_THAN_POWERS:
        return found.verdict != "logarithmic"
    local = family.exponent if family.local is None else family.local(horizon)
    if family.truth == "power" or family.local is not None:
        slack = 0.05  # an exponent is that of a stretch of time, not of the last step
        low, high = found.exponent.low - slack, found.exponent.high + slack
        return found.verdict != "power" or local is None or not low <= local <= high
    return found.verdict != family.truth


def examine(family: Family, runs: int, horizon: int, samples: int, seed: int = 0) -> Score:
    """Draw samples of a family and judge them."""
    rng = np.random.default_rng([seed, ALL.index(family), runs, horizon])
    checkpoints, verdicts, wrong = as_checkpoints(None, horizon), Counter[str](), 0
    for _ in range(samples):
        drawn = family.draw(rng, runs, checkpoints)
        pulls = None if drawn.losses is None else drawn.losses.astype(np.uint32)
        found = growth(checkpoints, drawn.curves, pulls)
        verdicts[found.verdict] += 1
        wrong += is_wrong(family, found, horizon)
    return Score(family, runs, horizon, verdicts, wrong)


def examine_number(job: tuple[int, int, int, int]) -> tuple[int, tuple[Counter[str], int]]:
    """The same by a family's number, for other processes: that number, the verdicts, how many are wrong."""
    number, runs, horizon, samples = job
    score = examine(ALL[number], runs, horizon, samples)
    return number, (score.verdicts, score.wrong)


GROUPS, PROBLEMS, ENOUGH, ROUNDING = 40, 10, 100, 1e-9
"""Samples of one problem, whose runs together say what its exponent is; problems of each family; how many intervals say
something of a family; and how far equal exponents may differ."""


class Held(NamedTuple):
    """How often the interval of an exponent held that of all runs together: where something was concluded, or not."""

    concluded: tuple[int, int]
    undecided: tuple[int, int]


def examine_exponent(job: tuple[int, int, int]) -> tuple[int, Held]:
    """A family's number, runs in a sample, and steps; the exponent is that of the same octaves in all samples' runs."""
    number, runs, horizon = job
    family, checkpoints = ALL[number], as_checkpoints(None, horizon)
    held: dict[bool, Counter[bool]] = {True: Counter(), False: Counter()}
    for problem in range(PROBLEMS):
        rng = np.random.default_rng([1, number, runs, horizon, problem])
        drawn = family.draw(rng, runs * GROUPS, checkpoints)
        gains = _gains(checkpoints, drawn.curves)
        assert gains is not None
        by_octave = octaves.per_octave(gains)
        for group in range(GROUPS):
            mine = slice(group * runs, (group + 1) * runs)
            pulls = None if drawn.losses is None else drawn.losses[mine].astype(np.uint32)
            found = growth(checkpoints, drawn.curves[mine], pulls)
            if found.octaves and "of arm" not in found.reason:
                truth = slope(by_octave[:, : found.octaves]).value
                low, high = found.exponent.low - ROUNDING, found.exponent.high + ROUNDING
                held[found.verdict != "undecided"][low <= truth <= high] += 1
    return number, Held(*((held[which][True], held[which].total()) for which in (True, False)))
