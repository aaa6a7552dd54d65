"""Arguments that several commands have: the file that describes an experiment, its size, where it runs, the output."""

import argparse
from dataclasses import replace
from typing import TypeVar

from armspan.backends.choice import PROCESSES
from armspan.cli.parser import Parser, path, whole
from armspan.experiments.spec import Spec
from armspan.experiments.sweep_spec import SweepSpec
from armspan.simulation.engines import NAMES, PRECISIONS

Described = TypeVar("Described", Spec, SweepSpec)


def add_spec(parser: Parser) -> None:
    """The file that describes an experiment."""
    help_ = "a TOML or JSON file; the docs' page “Experiments in a file” lists its keys"
    parser.add_argument("spec", type=path, metavar="SPEC", help=help_)


def add_sizes(parser: Parser) -> None:
    """The size of a described experiment, if it is not to be the file's."""
    for name, text in (("runs", "number of runs"), ("horizon", "steps per run"), ("seed", "random seed")):
        parser.add_argument(f"--{name}", type=whole, metavar="N", help=f"{text} (default: as in the file)")


def resized(spec: Described, args: argparse.Namespace) -> Described:
    """The experiment with the sizes that were asked for."""
    given = {name: getattr(args, name) for name in ("runs", "horizon", "seed") if getattr(args, name) is not None}
    return replace(spec, **given)


def add_engine(parser: Parser) -> None:
    """What computes a described experiment."""
    parser.add_argument("--engine", default="auto", help=f"one of {', '.join(NAMES)} (default: auto)")
    parser.add_argument("--precision", default="float64", help="float64 (default), or float32 with the engine cuda")
    parser.suggest("engine", NAMES)
    parser.suggest("precision", PRECISIONS)


def add_backend(parser: Parser) -> None:
    """Where the work is done."""
    parser.add_argument(
        "--backend",
        help='"processes", or the address of a Dask scheduler such as tcp://host:8786 (default: this process)',
    )
    parser.add_argument("--workers", type=whole, metavar="N", help="threads or processes (default: one per core)")
    parser.suggest("backend", [PROCESSES])


def add_output(parser: Parser, writes: str, *, prints: str = "the summary") -> None:
    """Where files go, and what is printed for machines."""
    parser.add_argument("--out", type=path, metavar="FOLDER", help=f"write {writes} to this folder")
    add_json(parser, prints)


def add_json(parser: Parser, prints: str = "the summary") -> None:
    """What is printed for machines."""
    parser.add_argument("--json", action="store_true", help=f"print {prints} as JSON, and nothing else")
