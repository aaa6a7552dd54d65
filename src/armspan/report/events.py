"""Why it happened: the page on one watched experiment, and the figure that shows the idea in three problems."""

import contextlib
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armspan import theory
from armspan._files import write_text
from armspan.diversity import audit, problem_numbers, regret_bound
from armspan.environments import Environment
from armspan.environments.table import TableEnvironment
from armspan.errors import NotApplicable
from armspan.events.events import Events
from armspan.experiments.idea import Idea
from armspan.report import page
from armspan.report.figures import COLOURS, SETTINGS, STYLES, save
from armspan.report.labels import plain
from armspan.simulation import Result

CAPTION = (
    "Above: mean pseudo-regret (shaded ± 2 sd), the same by event and frame, and the share of runs in which "
    "exploration was over. Below: how well each arm is known in its weakest direction, how often it was pulled in the "
    "rarest context of its basis (both grow in proportion to t where contexts are diverse), and how often an estimate "
    "missed."
)
EVENT_WORDS = (
    "𝒜 a needed context came too rarely",
    "ℬ an estimate missed its width",
    "𝒞 after a frame with many misses",
    "𝒟 widths still above the gap",
)


def write(name: str, env: Environment, result: Result, folder: Path) -> Path:
    """The page on a watched experiment; returns its path."""
    body = [page.paragraph(line) for line in _what_theory_says(env)]
    drawn: dict[str, Figure] = {}
    for number, (policy, events) in enumerate(result.events.items(), 1):
        figure = drawn[f"events-{number}"] = events_figure(env, result, policy)
        body += [
            page.heading(policy),
            page.picture(figure, CAPTION),
            page.table(*event_table(events)),
            page.paragraph(_when(events, result.horizon)),
        ]
    if result.checkpoints[-1] >= 2:
        bounds = drawn["bounds"] = bounds_figure(env, result)
        caption = "Mean pseudo-regret of each watched policy, and what theory says, on log scales."
        body += [page.heading("Beside the bounds"), page.picture(bounds, caption)]
    lead = f"{result.runs.size} runs of {result.horizon:,} steps, split as the paper's proof splits them."
    for title, figure in drawn.items():  # now that all of them could be drawn
        save(figure, folder, title)
    path = folder / "events.html"
    write_text(path, page.page(f"Why it happened: {name}", lead, body))
    return path


def event_table(events: Events) -> tuple[list[str], list[list[str]]]:
    """Head and rows: steps and regret of each event, mean over the runs."""
    steps, regret = events.steps.sum(axis=1).mean(axis=0), events.regret.sum(axis=1).mean(axis=0)
    rows = [
        [words, f"{steps[i]:,.1f}", f"{regret[i]:,.1f}", f"{regret[i] / max(regret.sum(), 1e-300):.1%}"]
        for i, words in enumerate(EVENT_WORDS)
    ]
    return ["event", "steps", "regret", "share of the regret"], rows


def events_figure(env: Environment, result: Result, policy: str) -> Figure:
    """Six pictures of one policy: regret, its events, λ_min(V) and pulls, misses, and when exploration ended."""
    events = result.events[policy]
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(11.5, 7), layout="constrained")
        (curve, split, last), (knowledge, pulls, misses) = figure.subplots(2, 3)
        _regret(curve, result, policy)
        _split(split, events)
        ends = np.sort(events.last_suboptimal)
        last.step(np.maximum(ends, 1), np.arange(1, ends.size + 1) / ends.size, where="post", color=COLOURS[0])
        last.set(xscale="log", xlim=(0.9, 1.1 * result.horizon), ylim=(0, 1.02), xlabel="step (log scale)")
        last.set(ylabel="share of runs", title="last pull of a suboptimal arm")
        eigenvalue_axes(knowledge, result, events)
        _pulls(pulls, result, events)
        _misses(misses, events, env.n_arms, result.horizon)
        figure.suptitle(plain(f"{policy} in {env.name}, {result.runs.size} runs"))
    return figure


def _split(axes: Axes, events: Events) -> None:
    frames, bottom = np.arange(events.regret.shape[1]), np.zeros(events.regret.shape[1])
    for i in range(4):
        height = events.regret[:, :, i].mean(axis=0)
        axes.bar(frames, height, bottom=bottom, color=COLOURS[(5, 2, 4, 0)[i]], label="ABCD"[i], width=0.9)
        bottom += height
    axes.set(xlabel="frame k (steps 2^k to 2^(k+1) - 1)", ylabel="mean pseudo-regret", title="regret by event")
    axes.legend(title="event")


