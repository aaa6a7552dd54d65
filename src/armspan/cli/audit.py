"""armspan audit: the diversity of logged decisions, from a table with a row for each."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armspan._json import as_json
from armspan.cli.common import Bars, add_command, add_common, need_lab, output_folder
from armspan.diversity import LoggedDiversity, audit_log
from armspan.diversity.logged import RESAMPLES
from armspan.errors import BadFile, InvalidParameter

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE = "armspan audit log.csv --arm offer --reward clicked --features age,visits,basket --out out/audit"
MOST_NAMED = 10


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "audit",
        help="are the contexts of my log diverse?",
        description="Measure the diversity of logged decisions: a CSV or Parquet table with a row for each.",
        example=EXAMPLE,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the table (.csv or .parquet)")
    parser.add_argument("--arm", default="arm", help="column with what was chosen (default arm)")
    parser.add_argument("--reward", default="reward", help="column with the reward (default reward)")
    parser.add_argument("--features", help="columns with the features, by commas (default: all others)")
    parser.add_argument("--resamples", type=int, default=RESAMPLES, help=f"of the intervals (default {RESAMPLES})")
    parser.add_argument("--seed", type=int, default=0, help="of the intervals (default 0)")
    add_common(parser, page="audit.html")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, set bad rows aside and say so, audit, print, write the page."""
    need_lab()
    table = _read(args.file)
    folder = output_folder(args.out)
    features = args.features.split(",") if args.features else [c for c in table if c not in (args.arm, args.reward)]
    for column in (args.arm, args.reward, *features):
        if column not in table:
            raise InvalidParameter(
                f"{args.file} must have a column {column!r}, got {', '.join(map(str, table.columns))}"
            )
    if len(set(features)) < len(features) or {args.arm, args.reward} & set(features):
        raise InvalidParameter("--features must name different columns, and neither the arm's nor the reward's")
    if not features:
        raise InvalidParameter(f"{args.file} must have columns with features beside {args.arm!r} and {args.reward!r}")
    good, bad = _split(table, args.arm, [args.reward, *features])
    with Bars() as bars:
        audit = audit_log(
            good[features].to_numpy(float),
            good[args.arm].tolist(),
            good[args.reward].to_numpy(float),
            feature_names=features,
            name=args.file.name,
            resamples=args.resamples,
            seed=args.seed,
            progress=bars("resampling"),
        )
    from armspan.report import audit as report

    left_out = _left_out(bad, len(table))
    if args.json:
        print(as_json(_numbers(audit, bad)))
    else:
        print("\n".join(([left_out] if left_out else []) + [str(audit.report), report.certainty(audit)]))
        print("95 % intervals from resampling the rows, parameters fitted again each time")
        for name, rows, _, p, _, moment, _ in report.arm_rows(audit):
            print(f"  arm {name} ({rows} rows): is best {p}, λ_min there {moment}")
    if folder is not None:
        (folder / "audit.json").write_text(as_json(_numbers(audit, bad)) + "\n", encoding="utf-8")
        path = report.write(audit, left_out, folder)
        if not args.json:
            print(f"Open {path} in a browser.")
    return 0


def _read(path: Path) -> "pd.DataFrame":
    import pandas as pd

    if path.suffix not in (".csv", ".parquet"):
        raise BadFile(f"FILE must end in .csv or .parquet, got {path}")
    try:
        return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror or str(error).splitlines()[0]}") from None
    except (ValueError, ImportError) as error:
        raise BadFile(f"cannot read {path}: {str(error).splitlines()[0]}") from None


def _split(table: "pd.DataFrame", arm: str, numbers: list[str]) -> tuple["pd.DataFrame", list[int]]:
    """Complete rows, with numbers as numbers, and the places (from 1) of the others."""
    import pandas as pd

    clean = table.copy()
    for column in numbers:
        if not pd.api.types.is_datetime64_any_dtype(clean[column]):
            clean[column] = pd.to_numeric(clean[column], errors="coerce")
        if pd.api.types.is_datetime64_any_dtype(clean[column]) or not clean[column].notna().any():
            raise BadFile(f"column {column!r} must hold numbers, and has none")
    complete = np.isfinite(clean[numbers].to_numpy(float)).all(axis=1) & clean[arm].notna().to_numpy()
    if not complete.any():
        raise BadFile("no row of the table is complete")
    return clean[complete], [int(row) + 1 for row in np.flatnonzero(~complete)]


def _left_out(bad: list[int], rows: int) -> str:
    if not bad:
        return ""
    named = ", ".join(map(str, bad[:MOST_NAMED])) + (", …" if len(bad) > MOST_NAMED else "")
    return f"{len(bad)} of {rows} rows have missing or non-finite values and are left out: rows {named}"


def _numbers(audit: LoggedDiversity, bad: list[int]) -> dict[str, Any]:
    report = audit.report
    return {
        "rows_left_out": bad,
        "lambda_0": report.lambda_0,
        "lambda_0_upper": report.lambda_0_upper,
        "gap": report.gap,
        "margin": report.margin,
        "diverse_share_of_resamples": audit.diverse,
        "features": list(report.feature_names),
        "arms": [
            {
                "name": row.name,
                "rows": int(audit.rows[row.arm]),
                "probability": row.probability,
                "probability_interval": audit.probability[row.arm].tolist(),
                "second_moment": row.second_moment,
                "second_moment_interval": audit.second_moment[row.arm].tolist(),
                "rank": row.rank,
                "weakest_direction": row.weakest_direction.tolist(),
                "words": row.words,
            }
            for row in report.arms
        ],
        "verdicts": [vars(verdict) for verdict in report.verdicts],
    }
