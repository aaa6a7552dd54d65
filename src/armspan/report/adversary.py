"""Greedy's regret against the adversary's σ: a figure, a table, and one page."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from armspan._files import write_text
from armspan.experiments.adversary import NOISE, Opposition
from armspan.plots import canvas, curves, points
from armspan.plots.looks import SETTINGS, looks
from armspan.report import alts, figures, page
from armspan.report.numbers.adversary import table_of, write_numbers

LEAD = (
    "At every step an adversary, who knows the parameters and what a greedy policy would believe, picks the contexts "
    "in which that belief costs most. Chance then moves every feature by N(0, σ²)."
)


def figure_of(found: Opposition) -> Figure:
    """Mean final regret against σ, with its 95 % interval."""
    mean, half = found.final()
    result, sigmas = found.results[0], np.array(found.sigmas)
    with matplotlib.rc_context(SETTINGS):
        drawn = canvas.figure()
        axes, scale = drawn.subplots(), points.LogScale(sigmas)
        lines = curves.Curves(result.policies, sigmas, mean, mean - half, mean + half)
        points.draw(axes, lines, looks(result.policies), scale)
        scale.mark(axes)
        axes.set(yscale="log", ylim=(mean.min() / 3, None) if mean.min() > 0 else None)
        axes.set(xlabel="σ, how far chance moves features (log scale)")
        axes.set(ylabel=f"pseudo-regret after {result.horizon:,} steps (log scale)")
        axes.set_title("Greedy against an adversary: chance makes contexts diverse", loc="left")
        runs = result.runs.size
        canvas.legend(axes, f"mean of {runs} runs, bars: 95 % interval" if runs > 1 else "one run", fontsize=9)
    return drawn


def write(found: Opposition, folder: Path) -> Path:
    """Figure, numbers and page in a folder; the page's path."""
    figure = figure_of(found)
    body = [
        page.picture(figure, "Final regret of greedy and of optimism, for several σ.", alts.adversary(found)),
        page.table(*table_of(found)),
        page.paragraph(
            f"Three arms, three features, noise with standard deviation {NOISE:g}."
            + (" ± is half a 95 % interval." if found.results[0].runs.size > 1 else " One run has no interval.")
        ),
    ]
    figures.save(figure, folder, "adversary")
    write_numbers(found, folder)
    path = folder / "adversary.html"
    write_text(path, page.page("Greedy against the perturbed adversary", LEAD, body))
    return path
