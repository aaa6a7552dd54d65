"""What the commands share: a progress bar, an output folder, the optional packages."""

import argparse
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from armspan._files import as_path, make_folder
from armspan._typing import Progress
from armspan.errors import BadFile, MissingExtra
from armspan.experiments.spec import Spec
from armspan.experiments.sweep_spec import SweepSpec

Described = TypeVar("Described", Spec, SweepSpec)


def need_lab() -> None:
    """The CLI draws and shows progress with the packages of the extra `lab`."""
    missing = [name for name in ("matplotlib", "pandas", "tqdm") if find_spec(name) is None]
    if missing:
        raise MissingExtra(f"this command needs {', '.join(missing)}: pip install 'armspan[lab]'")


def output_folder(path: Path | None) -> Path | None:
    """Make the folder and see that it can be written, before any work is done."""
    if path is None:
        return None
    try:
        make_folder(as_path(path))
    except OSError as error:
        raise BadFile(f"--out must be a folder that can be written, got {path}: {error.strerror}") from None
    return path


def add_command(commands: Any, name: str, *, help: str, description: str, example: str) -> argparse.ArgumentParser:  # noqa: A002
    """A command's parser, with an example at the end of its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_spec(parser: argparse.ArgumentParser) -> None:
    """The file that describes an experiment."""
    parser.add_argument("spec", type=Path, metavar="SPEC", help="the TOML or JSON file (docs/spec.md lists its keys)")


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """The size of a described experiment, where it is not to be the file's."""
    for name, text in (("runs", "runs"), ("horizon", "steps of a run"), ("seed", "random seed")):
        parser.add_argument(f"--{name}", type=int, help=f"{text}, instead of the file's")


def add_backend(parser: argparse.ArgumentParser) -> None:
    """Where the work is done."""
    parser.add_argument(
        "--backend", help='"processes", or the address of a Dask scheduler such as tcp://host:8786 (default: here)'
    )
    parser.add_argument("--workers", type=int, help="threads or processes (default: one a core)")


def add_engine(parser: argparse.ArgumentParser) -> None:
    """What computes a described experiment."""
    parser.add_argument("--engine", default="auto", help="auto (default), cpu, cuda or python")
    parser.add_argument("--precision", default="float64", help="float64 (default), or float32 on the engine cuda")


def resized(spec: Described, args: argparse.Namespace) -> Described:
    """The experiment with the sizes that were asked for."""
    given = {name: getattr(args, name) for name in ("runs", "horizon", "seed") if getattr(args, name) is not None}
    return replace(spec, **given)


def add_common(parser: argparse.ArgumentParser, page: str = "report.html") -> None:
    """Options that every simulating command has."""
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=f"write figures, tables and {page} here")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON instead of tables")


class Bars:
    """One progress bar a stage on the terminal, with the time left; silent where stderr is no terminal."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, stage: str) -> Progress:
        """Begin a stage and return its progress callback."""
        from tqdm import tqdm

        self.close()
        self._bar = bar = tqdm(
            desc=stage,
            unit="",
            total=100,
            ncols=96,
            nrows=24,  # some terminals do not tell their size, and would see nothing
            disable=not sys.stderr.isatty(),
            bar_format="{desc:<28}{percentage:3.0f}% |{bar:30}| {elapsed} gone, {remaining} left",
        )

        def progress(done: int, total: int) -> None:
            bar.update(100 * done / total - bar.n)

        return progress

    def close(self) -> None:
        """End the stage."""
        if self._bar is not None:
            self._bar.close()

    def __enter__(self) -> "Bars":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
