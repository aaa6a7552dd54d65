"""The report on one described experiment: figure, curves, summary.json and report.html in one folder."""

from pathlib import Path
from typing import Any

import armspan
from armspan._files import write_text
from armspan._json import as_json
from armspan.experiments.spec import Spec
from armspan.report import figures, page, tables
from armspan.simulation import Result
from armspan.simulation.growth import RULE


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


def write(spec: Spec, result: Result, folder: Path) -> Path:
    """Write everything and return the path of report.html."""
    result.save(folder / "result.npz")  # first of all, so that nothing that comes later can lose it
    figure = figures.regret_figure(result, spec.name)
    env = spec.env
    rows = [[f"{a.number} {a.title}", a.answer, a.reason] for a in env.assumptions()]
    body = [
        page.picture(figure, f"Mean pseudo-regret over {result.runs.size} runs; shaded: two standard deviations."),
        page.table(*tables.landmark_table(result)),
        page.paragraph("Mean ± standard deviation over the runs.", "small"),
        page.heading("What the theory asks for"),
        page.word_table(["assumption of the paper", "here", "why"], rows),
        page.heading("How this was computed"),
        page.paragraph(RULE),
    ]
    lead = f"{env.n_arms} arms, {env.n_features} features; {result.runs.size} runs of {result.horizon:,} steps."
    tables.write_curves({spec.name: result}, folder / "curves.csv")
    text = as_json(summary(spec, result))
    write_text(folder / "summary.json", text + "\n")
    figures.save(figure, folder, "figure")
    path = folder / "report.html"
    write_text(path, page.page(spec.name, lead, body))
    return path
