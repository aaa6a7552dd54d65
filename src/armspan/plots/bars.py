"""Intervals as horizontal bars, one row per arm or policy."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from armspan._typing import FloatArray
from armspan.plots.labels import plain
from armspan.plots.looks import COLOURS

MOST_ROWS = 60
"""With more rows a figure grows no further: they get thinner, and only some are named."""


def intervals(axes: Axes, names: Sequence[object], ends: FloatArray, middle: FloatArray | None = None) -> None:
    """Intervals (n, 2) from the top down, with marks at both ends, and a point in the middle where it is known.

    An interval that ends at infinity runs to the edge of the axes.
    """
    rows, edge, thin = np.arange(len(ends)), axes.get_xlim()[1], min(1.0, MOST_ROWS / len(ends))
    right = np.where(np.isinf(ends[:, 1]), edge, ends[:, 1])
    axes.hlines(rows, ends[:, 0], right, color=COLOURS[0], linewidth=3 * thin)
    for end in (0, 1):
        axes.plot(ends[:, end], rows, "|", color=COLOURS[0], markersize=9 * thin, markeredgewidth=2)
    if middle is not None:
        axes.plot(middle, rows, "o", color=COLOURS[0], markersize=6 * thin, markeredgecolor="white")
    name_rows(axes, names)
    axes.set_ylim(len(ends) - 0.5, -0.5)


def name_rows(axes: Axes, names: Sequence[object]) -> None:
    """Names at the left, one per row; of more than `MOST_ROWS` only every second, third, and so on."""
    step = -(-len(names) // MOST_ROWS)
    axes.set_yticks(range(0, len(names), step), [plain(name) for name in names[::step]])


def log_scale(axes: Axes) -> None:
    """A log scale from left to right with plain numbers at its ticks."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    powers = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    steps = (1, 2, 5) if powers.size < 5 else (1,)
    ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)


def height(rows: int) -> float:
    """Inches for this many rows."""
    return 1.3 + 0.32 * min(max(rows, 5), MOST_ROWS)
