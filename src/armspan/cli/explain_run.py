"""armspan explain-run: why regret came out as it did, split by the events of the paper's proof."""

import argparse
from typing import Any

from armspan._json import as_json
from armspan.cli.common import Bars, add_command, add_common, add_sizes, add_spec, need_lab, output_folder, resized
from armspan.errors import NotApplicable
from armspan.events.events import NAMES
from armspan.experiments.spec import load_spec
from armspan.simulation import simulate

EXAMPLE = "armspan explain-run examples/offers.toml --out out/why"


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "explain-run",
        help="why regret came out as it did",
        description="Run an experiment described in a TOML file; split its regret by the events of the paper's proof.",
        example=EXAMPLE,
    )
    add_spec(parser)
    add_sizes(parser)
    add_common(parser, page="events.html")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run, split, print, write the page."""
    need_lab()
    from armspan.report import events as report

    spec = resized(load_spec(args.spec), args)
    folder = output_folder(args.out)
    others = [policy.name for policy in spec.policies if not policy.explains]
    if len(others) == len(spec.policies):
        raise NotApplicable(f"explain-run is about linear policies, and {', '.join(others)} is none")
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
    if others and not args.json:
        print(f"Not explained, for it is no linear policy: {', '.join(others)}")
    if args.json:
        print(as_json({name: _numbers(events) for name, events in result.events.items()}))
    else:
        for name, events in result.events.items():
            print(f"{name:<40}{'steps':>12}{'regret':>12}")
            for words, steps, regret, _ in report.event_table(events)[1]:
                print(f"  {words:<38}{steps:>12}{regret:>12}")
    if folder is not None:
        path = report.write(spec.name, spec.env, result, folder)
        if not args.json:
            print(f"Open {path} in a browser.")
    return 0


def _numbers(events: Any) -> dict[str, Any]:
    steps, regret = events.steps.sum(axis=1).mean(axis=0), events.regret.sum(axis=1).mean(axis=0)
    return {
        "steps": dict(zip(NAMES, steps.tolist(), strict=True)),
        "regret": dict(zip(NAMES, regret.tolist(), strict=True)),
        "last_suboptimal": events.last_suboptimal.tolist(),
        "misses": events.misses.mean(axis=0).tolist(),
    }
