"""Results as figures: colour-blind safe, labelled, with what the shading means in words."""

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armspan._files import whole_file
from armspan._typing import FloatArray
from armspan.environments import paper_1a
from armspan.experiments import DialResult, Survey
from armspan.experiments.survey import THRESHOLDS
from armspan.report.labels import plain
from armspan.simulation import Result

# Okabe and Ito's palette, with a line style each, so that the lines can be told apart without colour
COLOURS = ("#0072B2", "#E69F00", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
STYLES = ("-", (0, (4, 2)), "-.", (0, (1, 1)), (0, (5, 1, 1, 1)), "--", "-")
_OWN = {"LinUCB-d": 0, "LinUCB": 1, "greedy": 2, "UCB per context": 3}

SETTINGS: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "svg.hashsalt": "armspan",  # the same figure gives the same file
}


def regret_figure(result: Result, title: str) -> Figure:
    """Mean pseudo-regret against log T, shaded two standard deviations either side, as in the paper.

    A curve that leaves the others far below is cut off at the top, and its end is written there.
    """
    with matplotlib.rc_context(SETTINGS):
        figure, axes = empty()
        t, mean, sd = result.checkpoints, result.mean(), np.nan_to_num(result.sd())
        top, cut = _top(mean, sd), 0
        for p, (name, look) in enumerate(looks(result.policies).items()):
            colour, style = COLOURS[look], STYLES[look]
            axes.plot(t, mean[p], color=colour, linestyle=style, linewidth=2, label=plain(name))
            low, high, inside = mean[p] - 2 * sd[p], mean[p] + 2 * sd[p], mean[p] <= top
            axes.fill_between(t, low, high, where=inside, color=colour, alpha=0.15, linewidth=0)
            if mean[p, -1] > top:
                out = int(np.argmax(mean[p] > top))
                text = plain(f"{name}: {mean[p, -1]:,.0f} at the end")
                place = (8, -12 - 15 * cut)
                axes.annotate(text, (t[out], top), place, textcoords="offset points", color=colour, weight="bold")
                cut += 1
        axes.set(xscale="log", xlim=(10, t[-1]) if t[-1] > 100 else None, ylim=(0, top))
        axes.set(xlabel="steps T (log scale)", ylabel="pseudo-regret (sum of lost mean reward)", title=plain(title))
        axes.legend(loc="upper left", title=f"mean of {result.runs.size} runs, shaded ± 2 sd")
    return figure


def survey_figure(survey: Survey) -> Figure:
    """How often the rarest arm is best, over random draws of θ: the share of draws above each probability."""
    with matplotlib.rc_context(SETTINGS):
        figure, axes = empty()
        grid = np.geomspace(1e-4, 0.2, 200)
        share = (survey.rarest[None, :] >= grid[:, None]).mean(axis=1)
        axes.plot(grid, share, color=COLOURS[0], linewidth=2)
        for entry in survey.shares():
            error = [[entry.share - entry.low], [entry.high - entry.share]]
            axes.errorbar(entry.threshold, entry.share, error, fmt="o", color=COLOURS[2], capsize=3)
            axes.annotate(f"{entry.share:.2%}", (entry.threshold, entry.share), (6, 6), textcoords="offset points")
        axes.set(xscale="log", ylim=(0, None), xticks=THRESHOLDS, xticklabels=[str(p) for p in THRESHOLDS])
        axes.set(
            xlabel="probability p that an arm is best (log scale)", ylabel="share of draws: rarest arm has p or more"
        )
        axes.set_title(f"{survey.n_draws:,} random draws of θ as in figure 1c")
        axes.text(0.98, 0.95, "bars: 95 % Wilson intervals", transform=axes.transAxes, ha="right", va="top")
    return figure


def dial_figure(dial: DialResult) -> Figure:
    """Mean pseudo-regret of LinUCB-d against λ₀ at several horizons: where the lines meet, regret is constant."""
    with matplotlib.rc_context(SETTINGS):
        figure, axes = empty()
        floor = min((value for value in dial.lambda_0 if value > 0), default=1.0) / 4
        place = [max(value, floor) for value in dial.lambda_0]
        steps, paper_a = dial.results[0].checkpoints, paper_1a().lambda_0()
        for part, look in ((1000, 3), (100, 5), (10, 1), (1, 0)):
            at = int(np.searchsorted(steps, max(steps[-1] // part, 1)))
            finals = [result.pseudo_regret[0, :, at] for result in dial.results]
            mean = np.array([final.mean() for final in finals])
            half = np.array(
                [1.96 * final.std(ddof=1) / np.sqrt(final.size) if final.size > 1 else 0 for final in finals]
            )
            axes.plot(place, mean, "o-", markersize=4, color=COLOURS[look])
            axes.fill_between(place, mean - half, mean + half, color=COLOURS[look], alpha=0.25, linewidth=0)
            label = f"T = {steps[at]:,}"
            axes.annotate(
                label, (place[0], mean[0]), (2, 8), textcoords="offset points", color=COLOURS[look], weight="bold"
            )
        axes.axvline(paper_a, color="0.5", linewidth=1, linestyle=":")
        axes.annotate("the paper's (a)", (paper_a, 0.75), (6, 0), xycoords=("data", "axes fraction"),
                      textcoords="offset points", va="top", color="0.35")  # fmt: skip
        axes.text(0.98, 0.97, "shaded: 95 % interval of the mean", transform=axes.transAxes, ha="right", va="top")
        axes.set(xscale="log", ylim=(0, None), title="Final regret of LinUCB-d along the diversity dial")
        axes.set(xlabel="context diversity λ₀ (log scale; leftmost point: λ₀ = 0)", ylabel="mean pseudo-regret at T")
        axes.set_ylim(top=axes.get_ylim()[1] * 1.08)
    return figure


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write NAME.svg and NAME.png."""
    for suffix in ("svg", "png"):
        with whole_file(folder / f"{name}.{suffix}") as file:
            figure.savefig(file, format=suffix, dpi=150, metadata={"Date": None} if suffix == "svg" else None)


def empty() -> tuple[Figure, Axes]:
    """A figure of the usual size."""
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    return figure, figure.subplots()


def looks(names: tuple[str, ...]) -> dict[str, int]:
    """The place of each policy in the palette: the paper's four have their own, others take what is left."""
    free = iter([look for look in range(len(COLOURS)) if look not in [_OWN[name] for name in names if name in _OWN]])
    return {name: _OWN[name] if name in _OWN else next(free, len(COLOURS) - 1) for name in names}


def _top(mean: FloatArray, sd: FloatArray) -> float:
    """The top of the axis: above every curve that ends within 5 times the lowest, shading and all."""
    ends = mean[:, -1]
    low = ends <= 5 * max(ends.min(), 1e-9)
    return float(1.25 * max((mean + 2 * sd)[low].max(), 1e-9))
