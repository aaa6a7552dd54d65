"""Student's t: how far the mean over some runs may be off, even if the runs are few."""

import math
from typing import TypeVar

from armspan._typing import FloatArray
from armspan.diversity.quantiles import f_quantile

Numbers = TypeVar("Numbers", float, FloatArray)


def half_width(sd: Numbers, runs: int) -> Numbers:
    """Half the 95 % interval of a mean over this many runs with this standard deviation; nan for a single run."""
    return sd * (quantile(runs - 1) / math.sqrt(runs)) if runs > 1 else sd * math.nan


def quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, whose square has an F distribution."""
    return math.sqrt(f_quantile(0.95, 1, freedom))
