"""The events of a watched run in numbers: steps and regret of each."""

from pathlib import Path
from typing import Any

from armspan._files import write_text
from armspan._json import as_json
from armspan.events.events import NAMES, Events
from armspan.simulation import Result

EVENT_WORDS = (
    "𝒜 a needed context came too rarely",
    "ℬ an estimate missed its width",
    "𝒞 after a frame with many misses",
    "𝒟 widths still above the gap",
)


def event_table(events: Events) -> tuple[list[str], list[list[str]]]:
    """Head and rows: steps and regret of each event, mean over the runs."""
    steps, regret = events.steps.sum(axis=1).mean(axis=0), events.regret.sum(axis=1).mean(axis=0)
    rows = [
        [words, f"{steps[i]:,.1f}", f"{regret[i]:,.1f}", f"{regret[i] / max(regret.sum(), 1e-300):.1%}"]
        for i, words in enumerate(EVENT_WORDS)
    ]
    return ["event", "steps", "regret", "share of the regret"], rows


def summary(result: Result) -> dict[str, Any]:
    """The same for machines, by policies."""
    return {name: _numbers(events) for name, events in result.events.items()}


def _numbers(events: Events) -> dict[str, Any]:
    steps, regret = events.steps.sum(axis=1).mean(axis=0), events.regret.sum(axis=1).mean(axis=0)
    return {
        "steps": dict(zip(NAMES, steps.tolist(), strict=True)),
        "regret": dict(zip(NAMES, regret.tolist(), strict=True)),
        "last_suboptimal": events.last_suboptimal.tolist(),
        "misses": events.misses.mean(axis=0).tolist(),
    }


def write_numbers(result: Result, folder: Path) -> None:
    """Write events.json."""
    write_text(folder / "events.json", as_json(summary(result)) + "\n")
