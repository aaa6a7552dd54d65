"""What the paper's proof counts in runs, as pictures: regret by event, when exploration ended, what was learnt."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from armspan._typing import FloatArray, IntArray
from armspan.plots.looks import COLOURS, look

EVENTS = (
    ("A", "a needed context came too rarely", 5, "//"),
    ("B", "an estimate missed its width", 2, "xx"),
    ("C", "after a frame with many misses", 4, ".."),
    ("D", "widths still above the gap", 0, ""),
)
"""Of each event of the proof its letter, what it means, its colour and its pattern."""


def by_event(axes: Axes, regret: FloatArray) -> None:
    """Mean regret (F, 4) of each frame, stacked by the proof's events."""
    frames, bottom = np.arange(len(regret)), np.zeros(len(regret))
    for (letter, words, colour, hatch), height in zip(EVENTS, regret.T, strict=True):
        drawn: Any = {"facecolor": COLOURS[colour], "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        axes.bar(frames, height, bottom=bottom, width=0.9, label=f"{letter}: {words}", **drawn)
        bottom = bottom + height
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(0, 1.5 * max(float(bottom.max(initial=0.0)), 1e-9))  # room for a legend
    axes.set(xlabel="frame k (steps 2^k to 2^(k+1) - 1)", ylabel="mean pseudo-regret", title="regret by event")


def exploration_over(axes: Axes, last: IntArray, horizon: int) -> None:
    """The share of runs whose last pull (R,) of a suboptimal arm was at step t or before."""
    ends = np.sort(last)
    axes.step(np.maximum(ends, 1), np.arange(1, ends.size + 1) / ends.size, where="post", color=COLOURS[0])
    axes.set(xscale="log", xlim=(0.9, 1.1 * horizon), ylim=(0, 1.02), xlabel="step t (log scale)")
    axes.set(ylabel="share of the runs (%)", title="no suboptimal pull after step t")
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}")


def by_arm(axes: Axes, t: IntArray, values: FloatArray, words: str) -> None:
    """A number (C, K) of each arm against t, both on log scales; what is not above 0 is left out."""
    for a in range(values.shape[1]):
        own, shown = look(a), values[:, a] > 0
        if shown.any():
            axes.plot(t[shown], values[shown, a], color=own.colour, linestyle=own.style, label=f"arm {a}")
    axes.set(xscale="log", yscale="log", xlabel="step t (log scale)", ylabel=f"{words} (log scale)")
