"""What an audit finds of each arm: how often it is best, how far its contexts spread, and where they do so least."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from armspan._typing import FloatArray
from armspan.plots import heat
from armspan.plots.bars import intervals, name_rows
from armspan.plots.points import LogScale


def best(axes: Axes, names: Sequence[str], ends: FloatArray, middle: FloatArray | None = None) -> None:
    """The share (K, 2) of contexts in which each arm is best, or may be."""
    intervals(axes, names, ends, middle)
    axes.set(xlim=(-0.01, 1.01), xlabel="share of the contexts (%)", ylabel="arm", title="how often each arm is best")
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}")


def spread(
    axes: Axes,
    names: Sequence[str],
    ends: FloatArray,
    middle: FloatArray | None = None,
    *,
    words: str = "spread",
    needed: float | None = None,
) -> None:
    """How far (K, 2) the contexts spread in which each arm is best, on a log scale, with 0 behind a break in the axis.

    A bar without an end runs on to the right. words : what the numbers are. needed : what the answer “diverse” asks
    for, a dotted line.
    """
    known = np.append(ends[np.isfinite(ends)], [] if needed is None else needed)
    positive = known[known > 0] if (known > 0).any() else np.array([0.1, 1.0])
    least = np.floor(np.log10(positive.min()))
    most = max(np.ceil(np.log10(positive.max())), least + 1)
    powers = 10.0 ** np.arange(least, most + 1)
    scale = LogScale(np.append(powers, 0.0) if (known == 0).any() else powers, apart=0.18)
    axes.set_xlim(powers[0] / 1.2, powers[-1] * 1.2)
    scale.mark(axes)
    intervals(axes, names, scale.places(ends), None if middle is None else scale.places(middle))
    if needed is not None:
        axes.axvline(needed, color="0.35", linewidth=1, linestyle=":")
    dotted = "" if needed is None else "; dotted: needed"
    axes.set(xlabel=f"{words} (log scale{dotted})", ylabel="arm", title="how far its contexts spread")


def direction(axes: Axes, names: Sequence[str], features: Sequence[str], directions: FloatArray) -> None:
    """Which features make up the direction (K, d) in which each arm's contexts spread least; nan where not known."""
    heat.shares(axes, features, directions**2, "share of the direction")
    name_rows(axes, names)
    axes.set(xlabel="feature", ylabel="arm", title="the direction in which they spread least")
