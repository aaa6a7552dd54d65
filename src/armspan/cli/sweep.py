"""armspan sweep: every policy in every environment of a described grid, as one table."""

import argparse
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from armspan._files import write_text
from armspan._json import as_json
from armspan._text import counted, table
from armspan.cli.arguments import add_backend, add_engine, add_output, add_sizes, add_spec, resized
from armspan.cli.output import can_draw, need, output_folder, show, stopped, warn
from armspan.cli.parser import add_command, path
from armspan.cli.progress import Bars
from armspan.errors import DamagedCell
from armspan.experiments.sweep_spec import load_sweep
from armspan.sweeps import sweep

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE = "armspan sweep examples/dial.toml --out out/dial --backend processes"
HEAD = ("policy", "mean", "95 % interval of the mean", "median", "95 % of runs below", "growth")
"""What is printed; all columns are in table.csv and in the JSON."""


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "sweep",
        description="Run every policy in every environment that a TOML or JSON file describes. With --out, finished "
        "cells are kept, and a second start computes only what is missing.",
        example=EXAMPLE,
    )
    add_spec(parser)
    add_sizes(parser)
    add_engine(parser)
    add_backend(parser)
    add_output(parser, "finished cells, table.csv and the figure", prints="the rows of the table")
    parser.add_argument("--folder", dest="out", type=path, help=argparse.SUPPRESS)  # its name before there was --out
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sweep, print its table."""
    need("pandas")
    import pandas as pd

    spec = resized(load_sweep(args.spec), args)
    folder = output_folder(args.out)
    draws, rows, stop = can_draw(folder), None, None
    try:
        with Bars() as bars, _damage_in_one_line():
            rows = sweep(
                spec.environments,
                spec.policies,
                horizon=spec.horizon,
                runs=spec.runs,
                seed=spec.seed,
                engine=args.engine,
                precision=args.precision,
                folder=folder,
                backend=args.backend,
                workers=args.workers,
                progress=bars(spec.name),
            )
    except KeyboardInterrupt as interrupt:
        stop, partial = interrupt, getattr(interrupt, "partial", None)
        rows = partial if isinstance(partial, pd.DataFrame) else None
    if rows is not None:
        if args.json:
            print(as_json(_plain(rows)))
        else:
            show(f"{spec.name}\n{_text(rows)}")
        if folder is not None:
            write_text(folder / "table.csv", rows.to_csv(index=False))
        if folder is not None and draws and len(rows):
            from armspan.report import figures

            figures.save(figures.sweep_figure(rows, spec.name), folder, "figure")
        if folder is not None and not args.json:
            figure = ", and the figure in figure.svg" if draws and len(rows) else ""
            show(f"The table is in {folder / 'table.csv'}{figure}.")
    if stop is not None:
        raise stopped(stop, folder, finished=rows is not None)
    return 0


@contextmanager
def _damage_in_one_line() -> Iterator[None]:
    """Warnings of damaged cells as lines on stderr, every one of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DamagedCell)
        usual = warnings.showwarning

        def show_warning(message: Warning | str, category: type[Warning], *where: Any, **others: Any) -> None:
            if issubclass(category, DamagedCell):
                warn(str(message))
            else:
                usual(message, category, *where, **others)

        warnings.showwarning = show_warning
        yield


def _plain(rows: "pd.DataFrame") -> list[dict[str, Any]]:
    """Plain rows; what is not known is null."""
    return [
        {str(name): None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in rows.to_dict("records")
    ]


def _text(rows: "pd.DataFrame") -> str:
    """A table for each environment: the final regret of its policies, four digits per number."""
    first = rows.iloc[0]
    size = f"{counted(int(first['horizon']), 'step')}, {counted(int(first['runs']), 'run')} per cell"
    lines = [f"final pseudo-regret after {size}"]
    for name, cells in rows.groupby("environment", sort=False):
        known = {"gap": cells["gap"].iloc[0], "λ₀": cells["lambda_0"].iloc[0]}
        about = ", ".join(f"{word} {value:.4g}" for word, value in known.items() if not math.isnan(value))
        lines += ["", f"{name}: {about}" if about else str(name)]
        lines += table(HEAD, [_cells(row) for row in cells.to_dict("records")], words=(0, 5), indent="  ")
    return "\n".join(lines)


def _cells(row: Mapping[Any, Any]) -> tuple[str, ...]:
    mean, low, high, median, most = (f"{row[name]:,.4g}" for name in ("mean", "low", "high", "q50", "q95"))
    inside = "–" if math.isnan(row["low"]) else f"{low} to {high}"
    return str(row["policy"]), mean, inside, median, most, str(row["growth"])
