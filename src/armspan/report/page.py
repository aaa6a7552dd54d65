"""One self-contained HTML page: style and figures are inside it, so it opens from disk without a network."""

import base64
import html
import re
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING

from armspan import _html
from armspan.experiments import Finding
from armspan.report.rendered import rendered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST_LISTED = 3
"""Sections that a page must have to get a list of contents."""
READABLE, LARGEST = 62, 115
"""Pixels of the screen for each inch of a figure, at least and at most: on a narrow screen it scrolls."""


def page(title: str, lead: str, body: Sequence[str]) -> str:
    """The whole document, with a list of its sections."""
    style = resources.files("armspan.report").joinpath("style.css").read_text(encoding="utf-8")
    body, contents = _numbered(body)
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta name='color-scheme' content='light dark'>"
        f"<title>{html.escape(title)}</title><style>{style}</style></head>\n<body>\n<main>\n"
        f"<h1>{html.escape(title)}</h1>\n<p class='lead'>{html.escape(lead)}</p>\n{contents}"
        + "\n".join(body)
        + "\n</main>\n</body></html>\n"
    )


def _numbered(body: Sequence[str]) -> tuple[list[str], str]:
    """The body with an address for each section, and the list of contents."""
    parts, names = [], []
    for part in body:
        found = re.fullmatch(r"<h2>(.*)</h2>", part)
        if found:
            names.append(found[1])
        parts.append(f"<h2 id='section-{len(names)}'>{found[1]}</h2>" if found else part)
    if len(names) < FEWEST_LISTED:
        return parts, ""
    entries = "".join(f"<li><a href='#section-{number}'>{name}</a></li>" for number, name in enumerate(names, 1))
    return parts, f"<nav aria-label='Contents'><ul>{entries}</ul></nav>\n"


def heading(text: str) -> str:
    """A section begins."""
    return f"<h2>{html.escape(text)}</h2>"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain words."""
    return f"<p class='{kind}'>{html.escape(text)}</p>" if kind else f"<p>{html.escape(text)}</p>"


def picture(figure: "Figure", caption: str, shows: str) -> str:
    """A figure, embedded as SVG. shows : the result in words and numbers, for those who cannot see it."""
    data, inches = base64.b64encode(rendered(figure, "svg")).decode(), figure.get_size_inches()[0]
    limits = f"min-width: {READABLE * inches:.0f}px; max-width: {LARGEST * inches:.0f}px"
    shown = html.escape(shows, quote=True)
    image = f"<img alt='{shown}' style='{limits}' src='data:image/svg+xml;base64,{data}'>"
    return f"<figure>{_wide(image, caption)}<figcaption>{html.escape(caption)}</figcaption></figure>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column names the rows, the others are numbers."""
    return _wide(_html.table(head, rows), f"Table: {', '.join(head)}")


def word_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of words in all columns; a verdict in the second gets a mark."""
    top = "".join(f"<th scope='col'>{html.escape(cell)}</th>" for cell in head)
    lines = []
    for first, verdict, *others in rows:
        cells = [f"<th scope='row'>{html.escape(first)}</th>"]
        cells.append(f"<td class='word {verdict.replace(' ', '-')}'>{html.escape(verdict)}</td>")
        cells += [f"<td>{html.escape(cell)}</td>" for cell in others]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    content = f"<table class='words'><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return _wide(content, f"Table: {', '.join(head)}")


def _wide(content: str, name: str) -> str:
    """What may be wider than the screen: it scrolls, by keyboard too, and shows that it does."""
    return f"<div class='wide' role='region' tabindex='0' aria-label='{html.escape(name, quote=True)}'>{content}</div>"


def findings(entries: Sequence[Finding]) -> str:
    """What the paper claims, whether that was confirmed, and what came out."""
    head = ["claim", "verdict", "what came out"]
    return word_table(head, [[entry.statement, entry.word, entry.outcome] for entry in entries])
