"""armspan simulate: run an experiment that a TOML file describes."""

import argparse
from typing import Any

from armspan._json import as_json
from armspan.cli.arguments import add_backend, add_engine, add_output, add_sizes, add_spec, resized
from armspan.cli.output import can_draw, output_folder, show, stopped, tell
from armspan.cli.parser import add_command
from armspan.cli.progress import Bars
from armspan.experiments.spec import load_spec
from armspan.report.numbers import experiment as numbers
from armspan.simulation import Result, simulate

EXAMPLE = "armspan simulate examples/offers.toml --out out/offers"


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "simulate",
        description="Run an experiment that a TOML or JSON file describes: policies in an environment, and their "
        "regret.",
        example=EXAMPLE,
    )
    add_spec(parser)
    add_sizes(parser)
    add_engine(parser)
    add_backend(parser)
    add_output(parser, "the figure, the curves, the runs and report.html")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the experiment, print its summary, write the report."""
    spec = resized(load_spec(args.spec), args)
    folder = output_folder(args.out)
    draws, result, stop = can_draw(folder), None, None
    try:
        with Bars() as bars:
            result = simulate(
                spec.env,
                spec.policies,
                horizon=spec.horizon,
                runs=spec.runs,
                seed=spec.seed,
                engine=args.engine,
                precision=args.precision,
                backend=args.backend,
                workers=args.workers,
                progress=bars(spec.name),
            )
    except KeyboardInterrupt as interrupt:
        stop, partial = interrupt, getattr(interrupt, "partial", None)
        result = partial if isinstance(partial, Result) else None
    if result is not None:
        if args.json:
            print(as_json(numbers.summary(spec, result)))
        else:
            show(f"{spec.name} (engine {result.engine})\n{result.summary()}")
        if folder is not None and draws:
            from armspan.report import experiment

            tell(experiment.write(spec, result, folder), args.json)
        elif folder is not None:
            numbers.keep(result, folder)
            numbers.write_numbers(spec, result, folder)
    if stop is not None:
        raise stopped(stop, folder, finished=result is not None)
    return 0
