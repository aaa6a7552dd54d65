"""The axes to draw in, in armspan's style: the caller's, or new ones."""

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armspan.errors import InvalidParameter
from armspan.plots.looks import SETTINGS

SIZE = (7.2, 4.4)
"""Inches."""
LETTER, EDGES = 0.072, 0.3
"""Inches: the width of a letter in a legend's title, and what a legend leaves free to its left and right."""


@contextmanager
def canvas(ax: Any = None, size: tuple[float, float] = SIZE) -> Iterator[Axes]:
    """Axes to draw in. Without any given, a new figure of this size, which a notebook then shows."""
    if ax is not None and not isinstance(ax, Axes):
        raise InvalidParameter(f"ax must be Matplotlib Axes or None, got {ax!r:.60}")
    if ax is None:
        from matplotlib import pyplot  # it picks a backend, which reports do not need

        new = pyplot.figure(figsize=size, layout="constrained")  # before rc_context, which undoes a notebook's settings
    with matplotlib.rc_context(SETTINGS):
        yield new.subplots() if ax is None else ax


def figure(size: tuple[float, float] = SIZE) -> Figure:
    """An empty figure for a file: no notebook and no window knows of it."""
    return Figure(figsize=size, layout="constrained")


def legend(axes: Axes, title: str = "", **options: Any) -> None:
    """A legend where it covers least, with its words to the left. A title that is wider than the axes is wrapped."""
    letters = max(int((axes.bbox.width / axes.figure.dpi - EDGES) / LETTER), 1)
    wrapped = textwrap.fill(title, letters, break_long_words=False)
    axes.legend(**{"title": wrapped or None, "alignment": "left", "loc": "best"} | options)
