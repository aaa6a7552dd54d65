"""Completion in shells: bash and fish are asked what they complete; of zsh the script is looked at."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from armspan.cli.main import main, parser
from armspan.cli.shells import commands_of
from armspan.simulation.engines import NAMES

COMMANDS = commands_of(parser())


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


def completed(words: list[str], folder: Path, source: str) -> list[str]:
    """What bash offers for the last of these words, in this folder."""
    (folder / "armspan.bash").write_text(source, encoding="utf-8")
    quoted = " ".join(f"'{word}'" for word in words)
    asked = (
        f"source ./armspan.bash; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
        "$(complete -p armspan | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(["bash", "--norc", "-uc", asked], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return sorted(line for line in done.stdout.splitlines() if line)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_options_values_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = script("bash", capsys)
    folder = tmp_path / "here"
    (folder / "out folder").mkdir(parents=True)
    (folder / "my spec.toml").touch()
    names = [command.name for command in COMMANDS[1:]]
    assert completed(["armspan", ""], folder, source) == sorted(names)
    assert completed(["armspan", "re"], folder, source) == ["reproduce"]
    assert completed(["armspan", "--v"], folder, source) == ["--version"]
    assert completed(["armspan", "nonsense", ""], folder, source) == []
    for command in COMMANDS[1:]:
        flags = [flag for option in command.options for flag in option.flags]
        assert completed(["armspan", command.name, "-"], folder, source) == sorted(flags)
    assert completed(["armspan", "simulate", "--engine", ""], folder, source) == sorted(NAMES)
    assert completed(["armspan", "simulate", "--engine", "=", "cu"], folder, source) == ["cuda"]
    assert completed(["armspan", "simulate", "--engine", "="], folder, source) == sorted(NAMES)
    assert completed(["armspan", "simulate", "--runs", ""], folder, source) == []
    assert completed(["armspan", "simulate", "--out", ""], folder, source) == ["out folder"]
    assert completed(["armspan", "simulate", "my"], folder, source) == ["my spec.toml"]
    assert completed(["armspan", "reproduce", "--json", "a"], folder, source) == ["adversary", "all", "arena"]
    assert completed(["armspan", "completion", ""], folder, source) == ["bash", "fish", "zsh"]


def test_hidden_options_are_not_offered(capsys: pytest.CaptureFixture[str]) -> None:
    assert all("--folder" not in script(shell, capsys) for shell in ("bash", "zsh", "fish"))


def test_zsh_has_every_command_and_option_with_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    source = script("zsh", capsys)
    assert source.startswith("#compdef armspan\n")
    for command in COMMANDS[1:]:
        assert f"'{command.name}:" in source
        part = re.search(rf"^ +{command.name}\)\n +_arguments \\\n(.*?) ;;$", source, flags=re.MULTILINE | re.DOTALL)
        assert part is not None
        specs = part[1].split(" \\\n")
        for option in command.options:
            for flag in option.flags:
                found = [spec for spec in specs if spec.strip().startswith(f"'{flag}[")]
                assert len(found) == 1
                assert found[0].endswith("]'") == (option.kind == "none")
                assert found[0].endswith(":FOLDER:_files -/'") == (option.kind == "folder")
        assert all(re.fullmatch(r" *'([^']|'\\'')*'", spec) for spec in specs)  # every quote is closed
    assert source.count("{") == source.count("}")


def test_fish_has_every_command_and_option_with_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    lines = script("fish", capsys).splitlines()[1:]
    assert all(re.fullmatch(r"complete -c armspan( [^' ]+| '([^'\\]|\\.)*')+", line) for line in lines)
    for command in COMMANDS[1:]:
        assert any(f"__fish_use_subcommand -a {command.name} -d '" in line for line in lines)
        own = [line for line in lines if f"-n '__fish_seen_subcommand_from {command.name}'" in line]
        for option in command.options:
            long = next(flag for flag in option.flags if flag.startswith("--"))
            found = [line for line in own if f" -l {long[2:]} " in line]
            assert len(found) == 1
            assert (" -x" in found[0] or " -r" in found[0]) == (option.kind != "none")
            assert all(word in found[0] for word in option.words)


def test_an_installed_shell_takes_its_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for shell, check in {"bash": ["-n"], "zsh": ["-n"], "fish": ["--no-execute"]}.items():
        if shutil.which(shell) is not None:
            path = tmp_path / shell
            path.write_text(script(shell, capsys), encoding="utf-8")
            subprocess.run([shell, *check, str(path)], check=True)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("armspan re", ["reproduce"]),
        ("armspan simulate --en", ["--engine"]),
        ("armspan reproduce --engine cu", ["cuda"]),
    ],
)
def test_fish_completes(typed: str, offered: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "armspan.fish"
    source.write_text(script("fish", capsys), encoding="utf-8")
    asked = f"source {source}; complete -C '{typed}'"
    done = subprocess.run(["fish", "--no-config", "-c", asked], capture_output=True, text=True, check=True)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == offered
