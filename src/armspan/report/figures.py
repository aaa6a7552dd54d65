"""The paper's figures and ours: regret curves, random draws of θ, the diversity dial; and figures as files."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from armspan._files import whole_file
from armspan._typing import FloatArray
from armspan.environments import paper_1a
from armspan.experiments import DialResult, Survey
from armspan.experiments.survey import THRESHOLDS
from armspan.plots import curves, points
from armspan.plots.canvas import figure, legend
from armspan.plots.ends import name_ends
from armspan.plots.labels import plain
from armspan.plots.looks import COLOURS, SETTINGS, look, looks
from armspan.report.rendered import rendered
from armspan.simulation import Result
from armspan.sweeps import plot_sweep

if TYPE_CHECKING:
    import pandas as pd

DIAL_PARTS = (1, 10, 100, 1000)
"""Of the horizon, at which the dial is read."""


def regret_figure(result: Result, title: str) -> Figure:
    """Mean pseudo-regret against log T, shaded two standard deviations either side, as in the paper.

    Each curve's name and end stand beside it. One that leaves the others far below is cut off at the top.
    """
    with matplotlib.rc_context(SETTINGS):
        drawn = figure()
        axes, own = drawn.subplots(), looks(result.policies)
        t, mean, sd = result.checkpoints, result.mean(), result.sd()
        top = _top(mean, np.nan_to_num(sd))
        leaves = (mean - 2 * sd)[:, -1:] > top  # the whole band does; others end with their curve
        band = np.where((mean <= top) | leaves, 2 * sd, np.nan)
        curves.draw(axes, curves.Curves(result.policies, t, mean, mean - band, mean + band), own)
        axes.set(xscale="log", xlim=(10, t[-1]) if t[-1] > 100 else None, ylim=(0, top))
        runs = result.runs.size
        axes.set_ylabel(f"pseudo-regret, mean of {runs} runs ± 2 sd" if runs > 1 else "pseudo-regret of one run")
        axes.set_xlabel("step T (log scale)")
        if top >= 1000:
            axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set_title(plain(title), loc="left")
        ends = mean[:, -1]
        names = [
            f"{name}: {end:,.0f}{' ↑' if end > top else ''}" for name, end in zip(result.policies, ends, strict=True)
        ]
        name_ends(axes, names, ends, own)
    return drawn


def sweep_figure(table: "pd.DataFrame", title: str) -> Figure:
    """Final regret of every cell of a sweep, as `plot_sweep` draws it."""
    with matplotlib.rc_context(SETTINGS):
        drawn = figure()
        plot_sweep(table, ax=drawn.subplots()).set_title(plain(title), loc="left")
    return drawn


def survey_figure(survey: Survey) -> Figure:
    """How often the rarest arm is best, over random draws of θ: the share of draws above each probability."""
    with matplotlib.rc_context(SETTINGS):
        drawn = figure()
        axes, grid = drawn.subplots(), np.geomspace(1e-4, 0.2, 200)
        share = (survey.rarest[None, :] >= grid[:, None]).mean(axis=1)
        axes.plot(100 * grid, 100 * share, color=COLOURS[0], linewidth=2, label="share of the draws")
        found = survey.shares()
        place, middle = 100 * np.array(THRESHOLDS), 100 * np.array([entry.share for entry in found])
        bars = np.abs(100 * np.array([[entry.low for entry in found], [entry.high for entry in found]]) - middle)
        axes.errorbar(place, middle, bars, fmt="o", color=COLOURS[2], capsize=3, label="with Wilson's 95 % interval")
        for x, y, up in zip(place, middle, bars[1], strict=True):
            axes.annotate(f"{y:.3g} %", (x, y + up), (4, 4), textcoords="offset points")
        axes.set(xscale="log", ylim=(0, None), xlim=(0.009, 22))
        axes.set_xticks([0.01, *place], [f"{tick:g} %" for tick in (0.01, *place)])
        axes.set_xticks([], minor=True)
        axes.yaxis.set_major_formatter("{x:.0f} %")
        axes.set_xlabel("how often the rarest arm is best, at least (log scale)")
        axes.set_ylabel("share of the draws of θ")
        axes.set_title(f"{survey.n_draws:,} random draws of θ as in figure 1c", loc="left")
        legend(axes)
    return drawn


def dial_figure(dial: DialResult) -> Figure:
    """Mean pseudo-regret of LinUCB-d against λ₀ at several horizons: where the lines meet, regret is constant."""
    with matplotlib.rc_context(SETTINGS):
        drawn = figure()
        axes, steps = drawn.subplots(), dial.results[0].checkpoints
        at = [int(np.searchsorted(steps, max(steps[-1] // part, 1))) for part in DIAL_PARTS]
        read = np.array([result.mean()[0, at] for result in dial.results]).T
        low, high = (np.array([result.interval()[edge][0, at] for result in dial.results]).T for edge in (0, 1))
        scale = points.LogScale(np.array(dial.lambda_0))
        names = [f"T = {steps[place]:,}" for place in at]
        lines = curves.Curves(names, np.array(dial.lambda_0), read, low, high)
        points.draw(axes, lines, [look(number) for number in (0, 2, 3, 4)], scale)
        scale.mark(axes)
        paper: Any = {"ymax": 0.6, "color": "0.5", "linewidth": 1, "linestyle": ":"}  # the legend is above
        axes.axvline(paper_1a().lambda_0(), label="figure 1a of the paper", **paper)
        axes.set(ylim=(0, None), xlabel="diversity λ₀ of the contexts (log scale)")
        axes.set_ylabel("mean pseudo-regret at step T")
        axes.set_title("Regret of LinUCB-d along the diversity dial", loc="left")
        legend(axes, "bars: 95 % interval" if dial.results[0].runs.size > 1 else "one run", loc="upper right")
    return drawn


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write NAME.svg and NAME.png."""
    for kind in ("svg", "png"):
        with whole_file(folder / f"{name}.{kind}") as file:
            file.write(rendered(figure, kind))


def _top(mean: FloatArray, sd: FloatArray) -> float:
    """The top of the axis: above every curve that ends within 5 times the lowest, shading and all."""
    ends = mean[:, -1]
    low = ends <= 5 * max(ends.min(), 1e-9)
    return float(1.1 * max((mean + 2 * sd)[low].max(), 1e-9))
