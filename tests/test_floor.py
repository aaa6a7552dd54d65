"""The floor of coverage: it is kept, and only rises."""

import sys
from pathlib import Path

import pytest
from tools import floor

FILES = {"src/armspan/errors.py": (9, 10), "src/armspan/cli/main.py": (80, 90), "src/armspan/cli/audit.py": (0, 0)}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A floor of its own, with 89 of 100 lines and branches run."""
    path = tmp_path / "floor.txt"
    monkeypatch.setattr(floor, "FLOOR", path)
    monkeypatch.setattr(floor, "measured", lambda: FILES)
    return path


def run(monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setattr(sys, "argv", ["floor", *options])
    return floor.main()


def test_files_are_counted_by_rooms() -> None:
    assert floor.by_room(FILES) == {"(ground floor)": (9, 10), "cli": (80, 90)}
    assert floor.per_cent((0, 0)) == 100


def test_branches_count_as_lines_do() -> None:
    summary = {"covered_lines": 7, "num_statements": 8, "covered_branches": 1, "num_branches": 4}
    assert floor.counted(summary) == (8, 12)


@pytest.mark.parametrize(("lowest", "code", "words"), [("89.1", 1, "Below"), ("88.8", 0, "89.0 %"), ("80", 0, "Raise")])
def test_below_the_floor_is_an_error(
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lowest: str,
    code: int,
    words: str,
) -> None:
    file.write_text(lowest)
    assert run(monkeypatch) == code
    assert words in capsys.readouterr().out
    assert file.read_text() == lowest


def test_the_floor_rises_and_never_falls(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("80")
    assert run(monkeypatch, "--raise") == 0
    assert 80 < float(file.read_text()) <= 89
    kept = file.read_text()
    assert run(monkeypatch, "--raise") == 0
    assert file.read_text() == kept
    file.write_text("95")
    assert run(monkeypatch, "--raise") == 1
    assert file.read_text() == "95"
