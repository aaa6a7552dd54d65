"""The arena in figures: how far every policy is from the best of each problem, and the curves of a problem."""

import matplotlib
from matplotlib.figure import Figure

from armspan.experiments.standing import Arena, Bout
from armspan.plots import canvas, curves, heat
from armspan.plots.ends import name_ends
from armspan.plots.labels import plain
from armspan.plots.looks import SETTINGS, looks

MOST_CURVES = 7
"""Policies that a figure can show and keep apart: the best ones, and LinUCB-d."""
OWN = "LinUCB-d"


def heat_map(arena: Arena) -> Figure:
    """Relative regret of every policy in every problem; darker is further from the best."""
    with matplotlib.rc_context(SETTINGS):
        figure = canvas.figure(heat.size(len(arena.standing), len(arena.bouts)))
        arena.plot(ax=figure.subplots())
    return figure


def shown(bout: Bout) -> tuple[str, ...]:
    """Whose curves are drawn: the best ones', and LinUCB-d's."""
    first = bout.order[: MOST_CURVES - 1]
    return first if OWN in first or OWN not in bout.order else (*first, OWN)


def problem_figure(bout: Bout) -> Figure:
    """Mean pseudo-regret of the best policies and LinUCB-d against T, with names at the curves' ends."""
    result = bout.result.only(shown(bout))
    with matplotlib.rc_context(SETTINGS):
        figure = canvas.figure()
        axes, own = figure.subplots(), looks(result.policies)
        lines = curves.Curves(result.policies, result.checkpoints, result.mean(), *result.interval())
        curves.draw(axes, lines, own, linewidth=1.8)
        curves.scales(axes, lines, None)
        axes.set_title(plain(bout.problem.title), loc="left")  # labels to the right make room for long ones
        name_ends(axes, result.policies, lines.middle[:, -1], own, bold=OWN)
    return figure
