"""Small HTML tables for notebooks and pages: escaped, without scripts or colours of their own."""

import html
from collections.abc import Sequence

APART = "padding: 0.2em 0.6em"
"""Cells stand apart, whatever the page around them does."""
MOST_ROWS = 20
"""Rows that a notebook shows of an object."""
_FIRST_OF_A_NUMBER = "0123456789+-–?"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "") -> str:
    """A table whose first column names the rows. Without a head, it has no headings.

    Words are on the left and columns of numbers on the right, headings with their columns.
    """
    sides = [_side(column, place) for place, column in enumerate(zip(*rows, strict=True))] or ["left"] * len(head)
    top = "".join(_cell("th scope='col'", cell, side) for cell, side in zip(head, sides, strict=bool(head)))
    above = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    headings = f"<thead><tr>{top}</tr></thead>" if head else ""
    return f"<table>{above}{headings}<tbody>{''.join(_row(row, sides) for row in rows)}</tbody></table>"


def _side(column: Sequence[str], place: int) -> str:
    numbers = place > 0 and all(cell[:1] in _FIRST_OF_A_NUMBER for cell in column)  # an empty one fits both
    return "right" if numbers else "left"


def _row(cells: Sequence[str], sides: Sequence[str]) -> str:
    tags = ("th scope='row'", *["td"] * (len(cells) - 1))
    return f"<tr>{''.join(map(_cell, tags, cells, sides))}</tr>"


def _cell(tag: str, text: str, side: str) -> str:
    return f"<{tag} style='{APART}; text-align: {side}'>{html.escape(text)}</{tag[:2]}>"


def paragraph(text: str) -> str:
    """A sentence or two."""
    return f"<p>{html.escape(text)}</p>"


def shown(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], more: int = 0) -> str:
    """What a notebook shows of an object: a title, a table, and how many rows it leaves out."""
    rest = f"<p>and {more:,} more</p>" if more else ""
    return f"<p><strong>{html.escape(title)}</strong></p>{table(head, rows) if head or rows else ''}{rest}"
