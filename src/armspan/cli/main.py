"""The entry point: which command, and errors as one clear line."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import armspan
from armspan.cli.output import warn
from armspan.cli.parser import COMMANDS, Parser
from armspan.errors import ArmspanError


def parser(needed: Sequence[str] = tuple(COMMANDS)) -> Parser:
    """With the commands that are needed; of others, which would import all that they run, only what they are for."""
    top = Parser(
        prog="armspan",
        description="Linear contextual bandits with diverse contexts.",
        epilog="Each command has its own help, with an example: armspan COMMAND --help",
    )
    top.add_argument("--version", action="version", version=f"armspan {armspan.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, about in COMMANDS.items():
        if name in needed:
            import_module(f"armspan.cli.{name.replace('-', '_')}").add_parser(commands)
        else:
            commands.add_parser(name, help=about)
    top.commands = dict(commands.choices)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 done, 1 nobody reads what is printed, 2 bad input or no room, 130 stopped by Ctrl-C."""
    args = argparse.Namespace()
    try:
        _print_anything()
        words = sys.argv[1:] if arguments is None else list(arguments)
        parser(words[:1]).parse_args(words, args)
        return int(args.run(args))
    except ArmspanError as error:
        return _refuse(str(error))
    except BrokenPipeError:  # as in `armspan ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _refuse(f"cannot write or read {error.filename or 'the output'}: {error.strerror}")
    except MemoryError as error:
        return _refuse(f"not enough memory: {error}")
    except KeyboardInterrupt as stop:
        warn(str(stop) or _stopped(getattr(args, "out", None)))
        return 130


def _print_anything() -> None:
    """Let an output whose encoding lacks a letter, such as λ in ASCII, get its code instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _stopped(folder: os.PathLike[str] | None) -> str:
    """What is saved by a command that says nothing else of it, or that was stopped while it wrote its files."""
    return "stopped; nothing is saved" if folder is None else f"stopped; files that were finished are in {folder}"


def _refuse(sentence: str) -> int:
    warn(sentence)
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
