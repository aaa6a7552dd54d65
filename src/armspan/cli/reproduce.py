"""armspan reproduce: the paper's figures, at full size or smaller."""

import argparse
from pathlib import Path
from typing import Any

from armspan._json import as_json
from armspan.cli.common import Bars, add_command, add_common, need_lab, output_folder
from armspan.errors import Interrupted, InvalidParameter
from armspan.experiments import (
    ALL,
    FIGURES,
    DialResult,
    Effort,
    Idea,
    Outcome,
    PanelResult,
    Predictions,
    Survey,
    Tails,
    reproduce,
)
from armspan.experiments.predictions import confusion, foreseen
from armspan.simulation.runner import check_sizes

EXAMPLE = """\
armspan reproduce all --out out/paper        the whole of Figure 1 at the paper's size, with a report
  armspan reproduce 1a --runs 20 --horizon 50000
  armspan reproduce arena --out out/arena      all policies on sixteen problems; a second start goes on
  armspan reproduce tails --runs 1000000 --engine cuda --out out/tails"""


ARENA_RUNS = 30
TAILS = {"runs": 10_000, "horizon": 100_000}
"""Tails want many runs; so many take a few minutes without a GPU."""


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "reproduce",
        help="reproduce the paper's figures",
        description="Reproduce Figure 1 of the paper (a, b, c), and our own: dial, idea, predictions, tails, arena, "
        "adversary.",
        example=EXAMPLE,
    )
    parser.add_argument(
        "figure",
        nargs="?",
        default="all",
        help="1a, 1b, 1c, dial, idea, predictions, tails, arena, adversary, or all (default: the first five)",
    )
    size = Effort()
    runs, horizon = f"{size.runs}; for tails {TAILS['runs']}", f"{size.horizon}; for tails {TAILS['horizon']}"
    parser.add_argument("--runs", type=int, help=f"runs of each simulation (default {runs})")
    parser.add_argument("--horizon", type=int, help=f"steps of a run (default {horizon})")
    parser.add_argument("--seed", type=int, default=size.seed, help=f"random seed (default {size.seed})")
    parser.add_argument("--draws", type=int, default=size.draws, help=f"draws of θ for 1c (default {size.draws})")
    parser.add_argument(
        "--engine",
        default=size.engine,
        help="auto (default), cpu, cuda or python; idea and predictions always run on the cpu",
    )
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the figures, print what came out, write the report."""
    need_lab()
    from armspan.report import reproduction

    if args.figure in ("arena", "adversary"):
        return _arena(args) if args.figure == "arena" else _adversary(args)
    if args.figure not in ("all", *FIGURES):
        known = ", ".join((*FIGURES, "arena", "adversary"))
        raise InvalidParameter(f"figure must be one of {known} or all, got {args.figure!r}")
    figures = ALL if args.figure == "all" else (args.figure,)
    given = {name: getattr(args, name) for name in ("runs", "horizon") if getattr(args, name) is not None}
    usual = TAILS if figures == ("tails",) else {}
    effort = Effort(**(usual | given), seed=args.seed, engine=args.engine, draws=args.draws)
    folder = output_folder(args.out)
    outcomes: dict[str, Outcome] = {}

    def collect(key: str, outcome: Outcome) -> None:
        outcomes[key] = outcome
        if folder is not None:
            reproduction.keep(key, outcome, folder)

    stopped: KeyboardInterrupt | None = None
    try:
        with Bars() as bars:
            for key, outcome in reproduce(figures, effort, bars):
                collect(key, outcome)
    except KeyboardInterrupt as stop:
        stopped = stop
        partial = stop.partial if isinstance(stop, Interrupted) else None
        if isinstance(partial, PanelResult):
            collect(partial.panel.key, partial)
        elif isinstance(partial, DialResult):
            collect("dial", partial)
        elif isinstance(partial, Tails):
            collect("tails", partial)
    if args.json:
        print(as_json(reproduction.summary(outcomes, effort)))
    else:
        for outcome in outcomes.values():
            print(_text(outcome) + "\n")
    if folder is not None and outcomes:
        _tell(reproduction.write(outcomes, effort, folder), args.json)
    if stopped is not None:
        raise stopped
    return 0


def _arena(args: argparse.Namespace) -> int:
    """All policies on all problems of the arena; what is finished is kept in the folder, and taken from there."""
    from armspan.experiments.arena import run_arena, step_times
    from armspan.experiments.standing import Arena
    from armspan.report import arena as report
    from armspan.report import peers

    folder = output_folder(args.out)
    runs, steps = ARENA_RUNS if args.runs is None else args.runs, 1 if args.horizon is None else args.horizon
    check_sizes(horizon=steps, runs=runs, seed=args.seed, engine=args.engine)
    found = None if folder is None else peers.load(folder)
    with Bars() as bars:
        options = {"runs": runs, "seed": args.seed, "horizon": args.horizon}
        bouts = tuple(run_arena(**options, announce=bars, folder=folder))
        arena = Arena(bouts, step_times(bars("time of a step")))
    print(as_json(report.summary(arena, found)) if args.json else report.text(arena))
    if folder is not None:
        _tell(report.write(arena, folder, found), args.json, "who stands where, problem by problem")
    return 0


def _adversary(args: argparse.Namespace) -> int:
    """Greedy and optimism against the perturbed adversary."""
    from armspan.experiments.adversary import HORIZON, oppose
    from armspan.report import adversary as report

    folder = output_folder(args.out)
    runs, horizon = ARENA_RUNS if args.runs is None else args.runs, HORIZON if args.horizon is None else args.horizon
    check_sizes(horizon=horizon, runs=runs, seed=args.seed, engine=args.engine)
    with Bars() as bars:
        found = oppose(runs=runs, seed=args.seed, horizon=horizon, announce=bars)
    print(as_json(report.summary(found)) if args.json else report.text(found))
    if folder is not None:
        _tell(report.write(found, folder), args.json, "greedy's regret against the adversary's σ")
    return 0


def _tell(report: Path, quiet: bool, what: str = "figures, tables and what was confirmed") -> None:
    if not quiet:
        print(f"Open {report} in a browser: {what}.")


def _text(outcome: Outcome) -> str:
    """One outcome for the terminal."""
    if isinstance(outcome, PanelResult):
        lines = [f"  {finding.word:<13}  {finding.statement}" for finding in outcome.findings]
        return "\n".join([outcome.panel.title, str(outcome.result.summary()), *lines])
    if isinstance(outcome, Survey):
        lines = [
            f"  rarest arm best with probability >= {share.threshold:<5g}  {share.share:7.2%} of the draws"
            for share in outcome.shares()
        ]
        return "\n".join([f"Figure 1c: {outcome.n_draws:,} random draws of θ", *lines])
    if isinstance(outcome, Predictions):
        regret, last = foreseen(outcome.entries)
        lines = [f"  predicted {words}: {row}" for words, row in confusion(outcome.entries).items()]
        met = f"  in the forecast's interval: regret {regret:.0%}, end of exploration, where it was seen, {last:.0%}"
        return "\n".join([f"{len(outcome.entries)} random problems, said before and seen after", *lines, met])
    if isinstance(outcome, Tails):
        return _tails_text(outcome)
    if isinstance(outcome, Idea):
        lines = []
        for words, env, result in zip(outcome.words, outcome.envs, outcome.results, strict=True):
            row = result.summary()[0]
            lines.append(f"  {words:<15} λ₀ = {env.lambda_0():<9.3g} {row.mean:9,.1f}  {row.growth.verdict}")
        return "\n".join(["The idea in three problems: final pseudo-regret of LinUCB-d", *lines])
    rows = zip(outcome.lambda_0, outcome.results, strict=True)
    lines = []
    for value, result in rows:
        row = result.summary()[0]
        lines.append(f"  λ₀ = {value:<9.3g} {row.mean:9,.1f} ± {row.sd:<9,.1f} {row.growth.verdict}")
    return "\n".join(["Diversity dial: final pseudo-regret of LinUCB-d (mean ± sd)", *lines])


def _tails_text(tails: Tails) -> str:
    first = tails.entries[0]
    size = f"{first.runs:,} runs of {tails.horizon:,} steps at each diversity, engine {first.engine}"
    told = tails.told((0.5, 0.99, 0.999, 0.9999))
    words = ("mean", *(f"{100 * q:g} %" for q in told), "largest")
    head = "".join(f"{word:>9}" for word in words)
    lines = [f"Tails: final pseudo-regret of LinUCB-d, {size}", f"  {'λ₀':<9}{head}  still exploring"]
    for tail in tails.entries:
        quantiles = "".join(f"{tail.quantile(q):>9,.0f}" for q in told)
        share = f"{tail.still_exploring / tail.runs:.2g} of the runs"
        lines.append(f"  {tail.lambda_0:<9.3g}{tail.mean:>9,.1f}{quantiles}{tail.largest:>9,.0f}  {share}")
    return "\n".join(lines)
