"""argparse as armspan uses it: refusals in one sentence, help that fits the terminal, words that a value may be."""

import argparse
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

COMMANDS = {
    "reproduce": "reproduce the paper's figures",
    "simulate": "run an experiment that a file describes",
    "sweep": "run every policy in every environment of a grid",
    "explain-run": "explain why regret came out as it did",
    "bound": "measure how diverse a problem is, and bound its regret",
    "audit": "find out whether the contexts of a log are diverse",
    "warm-up": "compile everything ahead of time, for a container image",
    "completion": "print a script for completion in a shell",
}
"""The commands, and what each is for."""
_SAID = {"expected one argument": "must have a value", "ignored explicit argument": "must have no value, got"}
"""What argparse says of an argument, in our words."""


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence, and knows what a shell needs for completion.

    arguments : in the order in which they were added. words : which words the value of one may be, by its name.
    about : what the command does, in a few words. commands : the parsers of commands, by their names.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        self.arguments: list[argparse.Action] = []
        self.words: dict[str, tuple[str, ...]] = {}
        self.about = ""
        self.commands: dict[str, Parser] = {}
        super().__init__(*args, **options)

    def add_argument(self, *args: Any, **options: Any) -> argparse.Action:
        """As argparse's, and keeps the argument in mind."""
        action = super().add_argument(*args, **options)
        self.arguments.append(action)
        return action

    def suggest(self, name: str, words: Iterable[str]) -> None:
        """Words that the argument may be; the library checks them, a shell completes them."""
        self.words[name] = tuple(words)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, but an argument that a command does not know is refused by that command, with its help."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.commands.get(found.command, self).error(f"unrecognized arguments: {' '.join(unknown)}")
        return found

    def error(self, message: str) -> NoReturn:
        """Exit code 2 and one sentence, without the usage text."""
        print(f"{self.prog}: {_sentence(message)} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is not a choice, as the library refuses one."""
        if action.choices is not None and value not in action.choices:
            allowed = ", ".join(map(str, action.choices))
            raise argparse.ArgumentError(action, f"must be one of {allowed}, got {value!r}")


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help in which the lines of an argument's help stay lines of their own, each filled where it is too long."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return [line for part in text.splitlines() for line in super(_Help, self)._split_lines(part, width)]


def _sentence(message: str) -> str:
    """What argparse says, as a sentence that begins with the argument."""
    argument = re.fullmatch(r"argument (\S+): (.*)", message, flags=re.DOTALL)
    if argument is None:
        return re.sub(r"^the following arguments are required: (.*)", r"\1 must be given", message)
    name, said = argument.groups()
    for old, new in _SAID.items():
        said = said.replace(old, new)
    return f"{name} {said}" if said.startswith("must ") else f"{name}: {said}"


def add_command(commands: Any, name: str, *, description: str, example: str) -> Parser:
    """A command's parser, with an example at the end of its help."""
    width = max(shutil.get_terminal_size().columns - 2, 20)  # what argparse takes for the rest of the help
    parser: Parser = commands.add_parser(
        name,
        help=COMMANDS[name],
        description=textwrap.fill(description, width),
        epilog=f"example:\n{textwrap.indent(example, '  ')}",
        formatter_class=_Help,
    )
    parser.about = COMMANDS[name]
    return parser


def whole(text: str) -> int:
    """A whole number; the library checks its range."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None


def number(text: str) -> float:
    """A number; the library checks its range."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def path(text: str) -> Path:
    """A path; an empty one would be the current folder, which is called "."."""
    if not text:
        raise argparse.ArgumentTypeError("must be a path, got ''")
    return Path(text)


def names(text: str) -> list[str]:
    """Names with commas between them; spaces around them do not count."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"must be one or more names with commas between them, got {text!r}")
    return found
