"""The entry point: which command, and errors as one clear line."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import armspan
from armspan.errors import ArmspanError


class Parser(argparse.ArgumentParser):
    """argparse that refuses in one line."""

    def error(self, message: str) -> NoReturn:
        """Exit code 2, no usage text."""
        print(f"{self.prog}: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)


def parser() -> Parser:
    """All commands."""
    from armspan.cli import audit, bound, explain_run, reproduce, simulate, sweep, warm_up

    top = Parser(prog="armspan", description="Linear contextual bandits with diverse contexts.")
    top.add_argument("--version", action="version", version=f"armspan {armspan.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (reproduce, simulate, sweep, explain_run, bound, audit, warm_up):
        command.add_parser(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 done, 1 nobody reads what is printed, 2 bad input or no room, 130 stopped by Ctrl-C."""
    try:
        args = parser().parse_args(arguments)
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
        print(f"armspan: {str(stop) or 'stopped'}", file=sys.stderr)
        return 130


def _refuse(sentence: str) -> int:
    print(f"armspan: {sentence}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
