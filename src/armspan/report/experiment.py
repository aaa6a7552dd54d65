"""The report on one described experiment: figure, curves, summary.json and report.html in one folder."""

from pathlib import Path

from armspan._files import write_text
from armspan.experiments.spec import Spec
from armspan.report import alts, figures, page, tables
from armspan.report.numbers.experiment import keep, write_numbers
from armspan.simulation import Result
from armspan.simulation.growth import RULE


def write(spec: Spec, result: Result, folder: Path) -> Path:
    """Write everything and return the path of report.html."""
    keep(result, folder)
    figure = figures.regret_figure(result, spec.name)
    env = spec.env
    rows = [[f"{a.number} {a.title}", a.answer, a.reason] for a in env.assumptions()]
    body = [
        page.picture(
            figure,
            f"Mean pseudo-regret over {result.runs.size} runs; shaded: two standard deviations.",
            alts.regret(result, spec.name),
        ),
        page.table(*tables.landmark_table(result)),
        page.paragraph("Mean ± standard deviation over the runs.", "small"),
        page.heading("What the theory asks for"),
        page.word_table(["assumption of the paper", "here", "why"], rows),
        page.heading("How this was computed"),
        page.paragraph(RULE),
    ]
    lead = f"{env.n_arms} arms, {env.n_features} features; {result.runs.size} runs of {result.horizon:,} steps."
    write_numbers(spec, result, folder)
    figures.save(figure, folder, "figure")
    path = folder / "report.html"
    write_text(path, page.page(spec.name, lead, body))
    return path
