"""armspan explain-run: why regret came out as it did, split by the events of the paper's proof."""

import argparse
from typing import Any

from armspan._json import as_json
from armspan._text import table
from armspan.cli.arguments import add_output, add_sizes, add_spec, resized
from armspan.cli.output import can_draw, output_folder, show, stopped, tell
from armspan.cli.parser import add_command
from armspan.cli.progress import Bars
from armspan.errors import NotApplicable
from armspan.experiments.spec import load_spec
from armspan.report.numbers import events as numbers
from armspan.simulation import Result, simulate

EXAMPLE = "armspan explain-run examples/offers.toml --out out/why"


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "explain-run",
        description="Run an experiment that a TOML or JSON file describes, and split the regret of its linear policies "
        "by the events of the paper's proof.",
        example=EXAMPLE,
    )
    add_spec(parser)
    add_sizes(parser)
    add_output(parser, "figures, numbers and events.html")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run, split, print, write the page."""
    spec = resized(load_spec(args.spec), args)
    others = [policy.name for policy in spec.policies if not policy.explains]
    if len(others) == len(spec.policies):
        raise NotApplicable(f"explain-run needs at least one linear policy, got {', '.join(others)}")
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
                events=True,
                progress=bars(spec.name),
            )
    except KeyboardInterrupt as interrupt:
        stop, partial = interrupt, getattr(interrupt, "partial", None)
        result = partial if isinstance(partial, Result) else None
    if result is not None:
        if args.json:
            print(as_json(numbers.summary(result)))
        else:
            show(_text(result, others))
        if folder is not None:
            result.save(folder / "result.npz")
            if draws:
                from armspan.report import events

                tell(events.write(spec.name, spec.env, result, folder), args.json)
            numbers.write_numbers(result, folder)
    if stop is not None:
        raise stopped(stop, folder, finished=result is not None)
    return 0


def _text(result: Result, others: list[str]) -> str:
    """One table per policy."""
    lines = [f"Not explained, because not linear: {', '.join(others)}"] if others else []
    for name, events in result.events.items():
        lines += [name, *table(*numbers.event_table(events), indent="  ")]
    return "\n".join(lines)
