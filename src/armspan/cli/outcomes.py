"""What a reproduction found, as text for the terminal."""

import math
from textwrap import wrap

from armspan._text import counted, percent, table
from armspan.experiments import DialResult, Idea, Outcome, PanelResult, Predictions, Survey, Tails
from armspan.experiments.predictions import VERDICTS, confusion, foreseen

TOLD = (0.5, 0.99, 0.999, 0.9999)
"""Quantiles of the tails."""


def outcome_text(outcome: Outcome) -> str:
    """One outcome: a title and a table."""
    if isinstance(outcome, PanelResult):
        return _panel(outcome)
    if isinstance(outcome, Survey):
        return _survey(outcome)
    if isinstance(outcome, Predictions):
        return _predictions(outcome)
    if isinstance(outcome, Tails):
        return _tails(outcome)
    return _idea(outcome) if isinstance(outcome, Idea) else _dial(outcome)


def _panel(outcome: PanelResult) -> str:
    claims = []
    for finding in outcome.findings:
        claims.append(f"  {finding.word:<13}  {finding.statement}")
        if finding.confirmed is not True:
            claims += wrap(finding.outcome, 80, initial_indent=" " * 17, subsequent_indent=" " * 17)
    return "\n".join([outcome.panel.title, str(outcome.result.summary()), *claims])


def _survey(survey: Survey) -> str:
    rows = [(f"{share.threshold:g}", f"{share.share:.2%}") for share in survey.shares()]
    head = ("rarest arm best with probability at least", "share of the draws")
    return "\n".join([f"Figure 1c: {counted(survey.n_draws, 'random draw')} of θ", *table(head, rows, indent="  ")])


def _predictions(outcome: Predictions) -> str:
    entries = outcome.entries
    regret, last = foreseen(entries)
    rows = [(said, *(str(count) for count in found.values())) for said, found in confusion(entries).items()]
    seen = "" if math.isnan(last) else f"; end of exploration, where it was seen: {percent(last)}"
    return "\n".join(
        [
            f"{counted(len(entries), 'random problem')}: what was predicted, and how regret then grew",
            *table(("predicted", *VERDICTS), rows, indent="  "),
            f"Within the interval of the forecast: final regret {percent(regret)}{seen}",
        ]
    )


def _tails(tails: Tails) -> str:
    first, told = tails.entries[0], tails.told(TOLD)
    head = ("λ₀", "mean", *(f"{100 * q:g} %" for q in told), "largest", "runs still exploring")
    rows = [
        (
            f"{tail.lambda_0:.3g}",
            f"{tail.mean:,.1f}",
            *(f"{tail.quantile(q):,.0f}" for q in told),
            f"{tail.largest:,.0f}",
            f"{tail.still_exploring / tail.runs:.2%}",
        )
        for tail in tails.entries
    ]
    size = f"{counted(first.runs, 'run')} of {counted(tails.horizon, 'step')} at each diversity, engine {first.engine}"
    title = "Tails: final pseudo-regret of LinUCB-d, its mean and its quantiles"
    return "\n".join([title, size, *table(head, rows, indent="  ")])


def _idea(idea: Idea) -> str:
    rows = []
    for words, env, result in zip(idea.words, idea.envs, idea.results, strict=True):
        row = result.summary()[0]
        rows.append((words, f"{env.lambda_0():.3g}", f"{row.mean:,.1f}", row.growth.verdict))
    lines = table(("contexts", "λ₀", "mean", "growth"), rows, words=(0, 3), indent="  ")
    return "\n".join(["The idea in three problems: final pseudo-regret of LinUCB-d", *lines])


def _dial(dial: DialResult) -> str:
    rows = []
    for value, result in zip(dial.lambda_0, dial.results, strict=True):
        row = result.summary()[0]
        sd = "–" if math.isnan(row.sd) else f"{row.sd:,.1f}"
        rows.append((f"{value:.3g}", f"{row.mean:,.1f}", sd, row.growth.verdict))
    lines = table(("λ₀", "mean", "sd", "growth"), rows, words=(0, 3), indent="  ")
    return "\n".join(["Diversity dial: final pseudo-regret of LinUCB-d", *lines])
