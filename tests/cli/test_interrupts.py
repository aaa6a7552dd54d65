"""Ctrl-C: one sentence that says how far the work got and what is saved, exit code 130, and files as it says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from armspan.cli.main import main
from armspan.simulation import load_result, warm_up

ROOT = Path(__file__).parents[2]
SPEC, GRID, LOG = (str(ROOT / "examples" / name) for name in ("bound.toml", "dial.toml", "offers-log.csv"))
LONG = ["--runs", "400", "--horizon", "20000"]
SCRIPT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])  # one core, so that some runs end before others
from armspan.cli import progress
from armspan.cli.main import main

def stops(self, stage):
    stopping = stage.startswith(sys.argv[1])
    def told(done, total):
        nonlocal stopping
        if stopping and done >= float(sys.argv[2]) * total:
            stopping = False
            os.kill(os.getpid(), signal.SIGINT)
    return told

progress.Bars.__call__ = stops
raise SystemExit(main(sys.argv[3:]))
"""


def interrupted(stage: str, share: float, *arguments: str) -> tuple[str, str]:
    """What a command prints that gets a Ctrl-C when so much of this stage is done, and its last words."""
    command = [sys.executable, "-c", SCRIPT, stage, str(share), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 130, done.stderr
    assert done.stderr.startswith("armspan: stopped")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stdout, done.stderr.removeprefix("armspan: ").rstrip("\n")


def finished(words: str, what: str) -> int:
    """How many of them the sentence says are finished."""
    found = re.match(rf"stopped with ([\d,]+) of [\d,]+ {what} finished; ", words)
    assert found is not None, words
    return int(found[1])


def test_simulate_saves_the_finished_runs(tmp_path: Path) -> None:
    out, words = interrupted("", 0.5, "simulate", SPEC, *LONG, "--out", str(tmp_path))
    runs = finished(words, "runs")
    assert words.endswith(f"; what was finished is saved in {tmp_path}")
    assert 0 < runs < 400
    assert f", {runs} run" in out
    assert load_result(tmp_path / "result.npz").runs.size == runs
    assert (tmp_path / "report.html").exists()


def test_without_out_nothing_is_saved() -> None:
    out, words = interrupted("", 0.5, "simulate", SPEC, *LONG, "--json")
    assert words.endswith("; nothing is saved, because --out was not given")
    assert json.loads(out)["runs"] == finished(words, "runs")


def test_explain_run_saves_the_finished_runs(tmp_path: Path) -> None:
    _, words = interrupted("", 0.5, "explain-run", SPEC, "--runs", "40", "--horizon", "5000", "--out", str(tmp_path))
    assert words.endswith(f"; what was finished is saved in {tmp_path}")
    saved = load_result(tmp_path / "result.npz")
    assert saved.runs.size == finished(words, "runs")
    assert set(saved.events) == {"LinUCB-d", "greedy"}


def test_reproduce_saves_the_finished_figures(tmp_path: Path) -> None:
    size = ["--runs", "20", "--horizon", "500", "--draws", "20"]
    out, words = interrupted("draws of θ", 0.5, "reproduce", "all", *size, "--out", str(tmp_path))
    assert words == f"stopped; what was finished is saved in {tmp_path}"
    assert "Figure 1b" in out
    assert "Figure 1c" not in out
    assert {path.name for path in (tmp_path / "results").iterdir()} == {"1a.npz", "1b.npz"}
    assert list(json.loads((tmp_path / "summary.json").read_text())["figures"]) == ["1a", "1b"]


def test_nothing_finished_is_nothing_saved(tmp_path: Path) -> None:
    out, words = interrupted("draws of θ", 0.5, "reproduce", "1c", "--draws", "20", "--out", str(tmp_path))
    assert (out, words) == ("", "stopped; nothing is saved")


def test_the_arena_keeps_finished_problems(tmp_path: Path) -> None:
    arguments = ["reproduce", "arena", "--runs", "2", "--horizon", "20"]
    out, words = interrupted("1b", 0.1, *arguments, "--out", str(tmp_path))
    assert words == f"stopped with 1 of 16 problems finished; what was finished is saved in {tmp_path}"
    assert out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["1a.npz"]


def test_a_sweep_keeps_finished_cells(tmp_path: Path) -> None:
    _, words = interrupted("", 0.5, "sweep", GRID, "--runs", "200", "--horizon", "5000", "--out", str(tmp_path))
    cells = finished(words, "cells")
    assert words.endswith(f"; what was finished is saved in {tmp_path}")
    assert len(list(tmp_path.glob("*.parquet"))) == cells
    assert (tmp_path / "table.csv").read_text().count("\n") == cells + 1


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("what", "arguments"),
    [
        ("armspan.cli.audit.audit_log", ["audit", LOG, "--arm", "offer", "--reward", "spent"]),
        ("armspan.cli.bound.forecast", ["bound", SPEC]),
    ],
)
def test_other_commands_say_that_nothing_is_saved(
    what: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(what, stop)
    assert main(arguments) == 130
    assert capsys.readouterr().err == "armspan: stopped; nothing is saved\n"


def test_a_stop_while_files_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("armspan.report.experiment.write", stop)
    assert main(["simulate", SPEC, "--runs", "3", "--horizon", "50", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err == f"armspan: stopped; files that were finished are in {tmp_path}\n"


def test_warm_up_keeps_what_is_compiled(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(warm_up, "warm_up", stop)
    assert main(["warm-up"]) == 130
    assert capsys.readouterr().err == "armspan: stopped; what was compiled is kept in the cache\n"
