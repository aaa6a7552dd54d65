"""The progress bar: one line on a terminal of any width, nothing on a pipe."""

import subprocess
import sys

import pytest

from tests.cli.terminal import in_terminal, screen

STAGES = ("figure 1a", "a stage whose name is far too long for the line of a terminal")
SCRIPT = f"""
import time
from armspan.cli.progress import Bars
with Bars() as bars:
    for stage in {STAGES!r}:
        progress = bars(stage)
        for done in range(1, 31):
            progress(done, 30)
            time.sleep(0.02)
"""


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 200, 0])
def test_no_refresh_adds_a_line(columns: int) -> None:
    """0 columns: some terminals do not tell their size."""
    output = in_terminal(["-c", SCRIPT], columns)
    assert output.count("\r") > 10
    rows = screen(output, columns or 80)
    assert len(rows) == len(STAGES) + 1
    assert rows[-1] == ""
    for row, stage in zip(rows, STAGES, strict=False):
        assert row.startswith(stage[:6])
        assert "100% |" in row
        assert columns == 20 or row.rstrip().endswith(" left")  # there it is cut off
        assert (" elapsed, " in row) == (columns in (80, 200, 0))


def test_the_bar_follows_the_window() -> None:
    output = in_terminal(["-c", SCRIPT], 120, resize=50)
    last = output.rstrip().rsplit("\r", 1)[-1]
    assert len(last) < 50
    assert "100% |" in last


def test_a_pipe_gets_no_bar() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_command_in_a_terminal() -> None:
    """One line for the bar, then the table."""
    command = ["-m", "armspan.cli.main", "reproduce", "1a", "--runs", "200", "--horizon", "20000"]
    rows = screen(in_terminal(command, 80), 80)
    assert rows[0].startswith("figure 1a ")
    assert "100% |" in rows[0]
    assert rows[0].rstrip().endswith("00:00 left")
    assert rows[1].rstrip() == "Figure 1a: uniform context arrivals"
