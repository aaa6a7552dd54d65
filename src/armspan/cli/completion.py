"""armspan completion: a script with which a shell completes commands, options, their values and file names."""

import argparse
from typing import Any

from armspan._json import as_json
from armspan.cli.arguments import add_json
from armspan.cli.parser import add_command

EXAMPLE = """\
source <(armspan completion bash)    # in ~/.bashrc
source <(armspan completion zsh)     # in ~/.zshrc, after compinit
armspan completion fish | source     # in ~/.config/fish/config.fish"""


def add_parser(commands: Any) -> None:
    """Describe the command."""
    from armspan.cli.shells import SHELLS

    parser = add_command(
        commands,
        "completion",
        description="Print a script with which bash, zsh or fish completes armspan's commands, options, values and "
        "file names when you press Tab.",
        example=EXAMPLE,
    )
    parser.add_argument("shell", choices=list(SHELLS), metavar="SHELL", help="bash, zsh or fish")
    add_json(parser, "the shell and the script")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from armspan.cli.main import parser
    from armspan.cli.shells import SHELLS, commands_of

    script = SHELLS[args.shell](commands_of(parser()))
    print(as_json({"shell": args.shell, "script": script}) + "\n" if args.json else script, end="")
    return 0
