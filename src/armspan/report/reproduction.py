"""The report on the paper's figures: pictures, a table of curves, summary.json and report.html in one folder."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

import armspan
from armspan._files import write_text
from armspan._text import percent
from armspan.experiments import DialResult, Effort, Idea, Outcome, PanelResult, Predictions, Survey, Tails
from armspan.experiments.predictions import foreseen
from armspan.report import alts, figures, page, tables
from armspan.report.idea import idea_figure
from armspan.report.numbers.reproduction import results_of, write_numbers
from armspan.report.predictions import confusion_table, predictions_figure
from armspan.report.tails import over_table, tails_figure, tails_table
from armspan.simulation.growth import RULE


def write(outcomes: Mapping[str, Outcome], effort: Effort, folder: Path) -> Path:
    """Write figures, tables and the page, beside the runs that `keep` saved; returns the path of report.html."""
    body = _overview(outcomes)
    for key, outcome in outcomes.items():
        body += _section(key, outcome, folder)
    body += _method(effort, kept=bool(results_of(outcomes)))
    lead = "Stochastic Linear Contextual Bandits with Diverse Contexts (Wu, Yang and Shen, AISTATS 2020), run again."
    write_numbers(outcomes, effort, folder)
    path = folder / "report.html"
    write_text(path, page.page("Does diversity make exploration free?", lead, body))
    return path


def _overview(outcomes: Mapping[str, Outcome]) -> list[str]:
    entries = [
        finding for outcome in outcomes.values() if isinstance(outcome, PanelResult) for finding in outcome.findings
    ]
    confirmed = sum(finding.confirmed is True for finding in entries)
    refuted = sum(finding.confirmed is False for finding in entries)
    text = (
        "The paper's discovery: when, for every arm, the contexts in which it is best span the feature space, playing "
        "well already teaches what one needs to know: exploration ends, and regret stays constant however long one "
        "goes on."
    )
    undecided = len(entries) - confirmed - refuted
    count = (
        f"{len(entries)} claims were checked: {confirmed} confirmed, {refuted} not confirmed, {undecided} undecided."
    )
    return [page.paragraph(text), page.paragraph(count)] if entries else [page.paragraph(text)]


def _section(key: str, outcome: Outcome, folder: Path) -> list[str]:
    if isinstance(outcome, PanelResult):
        return _panel_section(key, outcome, folder)
    if isinstance(outcome, Survey):
        return _survey_section(outcome, folder)
    if isinstance(outcome, Idea):
        return _idea_section(outcome, folder)
    if isinstance(outcome, Predictions):
        return _predictions_section(outcome, folder)
    if isinstance(outcome, Tails):
        return _tails_section(outcome, folder)
    return _dial_section(outcome, folder)


def _predictions_section(outcome: Predictions, folder: Path) -> list[str]:
    figure = predictions_figure(outcome.entries)
    figures.save(figure, folder, "figure-predictions")
    regret, last = foreseen(outcome.entries)
    text = (
        f"{len(outcome.entries)} random problems of ten families. Before each run the audit said whether theory "
        "promises constant regret, and a quiet run (no noise, the same α_t) forecast the plateau, and whether "
        "exploration would be over at this horizon. After it: the verdict on the curves."
    )
    met = (
        f"The regret of {percent(regret)} of the problems lay in the forecast's interval, and where exploration was "
        f"seen to be over, its last step did for {percent(last)}."
    )
    caption = "Forecast against measured, one point per problem."
    return [
        page.heading("Said before, seen after"),
        page.paragraph(text),
        page.table(*confusion_table(outcome.entries)),
        page.paragraph(met),
        page.picture(figure, caption, alts.predictions(outcome)),
    ]


def _tails_section(tails: Tails, folder: Path) -> list[str]:
    figure = tails_figure(tails)
    figures.save(figure, folder, "figure-tails")
    first = tails.entries[0]
    text = (
        f"Our own figure: not the mean of a hundred runs but the whole distribution over {first.runs:,} of them, at "
        "each of several diversities with the same rewards. How much regret does the unluckiest run in ten "
        "thousand pay, and how long may exploration last?"
    )
    caption = (
        "Left: share of runs that end with more regret than x. Middle: share of runs that pull a suboptimal arm after "
        "step t. Right: quantiles of the final regret against the diversity of the contexts."
    )
    return [
        page.heading("Tails: the unlucky runs"),
        page.paragraph(text),
        page.picture(figure, caption, alts.tails(tails)),
        page.paragraph("Quantiles of the final regret:"),
        page.table(*tails_table(tails)),
        page.paragraph(
            "By which step this share of the runs has stopped exploring, and the share that still explores at the end:"
        ),
        page.table(*over_table(tails)),
    ]


def _idea_section(idea: Idea, folder: Path) -> list[str]:
    figure = idea_figure(idea)
    figures.save(figure, folder, "figure-idea")
    text = (
        "Our own figure. The rewards are the same in all three problems; only the directions of the features differ in "
        "which an arm is best (top). Where they span well, playing well teaches every direction: what is known in the "
        "weakest one grows in proportion to t (middle), and regret stops (bottom). Where they do not, that knowledge "
        "must be bought by pulls that cost regret."
    )
    caption = "Top: features of the contexts in which each arm is best. Middle: λ_min(V) of each arm. Bottom: regret."
    shows = page.picture(figure, caption, alts.idea(idea))
    return [page.heading("The idea in three problems"), page.paragraph(text), shows]


def _panel_section(key: str, outcome: PanelResult, folder: Path) -> list[str]:
    figure = figures.regret_figure(outcome.result, outcome.panel.title)
    figures.save(figure, folder, f"figure-{key}")
    env, runs = outcome.panel.env, outcome.result.runs.size
    caption = (
        f"Mean pseudo-regret over {runs} runs against log T; shaded: two standard deviations either side. "
        f"{env.n_arms} arms, {env.n_features} features, gap Δ = {env.gap:.3g}, l = {env.feature_bound:.3g}, "
        f"s = {env.parameter_bound:.3g}."
    )
    return [
        page.heading(outcome.panel.title),
        page.paragraph(f"The paper: {outcome.panel.says}", "says"),
        *([page.paragraph(outcome.panel.here)] if outcome.panel.here else []),
        page.picture(figure, caption, alts.regret(outcome.result, outcome.panel.title)),
        page.table(*tables.landmark_table(outcome.result)),
        page.paragraph("Mean ± standard deviation over the runs.", "small"),
        page.findings(outcome.findings),
    ]


def _survey_section(survey: Survey, folder: Path) -> list[str]:
    figure = figures.survey_figure(survey)
    figures.save(figure, folder, "figure-1c-survey")
    rows = [
        [f"{100 * share.threshold:g} % or more", f"{share.share:.2%}", f"{share.low:.2%} to {share.high:.2%}"]
        for share in survey.shares()
    ]
    possible, never = percent(float(survey.possible.mean())), percent(float(np.mean(survey.rarest == 0)))
    text = (
        "Before figure 1c: the paper draws θ at random on a sphere and says that this “ensures that each of them can "
        f"be optimal”. That is nearly right: by a closed form, every arm can be in {possible} of "
        f"{survey.n_draws:,} draws, and theory then promises constant regret. But the probability is tiny: {never} "
        "of the draws have an arm that was not best in any of 10,000 contexts, and in very few draws all arms are best "
        "often. So the constant is mostly beyond the horizon of the figure, which is shown twice: for the draw whose "
        "arms are best most often, and for a typical one."
    )
    return [
        page.heading("How diverse is figure 1c?"),
        page.paragraph(text),
        page.picture(
            figure,
            "Share of random draws of θ whose rarest arm is best with at least a given probability.",
            alts.survey(survey),
        ),
        page.table(["the rarest arm is best in", "share of draws", "95 % interval"], rows),
    ]


def _dial_section(dial: DialResult, folder: Path) -> list[str]:
    figure = figures.dial_figure(dial)
    figures.save(figure, folder, "figure-dial")
    text = (
        "Our own figure. One family of problems with the rewards of figure 1a, in which only the directions of the "
        "features turn: from parallel (λ₀ = 0, no diversity) through the paper's (λ₀ = 0.00799) to orthogonal. Where "
        "the lines for different T lie on each other, regret has stopped growing; to the left, where they part, it "
        "grows."
    )
    head = ["level", "λ₀", "final regret", "growth"]
    rows = []
    for level, value, result in zip(dial.levels, dial.lambda_0, dial.results, strict=True):
        row = result.summary()[0]
        rows.append([f"{level:g}", f"{value:.3g}", tables.plus_minus(row.mean, row.sd), row.growth.verdict])
    caption = "Mean pseudo-regret of LinUCB-d at several horizons T against the diversity λ₀ of the contexts."
    return [
        page.heading("The diversity dial: when does regret stop growing?"),
        page.paragraph(text),
        page.picture(figure, caption, alts.dial(dial)),
        page.table(head, rows),
    ]


def _method(effort: Effort, *, kept: bool) -> list[str]:
    where = "The curves are in curves.csv, the numbers in summary.json, every run in results/."
    text = (
        f"{effort.runs:,} runs of {effort.horizon:,} steps with seed {effort.seed}, armspan {armspan.__version__}"
        ". All policies meet the same contexts and the same noise. Pseudo-regret is the sum, over steps, of the best "
        f"arm's mean reward minus that of the arm pulled. {where if kept else 'The numbers are in summary.json.'}"
    )
    return [page.heading("How this was computed"), page.paragraph(text), page.paragraph(RULE)]
