"""Points with error bars, joined by lines, over numbers of which some may be 0 on a log scale."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from armspan._typing import FloatArray
from armspan.plots.curves import Curves
from armspan.plots.labels import plain
from armspan.plots.looks import Look

MOST_TICKS, LONGEST_TICK = 7, 5
"""So many values, of so many letters, are ticks themselves; otherwise powers of ten are."""


class LogScale(NamedTuple):
    """A log scale on which 0 has a place: it stands apart at the left, behind a break in the axis.

    values : all that are to be shown, each once, none below 0. apart : how far 0 stands from the smallest other
    value, as a part of the whole scale.
    """

    values: FloatArray
    apart: float = 0.1

    @property
    def zero(self) -> float:
        """Where 0 is drawn."""
        positive = self.values[self.values > 0]
        if not positive.size:
            return 1.0
        return float(positive.min() / max((positive.max() / positive.min()) ** self.apart, 1.5))

    def places(self, values: FloatArray) -> FloatArray:
        """Where values are drawn: 0 at its own place, others where they are."""
        return np.where(values == 0, self.zero, values)

    def mark(self, axes: Axes) -> None:
        """Scale and ticks of the axes, and the mark of a break where there is a 0."""
        axes.set_xscale("log")
        positive = np.unique(self.values[self.values > 0])
        if not positive.size or positive.size == np.unique(self.values).size:
            return
        least, most, place = float(positive[0]), float(positive[-1]), self.zero
        step = least / place
        powers = 10.0 ** np.arange(np.ceil(np.log10(least)), np.floor(np.log10(most)) + 1)
        short = positive.size <= MOST_TICKS and all(len(f"{value:g}") <= LONGEST_TICK for value in positive)
        ticks = positive if short else powers[:: 1 + powers.size // (MOST_TICKS + 1)]
        axes.set_xlim(place / step**0.5, most * step**0.3)
        axes.set_xticks([place, *ticks], ["0", *map(_power, ticks)])
        axes.set_xticks([], minor=True)
        middle = np.sqrt(least * place)
        edges = [middle / step**0.1, middle * step**0.1]
        over: Any = {"transform": axes.get_xaxis_transform(), "clip_on": False, "scalex": False, "scaley": False}
        axes.plot(edges, [0, 0], color=axes.get_facecolor(), linewidth=3, zorder=3, label="_", **over)
        slash: Any = [(-0.5, -1.0), (0.5, 1.0)]
        axes.plot(edges, [0, 0], linestyle="none", marker=slash, markersize=9, color="black", label="_", **over)


def draw(
    axes: Axes, curves: Curves, looks: Sequence[Look], scale: LogScale | None = None, *, joined: bool = True
) -> None:
    """Points over ascending x, with bars for their intervals, and lines between them where they are joined.

    scale : a log scale, on which what belongs to x = 0 stands by itself.
    """
    x = np.asarray(curves.x, dtype=np.float64)
    parts = [np.ones(x.shape, dtype=bool)] if scale is None else [x > 0, x == 0]
    for p, (name, own) in enumerate(zip(curves.names, looks, strict=True)):
        line: Any = {"color": own.colour, "linestyle": own.style if joined else "none", "linewidth": 1.8}
        line |= {"marker": own.marker, "markersize": 5, "capsize": 3, "elinewidth": 1.2}
        for part in parts:
            places = x[part] if scale is None else scale.places(x[part])
            middle, low, high = (edge[p, part] for edge in curves[2:])
            bars = None if np.isnan(low).all() else np.maximum([middle - low, high - middle], 0.0)
            label = plain(name) if part is parts[0] else "_"
            axes.errorbar(places, middle, bars, label=label, **line)


def _power(value: float) -> str:
    power = np.log10(value)
    far = power == round(power) and abs(power) > 2
    return f"$10^{{{power:.0f}}}$" if far else f"{value:g}"
