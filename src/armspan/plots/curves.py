"""Lines with bands: one per policy, arm or horizon, told apart by colour and by style."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from armspan._typing import FloatArray
from armspan.plots.labels import plain
from armspan.plots.looks import Look, look

FAR, LATE = 4.0, 0.25
"""Regret is on a log scale where the ends of the curves are further apart than this factor, or where the typical
curve gains more than this share of its end in the last octave."""
FIRST = 10
"""Curves over more than 100 steps are shown from here on: before it, a log scale has nothing but starting up."""


class Curves(NamedTuple):
    """P lines over C places. low, high : the edges (P, C) of their bands; nan where there is none."""

    names: Sequence[str]
    x: Any
    middle: FloatArray
    low: FloatArray
    high: FloatArray


def draw(axes: Axes, curves: Curves, looks: Sequence[Look] | None = None, **line: Any) -> None:
    """One line and one band per name. line : what Matplotlib is to know of the lines besides."""
    for p, name in enumerate(curves.names):
        own = looks[p] if looks is not None else look(p)
        usual: Any = {"color": own.colour, "linestyle": own.style, "linewidth": 2, "label": plain(name)}
        axes.plot(curves.x, curves.middle[p], **usual | line)
        if not np.isnan(curves.low[p]).all():
            axes.fill_between(curves.x, curves.low[p], curves.high[p], color=own.colour, alpha=0.18, linewidth=0)


def scales(axes: Axes, curves: Curves, log: str | None) -> None:
    """Logarithmic axes as asked for, or as is best for regret (None); limits that show all; and names of the axes."""
    t, ends = np.asarray(curves.x), curves.middle[:, -1]
    if log is None:
        far = ends.max() > FAR * ends.min() or late_gain(curves) > LATE
        log = "xy" if far and ends.min() > 0 else "x"
    first = int(np.searchsorted(t, FIRST)) if "x" in log and t[-1] > FIRST**2 else 0
    axes.set(xscale="log" if "x" in log else "linear", yscale="log" if "y" in log else "linear")
    if t[-1] > t[first]:
        axes.set_xlim(t[first], t[-1])
    shown = curves.middle[:, first:]
    top = float(np.nanmax(np.append(curves.high[:, first:], shown)))
    if "y" in log:
        positive = shown[shown > 0]
        axes.set_ylim(float(positive.min()) if positive.size else None, 1.3 * top if top > 0 else None)
    else:
        axes.set_ylim(min(0.0, float(shown.min())), 1.05 * top if top > 0 else 1.0)
    axes.set_xlabel("step T (log scale)" if "x" in log else "step T")
    axes.set_ylabel("pseudo-regret (log scale)" if "y" in log else "pseudo-regret")


def late_gain(curves: Curves) -> float:
    """The share of the end that curves gain in the last octave; the median of them."""
    half = curves.middle[:, int(np.searchsorted(curves.x, curves.x[-1] / 2))]
    return float(np.median(1 - half / np.maximum(curves.middle[:, -1], 1e-9)))
