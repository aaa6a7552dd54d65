"""Plain text: tables that fit a terminal of 80 columns, and numbers of things."""

import math
import re
import textwrap
from collections.abc import Collection, Sequence

WIDTH = 80
"""Columns that every terminal has; no table is wider, wherever it is printed."""
GAP = "  "
NARROWEST = 12
"""Columns that words keep, however crowded a table is."""
MOST_DECIMALS = 6
"""Smaller numbers have an exponent: 1.7e-09."""
_HARD = "\xa0"
_KEPT = re.compile(r" (?=%)|(?<= =) | (?== )")
"""Spaces at which no line is broken."""


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: Collection[int] = (0,),
    indent: str = "",
    width: int = WIDTH,
) -> list[str]:
    """The lines of a table: columns of words to the left, numbers to the right, two spaces between them.

    Where it would be too wide, headings are broken into several lines first, then words, then intervals such as
    "17,816.4 to 18,051.7".
    """
    widths = _widths([list(head), *map(list, rows)], words, width - len(indent))
    lines = []
    for row in [head, *rows]:
        cells = [broken(cell, size) for cell, size in zip(row, widths, strict=True)]
        for line in range(max(map(len, cells))):
            parts = [cell[line] if line < len(cell) else "" for cell in cells]
            aligned = (
                part.ljust(size) if column in words else part.rjust(size)
                for column, (part, size) in enumerate(zip(parts, widths, strict=True))
            )
            lines.append((indent + GAP.join(aligned)).rstrip())
    return lines


def counted(number: int, noun: str) -> str:
    """A number of things: "1 run", "2,000 runs"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def amount(*values: float) -> str:
    """How to format amounts side by side: one decimal, or where all are below 1 three digits of the largest."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    decimals = 1 if largest >= 1 or largest == 0 else 2 - math.floor(math.log10(largest))
    return f",.{decimals}f" if decimals <= MOST_DECIMALS else ".3g"


def percent(share: float, digits: int = 0) -> str:
    """A share in prose: "95 %", with a space, as in all sentences; tables may use less room."""
    return f"{100 * share:.{digits}f} %"


def _widths(rows: list[list[str]], words: Collection[int], width: int) -> list[int]:
    """How wide each column is: as its longest cell, or less until all of them fit."""
    columns = list(zip(*rows, strict=True))
    room = width - len(GAP) * (len(columns) - 1)
    widths = [max(map(len, column)) for column in columns]
    cells = [max([_longest_word(head), *map(len, others)]) for head, *others in columns]
    parts = [max(map(_longest_word, column)) for column in columns]
    few = [min(part, NARROWEST) for part in parts]
    stages = (
        cells,  # break headings
        [parts[i] if i in words else cells[i] for i in range(len(columns))],  # and words, at spaces
        [few[i] if i in words else cells[i] for i in range(len(columns))],  # and long words
        [few[i] if i in words else parts[i] for i in range(len(columns))],  # and intervals
    )
    for least in stages:
        while sum(widths) > room and (wide := [i for i, size in enumerate(widths) if size > least[i]]):
            widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def broken(text: str, width: int, *, indent: str = "", anywhere: bool = True) -> list[str]:
    """The text in lines of at most so many columns, broken between words, and within long words if anywhere.

    indent : of all lines but the first. A number stays beside its per cent sign, and beside an equals sign.
    """
    lines = textwrap.wrap(
        _KEPT.sub(_HARD, text), width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=anywhere
    )
    return [line.replace(_HARD, " ") for line in lines] or [""]


def _longest_word(text: str) -> int:
    return max((len(word) for word in _KEPT.sub(_HARD, text).split(" ")), default=0)
