"""Results as tables: curves in a CSV file, numbers at a few steps for a page."""

import csv
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import numpy as np

from armspan._files import write_text
from armspan.simulation import Result

LANDMARKS = 5


def write_curves(results: Mapping[str, Result], path: Path) -> None:
    """One row per figure, policy and checkpoint: mean, standard deviation and 95 % interval of the pseudo-regret."""
    text = StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["figure", "policy", "step", "runs", "mean", "sd", "low", "high"])
    for key, result in results.items():
        mean, sd, (low, high) = result.mean(), result.sd(), result.interval()
        for p, name in enumerate(result.policies):
            for c, step in enumerate(result.checkpoints):
                values = (array[p, c] for array in (mean, sd, low, high))
                numbers = ("" if np.isnan(value) else f"{value:.6g}" for value in values)
                writer.writerow([key, name, int(step), result.runs.size, *numbers])
    write_text(path, text.getvalue())


def landmark_table(result: Result) -> tuple[list[str], list[list[str]]]:
    """Head and rows: each policy's mean ± sd at a few steps on a log scale, and its growth verdict."""
    T = int(result.checkpoints[-1])
    wanted = np.geomspace(min(1000, T), T, LANDMARKS)
    columns = np.unique(np.searchsorted(result.checkpoints, np.floor(wanted)))
    mean, sd = result.mean(), result.sd()
    head = ["policy", *(f"T = {int(result.checkpoints[c]):,}" for c in columns), "growth"]
    rows = [
        [name, *(plus_minus(mean[p, c], sd[p, c]) for c in columns), result.growth(name).verdict]
        for p, name in enumerate(result.policies)
    ]
    return head, rows


def plus_minus(mean: float, sd: float) -> str:
    """A mean and its standard deviation, with a decimal where it says something."""
    digits = 1 if mean < 1000 else 0
    return f"{mean:,.{digits}f}" if np.isnan(sd) else f"{mean:,.{digits}f} ± {sd:,.{digits}f}"
