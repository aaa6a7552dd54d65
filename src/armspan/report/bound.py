"""The page on a problem's diversity and the paper's bound, which needs no figure."""

from pathlib import Path

from armspan._files import write_text
from armspan.report import page
from armspan.report.numbers.bound import Bounded, bound_table, words_on_bound, words_on_forecast, write_numbers


def write(found: Bounded, folder: Path) -> Path:
    """Write bound.json and the page; returns the path of bound.html."""
    rows = [[verdict.question, verdict.answer, verdict.reason] for verdict in found.report.verdicts]
    arms = [
        [row.name, f"{row.probability:.2%}", f"{row.second_moment:.4g}", f"{row.rank}", row.words]
        for row in found.report.arms
    ]
    body = [
        page.word_table(["question", "answer", "why"], rows),
        page.heading("Arm by arm"),
        page.table(["arm", "is best", "λ_min there", "rank", "weakest direction"], arms),
        page.heading("The paper's bound on the expected regret, the same for every horizon"),
        *([page.paragraph(f"No bound: {found.refusal}")] if found.bound is None else []),
        *([] if found.bound is None else [page.table(*bound_table(found.bound))]),
        *([] if found.bound is None else [page.paragraph(words_on_bound(found.bound))]),
        page.heading(f"Rough forecast for LinUCB-d up to step {found.horizon:,}"),
        page.paragraph(words_on_forecast(found)),
        page.paragraph("It comes from a run without noise: an estimate, not a bound.", "small"),
    ]
    lead = f"λ₀ = {found.report.lambda_0_words}, gap Δ = {found.report.gap:.4g}."
    write_numbers(found, folder)
    path = folder / "bound.html"
    write_text(path, page.page(f"How diverse is it? {found.name}", lead, body))
    return path
