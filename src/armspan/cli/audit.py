"""armspan audit: the diversity of logged decisions, from a table with a row for each."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armspan._json import as_json
from armspan.cli.common import need_lab
from armspan.diversity.data import audit_log, bootstrap
from armspan.errors import BadFile, InvalidParameter

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE = """\
example:
  armspan audit log.csv --arm offer --reward clicked --features age,visits,basket"""
MOST_NAMED = 10


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "audit",
        help="are the contexts of my log diverse?",
        description="Measure the diversity of logged decisions: a CSV or Parquet table with a row for each.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the table (.csv or .parquet)")
    parser.add_argument("--arm", default="arm", help="column with what was chosen (default arm)")
    parser.add_argument("--reward", default="reward", help="column with the reward (default reward)")
    parser.add_argument("--features", help="columns with the features, by commas (default: all others)")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, set bad rows aside and say so, audit, print."""
    need_lab()
    table = _read(args.file)
    features = args.features.split(",") if args.features else [c for c in table if c not in (args.arm, args.reward)]
    for column in (args.arm, args.reward, *features):
        if column not in table:
            raise InvalidParameter(
                f"{args.file} must have a column {column!r}, got {', '.join(map(str, table.columns))}"
            )
    good, bad = _split(table, args.arm, [args.reward, *features])
    names, arms = np.unique(good[args.arm].astype(str), return_inverse=True)
    if names.size < 2:
        raise InvalidParameter(f"column {args.arm!r} must name at least 2 arms in complete rows, got {names.size}")
    X, rewards = good[features].to_numpy(float), good[args.reward].to_numpy(float)
    report = audit_log(X, arms, rewards, names.size, name=args.file.name)
    intervals = bootstrap(X, arms, rewards, names.size)
    skipped = f"{len(bad)} of {len(table)} rows have missing or non-finite values"
    if args.json:
        print(as_json(_numbers(report, intervals, names, bad)))
        return 0
    if bad:
        more = ", …" if len(bad) > MOST_NAMED else ""
        print(f"{skipped} and are left out: rows {', '.join(map(str, bad[:MOST_NAMED]))}{more}")
    print(f"arms: {', '.join(f'{a} = {name}' for a, name in enumerate(names))}")
    print(f"features: {', '.join(f'{j} = {name}' for j, name in enumerate(features))}")
    print(report)
    print("95 % intervals from a bootstrap of the rows, parameters fitted again each time")
    for a in range(names.size):
        p, moment = intervals.probability[a], intervals.second_moment[a]
        print(f"{a:>3}  is best {p[0]:.2%} to {p[1]:.2%}, λ_min there {moment[0]:.4g} to {moment[1]:.4g}")
    return 0


def _read(path: Path) -> "pd.DataFrame":
    import pandas as pd

    if path.suffix not in (".csv", ".parquet"):
        raise BadFile(f"FILE must end in .csv or .parquet, got {path}")
    try:
        return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, ImportError) as error:
        raise BadFile(f"cannot read {path}: {str(error).splitlines()[0]}") from None


def _split(table: "pd.DataFrame", arm: str, numbers: list[str]) -> tuple["pd.DataFrame", list[int]]:
    """Complete rows, with numbers as numbers, and the places (from 1) of the others."""
    import pandas as pd

    clean = table.copy()
    for column in numbers:
        clean[column] = pd.to_numeric(clean[column], errors="coerce")
    complete = np.isfinite(clean[numbers].to_numpy(float)).all(axis=1) & clean[arm].notna().to_numpy()
    if not complete.any():
        raise BadFile("no row of the table is complete")
    return clean[complete], [int(row) + 1 for row in np.flatnonzero(~complete)]


def _numbers(report: Any, intervals: Any, names: Any, bad: list[int]) -> dict[str, Any]:
    return {
        "rows_left_out": bad,
        "lambda_0": report.lambda_0,
        "lambda_0_upper": report.lambda_0_upper,
        "gap": report.gap,
        "arms": [
            {
                "name": str(name),
                "probability": row.probability,
                "probability_interval": intervals.probability[row.arm].tolist(),
                "second_moment": row.second_moment,
                "second_moment_interval": intervals.second_moment[row.arm].tolist(),
                "words": row.words,
            }
            for name, row in zip(names, report.arms, strict=True)
        ],
        "verdicts": [vars(verdict) for verdict in report.verdicts],
    }
