"""armspan reproduce: the paper's figures, at full size or smaller."""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from armspan._json import as_json
from armspan.cli import contests
from armspan.cli.arguments import add_output
from armspan.cli.outcomes import outcome_text
from armspan.cli.output import can_draw, output_folder, show, stopped, tell
from armspan.cli.parser import add_command, whole
from armspan.cli.progress import Bars
from armspan.errors import InvalidParameter
from armspan.experiments import ALL, FIGURES, DialResult, Effort, Outcome, PanelResult, Tails, reproduce
from armspan.experiments.adversary import HORIZON as AGAINST_IT
from armspan.experiments.reproduction import GLOSSES
from armspan.report.numbers import reproduction as numbers
from armspan.simulation.engines import NAMES

EXAMPLE = """\
armspan reproduce all --out out/paper      # Figure 1 at the paper's size
armspan reproduce 1a --runs 20 --horizon 50000 --out out/1a
armspan reproduce arena --out out/arena    # all policies on sixteen problems
armspan reproduce tails --runs 1000000 --engine cuda --out out/tails"""


class Contest(NamedTuple):
    """A figure with its own page: what runs it, and what it shows in a few words."""

    run: Callable[[argparse.Namespace], int]
    gloss: str


CONTESTS = {
    "arena": Contest(contests.arena, "all compiled policies on fixed problems, ranked"),
    "adversary": Contest(contests.adversary, "greedy where an adversary picks the contexts"),
}
TAILS = {"runs": 10_000, "horizon": 100_000}
"""Tails want many runs; so many take a few minutes without a GPU."""


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "reproduce",
        description="Reproduce Figure 1 of the paper (1a, 1b, 1c), and the figures that armspan adds to it: dial, "
        "idea, predictions, tails, arena and adversary.",
        example=EXAMPLE,
    )
    glosses = GLOSSES | {name: contest.gloss for name, contest in CONTESTS.items()}
    parser.add_argument(
        "figure",
        nargs="*",
        metavar="FIGURE",
        help="\n".join(f"{name}: {gloss};" for name, gloss in glosses.items())
        + f"\nall (the default): {', '.join(ALL)}",
    )
    parser.suggest("figure", (*glosses, "all"))
    size = Effort()
    runs = f"{size.runs}; tails {TAILS['runs']:,}; arena and adversary {contests.RUNS}"
    horizon = f"{size.horizon:,}; tails {TAILS['horizon']:,}; adversary {AGAINST_IT:,}"
    horizon += "; the arena has a horizon for each problem"
    parser.add_argument("--runs", type=whole, metavar="N", help=f"runs of each simulation (default: {runs})")
    parser.add_argument("--horizon", type=whole, metavar="N", help=f"steps per run (default: {horizon})")
    parser.add_argument(
        "--seed", type=whole, metavar="N", default=size.seed, help=f"random seed (default: {size.seed})"
    )
    parser.add_argument(
        "--draws",
        type=whole,
        metavar="N",
        default=size.draws,
        help=f"random draws of θ that are looked at for 1c (default: {size.draws:,})",
    )
    parser.add_argument(
        "--engine",
        default=size.engine,
        help=f"one of {', '.join(NAMES)} (default: auto); idea, predictions, arena and adversary always run on cpu",
    )
    parser.suggest("engine", NAMES)
    add_output(parser, "figures, curves, runs and report.html")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the figures, print what came out, write the report."""
    asked = tuple(dict.fromkeys(args.figure)) or ("all",)
    for name in asked:
        if name not in ("all", *FIGURES, *CONTESTS):
            known = ", ".join((*FIGURES, *CONTESTS))
            raise InvalidParameter(f"figure must be one of {known} or all, got {name!r}")
        if name in ("all", *CONTESTS) and len(asked) > 1:
            raise InvalidParameter(f"figure must be {name} alone, got {' '.join(asked)}")
    if asked[0] in CONTESTS:
        return CONTESTS[asked[0]].run(args)
    figures = ALL if asked == ("all",) else tuple(name for name in FIGURES if name in asked)
    given = {name: getattr(args, name) for name in ("runs", "horizon") if getattr(args, name) is not None}
    usual = TAILS if figures == ("tails",) else {}
    effort = Effort(**(usual | given), seed=args.seed, engine=args.engine, draws=args.draws)
    folder = output_folder(args.out)
    draws, stop, outcomes = can_draw(folder), None, dict[str, Outcome]()

    def collect(key: str, outcome: Outcome) -> None:
        outcomes[key] = outcome
        if folder is not None:
            numbers.keep(key, outcome, folder)

    try:
        with Bars() as bars:
            for key, outcome in reproduce(figures, effort, bars):
                collect(key, outcome)
    except KeyboardInterrupt as interrupt:
        stop, partial = interrupt, getattr(interrupt, "partial", None)
        if isinstance(partial, PanelResult | DialResult | Tails):
            collect(_key(partial), partial)
    if args.json:
        print(as_json(numbers.summary(outcomes, effort)))
    else:
        for outcome in outcomes.values():
            show(outcome_text(outcome) + "\n")
    if folder is not None and outcomes:
        if draws:
            from armspan.report import reproduction

            what = "figures, tables and what was confirmed"
            tell(reproduction.write(outcomes, effort, folder), args.json, what)
        else:
            numbers.write_numbers(outcomes, effort, folder)
    elif folder is None and outcomes and not args.json:
        show("No figure was written; --out FOLDER writes figures and a page.")
    if stop is not None:
        raise stopped(stop, folder, finished=bool(outcomes))
    return 0


def _key(outcome: PanelResult | DialResult | Tails) -> str:
    if isinstance(outcome, PanelResult):
        return outcome.panel.key
    return "dial" if isinstance(outcome, DialResult) else "tails"
