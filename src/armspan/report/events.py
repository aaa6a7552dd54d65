"""Why it happened: the page on one watched experiment, and its figures."""

import contextlib
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armspan import theory
from armspan._files import write_text
from armspan.diversity import audit, problem_numbers, regret_bound
from armspan.environments import Environment
from armspan.errors import NotApplicable
from armspan.events.events import Events
from armspan.plots import canvas, curves, proof
from armspan.plots.labels import plain
from armspan.plots.looks import COLOURS, SETTINGS, look
from armspan.report import alts, page
from armspan.report.figures import save
from armspan.report.numbers.events import event_table
from armspan.simulation import Result

CAPTION = (
    "Above: mean pseudo-regret (shaded ± 2 sd), the same by event and frame, and the share of runs in which "
    "exploration was over. Below: how well each arm is known in its weakest direction, how often it was pulled in the "
    "rarest context of its basis (both grow in proportion to t where contexts are diverse), and how often an estimate "
    "missed."
)
THIN: Any = ((0, (6, 3)), (0, (1, 2)), (0, (6, 2, 1, 2)))
"""Styles of the lines that theory draws."""


def write(name: str, env: Environment, result: Result, folder: Path) -> Path:
    """The page on a watched experiment; returns its path."""
    body = [page.paragraph(line) for line in _what_theory_says(env)]
    drawn: dict[str, Figure] = {}
    for number, (policy, events) in enumerate(result.events.items(), 1):
        figure = drawn[f"events-{number}"] = events_figure(env, result, policy)
        body += [
            page.heading(policy),
            page.picture(figure, CAPTION, alts.events(result, policy)),
            page.table(*event_table(events)),
            page.paragraph(_when(events, result.horizon)),
        ]
    if result.checkpoints[-1] >= 2:
        bounds = drawn["bounds"] = bounds_figure(env, result)
        caption = "Mean pseudo-regret of each watched policy, and what theory says, on log scales."
        body += [page.heading("Beside the bounds"), page.picture(bounds, caption, alts.bounds(env, result))]
    lead = f"{result.runs.size} runs of {result.horizon:,} steps, split as the paper's proof splits them."
    for title, figure in drawn.items():  # now that all of them could be drawn
        save(figure, folder, title)
    path = folder / "events.html"
    write_text(path, page.page(f"Why it happened: {name}", lead, body))
    return path


def events_figure(env: Environment, result: Result, policy: str) -> Figure:
    """Six pictures of one policy: regret, its events, λ_min(V) and pulls, misses, and when exploration ended."""
    events, t = result.events[policy], result.checkpoints
    with matplotlib.rc_context(SETTINGS):
        figure = canvas.figure((11.5, 7))
        (curve, split, last), (knowledge, pulls, misses) = figure.subplots(2, 3)
        _regret(curve, result, policy)
        proof.by_event(split, events.regret.mean(axis=0))
        canvas.legend(split, fontsize=8)
        proof.exploration_over(last, events.last_suboptimal, result.horizon)
        proof.by_arm(knowledge, t, events.eigenvalues.mean(axis=0), "λ_min(V)")
        knowledge.set_title("knowledge of the weakest direction")
        proof.by_arm(pulls, t, events.basis_pulls.mean(axis=0), "pulls")
        pulls.set_title("pulls in the rarest context of its basis")
        for axes in (knowledge, pulls):
            if axes.lines:
                canvas.legend(axes)
            else:
                axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center")
        _misses(misses, events, env.n_arms, result.horizon)
        for axes in figure.axes:
            axes.minorticks_off()  # in panels this small they are a blur, and take a third of the time
        figure.suptitle(plain(f"{policy} in {env.name}, {result.runs.size} runs"))
    return figure


def _misses(axes: Axes, events: Events, n_arms: int, horizon: int) -> None:
    """The share of estimates that were off by more than α_t σ̂, frame by frame, against 1/f(t)."""
    frames = np.arange(events.misses.shape[1])
    lengths = np.minimum(2.0 ** (frames + 1) - 1, horizon) - 2.0**frames + 1
    shares = events.misses.mean(axis=0) / (lengths * n_arms)
    axes.plot(2**frames, 1 / theory.f(2**frames), color="0.5", label="1/f(t), what the proof allows")
    axes.plot(2 ** frames[shares > 0], shares[shares > 0], "o", color=COLOURS[2], label="measured")
    axes.set(xscale="log", yscale="log", xlabel="step t (log scale)", ylabel="share of estimates (log scale)")
    axes.set_title("estimates off by more than their width" if (shares > 0).any() else "no estimate was off")
    axes.legend()


def bounds_figure(env: Environment, result: Result) -> Figure:
    """Measured regret, the theorem's constant where it applies, and the classical bounds, on one pair of log scales."""
    t, problem = result.checkpoints[result.checkpoints >= 2], problem_numbers(env)
    with matplotlib.rc_context(SETTINGS):
        figure = canvas.figure()
        axes = figure.subplots()
        for number, policy in enumerate(result.events):
            mean, own = result.curves(policy).mean(axis=0)[result.checkpoints >= 2], look(number)
            label = plain(f"{policy}, measured")
            axes.plot(t, mean, color=own.colour, linestyle=own.style, linewidth=2, label=label)
        shapes = {"LinUCB, O(d√T) with constants": theory.linucb_bound(t, problem)}
        shapes["SupLinUCB, shape √(dT log³)"] = theory.suplinucb_shape(t, problem)
        if problem.gap > 0:
            shapes["a dominated arm, shape log T/Δ"] = theory.dominated_arm_shape(t, problem)
        for style, (words, values) in zip(THIN, shapes.items(), strict=False):
            axes.plot(t, values, color="0.5", linewidth=1, linestyle=style, label=words)
        with contextlib.suppress(NotApplicable):
            if np.isfinite(constant := regret_bound(env).total):
                axes.axhline(constant, color="black", linewidth=1, label="the paper's constant")
        axes.set(xscale="log", yscale="log", xlabel="step T (log scale)", ylabel="pseudo-regret (log scale)")
        axes.legend(fontsize=8)
    return figure


def _regret(axes: Axes, result: Result, policy: str) -> None:
    own = result.only([policy])
    mean, sd = own.mean(), own.sd()
    curves.draw(axes, curves.Curves([policy], result.checkpoints, mean, mean - 2 * sd, mean + 2 * sd))
    axes.set(xscale="log", ylim=(0, None), xlabel="step T (log scale)", ylabel="pseudo-regret")
    axes.set_title(f"regret: {result.growth(policy).verdict}")


def _when(events: Events, horizon: int) -> str:
    last = events.last_suboptimal
    low, middle, high = (int(value) for value in np.quantile(last, [0.05, 0.5, 0.95], method="nearest"))
    over = (
        f"In half of the runs no suboptimal arm was pulled after step {middle:,} (5 % and 95 %: {low:,} and {high:,})."
    )
    return over if middle < 0.9 * horizon else f"Exploration was not over. {over}"


def _what_theory_says(env: Environment) -> list[str]:
    lines = [str(verdict) for verdict in audit(env).verdicts]
    try:
        bound = regret_bound(env)
        if np.isinf(bound.total):
            return [*lines, "The theorem's own constant is finite, but beyond 1e308; measured is far less."]
        constant, end = f"{bound.total:,.0f}", f"{bound.last_exploration:,.0f}"
        lines.append(
            f"The theorem's own constant is {constant}, with exploration over by step {end}; measured is far less."
        )
    except NotApplicable as refusal:
        lines.append(f"No bound: {refusal}")
    return lines
