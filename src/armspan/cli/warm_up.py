"""armspan warm-up: compile everything ahead of time, so that the first decision of a fresh process takes no time."""

import argparse
from typing import Any

from armspan._json import as_json
from armspan._typing import Progress
from armspan.cli.common import Bars, add_command

EXAMPLE = "RUN NUMBA_CACHE_DIR=/opt/cache armspan warm-up"


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "warm-up",
        help="compile everything ahead of time, as when an image is built",
        description="Compile what agents and simulations on a CPU use, into the cache on disk: NUMBA_CACHE_DIR, "
        "XDG_CACHE_HOME or the home folder, which must be the same when it is used.",
        example=EXAMPLE,
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compile, print."""
    from armspan.simulation.warm_up import warm_up

    with _bars() as bars:
        done = warm_up(progress=bars("compiling"))
    if args.json:
        compiled = [{"kernel": one.name, "seconds": one.seconds} for one in done.compiled]
        print(as_json({"compiled": compiled, "seconds": done.seconds, "folder": done.folder}))
        return 0
    for one in done.compiled:
        print(f"{one.name:<36}{one.seconds:>7.1f} s")
    known = "" if done.compiled else "; all was there already"
    print(f"{len(done.compiled)} kernels compiled in {done.seconds:.1f} s{known}")
    print(f"cache: {done.folder or 'none, for no folder can be written: every process will compile its own'}")
    return 0 if done.folder else 1


class _Quiet:
    """No bars, where the package that draws them is not installed: images need the core alone."""

    def __call__(self, stage: str) -> Progress:
        return lambda done, total: None

    def __enter__(self) -> "_Quiet":
        return self

    def __exit__(self, *_: object) -> None:
        return None


def _bars() -> Bars | _Quiet:
    from importlib.util import find_spec

    return Bars() if find_spec("tqdm") else _Quiet()
