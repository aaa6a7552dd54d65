"""armspan warm-up: compile everything ahead of time, so that the first decision of a fresh process takes no time."""

import argparse
from typing import Any

from armspan._json import as_json
from armspan._text import counted, table
from armspan.cli.arguments import add_json
from armspan.cli.output import show
from armspan.cli.parser import add_command
from armspan.cli.progress import Bars

EXAMPLE = "NUMBA_CACHE_DIR=/opt/cache armspan warm-up"


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "warm-up",
        description="Compile what agents and simulations on a CPU need, and keep it in a cache on disk. The cache is "
        "in NUMBA_CACHE_DIR, XDG_CACHE_HOME or the home folder; the same must be set when armspan is used.",
        example=EXAMPLE,
    )
    add_json(parser, "kernels, seconds and the folder of the cache")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compile, print."""
    from armspan.simulation.warm_up import warm_up

    try:
        with Bars() as bars:
            done = warm_up(progress=bars("compiling"))
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; what was compiled is kept in the cache") from None
    if args.json:
        compiled = [{"kernel": one.name, "seconds": one.seconds} for one in done.compiled]
        print(as_json({"compiled": compiled, "seconds": done.seconds, "folder": done.folder}))
        return 0 if done.folder else 1
    rows = [(one.name, f"{one.seconds:.1f}") for one in done.compiled]
    lines = table(("kernel", "seconds"), rows) if rows else []
    known = "" if done.compiled else "; everything was compiled already"
    lines.append(f"{counted(len(rows), 'kernel')} compiled in {done.seconds:.1f} s{known}")
    lines.append(f"cache: {done.folder or 'none, because no folder can be written: every process compiles its own'}")
    show("\n".join(lines))
    return 0 if done.folder else 1
