"""The arena as one page: who stands where, how far from the best in each problem, and the curves."""

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from armspan._files import write_text
from armspan._json import as_json
from armspan.experiments.arena import Arena, Bout
from armspan.report import figures, page
from armspan.report.labels import plain

MOST_CURVES = 7
"""Policies that a figure can show and keep apart: the best ones, and LinUCB-d."""


def text(arena: Arena) -> str:
    """The standing, for the terminal."""
    width = max(len(row[0]) for row in arena.standing())
    lines = [f"{'policy':<{width}}  regret / best   worst  mean rank  problems"]
    for name, mean, worst, rank, count in arena.standing():
        lines.append(f"{name:<{width}}  {mean:>13.2f}  {worst:>6.1f}  {rank:>9.1f}  {count:>8}")
    return "\n".join(lines)


def summary(arena: Arena) -> dict[str, Any]:
    """The same, and every problem, for machines."""
    standing = [
        {"policy": name, "relative": mean, "worst": worst, "rank": rank, "problems": count}
        for name, mean, worst, rank, count in arena.standing()
    ]
    problems = {
        bout.problem.key: {
            "environment": bout.env.name,
            "horizon": bout.result.horizon,
            "runs": int(bout.result.runs.size),
            "relative": bout.relative(),
        }
        for bout in arena.bouts
    }
    return {"standing": standing, "problems": problems}


def heat_map(arena: Arena) -> Figure:
    """Relative regret of every policy in every problem; darker is further from the best."""
    names, keys, values = arena.table()
    with matplotlib.rc_context(figures.SETTINGS | {"axes.grid": False}):
        figure = Figure(figsize=(2.5 + 0.55 * len(keys), 1.5 + 0.32 * len(names)), layout="constrained")
        axes = figure.subplots()
        shown = np.log10(np.clip(values, 1, 100))
        image = axes.imshow(shown, cmap="cividis_r", vmin=0, vmax=2, aspect="auto")
        for i, j in np.ndindex(values.shape):
            word = (
                "-" if np.isnan(values[i, j]) else f"{values[i, j]:.1f}" if values[i, j] < 10 else f"{values[i, j]:.0f}"
            )
            dark = not np.isnan(values[i, j]) and shown[i, j] > 1
            axes.text(j, i, word, ha="center", va="center", fontsize=7, color="white" if dark else "black")
        axes.set_xticks(range(len(keys)), keys, rotation=45, ha="right")
        axes.set_yticks(range(len(names)), [plain(name) for name in names])
        axes.set_title("Final mean regret, in units of the best policy's in that problem")
        bar = figure.colorbar(image, ax=axes, ticks=[0, 1, 2], shrink=0.8)
        bar.ax.set_yticklabels(["1", "10", "100 or more"])
    return figure


def write(arena: Arena, folder: Path) -> Path:
    """Write the figures and the page; returns the path of arena.html."""
    best = arena.standing()[0]
    lead = f"{len(arena.bouts)} problems, {len(arena.standing())} policies; pseudo-regret at the end of each problem."
    head = ("policy", "regret / best, geometric mean", "worst", "mean rank", "problems")
    rows = [[n, f"{m:.2f}", f"{w:.1f}", f"{r:.1f}", str(c)] for n, m, w, r, c in arena.standing()]
    body = [
        page.paragraph(f"{best[0]} is nearest to the best: {best[1]:.2f} times its regret in the geometric mean."),
        page.table(head, rows),
        page.picture(heat_map(arena), "Regret of every policy in every problem, in units of the best one's."),
    ]
    figures.save(heat_map(arena), folder, "arena")
    for bout in arena.bouts:
        body += _section(bout, folder)
    path = folder / "arena.html"
    write_text(path, page.page("The arena", lead, body))
    write_text(folder / "arena.json", as_json(summary(arena)) + "\n")
    return path


def _section(bout: Bout, folder: Path) -> list[str]:
    result = bout.result
    final = result.mean()[:, -1]
    order = [int(p) for p in np.argsort(final)]
    kept = sorted({*order[: MOST_CURVES - 1], *(p for p, name in enumerate(result.policies) if name == "LinUCB-d")})
    some = result.only([result.policies[p] for p in kept])
    figure = figures.regret_figure(some, bout.problem.key)
    figures.save(figure, folder, f"arena-{bout.problem.key}")
    low, high = result.interval()
    relative = bout.relative()
    rows = []
    for p in order:
        name = result.policies[p]
        interval = f"{low[p, -1]:,.1f} to {high[p, -1]:,.1f}"
        rows.append([name, f"{final[p]:,.1f}", interval, f"{relative[name]:.2f}", result.growth(name).verdict])
    size = f"{result.runs.size} runs of {result.horizon:,} steps."
    head = ("policy", "mean regret", "95 % interval of the mean", "regret / best", "growth")
    caption = f"The {len(kept)} policies with the least regret in “{bout.problem.key}”, and LinUCB-d."
    return [
        page.heading(f"{bout.problem.key}: {bout.env.name}"),
        page.paragraph(f"{bout.problem.words} {size}"),
        page.picture(figure, caption),
        page.table(head, rows),
    ]