def _pulls(axes: Axes, result: Result, events: Events) -> None:
    """N_t(a, c) of the least pulled context of each arm's basis, where it has one."""
    for a in range(events.basis_pulls.shape[2]):
        if events.basis_pulls[0, 0, a] >= 0:
            look, pulls = a % len(COLOURS), events.basis_pulls[:, :, a].mean(axis=0)
            shown = pulls > 0
            axes.plot(
                result.checkpoints[shown], pulls[shown], color=COLOURS[look], linestyle=STYLES[look], label=f"arm {a}"
            )
    axes.set_title("pulls in the rarest context of its basis")
    axes.set(xlabel="step t (log scale)", ylabel="pulls (log scale)")
    if any(len(line.get_path()) for line in axes.lines):
        axes.set(xscale="log", yscale="log")
        axes.legend()
    else:
        axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center")


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
        figure = Figure(figsize=(7.2, 4.6), layout="constrained")
        axes = figure.subplots()
        for look, policy in enumerate(result.events):
            mean = result.curves(policy).mean(axis=0)[result.checkpoints >= 2]
            label = plain(f"{policy}, measured")
            axes.plot(t, mean, color=COLOURS[look % 6], linestyle=STYLES[look % 6], linewidth=2, label=label)
        shapes = {"LinUCB, O(d√T) with constants": theory.linucb_bound(t, problem)}
        shapes["SupLinUCB, shape √(dT log³)"] = theory.suplinucb_shape(t, problem)
        if problem.gap > 0:
            shapes["a dominated arm, shape log T/Δ"] = theory.dominated_arm_shape(t, problem)
        for words, values in shapes.items():
            axes.plot(t, values, color="0.5", linewidth=1, linestyle=STYLES[1 + len(axes.lines) % 4], label=words)
        with contextlib.suppress(NotApplicable):
            if np.isfinite(constant := regret_bound(env).total):
                axes.axhline(constant, color="black", linewidth=1, label="the paper's constant")
        axes.set(xscale="log", yscale="log", xlabel="step T (log scale)", ylabel="pseudo-regret (log scale)")
        axes.legend(fontsize=8)
    return figure


def eigenvalue_axes(axes: Axes, result: Result, events: Events) -> None:
    """λ_min(V_t(a)) of each arm against t, mean over the runs, both on log scales."""
    for a in range(events.eigenvalues.shape[2]):
        values = events.eigenvalues[:, :, a].mean(axis=0)
        look = a % len(COLOURS)
        axes.plot(result.checkpoints, values, color=COLOURS[look], linestyle=STYLES[look], label=f"arm {a}")
    axes.set(xscale="log", yscale="log", xlabel="step t (log scale)", ylabel="λ_min(V) (log scale)")
    axes.set_title("knowledge of the weakest direction")
    axes.legend()


def idea_figure(idea: Idea) -> Figure:
    """One column a problem: the features in which each arm is best, λ_min growth, regret with its verdict."""
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(11, 9.5), layout="constrained")
        grid = figure.subplots(3, 3, squeeze=False)
        top = max(result.curves("LinUCB-d")[:, -1].mean() for result in idea.results) * 1.35
        for column, (words, env, result) in enumerate(zip(idea.words, idea.envs, idea.results, strict=True)):
            _geometry(grid[0][column], env, f"{words}\nλ₀ = {env.lambda_0():.3g}")
            eigenvalue_axes(grid[1][column], result, result.events["LinUCB-d"])
            grid[1][column].set_ylim(0.5, None)
            _regret(grid[2][column], result, "LinUCB-d")
            grid[2][column].set(xlim=(10, result.horizon), ylim=(0, top))
        figure.supxlabel(f"LinUCB-d, {idea.results[0].runs.size} runs; bottom row: mean, shaded ± 2 sd")
        for row in grid[1:]:
            limits = max(axes.get_ylim()[1] for axes in row)
            for axes in row:
                axes.set_ylim(top=limits)
    return figure


def _geometry(axes: Axes, env: TableEnvironment, title: str) -> None:
    """Features of the contexts in which each arm is best, as arrows, and the space that they span, shaded."""
    for a in range(env.n_arms):
        X, colour = env.optimal_features(a), COLOURS[a]
        axes.fill(*zip((0, 0), X[0], X[0] + X[1], X[1], strict=True), color=colour, alpha=0.15)
        for i, x in enumerate(X):
            arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2}
            axes.annotate("", xy=(x[0], x[1]), xytext=(0, 0), arrowprops=arrow)
            axes.plot(*x, "o", color=colour, markersize=4, label=f"arm {a} is best" if i == 0 else None)
    axes.set(xlim=(-0.6, 1.7), ylim=(-0.7, 1.6), aspect="equal", xlabel="feature 0", ylabel="feature 1", title=title)
    axes.legend(loc="lower left")


def _regret(axes: Axes, result: Result, policy: str) -> None:
    curves = result.curves(policy)
    mean, sd = curves.mean(axis=0), curves.std(axis=0)
    axes.plot(result.checkpoints, mean, color=COLOURS[0], linewidth=2)
    axes.fill_between(result.checkpoints, mean - 2 * sd, mean + 2 * sd, color=COLOURS[0], alpha=0.15, linewidth=0)
    axes.set(xscale="log", ylim=(0, None), xlabel="step T (log scale)", ylabel="pseudo-regret")
    axes.set_title(f"regret: {result.growth(policy).verdict}")


def _when(events: Events, horizon: int) -> str:
    last = events.last_suboptimal
    low, middle, high = (int(value) for value in np.quantile(last, [0.05, 0.5, 0.95], method="nearest"))
    over = (
        f"In half of the runs no suboptimal arm was pulled after step {middle:,} (5 % and 95 %: {low:,} and {high:,})."
    )
    return over if middle < 0.9 * horizon else f"Exploration was not over: {over}"


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
