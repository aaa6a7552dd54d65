"""Scripts for completion, made from the parsers: one for bash, one for zsh, one for fish."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from armspan.cli.parser import Parser, path


@dataclass(frozen=True)
class Argument:
    """An option, or a positional argument if it has no flags.

    flags : such as --out. name : what its value is called. help : what it does. words : what its value may be.
    kind : what its value is: "none", "folder", "file", "word" or "text".
    """

    flags: tuple[str, ...]
    name: str
    help: str
    words: tuple[str, ...]
    kind: str


@dataclass(frozen=True)
class Command:
    """A command: its name, what it does, its options and its positional arguments."""

    name: str
    help: str
    options: tuple[Argument, ...]
    positionals: tuple[Argument, ...]


def commands_of(top: Parser) -> tuple[Command, ...]:
    """The program itself, under an empty name, and its commands."""
    return tuple(_command(name, parser) for name, parser in {"": top, **top.commands}.items())


def _command(name: str, parser: Parser) -> Command:
    known = [_argument(action, parser) for action in parser.arguments if action.help != argparse.SUPPRESS]
    options, positionals = ([one for one in known if bool(one.flags) is flagged] for flagged in (True, False))
    return Command(name, parser.about, tuple(options), tuple(positionals))


def _argument(action: argparse.Action, parser: Parser) -> Argument:
    words = tuple(map(str, action.choices)) if action.choices else parser.words.get(action.dest, ())
    name = str(action.metavar or action.dest.upper())
    kind = "word" if words else "text"
    if action.nargs == 0:
        kind = "none"
    elif action.type is path:
        kind = "folder" if name == "FOLDER" else "file"
    return Argument(tuple(action.option_strings), name, (action.help or "").replace("%%", "%"), words, kind)


def bash(commands: tuple[Command, ...]) -> str:
    """For bash 3.2 and newer."""
    cases = "\n".join(_bash_case(command, commands[1:]) for command in commands)
    return f"""\
# completion of armspan in bash
_armspan() {{
    local IFS=$'\\n' current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${{COMP_WORDS[i]}} != -* ]]; then command=${{COMP_WORDS[i]}}; break; fi
    done
    if [[ $current == "=" ]]; then current=
    elif [[ $previous == "=" ]]; then previous=${{COMP_WORDS[COMP_CWORD-2]}}; fi
    COMPREPLY=()
    case $command in
{cases}
    esac
}}
_armspan_words() {{ COMPREPLY=($(IFS=' '; compgen -W "$1" -- "$current")); }}
_armspan_files() {{ compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen "$1" -- "$current")); }}
complete -F _armspan armspan
"""


def _bash_case(command: Command, commands: tuple[Command, ...]) -> str:
    flags = " ".join(flag for option in command.options for flag in option.flags)
    actions: dict[str, list[str]] = {}
    for option in command.options:
        if option.kind != "none":
            actions.setdefault(_bash_value(option), []).extend(option.flags)
    values = [f"                {'|'.join(those)}) {action}; return ;;" for action, those in actions.items()]
    inner = ["            case $previous in", *values, "            esac"] if values else []
    names = [one.name for one in commands] if not command.name else []
    rest = f"_armspan_words '{' '.join(names)}'" if names else "".join(map(_bash_value, command.positionals)) or ":"
    inner.append(f"            if [[ $current == -* ]]; then _armspan_words '{flags}'; else {rest}; fi ;;")
    return "\n".join([f"        {command.name or repr('')})", *inner])


def _bash_value(argument: Argument) -> str:
    if argument.words:
        return f"_armspan_words '{' '.join(argument.words)}'"
    return {"folder": "_armspan_files -d", "file": "_armspan_files -f"}.get(argument.kind, ":")


def zsh(commands: tuple[Command, ...]) -> str:
    """For zsh, with its completion system started (compinit)."""
    top, others = commands[0], commands[1:]
    listed = "\n".join(f"                '{one.name}:{_zsh_words(one.help)}'" for one in others)
    cases = "\n".join(
        f"                {one.name})\n                    _arguments \\\n{_zsh_arguments(one)} ;;" for one in others
    )
    return f"""\
#compdef armspan
# completion of armspan in zsh
_armspan() {{
    local curcontext=$curcontext state line
    local -a commands
    _arguments -C \\
{_zsh_arguments(top)} \\
                        '1:command:->command' \\
                        '*::argument:->argument'
    case $state in
        command)
            commands=(
{listed}
            )
            _describe command commands ;;
        argument)
            case $line[1] in
{cases}
            esac ;;
    esac
}}
if [[ $funcstack[1] == _armspan ]]; then _armspan "$@"; else compdef _armspan armspan; fi
"""


def _zsh_arguments(command: Command) -> str:
    specs = [f"'{flag}[{_zsh_words(one.help)}]{_zsh_value(one)}'" for one in command.options for flag in one.flags]
    specs += [f"'{place}{_zsh_value(one)}'" for place, one in enumerate(command.positionals, 1)]
    return " \\\n".join(f"                        {spec}" for spec in specs)


def _zsh_value(argument: Argument) -> str:
    if argument.kind == "none":
        return ""
    action = {"folder": "_files -/", "file": "_files", "word": f"({' '.join(argument.words)})"}.get(argument.kind, " ")
    return f":{argument.name}:{action}"


def _zsh_words(text: str) -> str:
    for letter in "\\[]:":
        text = text.replace(letter, f"\\{letter}")
    return text.replace("'", "'\\''")


def fish(commands: tuple[Command, ...]) -> str:
    """For fish."""
    lines = ["# completion of armspan in fish", "complete -c armspan -f"]
    for command in commands:
        when = f"__fish_seen_subcommand_from {command.name}" if command.name else "__fish_use_subcommand"
        start = f"complete -c armspan -n '{when}'"
        if command.name:
            lines.append(
                f"complete -c armspan -n __fish_use_subcommand -a {command.name} -d {_fish_words(command.help)}"
            )
        for option in command.options:
            flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
            lines.append(f"{start} {flags}{_fish_value(option)} -d {_fish_words(option.help)}")
        lines += [f"{start}{_fish_place(one)}" for one in command.positionals if one.kind != "text"]
    return "\n".join(lines) + "\n"


def _fish_value(option: Argument) -> str:
    if option.words:
        return f" -x -a '{' '.join(option.words)}'"
    values = {"none": "", "folder": " -x -a '(__fish_complete_directories)'", "file": " -r -F"}
    return values.get(option.kind, " -x")


def _fish_place(argument: Argument) -> str:
    return f" -a '{' '.join(argument.words)}'" if argument.words else " -F"


def _fish_words(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: dict[str, Callable[[tuple[Command, ...]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
