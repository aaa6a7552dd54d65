"""The figure of greedy against the adversary: what it shows, and what it leaves in a folder."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from armspan.cli.main import main
from armspan.experiments.adversary import SIGMAS, oppose
from armspan.report import adversary


@pytest.fixture(scope="module")
def found() -> Any:
    return oppose(runs=3, seed=1, horizon=60, announce=lambda stage: lambda done, total: None)


def test_means_and_intervals_are_those_of_the_runs(found: Any) -> None:
    mean, half = found.final()
    assert mean.shape == half.shape == (4, len(SIGMAS))
    last = found.results[2].pseudo_regret[1, :, -1]
    assert mean[1, 2] == pytest.approx(np.mean(last))
    assert half[1, 2] == pytest.approx(stats.t.ppf(0.975, 2) * stats.sem(last))


def test_everything_is_drawn_and_written(found: Any, tmp_path: Path) -> None:
    path = adversary.write(found, tmp_path)
    assert {"adversary.html", "adversary.json", "adversary.png", "adversary.svg"} <= {
        one.name for one in tmp_path.iterdir()
    }
    assert "N(0, σ²)" in path.read_text(encoding="utf-8")
    numbers = json.loads((tmp_path / "adversary.json").read_text(encoding="utf-8"))
    assert numbers["sigma"] == list(SIGMAS)
    axes = adversary.figure_of(found).axes[0]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(found.results[0].policies)
    assert axes.get_xticklabels()[0].get_text() == "0"  # behind a break in the axis


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "adversary", "--runs", "2", "--horizon", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Final regret against the adversary: mean ± half of a 95 % interval"
    assert [line.split()[0] for line in lines[-len(SIGMAS) :]] == [f"{sigma:g}" for sigma in SIGMAS]


def test_one_run_has_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reproduce", "adversary", "--runs", "1", "--horizon", "20"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert out.startswith("Final regret against the adversary: one run\n")
    assert "±" not in out
    assert main([*command, "--json", "--out", str(tmp_path)]) == 0
    regret = json.loads(capsys.readouterr().out)["regret"]
    assert all(row["half_width"] == [None] * len(SIGMAS) for row in regret.values())
    assert "±" not in (tmp_path / "adversary.html").read_text(encoding="utf-8")
