"""Two policies compared run by run: which loses less, by how much, and how sure that is."""

import math
from dataclasses import dataclass

import numpy as np

from armspan import _html
from armspan._text import amount, counted, percent
from armspan._typing import FloatArray
from armspan.simulation.student import half_width


@dataclass(frozen=True)
class Comparison:
    """How much more one policy loses than another, over runs in which both met the same contexts and noise.

    Attributes
    ----------
    first, second : str
        The policies.
    steps, runs : int
        After how many steps, and over how many runs.
    difference : float
        Mean regret of the second minus that of the first; above 0 if the first one loses less.
    low, high : float
        Its 95 % interval, by Student's t over the differences of the runs; nan for a single run.
    ahead : float
        Share of the runs in which the first one loses less; runs with the same regret count half.
    """

    first: str
    second: str
    steps: int
    runs: int
    difference: float
    low: float
    high: float
    ahead: float

    @property
    def better(self) -> str | None:
        """The policy that loses less, if the interval leaves no doubt; otherwise None."""
        return self.first if self.low > 0 else self.second if self.high < 0 else None

    @property
    def _said(self) -> str:
        where = f"after {counted(self.steps, 'step')}, {counted(self.runs, 'run')}"
        if self.better is None:
            said = f"Not known whether {self.first} or {self.second} loses less"
        else:
            said = f"{self.better} loses less than {self.second if self.better == self.first else self.first}"
        return f"{said} {where}"

    @property
    def _what(self) -> str:
        return f"Regret of {self.second} minus that of {self.first}"

    @property
    def _numbers(self) -> tuple[str, str]:
        """The difference and its interval in words; no interval for a single run."""
        form = amount(self.difference, self.low, self.high)
        interval = "" if math.isnan(self.low) else f"{self.low:{form}} to {self.high:{form}}"
        return f"{self.difference:{form}}", interval

    def __str__(self) -> str:
        difference, interval = self._numbers
        said = f" (95 % interval {interval})" if interval else ""
        return (
            f"{self._said}. {self._what}: {difference}{said}. "
            f"{self.first} is ahead in {percent(self.ahead)} of the runs."
        )

    def _repr_html_(self) -> str:
        difference, interval = self._numbers
        rows = [
            (self._what, difference),
            ("95 % interval", interval or "–"),
            (f"Runs in which {self.first} is ahead", percent(self.ahead)),
        ]
        return _html.shown(self._said, (), rows)


def compared(names: tuple[str, str], steps: int, first: FloatArray, second: FloatArray) -> Comparison:
    """The comparison of two policies by their regret (R,) in the same runs."""
    apart = second - first
    n, mean = apart.size, float(apart.mean())
    half = half_width(float(apart.std(ddof=1)), n) if n > 1 else math.nan
    ahead = float(np.mean((apart > 0) + 0.5 * (apart == 0)))
    return Comparison(*names, steps, n, mean, mean - half, mean + half, ahead)
