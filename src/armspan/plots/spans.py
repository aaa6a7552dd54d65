"""Features of the contexts in which each arm is best, as arrows in the plane, and what they span."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from armspan._typing import FloatArray
from armspan.plots.labels import plain
from armspan.plots.looks import look

MOST_ARROWS, MOST_POINTS = 30, 1000
"""Of more contexts than these, only points are drawn, and of still more only the first ones."""


def spans(axes: Axes, names: Sequence[object], features: Sequence[FloatArray], bases: Sequence[FloatArray]) -> None:
    """Arrows from 0 to the features (m, 2) of each arm, and the area of its basis (2, 2), or (0, 2) without one.

    The larger the area for its sides, the better the contexts span. Both axes have the same scale.
    """
    for number, (name, X, basis) in enumerate(zip(names, features, bases, strict=True)):
        own = look(number)
        if len(basis):
            corners = np.array([(0, 0), basis[0], basis[0] + basis[1], basis[1]])
            axes.fill(*corners.T, color=own.colour, alpha=0.15, label="_")
        for x in X if len(X) <= MOST_ARROWS else ():
            arrow = {"arrowstyle": "-|>", "color": own.colour, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", xy=(x[0], x[1]), xytext=(0, 0), arrowprops=arrow)
        points = X[:MOST_POINTS]
        axes.plot(*points.T, own.marker, color=own.colour, markersize=5, label=plain(f"arm {name}"))
    axes.plot(0, 0, ".", color="black", label="_")
    axes.set_aspect("equal", adjustable="datalim")
