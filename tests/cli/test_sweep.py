"""armspan sweep, and --backend of the commands that simulate."""

import json
from pathlib import Path

import pandas as pd
import pytest

from armspan.cli.main import main, parser

ROOT = Path(__file__).parents[2]
EXAMPLE = str(ROOT / "examples" / "dial.toml")
SMALL = ["--runs", "6", "--horizon", "300"]


def test_sweep_prints_a_table_and_keeps_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sweep", EXAMPLE, *SMALL, "--out", str(tmp_path)]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert out.startswith("How much diversity is enough?\nfinal pseudo-regret after 300 steps, 6 runs per cell\n")
    assert out.count("diversity_dial(level=") == 4
    assert out.count("LinUCB(alpha=0.3)") == 4
    assert len(list(tmp_path.glob("*.parquet"))) == 16
    path = next(tmp_path.glob("*.parquet"))
    path.write_bytes(path.read_bytes()[:100])
    assert main([*command, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == f"armspan: {path} is damaged, or not a cell of this sweep; its cell is computed again\n"
    rows = json.loads(captured.out)
    assert len(rows) == 16
    assert rows[0]["policy"] == "LinUCB-d"
    assert rows[0]["policy.alpha"] is None
    table = pd.read_csv(tmp_path / "table.csv")
    assert list(table.columns) == list(rows[0])
    assert table["mean"].to_list() == pytest.approx([row["mean"] for row in rows])
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert "How much diversity is enough?" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


def test_folder_is_another_name_for_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its name before there was --out; the help does not mention it."""
    assert main(["sweep", EXAMPLE, *SMALL, "--folder", str(tmp_path)]) == 0
    assert len(list(tmp_path.glob("*.parquet"))) == 16
    with pytest.raises(SystemExit):
        main(["sweep", "--help"])
    assert "--folder" not in capsys.readouterr().out


def test_backends_give_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for options in ([], ["--backend", "processes", "--workers", "2"]):
        assert main(["sweep", EXAMPLE, *SMALL, *options]) == 0
        assert main(["simulate", str(ROOT / "examples" / "offers.toml"), *SMALL, "--json", *options]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sweep", "missing.toml"], "cannot read missing.toml: No such file or directory"),
        (["sweep", EXAMPLE, "--backend", "cloud"], 'backend must be None, "processes", the address'),
        (["sweep", EXAMPLE, "--workers", "0"], "workers must be an integer >= 1, got 0"),
        (["sweep", EXAMPLE, "--runs", "0"], "runs must be an integer from 1"),
        (["sweep", EXAMPLE, "--out", "/proc/nowhere"], "--out must be a folder that can be written, got /proc/now"),
        (
            ["sweep", str(ROOT / "examples" / "offers.toml")],
            "the sweep has one environment, not environments, so",
        ),
        (["simulate", EXAMPLE], "the spec has environments, not one environment, so it is for `armspan sweep`"),
        (["simulate", str(ROOT / "examples" / "offers.toml"), "--backend", "cloud"], "backend must be None"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"armspan: {sentence}")
    assert captured.err.count("\n") == 1


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert "sweep" in parser().format_help()
    with pytest.raises(SystemExit):
        main(["sweep", "--help"])
    text = capsys.readouterr().out
    for words in ("example:", "--out", "--backend", "--workers", "--json", "--runs", "--horizon", "--seed"):
        assert words in text
