"""All commands in one loop: help that fits, bad input in one sentence, JSON and nothing else, lines that fit."""

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from armspan.cli.main import main, parser
from armspan.cli.output import fitted
from armspan.experiments import arena, predictions, reproduction

ROOT = Path(__file__).parents[2]
SPEC, GRID, LOG = (str(ROOT / "examples" / name) for name in ("bound.toml", "dial.toml", "offers-log.csv"))
SMALL = ["--runs", "5", "--horizon", "300"]
WORKS: dict[str, list[list[str]]] = {
    "reproduce": [
        ["1a", *SMALL],
        ["all", *SMALL, "--draws", "5"],
        ["tails", *SMALL],
        ["predictions", "--runs", "2", "--horizon", "20"],
        ["adversary", "--runs", "2", "--horizon", "20"],
        ["arena", "--runs", "2", "--horizon", "20"],
    ],
    "simulate": [[SPEC, *SMALL], [SPEC, "--runs", "1", "--horizon", "300"]],
    "sweep": [[GRID, *SMALL]],
    "explain-run": [[SPEC, *SMALL]],
    "bound": [[SPEC, "--horizon", "300"], [str(ROOT / "examples" / "offers.toml"), "--horizon", "300"]],
    "audit": [
        [LOG, "--arm", "offer", "--reward", "spent"],
        [LOG, "--arm", "offer", "--reward", "spent", "--horizon", "50"],
    ],
    "warm-up": [[]],
    "completion": [["bash"], ["zsh"], ["fish"]],
}
"""Arguments with which every command works, and is done soon."""
WRONG: dict[str, list[tuple[list[str], str]]] = {
    "reproduce": [
        (["2z"], "figure must be one of 1a, 1b, "),
        (["1a", "--engine", "gpu"], "engine must be one of auto, "),
    ],
    "simulate": [([SPEC, "--precision", "float16"], "precision must be one of float64, float32, got 'float16'")],
    "sweep": [([GRID, "--workers", "0"], "workers must be an integer >= 1, got 0")],
    "explain-run": [([GRID], "the spec has environments, not one environment, so it is for `armspan sweep`")],
    "bound": [([SPEC, "--horizon", "0"], "horizon must be an integer from 1 to 4294967296, got 0")],
    "audit": [
        ([LOG, "--arm", "offer", "--reward", "spent", "--level", "2"], "level must be > 0 and < 0.5, got 2"),
        ([LOG, "--arm", "offer", "--reward", "spent", "--horizon", "0"], "horizon must be an integer >= 1, got 0"),
        ([LOG, "--features", " , "], "--features must be one or more names with commas between them, got ' , '"),
    ],
    "warm-up": [(["now"], "unrecognized arguments: now")],
    "completion": [(["tcsh"], "SHELL must be one of bash, zsh, fish, got 'tcsh'")],
}
"""Bad input beside what is tried for all commands."""
COMMANDS = tuple(parser().commands)


def status(arguments: list[str]) -> int:
    """The exit code, whether the command returns it or argparse raises it."""
    try:
        return main(arguments)
    except SystemExit as stop:
        return int(str(stop.code))


