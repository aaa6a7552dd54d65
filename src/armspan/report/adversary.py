"""Greedy's regret against the adversary's σ: a figure, a table, and one page."""

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from armspan._files import write_text
from armspan._json import as_json
from armspan.experiments.adversary import NOISE, Opposition
from armspan.report import figures, page
from armspan.report.figures import COLOURS, SETTINGS, STYLES

LEAD = (
    "At every step an adversary, who knows the parameters and what a greedy policy would believe, picks the contexts "
    "in which that belief costs most. Chance then moves every feature by N(0, σ²)."
)


def figure_of(found: Opposition) -> Figure:
    """Mean final regret against σ, with its 95 % interval."""
    mean, half = found.final()
    names, result = found.results[0].policies, found.results[0]
    with matplotlib.rc_context(SETTINGS):
        figure, axes = figures.empty()
        floor = min(sigma for sigma in found.sigmas if sigma > 0) / 2
        place = [max(sigma, floor) for sigma in found.sigmas]
        for p, (name, look) in enumerate(figures.looks(names).items()):
            colour = COLOURS[look]
            low = np.maximum(mean[p] - half[p], mean[p] / 10)
            axes.plot(place, mean[p], "o", color=colour, linestyle=STYLES[look], linewidth=2, label=name)
            axes.fill_between(place, low, mean[p] + half[p], color=colour, alpha=0.2, linewidth=0)
        ticks = [f"{sigma:g}" for sigma in found.sigmas]
        axes.set(xscale="log", yscale="log", xlabel="σ, how far chance moves features (log scale; leftmost: none)")
        axes.set(ylabel=f"pseudo-regret after {result.horizon:,} steps (log scale)")
        axes.set_xticks(place, ticks)
        axes.minorticks_off()
        axes.set_title("Greedy against an adversary: chance makes contexts diverse")
        axes.legend(title=f"mean of {result.runs.size} runs, shaded: 95 % interval", fontsize=9)
    return figure


def table_of(found: Opposition) -> tuple[list[str], list[list[str]]]:
    """Head and rows, one per σ."""
    mean, half = found.final()
    rows = [
        [f"{sigma:g}", *(f"{m:,.1f} ± {h:,.1f}" for m, h in zip(mean[:, s], half[:, s], strict=True))]
        for s, sigma in enumerate(found.sigmas)
    ]
    return ["σ", *found.results[0].policies], rows


def text(found: Opposition) -> str:
    """The table for the terminal."""
    head, rows = table_of(found)
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in [head, *rows]]
    return "\n".join(["Final regret against the adversary, mean ± 95 % interval", *lines])


def summary(found: Opposition) -> dict[str, Any]:
    """The same for machines."""
    mean, half = found.final()
    names, first = found.results[0].policies, found.results[0]
    rows = {name: {"mean": mean[p].tolist(), "half_width": half[p].tolist()} for p, name in enumerate(names)}
    return {"sigma": list(found.sigmas), "horizon": first.horizon, "runs": int(first.runs.size), "regret": rows}


def write(found: Opposition, folder: Path) -> Path:
    """Figure, numbers and page in a folder; the page's path."""
    figure = figure_of(found)
    body = [
        page.picture(figure, "Final regret of greedy and of optimism, for several σ."),
        page.table(*table_of(found)),
        page.paragraph(
            f"Three arms, three features, noise with standard deviation {NOISE:g}. ± is half a 95 % interval."
        ),
    ]
    figures.save(figure, folder, "adversary")
    write_text(folder / "adversary.json", as_json(summary(found)) + "\n")
    path = folder / "adversary.html"
    write_text(path, page.page("Greedy against the perturbed adversary", LEAD, body))
    return path
