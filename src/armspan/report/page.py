"""One self-contained HTML page: style and figures are inside it, so it opens from disk without a network."""

import base64
import html
from collections.abc import Sequence
from importlib import resources
from io import BytesIO

from matplotlib.figure import Figure

from armspan.experiments import Finding


def page(title: str, lead: str, body: Sequence[str]) -> str:
    """The whole document."""
    style = resources.files("armspan.report").joinpath("style.css").read_text(encoding="utf-8")
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{html.escape(title)}</title><style>{style}</style></head>\n<body>\n"
        f"<h1>{html.escape(title)}</h1>\n<p class='lead'>{html.escape(lead)}</p>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def heading(text: str) -> str:
    """A section begins."""
    return f"<h2>{html.escape(text)}</h2>"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain words."""
    return f"<p class='{kind}'>{html.escape(text)}</p>" if kind else f"<p>{html.escape(text)}</p>"


def picture(figure: Figure, caption: str) -> str:
    """A figure, embedded as SVG."""
    buffer = BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    data = base64.b64encode(buffer.getvalue()).decode()
    caption = html.escape(caption)
    return (
        f"<figure><img alt='{html.escape(caption, quote=True)}' src='data:image/svg+xml;base64,{data}'>"
        f"<figcaption>{caption}</figcaption></figure>"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column is words, the others are numbers."""
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    lines = ("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class='wide'><table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"


def word_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of words in all columns; a verdict in the second gets a mark."""
    top = "".join(f"<th class='words'>{html.escape(cell)}</th>" for cell in head)
    lines = []
    for first, verdict, *others in rows:
        cells = [f"<td class='words'>{html.escape(first)}</td>"]
        cells.append(f"<td class='words word {verdict.replace(' ', '-')}'>{html.escape(verdict)}</td>")
        cells += [f"<td class='words'>{html.escape(cell)}</td>" for cell in others]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<div class='wide'><table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"


def findings(entries: Sequence[Finding]) -> str:
    """What the paper claims, whether that was confirmed, and what came out."""
    head = ["claim", "verdict", "what came out"]
    return word_table(head, [[entry.statement, entry.word, entry.outcome] for entry in entries])
