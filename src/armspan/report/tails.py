"""The tails as a figure and a table."""

import math

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armspan._typing import FloatArray, IntArray
from armspan.experiments.tails import Tail, Tails
from armspan.plots.looks import COLOURS, SETTINGS, STYLES

FEW = 10
"""Below so many runs a share is drawn thin: it is known only to a third or so."""
QUANTILES = (0.5, 0.99, 0.9999)
IN_TABLES = (0.5, 0.99, 0.999, 0.9999)


def tails_figure(tails: Tails) -> Figure:
    """Left, the probability of more regret than x; middle, of exploring after step t; right, quantiles against λ₀."""
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(13, 4.6), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        for tail, look in zip(tails.entries, (4, 0, 3, 1, 2), strict=False):
            name = f"λ₀ = {tail.lambda_0:.2g}"
            _survival(left, tail.values, tail.exceeded, tail, look, name)
            _survival(middle, tail.steps[:-1], tail.exploring[:-1], tail, look, name)
        runs = tails.entries[0].runs
        low = 0.5 / runs
        left.set(xscale="log", yscale="log", ylim=(low, 1.3), xlim=_reach(tails))
        left.set(xlabel="x (pseudo-regret, log scale)", ylabel="share of runs that end with regret above x")
        left.set_title(f"final regret of {runs:,} runs, {tails.horizon:,} steps")
        left.legend(loc="lower left", title=f"thin: fewer than {FEW} runs")
        middle.set(xscale="log", yscale="log", ylim=(low, 1.3), xlim=(10, tails.horizon))
        middle.set(xlabel="step t (log scale)", ylabel="share of runs that explore after step t")
        middle.set_title("the last step of exploration")
        _against_diversity(right, tails)
    return figure


def _survival(axes: Axes, x: FloatArray | IntArray, counts: IntArray, tail: Tail, look: int, name: str) -> None:
    share = np.where(counts > 0, counts / tail.runs, np.nan)
    sure, unsure = counts >= FEW, counts <= FEW
    axes.plot(x[unsure], share[unsure], color=COLOURS[look], linewidth=0.8)
    axes.plot(x[sure], share[sure], color=COLOURS[look], linestyle=STYLES[look], linewidth=2, label=name)


def _reach(tails: Tails) -> tuple[float, float]:
    """From where nearly all runs are above, to a little beyond the largest."""
    return min(tail.quantile(0.001) for tail in tails.entries) / 2, 1.5 * max(tail.largest for tail in tails.entries)


def _against_diversity(axes: Axes, tails: Tails) -> None:
    diversity = [tail.lambda_0 for tail in tails.entries]
    shown = [q for q in QUANTILES if (1 - q) * tails.entries[0].runs >= FEW] or QUANTILES[:1]
    for q, look in zip(shown, (0, 1, 2), strict=False):
        regret = [tail.quantile(q) for tail in tails.entries]
        axes.plot(
            diversity, regret, "o", color=COLOURS[look], linestyle=STYLES[look], label=f"{_percent(q)} of the runs"
        )
    axes.set(xscale="log", yscale="log", xlabel="diversity λ₀ (log scale)", ylabel="regret that they stay below")
    axes.set_title("quantiles of the final regret")
    axes.legend()


def tails_table(tails: Tails) -> tuple[list[str], list[list[str]]]:
    """Head and rows, one a level: mean, sd, quantiles and the largest of the final regret."""
    told, rows = tails.told(IN_TABLES), []
    head = ["λ₀", "mean", "sd", *map(_percent, told), "largest"]
    for tail in tails.entries:
        quantiles = [f"{tail.quantile(q):,.0f}" for q in told]
        rows.append(
            [f"{tail.lambda_0:.3g}", f"{tail.mean:,.1f}", f"{tail.sd:,.1f}", *quantiles, f"{tail.largest:,.0f}"]
        )
    return head, rows


def over_table(tails: Tails) -> tuple[list[str], list[list[str]]]:
    """Head and rows: after which step how many runs explore no more."""
    told, rows = tails.told(IN_TABLES), []
    for tail in tails.entries:
        steps = [tail.over(q) for q in told]
        words = [f"{step:,.0f}" if math.isfinite(step) else f"> {tails.horizon:,}" for step in steps]
        rows.append([f"{tail.lambda_0:.3g}", *words, f"{tail.still_exploring / tail.runs:.2g}"])
    return ["λ₀", *map(_percent, told), "still exploring"], rows


def _percent(share: float) -> str:
    return f"{100 * share:.6g} %"
