"""armspan audit: are the contexts of logged decisions diverse, and is there a gap? From a table with one row each."""

import argparse
from typing import Any

from armspan import _validate
from armspan._files import write_text
from armspan._json import as_json
from armspan.cli.arguments import add_output
from armspan.cli.output import can_draw, need, output_folder, show, tell
from armspan.cli.parser import add_command, names, number, path, whole
from armspan.cli.progress import Bars
from armspan.diversity import LoggedDiversity, audit_log
from armspan.diversity.evidence import LEVEL
from armspan.simulation.recommend import recommend

EXAMPLE = """\
armspan audit examples/offers-log.csv --arm offer --reward spent
armspan audit log.parquet --features "age, visits" --out out/audit
armspan audit log.csv --horizon 10000"""


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "audit",
        description="Ask two questions about logged decisions: are their contexts diverse, and is there a gap? The "
        "answers are yes, no or not known. The log is a CSV or Parquet table with one row per decision.",
        example=EXAMPLE,
    )
    parser.add_argument("file", type=path, metavar="FILE", help="the table (.csv or .parquet)")
    parser.add_argument("--arm", metavar="NAME", default="arm", help="column of the chosen arm (default: arm)")
    parser.add_argument("--reward", metavar="NAME", default="reward", help="column of the reward (default: reward)")
    parser.add_argument(
        "--features", type=names, metavar="NAMES", help='columns of the features, such as "age, visits" (default: all)'
    )
    parser.add_argument("--exclude", type=names, metavar="NAMES", help="columns that are not features")
    parser.add_argument(
        "--by",
        metavar="NAME",
        help="column that says which rows belong together, such as the visitor (default: rows are independent)",
    )
    parser.add_argument("--intercept", action="store_true", help="add a feature that is always 1")
    parser.add_argument("--sep", default=",", help="what separates the columns of a CSV file (default: a comma)")
    parser.add_argument(
        "--level", type=number, metavar="X", default=LEVEL, help=f"how often an answer may be wrong (default: {LEVEL})"
    )
    parser.add_argument(
        "--margin",
        type=number,
        metavar="X",
        help="by how much an arm must lead (default: 5 %% of the rewards' standard deviation)",
    )
    parser.add_argument("--strict", action="store_true", help="valid by proof for any logging policy; needs more rows")
    parser.add_argument(
        "--noise-scale",
        type=number,
        metavar="R",
        help="with --strict: scale of the noise (default: the residuals' standard deviation)",
    )
    parser.add_argument(
        "--linear",
        action="store_true",
        help="take it that rewards are linear in the features, even where an arm was hardly tried",
    )
    parser.add_argument(
        "--horizon",
        type=whole,
        metavar="T",
        help="try out which policy to run for T decisions, in worlds like this log (default: go by rules)",
    )
    add_output(parser, "the figure, audit.json and audit.html")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, say which columns are used and which rows are not, audit, print, write the page."""
    need("pandas")
    if args.horizon is not None:
        _validate.whole("horizon", args.horizon, at_least=1)
    from armspan.cli import log_table
    from armspan.cli.log_columns import on_one_line

    table = log_table.read(args.file, args.sep, [name for name in (args.arm, args.by) if name is not None])
    folder = output_folder(args.out)
    draws = can_draw(folder)
    chosen: dict[str, Any] = {"features": args.features, "exclude": args.exclude}
    log = log_table.prepare(table, arm=args.arm, reward=args.reward, intercept=args.intercept, by=args.by, **chosen)
    called = on_one_line(log.arm_names)
    audit = audit_log(
        log.X,
        [called[arm] for arm in log.arms],
        log.rewards,
        feature_names=log.features,
        arm_names=list(called.values()),
        name=args.file.name,
        level=args.level,
        margin=args.margin,
        strict=args.strict,
        noise_scale=args.noise_scale,
        linear=args.linear,
        by=log.by,
    )
    words = log.words()
    with Bars() as bars:
        told: dict[str, Any] = {"horizon": args.horizon, "noise_scale": args.noise_scale}
        advice = recommend(audit, **told, progress=bars("trying out policies") if args.horizon else None)
    numbers = numbers_of(audit, log.arm_names) | {"rows_left_out": log.bad, "missing": log.missing}
    numbers |= {"columns_left_out": log.left_out, "notes": log.notes, "recommended": advice.line}
    numbers |= {"alternatives": advice.others}
    if args.json:
        print(as_json(numbers))
    else:
        show("\n".join([*words, str(audit), advice.line, *advice.others, audit.so]))
    if folder is not None and draws:
        from armspan.report import audit as report

        tell(report.write(audit, advice, words, folder), args.json)
    if folder is not None:
        write_text(folder / "audit.json", as_json(numbers) + "\n")
    return 0


def numbers_of(audit: LoggedDiversity, arms: list[str]) -> dict[str, Any]:
    """An audit for machines. arms : their names, as they stand in the log."""
    return {
        "name": audit.name,
        "features": list(audit.feature_names),
        "rank": audit.rank,
        "groups": audit.groups,
        "worth": audit.worth,
        "redundant": audit.redundant,
        "margin": audit.margin,
        "level": audit.level,
        "needed": {"share": audit.needed[0], "spread": audit.needed[1]},
        "leadless": list(audit.leadless),
        "shared_spread": audit.shared_spread,
        "drift": audit.drift and audit.drift._asdict(),
        "arms": [vars(arm) | {"name": name} for arm, name in zip(audit.arms, arms, strict=True)],
        "verdicts": [vars(verdict) for verdict in audit.verdicts],
        "so": audit.so,
    }
