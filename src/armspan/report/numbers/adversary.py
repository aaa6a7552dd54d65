"""Greedy against the adversary in numbers: a table, and the same for machines."""

from pathlib import Path
from typing import Any

import numpy as np

from armspan._files import write_text
from armspan._json import as_json
from armspan._text import table
from armspan.experiments.adversary import Opposition


def table_of(found: Opposition) -> tuple[list[str], list[list[str]]]:
    """Head and rows, one per σ."""
    mean, half = found.final()
    rows = [
        [f"{sigma:g}", *(_cell(m, h) for m, h in zip(mean[:, s], half[:, s], strict=True))]
        for s, sigma in enumerate(found.sigmas)
    ]
    return ["σ", *found.results[0].policies], rows


def text(found: Opposition) -> str:
    """The table for the terminal."""
    head, rows = table_of(found)
    shown = "mean ± half of a 95 % interval" if found.results[0].runs.size > 1 else "one run"
    return "\n".join([f"Final regret against the adversary: {shown}", *table(head, rows)])


def summary(found: Opposition) -> dict[str, Any]:
    """The same for machines; None where a single run leaves the interval unknown."""
    mean, half = found.final()
    names, first = found.results[0].policies, found.results[0]
    known = [[None if np.isnan(width) else width for width in row] for row in half.tolist()]
    rows = {name: {"mean": mean[p].tolist(), "half_width": known[p]} for p, name in enumerate(names)}
    return {"sigma": list(found.sigmas), "horizon": first.horizon, "runs": int(first.runs.size), "regret": rows}


def _cell(mean: float, half: float) -> str:
    return f"{mean:,.1f}" if np.isnan(half) else f"{mean:,.1f} ± {half:,.1f}"


def write_numbers(found: Opposition, folder: Path) -> None:
    """Write adversary.json."""
    write_text(folder / "adversary.json", as_json(summary(found)) + "\n")
