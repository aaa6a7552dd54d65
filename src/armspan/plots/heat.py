"""Tables of numbers as coloured squares."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from armspan._typing import FloatArray
from armspan.plots.labels import plain

MOST_TICKS = 24
"""Columns that are named; of more, some are."""
DARK = 0.18
"""The luminance below which white words are easier to read than black ones."""


def ratios(axes: Axes, rows: Sequence[str], columns: Sequence[str], values: FloatArray, words: str) -> None:
    """Ratios of 1 or more (n, m), darker where larger, with their numbers; nan stays empty, and 1 is in bold.

    words : what the ratios are of.
    """
    shown = np.log10(np.clip(values, 1, 100))
    image = axes.imshow(shown, cmap="cividis_r", vmin=0, vmax=2, aspect="auto")
    for i, j in np.ndindex(values.shape):
        if not np.isnan(values[i, j]):
            colour = "white" if _luminance(image.to_rgba(shown[i, j])) < DARK else "black"
            weight = "bold" if values[i, j] == 1 else "normal"
            axes.text(
                j, i, cell(float(values[i, j])), ha="center", va="center", fontsize=8, color=colour, weight=weight
            )
    axes.set_xticks(range(len(columns)), [plain(name) for name in columns])
    axes.tick_params("x", rotation=45, top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    for label in axes.get_xticklabels():
        label.set(ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), [plain(name) for name in rows])
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(visible=False)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="minor", length=0, top=False)
    axes.spines[:].set_visible(False)
    bar = axes.figure.colorbar(
        image, ax=axes, ticks=list(np.log10([1, 3, 10, 30, 100])), location="bottom", shrink=0.6, aspect=40, pad=0.01
    )
    bar.ax.set_xticklabels(["1", "3", "10", "30", "100+"])
    bar.set_label(words)


def _luminance(colour: Any) -> float:
    """How bright a colour is, from 0 to 1, as the web's guidelines on contrast define it."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3])
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


def size(rows: int, columns: int) -> tuple[float, float]:
    """Inches for a table of ratios."""
    return max(3.4 + 0.52 * columns, 6.0), 1.8 + 0.3 * rows


def cell(value: float) -> str:
    """A ratio in few letters."""
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}" if value < 999.5 else f"{value / 1000:.0f}k"


def shares(axes: Axes, columns: Sequence[object], values: FloatArray, words: str) -> None:
    """Shares from 0 to 1 (n, m), darker where larger; a row of nan stays empty. words : what they are shares of."""
    image = axes.imshow(values, aspect="auto", cmap="Blues", vmin=0, vmax=1)
    m = len(columns)
    named = np.unique(np.linspace(0, m - 1, min(m, MOST_TICKS)).astype(int))
    long = max(len(str(columns[j])) for j in named) > 2
    axes.set_xticks(named, [plain(columns[j]) for j in named], rotation=90 if long else 0, fontsize=8)
    axes.grid(visible=False)
    axes.figure.colorbar(image, ax=axes, label=words, shrink=0.9)
