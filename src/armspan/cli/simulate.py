"""armspan simulate: run an experiment that a TOML file describes."""

import argparse
from typing import Any

from armspan._json import as_json
from armspan.cli.common import (
    Bars,
    add_backend,
    add_command,
    add_common,
    add_engine,
    add_sizes,
    add_spec,
    need_lab,
    output_folder,
    resized,
)
from armspan.errors import Interrupted
from armspan.experiments.spec import load_spec
from armspan.simulation import Result, simulate

EXAMPLE = "armspan simulate examples/offers.toml --out out/offers"


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "simulate",
        help="run an experiment described in a TOML file",
        description="Run an experiment described in a TOML file (docs/spec.md lists its keys).",
        example=EXAMPLE,
    )
    add_spec(parser)
    add_sizes(parser)
    add_engine(parser)
    add_backend(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the experiment, print its summary, write the report."""
    need_lab()
    from armspan.report import experiment

    spec = resized(load_spec(args.spec), args)
    folder = output_folder(args.out)
    stopped: Interrupted | None = None
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
    except Interrupted as stop:
        if not isinstance(stop.partial, Result):
            raise
        stopped, result = stop, stop.partial
    if args.json:
        print(as_json(experiment.summary(spec, result)))
    else:
        print(f"{spec.name} (engine {result.engine})\n{result.summary()}")
    if folder is not None:
        report = experiment.write(spec, result, folder)
        if not args.json:
            print(f"Open {report} in a browser.")
    if stopped is not None:
        raise stopped
    return 0
