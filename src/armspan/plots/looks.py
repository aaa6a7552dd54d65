"""How lines look: colours for every eye, and a style and a marker each, so that they differ without colour, too."""

from collections.abc import Sequence
from typing import Any, NamedTuple

COLOURS = ("#0072B2", "#E69F00", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
"""Okabe and Ito's palette. It is for lines and areas; words are dark, because some of these are pale on white."""
STYLES = ("-", (0, (4, 2)), "-.", (0, (1, 1)), (0, (5, 1, 1, 1)), "--", (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK = "0.15"
"""The colour of words."""
_OWN = {"LinUCB-d": 0, "LinUCB": 1, "greedy": 2, "UCB per context": 3}
"""The paper's four policies look the same in every figure."""

SETTINGS: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "svg.hashsalt": "armspan",  # the same figure gives the same file
}


class Look(NamedTuple):
    """Colour, line style and marker of one line."""

    colour: str
    style: Any
    marker: str


def look(number: int) -> Look:
    """The look of line 0, 1, …; the first 49 all differ in colour or style."""
    turn, place = divmod(number, len(COLOURS))
    return Look(COLOURS[place], STYLES[(place + turn) % len(STYLES)], MARKERS[(place + turn) % len(MARKERS)])


def looks(names: Sequence[str]) -> list[Look]:
    """The look of each policy: the paper's four have their own, others take what is left."""
    taken = {_OWN[name] for name in names if name in _OWN}
    free = (number for number in range(len(names) + len(_OWN)) if number not in taken)
    return [look(_OWN[name]) if name in _OWN else look(next(free)) for name in names]
