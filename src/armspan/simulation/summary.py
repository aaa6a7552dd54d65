"""A result in a few lines: one row a policy, with an interval and the growth verdict."""

import math
from dataclasses import dataclass
from typing import Any

from armspan.simulation.growth import Growth


@dataclass(frozen=True)
class SummaryRow:
    """Pseudo-regret at the last checkpoint over the runs: mean, sd, 95 % interval of the mean, growth verdict."""

    policy: str
    mean: float
    sd: float
    low: float
    high: float
    growth: Growth

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
        }


def _spread(row: SummaryRow) -> tuple[str, str]:
    """Standard deviation and interval as words; a dash where a single run leaves them unknown."""
    return ("–", "–") if math.isnan(row.sd) else (f"{row.sd:,.1f}", f"{row.low:,.1f} to {row.high:,.1f}")


class Summary(tuple[SummaryRow, ...]):
    """The rows; printed, a table."""

    steps: int
    runs: int

    def __new__(cls, rows: list[SummaryRow], *, steps: int, runs: int) -> "Summary":
        self = super().__new__(cls, rows)
        self.steps, self.runs = steps, runs
        return self

    def __str__(self) -> str:
        head = ("policy", "mean", "sd", "95 % interval of the mean", "growth")
        rows = [(row.policy, f"{row.mean:,.1f}", *_spread(row), row.growth.verdict) for row in self]
        widths = [max(len(line[i]) for line in [head, *rows]) for i in range(len(head))]
        lines = [
            "  ".join(
                cell.ljust(width) if i in (0, len(head) - 1) else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in [head, *rows]
        ]
        return f"pseudo-regret after {self.steps:,} steps, {self.runs:,} runs\n" + "\n".join(lines)

    __repr__ = __str__
