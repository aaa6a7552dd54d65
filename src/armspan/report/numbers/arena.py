"""The arena in numbers: the standing for the terminal, and everything for machines."""

import math
from pathlib import Path
from typing import Any

from armspan._files import write_text
from armspan._json import as_json
from armspan._text import table
from armspan.experiments.standing import Arena, Bout, Place, Ratio
from armspan.report import peers
from armspan.report.arena_words import Choice, choice


def text(arena: Arena) -> str:
    """The standing, for the terminal."""
    head = ("policy", "regret / best (95 %)", "worst", "where", "mean rank", "best in", "µs per step")
    rows = [
        (
            place.policy,
            str(place.relative),
            number(place.worst),
            place.worst_in,
            f"{place.rank:.1f}",
            f"{place.best_in} of {place.problems}",
            time(place),
        )
        for place in arena.standing
    ]
    return "\n".join(table(head, rows, words=(0, 3)))


def summary(arena: Arena, found: peers.Peers | None = None) -> dict[str, Any]:
    """The same, and every problem, for machines."""
    choices = {bout.problem.key: choice(bout) for bout in arena.bouts}
    return {
        "standing": [
            place._asdict() | {"relative": _ratio(place.relative), "growth": dict(place.growth)}
            for place in arena.standing
        ],
        "problems": {bout.problem.key: _problem(bout, choices[bout.problem.key]) for bout in arena.bouts},
        "peers": None if found is None else peers.summary(found),
    }


def _problem(bout: Bout, found: Choice | None) -> dict[str, Any]:
    return {
        "environment": bout.env.name,
        "horizon": bout.result.horizon,
        "runs": int(bout.result.runs.size),
        "relative": {name: _ratio(bout.relative[name]) for name in bout.order},
        "growth": bout.growth,
        "linucb_d": None if found is None else found._asdict(),
    }


def _ratio(ratio: Ratio) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in ratio._asdict().items()}


def write_numbers(arena: Arena, folder: Path, found: peers.Peers | None = None) -> None:
    """Write arena.json."""
    write_text(folder / "arena.json", as_json(summary(arena, found)) + "\n")


def number(value: float) -> str:
    """A ratio: one digit after the point, where that says something."""
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def time(place: Place) -> str:
    """Microseconds per step, or a dash."""
    return "-" if place.microseconds is None else f"{float(f'{place.microseconds:.2g}'):g}"
