"""Names beside the ends of lines, moved up or down where they would meet."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from armspan._typing import FloatArray
from armspan.plots.labels import plain
from armspan.plots.looks import INK, Look

LINE = 0.062
"""Height of a name, as a part of the axes'."""


def name_ends(axes: Axes, names: Sequence[str], ends: FloatArray, looks: Sequence[Look], bold: str = "") -> None:
    """Write each name to the right of the axes, joined to where its line ends; the axes must have their limits.

    A line that leaves the axes at the top is named at the top. bold : the name that is written in bold.
    """
    order = np.argsort(ends, kind="stable")  # those that leave at the top, too
    points = axes.transData.transform(np.column_stack([np.full(ends.size, axes.get_xlim()[1]), ends[order]]))
    heights = axes.transAxes.inverted().transform(points)[:, 1]
    beside: Any = {"transform": axes.transAxes, "clip_on": False, "scalex": False, "scaley": False, "label": "_"}
    for line, height, place in zip(order, heights, spread(np.clip(heights, 0, 1), LINE), strict=True):
        name, own = names[line], looks[line]
        if 0 <= height <= 1:
            axes.plot([1.0, 1.03], [height, place], linewidth=0.7, color=own.colour, **beside)
        axes.plot([1.03, 1.085], [place] * 2, linewidth=1.7, color=own.colour, linestyle=own.style, **beside)
        words: Any = {"va": "center", "fontsize": 9, "color": INK, "weight": "bold" if name == bold else "normal"}
        axes.text(1.095, place, plain(name), transform=axes.transAxes, **words)


def spread(heights: FloatArray, least: float) -> FloatArray:
    """Places as near to the heights as can be, in the same order, at least so far apart, and within 0 to 1."""
    order = np.argsort(heights, kind="stable")
    groups: list[list[float]] = []  # neighbours that touch: how many, and the sum of where each would put the lowest
    for height in heights[order]:
        groups.append([1.0, float(height)])
        while len(groups) > 1 and _lowest(groups[-1], least) < _lowest(groups[-2], least) + least * groups[-2][0]:
            count, total = groups.pop()
            before, sums = groups.pop()
            groups.append([before + count, sums + total - before * count * least])
    places = [_lowest(group, least) + least * k for group in groups for k in range(int(group[0]))]
    result = np.empty(heights.size)
    result[order] = places
    return result


def _lowest(group: list[float], least: float) -> float:
    count, total = group
    return float(np.clip(total / count, 0, 1 - least * (count - 1)))
