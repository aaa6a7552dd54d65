"""What an audit finds of each arm: how often it is best, how far its contexts spread, and where they do so least."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from armspan._typing import FloatArray
from armspan.plots import heat
from armspan.plots.bars import intervals
from armspan.plots.labels import plain


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
    """How far (K, 2) the contexts spread in which each arm is best, on a log scale that begins with 0.

    A bar without an end goes on to the right. words : what the numbers are. needed : what the answer “diverse” asks
    for, a dotted line.
    """
    known = np.append(ends[np.isfinite(ends)], [] if needed is None else needed)
    positive = known[known > 0]
    least = np.floor(np.log10(positive.min() if positive.size else 0.1))
    most = max(np.ceil(np.log10(positive.max() if positive.size else 1.0)), least + 1)
    axes.set_xscale("symlog", linthresh=10.0**least, linscale=0.5)
    axes.set_xticks([0, *10.0 ** np.arange(least, most + 1)])
    axes.set_xlim(-(10.0**least) / 20, 1.2 * 10.0**most)
    intervals(axes, names, ends, middle)
    if needed is not None:
        axes.axvline(needed, color="0.35", linewidth=1, linestyle=":")
    dotted = "" if needed is None else "; dotted: needed"
    axes.set(xlabel=f"{words} (log scale, with 0{dotted})", ylabel="arm", title="how far its contexts spread")


def direction(axes: Axes, names: Sequence[str], features: Sequence[str], directions: FloatArray) -> None:
    """Which features make up the direction (K, d) in which each arm's contexts spread least; nan where not known."""
    heat.shares(axes, features, directions**2, "share of the direction")
    axes.set_yticks(range(len(names)), [plain(name) for name in names])
    axes.set(xlabel="feature", ylabel="arm", title="the direction in which they spread least")
