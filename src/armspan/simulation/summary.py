"""A result in a few lines: one row per policy, with an interval and the growth verdict."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from armspan import _html
from armspan._text import amount, counted, table
from armspan._typing import IntArray
from armspan.simulation.growth import Growth

_HEAD = ("policy", "mean", "sd", "95 % interval of the mean", "growth")


@dataclass(frozen=True)
class SummaryRow:
    """Pseudo-regret at the last checkpoint over the runs: mean, sd, 95 % interval of the mean, growth verdict.

    switched_at : (R,) for a policy that can switch, the number of rewards after which each run did; 0 if it never did.
    """

    policy: str
    mean: float
    sd: float
    low: float
    high: float
    growth: Growth
    switched_at: IntArray | None = None

    @property
    def switches(self) -> str:
        """A sentence on the runs that switched; nothing for a policy that cannot."""
        if self.switched_at is None:
            return ""
        steps, runs = self.switched_at[self.switched_at > 0], counted(self.switched_at.size, "run")
        if not steps.size:
            return f"{self.policy} never switched in {runs}."
        median = counted(round(float(np.median(steps))), "reward")
        when = f"after {median}" if steps.size == 1 else f"after {median} in the median"
        return f"{self.policy} switched in {steps.size:,} of {runs}, {when}."

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and words, for JSON; None where a single run leaves sd and interval unknown."""
        known = not math.isnan(self.sd)
        return {
            "policy": self.policy,
            "mean": self.mean,
            "sd": self.sd if known else None,
            "interval": [self.low, self.high] if known else None,
            "growth": self.growth.verdict,
            "reason": self.growth.reason,
        } | ({} if self.switched_at is None else {"switched_at": self.switched_at.tolist()})


def _spread(row: SummaryRow, form: str) -> tuple[str, str]:
    """Standard deviation and interval as words; a dash where a single run leaves them unknown."""
    return ("–", "–") if math.isnan(row.sd) else (f"{row.sd:{form}}", f"{row.low:{form}} to {row.high:{form}}")


class Summary(tuple[SummaryRow, ...]):
    """One row per policy, as a tuple that prints as a table.

    Parameters
    ----------
    rows : list of SummaryRow
        Each with policy, mean, sd, low and high (the 95 % interval of the mean) and growth, at the last checkpoint.
    steps : int
        The last checkpoint.
    runs : int
        How many runs there were.
    """

    steps: int
    runs: int

    def __new__(cls, rows: list[SummaryRow], *, steps: int, runs: int) -> "Summary":
        self = super().__new__(cls, rows)
        self.steps, self.runs = steps, runs
        return self

    @property
    def title(self) -> str:
        """What the rows are about."""
        return f"pseudo-regret after {counted(self.steps, 'step')}, {counted(self.runs, 'run')}"

    def _cells(self) -> list[tuple[str, ...]]:
        form = amount(*(number for row in self for number in (row.mean, row.sd, row.low, row.high)))
        return [(row.policy, f"{row.mean:{form}}", *_spread(row, form), row.growth.verdict) for row in self]

    def _sentences(self) -> list[str]:
        return [row.switches for row in self if row.switches]

    def __str__(self) -> str:
        rows = table(_HEAD, self._cells(), words=(0, len(_HEAD) - 1))
        return "\n".join([self.title, *rows, *self._sentences()])

    def _repr_html_(self) -> str:
        return _html.shown(self.title, _HEAD, self._cells()) + "".join(map(_html.paragraph, self._sentences()))

    __repr__ = __str__