def test_no_command_is_left_out() -> None:
    assert set(WORKS) == set(WRONG) == set(COMMANDS)


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_an_example_and_fits(
    command: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert status([*([command] if command else []), "--help"]) == 0
    text = capsys.readouterr().out
    prose, _, example = text.partition("example:\n")
    assert max(map(len, prose.splitlines())) <= columns
    if command:
        assert "--json" in prose
        assert all(len(line) <= 80 and f"armspan {command}" in line for line in example.splitlines())
        assert example
    else:
        assert all(f" {name} " in text or f" {name}\n" in text for name in COMMANDS)


def test_the_help_of_reproduce_says_what_every_figure_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert status(["reproduce", "--help"]) == 0
    lines = [line.removeprefix("  FIGURE").strip() for line in capsys.readouterr().out.splitlines()]
    said = dict(line.split(": ", 1) for line in lines if line.endswith(";") and ": " in line)  # one line each
    figures = parser().commands["reproduce"].words["figure"]
    assert tuple(said) == tuple(name for name in figures if name != "all")
    assert len(set(said.values())) == len(said)
    assert ";" not in said.values()


@pytest.mark.parametrize("command", COMMANDS)
def test_bad_input_is_one_sentence_and_exit_code_2(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence names the parameter, what is allowed, and what came."""
    tried = [*WRONG[command], (["--colour"], "unrecognized arguments: --colour|[A-Z]+ must be given")]
    tried += [(["--json=3"], "--json must have no value, got '3'"), *_wrong_for_all(command, tmp_path)]
    for arguments, sentence in tried:
        assert status([command, *arguments]) == 2, arguments
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        start = rf"armspan( {command})?: "
        plain = re.escape(sentence) if "|" not in sentence else f"({sentence})"
        assert re.match(start + plain, captured.err), (arguments, captured.err)


def _wrong_for_all(command: str, folder: Path) -> list[tuple[list[str], str]]:
    """What is wrong for every command that has such an argument."""
    made, first, tried = parser().commands[command], WORKS[command][0][:1], []
    for action in made.arguments:
        flag = (action.option_strings or [""])[-1]
        kind = getattr(action.type, "__name__", "")
        if kind in ("whole", "number"):
            word = "a whole number" if kind == "whole" else "a number"
            tried.append(([*first, flag, "many"], f"{flag} must be {word}, got 'many'"))
        if kind == "whole" and action.dest != "seed":
            tried.append(([*first, flag, "-3"], f"{action.dest} must be an integer "))
        if flag == "--out":
            path = folder / "file"
            path.touch()
            tried.append(
                ([*WORKS[command][0], flag, str(path)], f"--out must be a folder that can be written, got {path}")
            )
            tried.append(([*first, flag], "--out must have a value (see "))
            tried.append(([*first, flag, ""], "--out must be a path, got ''"))
        if action.metavar == "SPEC":
            broken, empty = folder / "broken.toml", folder / "empty.toml"
            broken.write_text("horizon = [")
            empty.touch()
            tried += [
                (["missing.toml"], "cannot read missing.toml: No such file or directory"),
                ([str(folder)], f"cannot read {folder}: Is a directory"),
                ([str(broken)], f"{broken} is not valid TOML: "),
                ([str(empty)], "the s"),
                ([], "SPEC must be given"),
                ([""], "SPEC must be a path, got ''"),
            ]
    return tried


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer problems than `reproduce` has; they take minutes."""
    problems = tuple(problem for problem in arena.PROBLEMS if problem.key in ("1a", "perturbed"))
    monkeypatch.setattr(arena, "PROBLEMS", problems)
    monkeypatch.setattr(arena, "step_times", lambda progress: {"LinUCB-d": 0.123})
    monkeypatch.setattr(reproduction, "run_predictions", partial(predictions.run_predictions, problems=10))


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes longest, and says nothing of JSON."""
    for place in ("page", "figures"):
        monkeypatch.setattr(f"armspan.report.{place}.rendered", lambda figure, kind: b"")


@pytest.mark.usefixtures("few", "no_pictures")
@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_all_that_is_printed_and_the_same_is_written(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, arguments in enumerate(WORKS[command]):
        folder = tmp_path / str(number)
        writes = "--out" in parser().commands[command].format_help() and "all" not in arguments  # those take long
        assert main([command, *arguments, "--json", *(["--out", str(folder)] if writes else [])]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        printed = _strictly(captured.out)
        if command == "sweep":
            assert (folder / "table.csv").read_text().count("\n") == 1 + len(printed)
        elif writes:
            assert [printed] == [_strictly(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]


def _strictly(text: str) -> Any:
    """JSON as its standard has it, without NaN and infinities."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "completion"])
def test_tables_fit_80_columns_and_prose_fits_a_terminal(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Only sentences are longer than 80 columns; on a terminal they are broken between words."""
    for arguments in WORKS[command]:
        assert main([command, *arguments]) == 0
        out = capsys.readouterr().out
        long = [line for line in out.splitlines() if len(line) > 80]
        assert all(line.endswith((".", ")")) and "   " not in line for line in long), long
        for columns in (60, 80, 200):
            assert max(map(len, fitted(out, columns).splitlines())) <= columns
        assert fitted(out, 80).split() == out.split()


@pytest.mark.parametrize("module", ["armspan", "armspan.cli.main"])
def test_the_package_can_be_run(module: str) -> None:
    """By `python -m`, for those whose shell does not find the command; it calls itself what it is called."""
    for arguments, code in ((["--version"], 0), (["bound"], 2)):
        done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True)
        assert done.returncode == code
        assert (done.stdout + done.stderr).startswith("armspan ")


def test_an_output_that_lacks_letters_gets_their_codes() -> None:
    """λ is not in ASCII."""
    command = [sys.executable, "-m", "armspan.cli.main", "bound", SPEC, "--horizon", "50"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert "\\u03bb" in done.stdout
