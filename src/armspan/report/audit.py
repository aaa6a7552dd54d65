"""The page on a log's diversity: a row an arm with intervals, the weakest directions, and what they mean."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armspan._typing import FloatArray
from armspan.diversity import LoggedDiversity
from armspan.report import page
from armspan.report.figures import COLOURS, SETTINGS, save

CAPTION = (
    "Left and middle: estimates with 95 % intervals from resampling the rows. Right: for each arm the direction in "
    "which its features vary least where it is best; dark squares are the features that make it up."
)
WORDS = (
    "An arm's own contexts are those in which it is best. Where they span all features, playing the best arm also "
    "teaches about it in every direction, and exploration is nearly free. λ_min is how much they vary in their weakest "
    "direction; 0 means that they do not span.",
    "Parameters are fitted to the log by ridge regression, arm by arm, and every row counts as a context. If rewards "
    "are not linear in the features, or rows of an arm are few, trust the intervals rather than the estimates.",
)
_MOST_TICKS = 24


def write(audit: LoggedDiversity, left_out: str, folder: Path) -> Path:
    """The page on one log; returns its path. left_out : which rows are not part of it, or ""."""
    report = audit.report
    figure = audit_figure(audit)
    save(figure, folder, "diversity")
    head = ["arm", "rows", "is best", "95 % interval", "λ_min there", "95 % interval", "rank"]
    body = [page.paragraph(left_out, "small")] if left_out else []
    body += [
        page.word_table(["question", "answer", "why"], [[v.question, v.answer, v.reason] for v in report.verdicts]),
        page.paragraph(certainty(audit)),
        page.picture(figure, CAPTION),
        page.table(head, arm_rows(audit)),
        page.heading("Which direction is the trouble?"),
        *(page.paragraph(f"{row.words[0].upper()}{row.words[1:]}.") for row in report.arms),
        page.heading("How to read this"),
        *(page.paragraph(words) for words in WORDS),
    ]
    lead = (
        f"{int(audit.rows.sum()):,} decisions, {len(report.arms)} arms, {report.n_features} features; "
        f"λ₀ = {report.lambda_0_words}; in 95 % of the rows the best arm leads by at least {report.margin:.3g}."
    )
    path = folder / "audit.html"
    path.write_text(page.page(f"Is this traffic diverse? {report.environment}", lead, body), encoding="utf-8")
    return path


def certainty(audit: LoggedDiversity) -> str:
    """How sure the first verdict is."""
    return f"In {audit.diverse:.0%} of the resamples every arm was best somewhere and its contexts spanned."


def arm_rows(audit: LoggedDiversity) -> list[list[str]]:
    """One row an arm, as words."""
    return [
        [
            row.name,
            f"{audit.rows[row.arm]:,}",
            f"{row.probability:.2%}",
            f"{audit.probability[row.arm, 0]:.2%} to {audit.probability[row.arm, 1]:.2%}",
            f"{row.second_moment:.4g}",
            f"{audit.second_moment[row.arm, 0]:.4g} to {audit.second_moment[row.arm, 1]:.4g}",
            f"{row.rank} of {audit.report.n_features}",
        ]
        for row in audit.report.arms
    ]


def audit_figure(audit: LoggedDiversity) -> Figure:
    """How often each arm is best, λ_min of its features there, and the weakest direction."""
    arms = audit.report.arms
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(11.5, 1.6 + 0.32 * max(len(arms), 6)), layout="constrained")
        often, least, where = figure.subplots(1, 3, width_ratios=[1, 1, 1.5])
        _dots(often, np.array([row.probability for row in arms]), audit.probability)
        often.set(xlabel="share of contexts", xlim=(0, None), ylabel="arm", title="how often it is best")
        often.set_yticks(range(len(arms)), [row.name for row in arms])
        values = np.array([row.second_moment for row in arms])
        _dots(least, values, audit.second_moment)
        positive = np.concatenate([values, audit.second_moment.ravel()])
        smallest = float(positive[positive > 0].min()) if (positive > 0).any() else 1.0
        least.set_xscale("symlog", linthresh=smallest)
        least.set_xlim(-0.05 * smallest, None if smallest < 1 else 1)
        least.set(xlabel="λ_min (log scale, 0 at the left)", title="how far its features span there")
        least.tick_params(labelleft=False)
        weights = np.array([row.weakest_direction for row in arms]) ** 2
        image = where.imshow(weights, aspect="auto", cmap="Blues", vmin=0, vmax=1)
        names, d = audit.report.feature_names, audit.report.n_features
        shown = np.unique(np.linspace(0, d - 1, min(d, _MOST_TICKS)).astype(int))
        long = max(len(names[j]) for j in shown) > 2
        where.set_xticks(shown, [names[j] for j in shown], rotation=90 if long else 0, fontsize=8)
        where.set(xlabel="feature", title="their weakest direction")
        where.tick_params(labelleft=False)
        where.grid(visible=False)
        for axes in (often, least):
            axes.set_ylim(len(arms) - 0.5, -0.5)
        figure.colorbar(image, ax=where, label="share of the direction", shrink=0.9)
        figure.suptitle(f"Diversity of {audit.report.environment}")
    return figure


def _dots(axes: Axes, values: FloatArray, interval: FloatArray) -> None:
    arms = np.arange(values.size)
    axes.hlines(arms, interval[:, 0], interval[:, 1], color=COLOURS[5], linewidth=3)
    axes.plot(values, arms, "o", color=COLOURS[0], markersize=5)
