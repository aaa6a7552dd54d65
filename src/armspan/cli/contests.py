"""The figures of `armspan reproduce` in which policies compete, each with its own page: arena and adversary."""

import argparse

from armspan._json import as_json
from armspan.cli.output import can_draw, output_folder, show, stopped, tell
from armspan.cli.progress import Bars
from armspan.simulation.runner import check_sizes

RUNS = 30


def arena(args: argparse.Namespace) -> int:
    """All policies on all problems of the arena; finished problems are kept in the folder, and taken from there."""
    from armspan.experiments.arena import PROBLEMS, run_arena, step_times
    from armspan.experiments.standing import Arena, Bout
    from armspan.report import peers
    from armspan.report.numbers import arena as numbers

    runs, steps = RUNS if args.runs is None else args.runs, 1 if args.horizon is None else args.horizon
    check_sizes(horizon=steps, runs=runs, seed=args.seed, engine=args.engine)
    folder = output_folder(args.out)
    draws, known, bouts = can_draw(folder), None if folder is None else peers.load(folder), list[Bout]()
    try:
        with Bars() as bars:
            options = {"runs": runs, "seed": args.seed, "horizon": args.horizon}
            for bout in run_arena(**options, announce=bars, folder=folder):
                bouts.append(bout)
            found = Arena(tuple(bouts), step_times(bars("time per step")))
    except KeyboardInterrupt:
        stop = KeyboardInterrupt(f"stopped with {len(bouts)} of {len(PROBLEMS)} problems finished")
        raise stopped(stop, folder, finished=bool(bouts)) from None
    if args.json:
        print(as_json(numbers.summary(found, known)))
    else:
        show(numbers.text(found))
    if folder is not None and draws:
        from armspan.report import arena as report

        tell(report.write(found, folder, known), args.json, "the standing, and every problem with its curves")
    elif folder is not None:
        numbers.write_numbers(found, folder, known)
    return 0


def adversary(args: argparse.Namespace) -> int:
    """Greedy and optimism against the perturbed adversary."""
    from armspan.experiments.adversary import HORIZON, oppose
    from armspan.report.numbers import adversary as numbers

    runs, horizon = RUNS if args.runs is None else args.runs, HORIZON if args.horizon is None else args.horizon
    check_sizes(horizon=horizon, runs=runs, seed=args.seed, engine=args.engine)
    folder = output_folder(args.out)
    draws = can_draw(folder)
    try:
        with Bars() as bars:
            found = oppose(runs=runs, seed=args.seed, horizon=horizon, announce=bars)
    except KeyboardInterrupt as stop:
        raise stopped(stop, folder, finished=False) from None
    if args.json:
        print(as_json(numbers.summary(found)))
    else:
        show(numbers.text(found))
    if folder is not None and draws:
        from armspan.report import adversary as report

        tell(report.write(found, folder), args.json, "greedy's regret against the adversary's σ")
    elif folder is not None:
        numbers.write_numbers(found, folder)
    return 0
