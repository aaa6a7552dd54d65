"""The arena in figures: how far every policy is from the best of each problem, and the curves of a problem."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armspan._typing import FloatArray, IntArray
from armspan.experiments.standing import Arena, Bout
from armspan.report import figures
from armspan.report.labels import plain

MOST_CURVES = 7
"""Policies that a figure can show and keep apart: the best ones, and LinUCB-d."""
FAR, LATE = 4.0, 0.25
"""Regret is on a log scale too where the ends of the curves are further apart than this factor, or where the typical
curve gains more than this share of its end in the last octave."""
LINE = 0.062
"""Height of a label, as a part of the axes'."""


def heat_map(arena: Arena) -> Figure:
    """Relative regret of every policy in every problem; darker is further from the best."""
    names, keys, values = arena.table()
    with matplotlib.rc_context(figures.SETTINGS | {"axes.grid": False}):
        figure = Figure(figsize=(3.4 + 0.52 * len(keys), 1.8 + 0.3 * len(names)), layout="constrained")
        axes = figure.subplots()
        shown = np.log10(np.clip(values, 1, 100))
        image = axes.imshow(shown, cmap="cividis_r", vmin=0, vmax=2, aspect="auto")
        for i, j in np.ndindex(values.shape):
            if not np.isnan(values[i, j]):
                colour = "white" if shown[i, j] > 0.9 else "black"
                weight = "bold" if values[i, j] == 1 else "normal"
                axes.text(
                    j, i, _cell(float(values[i, j])), ha="center", va="center", fontsize=8, color=colour, weight=weight
                )
        axes.set_xticks(range(len(keys)), keys, rotation=45, ha="left", rotation_mode="anchor")
        axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
        axes.set_yticks(range(len(names)), [plain(name) for name in names])
        axes.set_xticks(np.arange(len(keys) + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(len(names) + 1) - 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1)
        axes.tick_params(which="minor", length=0)
        axes.spines[:].set_visible(False)
        bar = figure.colorbar(
            image,
            ax=axes,
            ticks=[0, np.log10(3), 1, np.log10(30), 2],
            location="bottom",
            shrink=0.5,
            aspect=40,
            pad=0.01,
        )
        bar.ax.set_xticklabels(["1", "3", "10", "30", "100 or more"])
        bar.set_label("final mean regret, in units of the best policy's in that problem")
    return figure


def _cell(value: float) -> str:
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}" if value < 999.5 else f"{value / 1000:.0f}k"


def shown(bout: Bout) -> tuple[str, ...]:
    """Whose curves are drawn: the best ones', and LinUCB-d's."""
    first = bout.order[: MOST_CURVES - 1]
    return first if "LinUCB-d" in first or "LinUCB-d" not in bout.order else (*first, "LinUCB-d")


def curves(bout: Bout) -> Figure:
    """Mean pseudo-regret of the best policies and LinUCB-d against T, with names at the curves' ends."""
    result = bout.result.only(shown(bout))
    with matplotlib.rc_context(figures.SETTINGS):
        figure, axes = figures.empty()
        t, mean, (low, high) = result.checkpoints, result.mean(), result.interval()
        ends = mean[:, -1]
        logs = bool(ends.max() > FAR * max(ends.min(), 1e-9)) or _gain(t, mean) > LATE
        axes.set(xscale="log", yscale="log" if logs else "linear")
        first = int(np.searchsorted(t, 10)) if t[-1] > 100 else 0
        for p, (name, look) in enumerate(figures.looks(result.policies).items()):
            width = 2.6 if name == "LinUCB-d" else 1.7
            axes.plot(t, mean[p], color=figures.COLOURS[look], linestyle=figures.STYLES[look], linewidth=width)
            axes.fill_between(t, low[p], high[p], color=figures.COLOURS[look], alpha=0.12, linewidth=0)
        positive = mean[:, first:][mean[:, first:] > 0]
        bottom = float(positive.min()) if logs and positive.size else 0.0
        top = float(np.nanmax(np.append(high[:, -1], ends.max())))
        axes.set(xlim=(t[first], t[-1]), ylim=(bottom, max(1.3 * top if logs else 1.05 * top, 1e-9)))
        axes.set(xlabel="steps T (log scale)")
        axes.set_title(plain(bout.problem.title), loc="left")  # labels to the right make room for long ones
        axes.set_ylabel("pseudo-regret (log scale)" if logs else "pseudo-regret")
        _name_ends(axes, result.policies, ends)
    return figure


def _gain(t: IntArray, mean: FloatArray) -> float:
    """The share of the end that curves (P, C) gain in the last octave; the median of them."""
    half = mean[:, int(np.searchsorted(t, t[-1] / 2))]
    return float(np.median(1 - half / np.maximum(mean[:, -1], 1e-9)))


def _name_ends(axes: Axes, names: tuple[str, ...], ends: FloatArray) -> None:
    """Write each name beside the end of its curve, moved up or down where names would meet."""
    points = axes.transData.transform(np.column_stack([np.full(ends.size, axes.get_xlim()[1]), ends]))
    heights = np.clip(axes.transAxes.inverted().transform(points)[:, 1], 0, 1)
    looks = figures.looks(names)
    for p, place in enumerate(spread(heights, LINE)):
        colour, style = figures.COLOURS[looks[names[p]]], figures.STYLES[looks[names[p]]]
        line: Any = {"color": colour, "transform": axes.transAxes, "clip_on": False, "scalex": False, "scaley": False}
        axes.plot([1.0, 1.03], [heights[p], place], linewidth=0.7, **line)
        axes.plot([1.03, 1.085], [place, place], linewidth=1.7, linestyle=style, **line)
        weight = "bold" if names[p] == "LinUCB-d" else "normal"
        axes.text(1.095, place, plain(names[p]), transform=axes.transAxes, va="center", fontsize=9, weight=weight)


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
