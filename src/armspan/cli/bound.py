"""armspan bound: how diverse the contexts of a described problem are, and what the paper's theorems promise for it."""

import argparse
from typing import Any

from armspan._json import as_json
from armspan._text import table
from armspan.cli.arguments import add_output, add_spec
from armspan.cli.output import output_folder, show, tell
from armspan.cli.parser import add_command, whole
from armspan.diversity import audit, regret_bound
from armspan.errors import NotApplicable
from armspan.experiments.forecast import forecast
from armspan.experiments.spec import load_spec
from armspan.report import bound as report
from armspan.report.numbers import bound as numbers
from armspan.simulation.runner import check_sizes

EXAMPLE = "armspan bound examples/bound.toml"


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "bound",
        description="Measure how diverse the contexts are in a problem described by a TOML or JSON file, and print "
        "the paper's bound on its regret, if there is one.",
        example=EXAMPLE,
    )
    add_spec(parser)
    parser.add_argument(
        "--horizon", type=whole, metavar="N", help="step up to which the forecast looks (default: as in the file)"
    )
    add_output(parser, "bound.json and bound.html")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Audit, bound, print."""
    spec = load_spec(args.spec)
    horizon = spec.horizon if args.horizon is None else args.horizon
    check_sizes(horizon=horizon, runs=1, seed=0, engine="cpu")
    folder = output_folder(args.out)
    bound, refusal = None, ""
    try:
        bound = regret_bound(spec.env)
    except NotApplicable as error:
        refusal = str(error)
    known = audit(spec.env), bound, refusal, forecast(spec.env, horizon=horizon)
    found = numbers.Bounded(spec.name, *known, horizon)
    if args.json:
        print(as_json(numbers.summary(found)))
    else:
        show(_text(found))
    if folder is not None:
        tell(report.write(found, folder), args.json)
    return 0


def _how_good(found: numbers.Bounded) -> str:
    if found.report.verdicts[0].answer == "yes":
        return "such intervals are made to hold for 95 % of random problems"
    return "such intervals were only checked where theory promises constant regret"


def _text(found: numbers.Bounded) -> str:
    lines = [found.name, str(found.report), ""]
    if found.bound is None:
        lines.append(f"No bound: {found.refusal}")
    else:
        lines.append("The paper's bound on the expected regret, the same for every horizon")
        lines += table(*numbers.bound_table(found.bound), indent="  ")
        lines.append(numbers.words_on_bound(found.bound))
    return "\n".join(
        [
            *lines,
            "",
            f"Rough forecast for LinUCB-d up to step {found.horizon:,}, from a run without noise",
            f"  {numbers.words_on_forecast(found)}",
            f"  This is not a bound; {_how_good(found)}.",
        ]
    )
