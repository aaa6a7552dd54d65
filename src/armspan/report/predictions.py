"""The predictions as a figure and as tables: what was said before a run, and what was seen after it."""

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from armspan.experiments.forecast import LAST_SPREAD, REGRET_SPREAD
from armspan.experiments.predictions import Prediction, confusion
from armspan.plots.looks import COLOURS, SETTINGS


def predictions_figure(predictions: tuple[Prediction, ...]) -> Figure:
    """Forecast against measured regret and end of exploration, with the interval of the forecast."""
    over = [entry for entry in predictions if entry.verdict == "constant"]
    pairs = {
        "regret at the end": ([(entry.forecast.regret, entry.regret) for entry in predictions], REGRET_SPREAD),
        "last exploration, where it was over": (
            [(entry.forecast.last_exploration, entry.last_exploration) for entry in over],
            LAST_SPREAD,
        ),
    }
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(9, 4.3), layout="constrained")
        for axes, (title, (points, spread)) in zip(figure.subplots(1, 2), pairs.items(), strict=True):
            values = np.maximum(np.array(points or [(1.0, 1.0)]), 0.01)
            line = np.array([values.min() / 2, values.max() * 2])
            axes.fill_between(
                line,
                line * spread[0],
                line * spread[1],
                color=COLOURS[5],
                alpha=0.25,
                linewidth=0,
                label="the forecast's interval",
            )
            axes.plot(line, line, color="0.5", linewidth=1)
            axes.plot(values[:, 0], values[:, 1], "o", color=COLOURS[0], markersize=5)
            axes.set(xscale="log", yscale="log", xlim=line, ylim=line, xlabel="forecast from the problem alone")
            axes.set(ylabel="measured (mean or median of the runs)", title=title)
            axes.legend(loc="upper left")
    return figure


def confusion_table(predictions: tuple[Prediction, ...]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: problems by prediction and by verdict."""
    counts = confusion(predictions)
    verdicts = list(next(iter(counts.values())))
    rows = [[words, *(str(row[verdict]) for verdict in verdicts)] for words, row in counts.items()]
    return ["predicted before", *verdicts], rows
