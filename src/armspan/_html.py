"""Small HTML tables for notebooks and pages: escaped, without scripts or colours of their own."""

import html
from collections.abc import Sequence

APART = "style='padding: 0.2em 0.6em'"
"""Cells stand apart, whatever the page around them does."""
MOST_ROWS = 20
"""Rows that a notebook shows of an object."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "") -> str:
    """A table whose first column names the rows."""
    top = "".join(f"<th scope='col'>{html.escape(cell)}</th>" for cell in head)
    above = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{top}</tr></thead><tbody>{''.join(map(_row, rows))}</tbody></table>"


def _row(cells: Sequence[str]) -> str:
    first, *others = map(html.escape, cells)
    return f"<tr><th scope='row'>{first}</th>{''.join(f'<td {APART}>{cell}</td>' for cell in others)}</tr>"


def shown(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], more: int = 0) -> str:
    """What a notebook shows of an object: a title, a table, and how many rows it leaves out."""
    rest = f"<p>and {more:,} more</p>" if more else ""
    return f"<p><strong>{html.escape(title)}</strong></p>{table(head, rows)}{rest}"
