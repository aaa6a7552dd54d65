"""The arena as one page: who stands where, where LinUCB-d is not the best choice, and every problem with its curves."""

import math
from collections.abc import Mapping
from pathlib import Path

from armspan._files import write_text
from armspan.experiments.arena import TIMED_ON
from armspan.experiments.competitors import absentees
from armspan.experiments.standing import Arena, Bout, Place
from armspan.report import alts, arena_figures, figures, page, peers
from armspan.report.arena_words import Choice, choice
from armspan.report.numbers.arena import number, time, write_numbers
from armspan.simulation.growth import FEWEST_RUNS, RULE

HEAD = (
    "policy",
    "regret / best, geometric mean (95 %)",
    "worst",
    "mean rank",
    "best in",
    "problems",
    "growth where it is known",
    "µs per step",
)
VERDICTS = ("constant", "logarithmic", "power", "linear")


def write(arena: Arena, folder: Path, found: peers.Peers | None = None) -> Path:
    """Write the figures and the page; returns the path of arena.html."""
    choices = {bout.problem.key: choice(bout) for bout in arena.bouts}
    heat = arena_figures.heat_map(arena)
    runs = sorted({int(bout.result.runs.size) for bout in arena.bouts})
    lead = (
        f"{len(arena.bouts)} problems, {len(arena.standing)} policies, {' or '.join(map(str, runs))} runs of each; "
        "pseudo-regret at the end of each problem."
    )
    body = [
        page.paragraph(_headline(arena)),
        page.table(HEAD, list(map(_row, arena.standing))),
        page.paragraph(_notes(arena), "small"),
        page.picture(
            heat,
            "Regret of every policy in every problem, in units of the best one's; bold is the best.",
            alts.arena(arena),
        ),
        *_where_not(choices),
        *_who_sits_out(arena),
        *([] if found is None else peers.section(found)),
    ]
    figures.save(heat, folder, "arena")
    for bout in arena.bouts:
        body += _section(bout, choices[bout.problem.key], folder)
    body += [page.heading("How this was computed"), page.paragraph(RULE)]
    path = folder / "arena.html"
    write_text(path, page.page("The arena", lead, body))
    write_numbers(arena, folder, found)
    return path


def _headline(arena: Arena) -> str:
    first, rest = arena.standing[0], arena.standing[1:]
    said = f"{first.policy} is nearest to the best: in the geometric mean it has {first.relative} times its regret."
    own = next((place for place in rest if place.policy == "LinUCB-d"), None)
    return said + (f" LinUCB-d, with the paper's α_t, has {own.relative} times as much." if own else "")


def _row(place: Place) -> list[str]:
    growth = ", ".join(f"{place.growth[verdict]} {verdict}" for verdict in VERDICTS if place.growth.get(verdict))
    return [
        place.policy,
        str(place.relative),
        f"{number(place.worst)} ({place.worst_in})",
        f"{place.rank:.1f}",
        str(place.best_in),
        str(place.problems),
        growth or "-",
        time(place),
    ]


def _notes(arena: Arena) -> str:
    notes = [
        "Those that take part in all problems come first. Intervals are those of runs drawn again, 2,000 times, the "
        "same runs for all policies. A policy is best in a problem where its interval of regret / best reaches down "
        "to 1. Who is best is known only afterwards, so the best one looks slightly better than it is."
    ]
    if min(bout.result.runs.size for bout in arena.bouts) < FEWEST_RUNS:
        notes.append("So few runs make intervals too narrow, and growth verdicts impossible.")
    timed = next((bout.env for bout in arena.bouts if bout.problem.key == TIMED_ON), None)
    if arena.microseconds and timed is not None:
        notes.append(
            f"µs per step: one core's time for a step of a simulation of “{TIMED_ON}” (K = {timed.n_arms}, "
            f"d = {timed.n_features}, {timed.n_contexts} contexts), each policy alone, contexts and noise included; "
            "one that sits it out is timed in the first problem in which it takes part."
        )
    verdicts = [verdict for bout in arena.bouts for verdict in bout.growth.values()]
    notes.append(
        f"Growth is undecided in {verdicts.count('undecided')} of {len(verdicts)} cases: so few steps seldom tell "
        "constant regret from a logarithm, or that from a root. A dash: undecided everywhere."
    )
    return " ".join(notes)


def _where_not(choices: Mapping[str, Choice | None]) -> list[str]:
    """LinUCB-d in every problem, in a table."""
    rows = [[key, found.best, found.said, found.why] for key, found in choices.items() if found is not None]
    if not rows:
        return []
    worse = [row[0] for row in rows if row[1] == "no"]
    where = f"Others are better (95 %) in {len(worse)} of {len(rows)}: {', '.join(worse)}." if worse else ""
    return [
        page.heading("Where LinUCB-d is not the best choice"),
        page.paragraph(
            "LinUCB-d explores as the paper's α_t asks, so much that the proof holds whatever the problem is. "
            f"{where or 'No policy is clearly better.'}"
        ),
        page.word_table(("problem", "best choice?", "how LinUCB-d stands", "why, from the diversity report"), rows),
    ]


def _who_sits_out(arena: Arena) -> list[str]:
    """The policies that do not take part everywhere, and why, in a table."""
    missed: dict[tuple[str, str], list[str]] = {}
    for bout in arena.bouts:
        for name, why in absentees(bout.env, bout.result.horizon).items():
            missed.setdefault((name, why.partition(", but")[0]), []).append(bout.problem.key)
    count = len(arena.bouts)
    rows = [[name, f"{len(keys)} of {count}", ", ".join(keys), why] for (name, why), keys in missed.items()]
    if not rows:
        return []
    return [
        page.heading("Who sits out"),
        page.paragraph("In the leaderboard, the row of a policy that misses problems counts the others alone."),
        page.word_table(("policy", "misses", "which", "why"), rows),
    ]


def _section(bout: Bout, found: Choice | None, folder: Path) -> list[str]:
    result = bout.result
    figure = arena_figures.problem_figure(bout)
    figures.save(figure, folder, f"arena-{bout.problem.key}")
    final, (low, high) = result.mean()[:, -1], result.interval()
    rows = []
    for name in bout.order:
        p = result.policies.index(name)
        known = not math.isnan(low[p, -1])
        inside = f"{_regret(low[p, -1])} to {_regret(high[p, -1])}" if known else "-"
        numbers = [_regret(final[p]), inside, str(bout.relative[name])]
        rows.append([name, str(bout.rank(name)), *numbers, bout.growth[name]])
    head = ("policy", "rank", "mean regret", "95 % interval", "regret / best (95 %)", "growth")
    size = (
        f"{bout.env.n_arms} arms, {bout.env.n_features} features; {result.runs.size} runs of {result.horizon:,} steps."
    )
    names = arena_figures.shown(bout)
    also = ", and LinUCB-d" if names[-1] == "LinUCB-d" and len(names) == arena_figures.MOST_CURVES else ""
    caption = (
        f"The {len(names) - bool(also)} policies with the least regret{also}. Lines: means over the runs; "
        "shaded: their 95 % intervals."
    )
    return [
        page.heading(bout.problem.title),
        page.paragraph(size),
        *([] if found is None else [page.paragraph(f"{found.said} {found.why}", "says")]),
        page.picture(figure, caption, alts.bout(bout, names)),
        page.table(head, rows),
    ]


def _regret(value: float) -> str:
    return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
