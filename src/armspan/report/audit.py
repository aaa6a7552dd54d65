"""The page on a log's diversity: the answers, what follows from them, and one row per arm with intervals."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from armspan._files import write_text
from armspan.diversity import LoggedDiversity
from armspan.plots import bars, canvas
from armspan.plots.labels import plain
from armspan.plots.looks import SETTINGS
from armspan.policies.rules import Recommendation
from armspan.report import alts, page
from armspan.report.figures import save

CAPTION = (
    "Left: the share of contexts in which each arm may be best; the intervals hold for all arms at once. Middle: how "
    "far the contexts spread that an arm leads by the margin; the dotted line is what the answer “diverse” needs. "
    "Right: for each arm the direction in which those contexts spread least; dark squares are the features that make "
    "it up."
)
WORDS = (
    "An arm's own contexts are those that it leads by the margin or more. Where they spread in all directions, playing "
    "the best arm also teaches about it everywhere, and exploration is nearly free. The spread is 1 where an arm's "
    "contexts differ as much as an even share of all contexts would, and 0 where they do not vary in some direction.",
    "Diverse and gap, both yes: a policy that explores by width, such as LinUCB-d, will stop exploring by itself, and "
    "regret stays constant.",
    "Diverse yes, gap no: playing well still teaches about every arm, but near ties keep costing a little: expect "
    "regret like log T.",
    "Diverse no: some arm, or some direction of it, is not learnt about by playing well. Keep exploring, or drop the "
    "arm or the feature.",
    "Not known: the log does not settle it. Go on as if the answer were no, log some decisions at random, and ask "
    "again; the reason says which rows are missing most.",
    "Parameters are fitted arm by arm, without a ridge, and every row counts as a context. Rewards must be linear in "
    "the features; where they are seen not to be, nothing is answered.",
)


def write(audit: LoggedDiversity, advice: Recommendation, notes: Sequence[str], folder: Path) -> Path:
    """The page on one log; returns its path. notes : which columns and rows are part of it."""
    figure = audit_figure(audit)
    head = ["arm", "rows", "best in … of the contexts", "spread there", "weakest direction"]
    body = [
        page.word_table(["question", "answer", "why"], [[v.question, v.answer, v.reason] for v in audit.verdicts]),
        page.picture(figure, CAPTION, alts.audit(audit)),
        page.table(head, arm_rows(audit)),
        page.heading("Which policy to run"),
        page.paragraph(advice.line),
        *(page.paragraph(other) for other in advice.others),
        page.paragraph(audit.so),
        page.heading("What follows"),
        *(page.paragraph(words) for words in WORDS),
        page.heading("What was looked at"),
        *(page.paragraph(note) for note in (*notes, audit.together, audit.redundant, audit.shared_words) if note),
    ]
    lead = (
        f"{sum(arm.rows for arm in audit.arms):,} decisions, {len(audit.arms)} arms, {len(audit.feature_names)} "
        f"features. An arm leads where it is ahead by {audit.margin:.3g}. {audit.how_sure}"
    )
    save(figure, folder, "diversity")
    path = folder / "audit.html"
    write_text(path, page.page(f"Is this traffic diverse? {audit.name}", lead, body))
    return path


def arm_rows(audit: LoggedDiversity) -> list[list[str]]:
    """One row per arm, as words."""
    return [
        [
            arm.name,
            f"{arm.rows:,}",
            f"{arm.best[0]:.1%} to {arm.best[1]:.1%}",
            f"{arm.spread[0]:.2g} to {arm.spread[1]:.2g}",
            arm.words,
        ]
        for arm in audit.arms
    ]


def audit_figure(audit: LoggedDiversity) -> Figure:
    """How often each arm may be best, how far its contexts spread, and the weakest direction."""
    with matplotlib.rc_context(SETTINGS):
        figure = canvas.figure((11.5, 0.3 + bars.height(max(len(audit.arms), 6))))
        panels = figure.subplots(1, 3, width_ratios=[1, 1, 1.5])
        for axes, what in zip(panels, ("best", "spread", "direction"), strict=True):
            audit.plot(what, ax=axes)
        for axes in panels[1:]:
            axes.tick_params(labelleft=False)
            axes.set_ylabel("")
        figure.suptitle(plain(f"Diversity of {audit.name}"))
    return figure
