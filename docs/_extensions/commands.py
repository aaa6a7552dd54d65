"""The directive `commands`: the reference of the command line, made from its own parsers, so it cannot go stale."""

import argparse
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import armspan.cli
from armspan.cli.main import parser


class Commands(SphinxDirective):
    """A section for each command: what it does, how it is called, its arguments and options, an example."""

    def run(self) -> list[nodes.Node]:
        """All commands, in the order of `armspan --help`."""
        for file in (Path(__file__), *Path(armspan.cli.__path__[0]).glob("*.py")):
            self.env.note_dependency(str(file))
        return [self._section(name, command) for name, command in _commands(parser())]

    def _section(self, name: str, command: argparse.ArgumentParser) -> nodes.section:
        section = nodes.section(ids=[f"armspan-{name}"], names=[f"armspan-{name}"])
        section += nodes.title(text=f"armspan {name}")
        section += nodes.paragraph(text=_prose(command.description))
        section += _code(_usage(command), "usage")
        section += _options([action for action in command._actions if action.help != argparse.SUPPRESS])
        if command.epilog:
            title, _, text = command.epilog.partition("\n")
            section += nodes.paragraph(text=f"{title.rstrip(':').capitalize()}:")
            section += _code("\n".join(line.strip() for line in text.splitlines()))
        self.state.document.note_explicit_target(section)
        return section


def _commands(top: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    groups = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    return [(name, command) for group in groups for name, command in group.choices.items()]


def _usage(command: argparse.ArgumentParser) -> str:
    return " ".join(command.format_usage().removeprefix("usage: ").split())


def _options(actions: list[argparse.Action]) -> nodes.definition_list:
    """One entry per argument or option, with what its help says; that of --help is plain."""
    listed = nodes.definition_list()
    for action in actions:
        if isinstance(action, argparse._HelpAction):
            continue
        value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        value = "|".join(map(str, action.choices)) if action.choices and not action.metavar else value
        names = [f"{name} {value}" if action.nargs != 0 else name for name in action.option_strings] or [value]
        item = nodes.definition_list_item()
        item += nodes.term("", "", *_joined([nodes.literal(text=name) for name in names]))
        item += nodes.definition("", nodes.paragraph(text=_help(action)))
        listed += item
    return listed


def _joined(parts: list[nodes.literal]) -> list[nodes.Node]:
    return [node for number, part in enumerate(parts) for node in ([nodes.Text(", "), part] if number else [part])]


def _help(action: argparse.Action) -> str:
    return _prose(action.help) % (vars(action) | {"prog": "armspan"}) if action.help else ""


def _prose(text: str | None) -> str:
    return " ".join((text or "").split())


def _code(text: str, *classes: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language="none", classes=list(classes))


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
