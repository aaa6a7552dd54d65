"""The figure that shows the idea: three problems, what their contexts span, what is learnt for free, what is lost."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from armspan._typing import FloatArray
from armspan.environments.table import TableEnvironment
from armspan.experiments.idea import Idea
from armspan.plots import canvas, curves
from armspan.plots.looks import INK, SETTINGS, Look, look
from armspan.plots.spans import spans
from armspan.simulation import Result

POLICY = "LinUCB-d"
ROWS = {
    "The contexts in which each arm is best, and what they span": 1.2,
    "What is known of each arm in its weakest direction": 0.85,
    "What is lost": 0.85,
}
"""Titles of the rows, and how high they are."""


def idea_figure(idea: Idea) -> Figure:
    """One column per problem, one row per thing to see; all columns have the same scales, and one legend names arms."""
    n, horizon, runs = len(idea.words), idea.results[0].horizon, idea.results[0].runs.size
    with matplotlib.rc_context(SETTINGS):
        figure = canvas.figure((9.6, 9.0))
        parts: Any = figure.subfigures(len(ROWS) + 1, 1, height_ratios=[*ROWS.values(), 0.16], hspace=0.04)
        grid = []
        for part, title in zip(parts[:-1], ROWS, strict=True):
            part.suptitle(title, x=0.01, ha="left", weight="bold")
            grid.append(part.subplots(1, n, sharex=True, sharey=True, squeeze=False)[0])
        for column, (words, env, result) in enumerate(zip(idea.words, idea.envs, idea.results, strict=True)):
            contexts, knowledge, regret = (row[column] for row in grid)
            contexts.set_title(f"{words}, λ₀ = {env.lambda_0():.3g}")
            _contexts(contexts, env)
            _knowledge(knowledge, result)
            _regret(regret, result)
        tops = [float((result.mean() + 2 * np.nan_to_num(result.sd()))[0].max()) for result in idea.results]
        grid[2][0].set(ylim=(0, 1.05 * max(*tops, 1e-9)))
        for row, words in zip(grid, ("feature 1", "λ_min(V) (log scale)", "pseudo-regret"), strict=True):
            row[0].set_ylabel(words)
        known = [result.events[POLICY].eigenvalues for result in idea.results]
        grid[1][0].set_yticks(_powers(min(map(np.min, known)), max(map(np.max, known))))
        for row in grid[1:]:
            row[0].set(xscale="log", xlim=(1, horizon), xticks=_powers(1, horizon))
            for axes in row:
                axes.set_xlabel("step (log scale)")
                axes.minorticks_off()
        arms = [(arm, look(arm)) for arm in range(idea.envs[0].n_arms)]
        handles = [Line2D([], [], color=own.colour, linestyle=own.style, marker=own.marker) for _, own in arms]
        title = f"{POLICY}, mean of {runs} runs; shaded: ± 2 sd" if runs > 1 else f"{POLICY}, one run"
        parts[-1].legend(handles, [f"arm {arm}" for arm, _ in arms], loc="center", ncols=len(arms), title=title)
    return figure


def _contexts(axes: Axes, env: TableEnvironment) -> None:
    arms = range(env.n_arms)
    features = [env.optimal_features(arm) for arm in arms]
    spans(axes, list(arms), features, [X[:2] for X in features])
    axes.set_aspect("equal", adjustable="box")
    axes.set(xlim=(-0.2, 1.8), ylim=(-0.3, 1.7), xticks=(0, 1), yticks=(0, 1), xlabel="feature 0")


def _knowledge(axes: Axes, result: Result) -> None:
    values = result.events[POLICY].eigenvalues
    for arm in range(values.shape[2]):
        own, mean = look(arm), values[:, :, arm].mean(axis=0)
        axes.plot(result.checkpoints, mean, color=own.colour, linestyle=own.style, linewidth=2)
    axes.set_yscale("log")


def _powers(low: float, high: float) -> FloatArray:
    """Every second power of ten between two numbers."""
    return np.asarray(10.0 ** np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1, 2))


def _regret(axes: Axes, result: Result) -> None:
    mean, sd = result.mean()[:1], result.sd()[:1]
    lines = curves.Curves([POLICY], result.checkpoints, mean, mean - 2 * sd, mean + 2 * sd)
    curves.draw(axes, lines, [Look(INK, "-", "o")])
    axes.set_title(f"{result.growth(POLICY).verdict}, {mean[0, -1]:,.0f} in the end")
