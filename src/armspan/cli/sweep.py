"""armspan sweep: every policy in every environment of a described grid, as one table."""

import argparse
import math
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armspan._json import as_json
from armspan.cli.common import Bars, add_backend, add_command, add_engine, add_sizes, add_spec, need_lab, resized
from armspan.errors import DamagedCell, Interrupted
from armspan.experiments.sweep_spec import load_sweep
from armspan.sweeps import sweep

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE = "armspan sweep examples/dial.toml --folder out/dial --backend processes"


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "sweep",
        help="every policy in every environment of a grid",
        description="Run every policy in every environment that a TOML or JSON file describes (docs/spec.md).",
        example=EXAMPLE,
    )
    add_spec(parser)
    add_sizes(parser)
    add_engine(parser)
    parser.add_argument("--folder", type=Path, help="keep finished cells here; a second start computes what is missing")
    add_backend(parser)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON instead of a table")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the sweep, print its table."""
    need_lab()
    import pandas as pd

    spec = resized(load_sweep(args.spec), args)
    stopped: Interrupted | None = None
    try:
        with Bars() as bars, _damage_in_one_line():
            table = sweep(
                spec.environments,
                spec.policies,
                horizon=spec.horizon,
                runs=spec.runs,
                seed=spec.seed,
                engine=args.engine,
                precision=args.precision,
                folder=args.folder,
                backend=args.backend,
                workers=args.workers,
                progress=bars(spec.name),
            )
    except Interrupted as stop:
        if not isinstance(stop.partial, pd.DataFrame):
            raise
        stopped, table = stop, stop.partial
    print(as_json(_rows(table)) if args.json else f"{spec.name}\n{_text(table)}")
    if stopped is not None:
        raise stopped
    return 0


@contextmanager
def _damage_in_one_line() -> Iterator[None]:
    """Warnings of damaged cells as lines on stderr, every one of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DamagedCell)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **others: Any) -> None:
            if issubclass(category, DamagedCell):
                print(f"armspan: {message}", file=sys.stderr)
            else:
                usual(message, category, *where, **others)

        warnings.showwarning = show
        yield


def _rows(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Plain rows; what is not known is null."""
    return [
        {str(name): None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def _text(table: "pd.DataFrame") -> str:
    """The table for the terminal: without what is the same in all rows, four digits a number."""
    head = f"final pseudo-regret after {table['horizon'][0]:,} steps, {table['runs'][0]:,} runs a cell\n"
    return head + table.drop(columns=["horizon", "runs"]).to_string(
        index=False, float_format=lambda value: f"{value:,.4g}", na_rep="–"
    )
