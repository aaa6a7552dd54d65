"""One described experiment in numbers."""

from pathlib import Path
from typing import Any

import armspan
from armspan._files import write_text
from armspan._json import as_json
from armspan.experiments.spec import Spec
from armspan.report import tables
from armspan.simulation import Result


def summary(spec: Spec, result: Result) -> dict[str, Any]:
    """Everything in numbers, for machines."""
    return {
        "armspan": armspan.__version__,
        "name": spec.name,
        "environment": spec.env.name,
        "runs": int(result.runs.size),
        "steps": int(result.checkpoints[-1]),
        "seed": result.seed,
        "policies": [row.as_dict() for row in result.summary()],
        "assumptions": [vars(assumption) for assumption in spec.env.assumptions()],
    }


def keep(result: Result, folder: Path) -> None:
    """Save the runs, first of all, so that nothing that comes later can lose them."""
    result.save(folder / "result.npz")


def write_numbers(spec: Spec, result: Result, folder: Path) -> None:
    """Write curves.csv and summary.json."""
    tables.write_curves({spec.name: result}, folder / "curves.csv")
    write_text(folder / "summary.json", as_json(summary(spec, result)) + "\n")
