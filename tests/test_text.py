"""Tables as plain text: no line is wider than 80 columns, no cell is lost, columns stand below each other."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan._text import NARROWEST, WIDTH, amount, counted, table

NAMES = st.text(alphabet="abcdefghij -,=()λ₀%", min_size=1, max_size=90).map(str.strip).filter(bool)
NUMBERS = st.floats(-1e9, 1e9).map(lambda value: f"{value:,.1f}")
INTERVALS = st.tuples(NUMBERS, NUMBERS).map(lambda ends: f"{ends[0]} to {ends[1]}")
ROWS = st.lists(st.tuples(NAMES, NUMBERS, NUMBERS, INTERVALS, st.sampled_from(["constant", "logarithmic"])), min_size=1)
HEAD = ("policy", "mean", "sd", "95 % interval of the mean", "growth")


@given(ROWS)
def test_every_table_fits_and_keeps_every_letter(rows: list[tuple[str, ...]]) -> None:
    lines = table(HEAD, rows, words=(0, 4))
    assert max(map(len, lines)) <= WIDTH
    printed = "".join("".join(line.split()) for line in lines)
    wanted = "".join("".join(cell.split()) for row in [HEAD, *rows] for cell in row)
    assert sorted(printed) == sorted(wanted)


def test_what_fits_is_one_line_per_row() -> None:
    rows = [("LinUCB-d", "526.4", "85.8", "509.6 to 543.2", "constant"), ("greedy", "39,153.7", "1.0", "–", "linear")]
    assert table(HEAD, rows, words=(0, 4)) == [
        "policy        mean    sd  95 % interval of the mean  growth",
        "LinUCB-d     526.4  85.8             509.6 to 543.2  constant",
        "greedy    39,153.7   1.0                          –  linear",
    ]


def test_headings_are_broken_first_then_words_then_intervals() -> None:
    head = ("name", "a very long heading over short numbers", "interval")
    wide = table(head, [("x" * 30, "1", "2 to 3")])
    assert wide[-1].split() == ["x" * 30, "1", "2", "to", "3"]
    narrow = table(head, [("one two three four", "1", "2 to 3")], width=30)
    assert [line.split()[0] for line in narrow if line[0] != " "] == ["name", "one", "three"]
    assert "2 to 3" in "\n".join(narrow)
    tight = table(("n", "i"), [("a", "1,000,000.0 to 2,000,000.0")], width=20)
    assert [line.split() for line in tight[1:]] == [["a", "1,000,000.0", "to"], ["2,000,000.0"]]


def test_long_words_keep_some_columns() -> None:
    lines = table(("name", "number"), [("x" * 200, "1" * 60)])
    assert lines[1].startswith("x" * NARROWEST)
    assert "1" * 60 in lines[1]


def test_a_number_is_not_parted_from_its_per_cent_sign() -> None:
    lines = table(("p", "level 95 % here"), [("a", "1")], width=10)
    assert any("95 %" in line for line in lines)


@pytest.mark.parametrize(("number", "words"), [(0, "0 runs"), (1, "1 run"), (2000, "2,000 runs")])
def test_numbers_of_things(number: int, words: str) -> None:
    assert counted(number, "run") == words


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((526.43, 0.04), ["526.4", "0.0"]),
        ((39153.7, math.nan), ["39,153.7", "nan"]),
        ((1.0, 0.0), ["1.0", "0.0"]),
        ((0.0, 0.0), ["0.0", "0.0"]),
        ((), []),
        ((0.0264, -0.0017), ["0.0264", "-0.0017"]),
        ((0.8,), ["0.800"]),
        ((1.7e-9, 0.0), ["1.7e-09", "0"]),
    ],
)
def test_amounts_are_not_rounded_to_nothing(numbers: tuple[float, ...], words: list[str]) -> None:
    assert [format(number, amount(*numbers)) for number in numbers] == words
