"""Arms are called what the log calls them: the column is read as text, whatever it looks like."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from armspan.cli.log_table import LogTable, prepare, read
from armspan.cli.main import main


def log(arms: list[Any], folder: Path, kind: str = "csv") -> Path:
    """A log in which these arms are chosen in turns."""
    rng, path = np.random.default_rng(0), folder / f"log.{kind}"
    frame = pd.DataFrame({"arm": arms, "reward": rng.normal(size=len(arms)), "age": rng.normal(size=len(arms))})
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    return path


def prepared(path: Path) -> LogTable:
    return prepare(read(path), arm="arm", reward="reward")


def audited(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
    """Rows by arm, in the order of the audit."""
    assert main(["audit", str(path), "--json"]) == 0
    return {arm["name"]: arm["rows"] for arm in json.loads(capsys.readouterr().out)["arms"]}


def test_leading_zeros_and_words_for_nothing_are_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["01", "1", "1.0", "NA", "None", "nan", "null", "N/A", " 1", "True", "1e3"]
    assert audited(log(names * 20, tmp_path), capsys) == dict.fromkeys(sorted(names), 20)


def test_a_long_file_does_not_split_an_arm_in_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A long file is read in pieces, and `7` was taken for a number in one and for a word in another."""
    path = tmp_path / "log.csv"
    n = 200_000
    lines = [f"{'gift' if i == n - 1 else 7 + i % 2},{i % 5},{i % 97},{i % 89}" for i in range(n)]
    path.write_text("\n".join(["arm,reward,age,visits,one", *(f"{line},1" for line in lines)]))
    found = prepared(path)
    assert found.arm_names == ["7", "8", "gift"]
    assert [found.arms.count(name) for name in found.arm_names] == [n // 2, n // 2 - 1, 1]


def test_an_empty_field_is_no_arm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = log(["a", "b"] * 20, tmp_path)
    lines = path.read_text().splitlines()
    lines[2], lines[5] = lines[2][1:], '""' + lines[5][1:]
    path.write_text("\n".join(lines))
    assert main(["audit", str(path)]) == 0
    assert "2 of 40 rows have missing or non-finite values and are left out: rows 2, 5" in capsys.readouterr().out
    assert audited(path, capsys) == {"a": 19, "b": 19}


@pytest.mark.parametrize(
    ("arms", "order"),
    [
        ([10, 9, 2, -1], ["-1", "2", "9", "10"]),
        (["10", "9", "02"], ["02", "10", "9"]),
        (["10", "9", "b"], ["10", "9", "b"]),
        (["10", "9", "²"], ["10", "9", "²"]),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_whole_numbers_are_in_the_order_of_their_size(
    arms: list[Any], order: list[str], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(audited(log(arms * 20, tmp_path, kind), capsys)) == order


@pytest.mark.parametrize(
    ("column", "names"),
    [
        (pd.Series([2, None] * 20, dtype="Int64"), ["2"]),
        (pd.Series([2**60 + 1, None, 2**60] * 20, dtype="Int64"), [str(2**60), str(2**60 + 1)]),
        (pd.Series([2.0, 1.5, np.nan] * 20), ["1.5", "2"]),
        (pd.Series([2.0, 1.5] * 20, dtype=np.float32), ["1.5", "2"]),
        (pd.Series([True, False] * 20), ["False", "True"]),
        (pd.Series(["NA", "", None, "1"] * 20), ["1", "NA"]),
        (pd.Series(["b", "a", None] * 20, dtype="category"), ["a", "b"]),
    ],
)
def test_arms_of_a_parquet_file_are_texts(column: "pd.Series[Any]", names: list[str], tmp_path: Path) -> None:
    found = prepared(log(column, tmp_path, "parquet"))  # type: ignore[arg-type]
    assert found.arm_names == names
    missing = column.isna() | (column.astype(object) == "")
    assert found.bad == [i + 1 for i in np.flatnonzero(missing)]


def test_other_columns_are_read_as_before(tmp_path: Path) -> None:
    """`NA` is no number and no category there, and 01 is 1."""
    path = tmp_path / "log.csv"
    path.write_text("arm,reward,age,device\n" + "NA,1,01,NA\nNA,NA,2,phone\n01,3,3,phone\n1,4,4,laptop\n")
    found = prepared(path)
    assert (found.bad, found.arms) == ([1, 2], ["01", "1"])
    np.testing.assert_array_equal(found.X[:, 0], [3, 4])


def test_line_breaks_in_arms_do_not_break_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are shown as Python writes them, and no two arms become one; JSON has the names as they are."""
    names = ["a\nb", "a\\nb", "a\u2028b", "é\u3000\t"]
    path = log(names * 20, tmp_path)
    assert audited(path, capsys) == dict.fromkeys(sorted(names), 20)
    assert main(["audit", str(path)]) == 0
    lines = capsys.readouterr().out.split("\n")
    found = {line.removeprefix("Weakest direction of ").partition(":")[0] for line in lines if "Weakest dir" in line}
    assert found == {"a\\nb", "a\\\\nb", "a\\u2028b", "é\u3000\\t"}
    assert max(map(len, "\n".join(lines).splitlines())) == max(map(len, lines))
