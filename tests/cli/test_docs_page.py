"""docs/command-line.md: every command that it shows prints what it says, at 80 columns."""

import re
import shlex
from pathlib import Path

import pytest

from armspan.cli.main import main
from armspan.cli.output import fitted

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "command-line.md"
BLOCKS = re.findall(r"^```console\n\$ armspan (.*)\n((?:.*\n)*?)```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_shows_commands() -> None:
    assert {command.split()[0] for command, _ in BLOCKS} == {"simulate", "bound", "audit"}


@pytest.mark.parametrize(("command", "shown"), BLOCKS)
def test_commands_print_what_the_page_says(
    command: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)) == 0
    assert fitted(capsys.readouterr().out, 80) + "\n" == shown
