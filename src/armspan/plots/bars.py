"""Intervals as horizontal bars, one row per arm or policy."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from armspan._typing import FloatArray
from armspan.plots.labels import plain
from armspan.plots.looks import COLOURS


def intervals(axes: Axes, names: Sequence[object], ends: FloatArray, middle: FloatArray | None = None) -> None:
    """Intervals (n, 2) from the top down, with marks at both ends, and a point in the middle where it is known.

    One that ends at infinity goes on to the edge of the axes.
    """
    rows, edge = np.arange(len(ends)), axes.get_xlim()[1]
    axes.hlines(rows, ends[:, 0], np.where(np.isinf(ends[:, 1]), edge, ends[:, 1]), color=COLOURS[0], linewidth=3)
    for end in (0, 1):
        axes.plot(ends[:, end], rows, "|", color=COLOURS[0], markersize=9, markeredgewidth=2)
    if middle is not None:
        axes.plot(middle, rows, "o", color=COLOURS[0], markersize=6, markeredgecolor="white")
    axes.set_yticks(rows, [plain(name) for name in names])
    axes.set_ylim(len(ends) - 0.5, -0.5)


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
    """Inches for so many rows."""
    return 1.3 + 0.32 * max(rows, 5)
