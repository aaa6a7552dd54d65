"""The paper's figures in numbers: every simulation by its key, summary.json, and the runs that are kept."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import armspan
from armspan._files import write_text
from armspan._json import as_json
from armspan.experiments import DialResult, Effort, Idea, Outcome, PanelResult, Predictions, Survey, Tails
from armspan.experiments.predictions import confusion, foreseen
from armspan.report import tables
from armspan.simulation import Result


def results_of(outcomes: Mapping[str, Outcome]) -> dict[str, Result]:
    """Every simulation among the outcomes, by its key."""
    found: dict[str, Result] = {}
    for key, outcome in outcomes.items():
        if isinstance(outcome, PanelResult):
            found[key] = outcome.result
        elif isinstance(outcome, DialResult):
            levels = zip(outcome.levels, outcome.results, strict=True)
            found |= {f"dial-{level:g}": result for level, result in levels}
        elif isinstance(outcome, Idea):
            problems = zip(outcome.words, outcome.results, strict=True)
            found |= {f"idea-{words.replace(' ', '-')}": result for words, result in problems}
    return found


def summary(outcomes: Mapping[str, Outcome], effort: Effort) -> dict[str, Any]:
    """Everything in numbers, for machines."""
    content: dict[str, Any] = {"armspan": armspan.__version__, "settings": vars(effort), "figures": {}}
    for key, outcome in outcomes.items():
        content["figures"][key] = _numbers(outcome)
    return content


def _numbers(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, PanelResult):
        return {
            "title": outcome.panel.title,
            "runs": int(outcome.result.runs.size),
            "steps": int(outcome.result.checkpoints[-1]),
            "policies": [row.as_dict() for row in outcome.result.summary()],
            "findings": [vars(finding) | {"verdict": finding.word} for finding in outcome.findings],
        }
    if isinstance(outcome, Survey):
        return {
            "draws": outcome.n_draws,
            "shares": [vars(share) for share in outcome.shares()],
            "most_diverse": vars(outcome.most_diverse),
            "typical": vars(outcome.typical),
        }
    if isinstance(outcome, Predictions):
        regret, last = foreseen(outcome.entries)
        shares = {"regret_in_interval": regret, "last_exploration_in_interval": None if math.isnan(last) else last}
        problems = [vars(entry) | {"forecast": vars(entry.forecast)} for entry in outcome.entries]
        return {"confusion": confusion(outcome.entries), **shares, "problems": problems}
    if isinstance(outcome, Tails):
        return {"horizon": outcome.horizon, "levels": [tail.as_dict() for tail in outcome.entries]}
    if isinstance(outcome, Idea):
        rows = [result.summary()[0].as_dict() for result in outcome.results]
        return dict(zip(outcome.words, rows, strict=True))
    return {
        "levels": list(outcome.levels),
        "lambda_0": list(outcome.lambda_0),
        "policies": [result.summary()[0].as_dict() for result in outcome.results],
    }


def keep(key: str, outcome: Outcome, folder: Path) -> None:
    """Save the runs of one outcome as soon as they are there, so that nothing that comes later can lose them."""
    (folder / "results").mkdir(parents=True, exist_ok=True)
    for name, result in results_of({key: outcome}).items():
        result.save(folder / "results" / f"{name}.npz")


def write_numbers(outcomes: Mapping[str, Outcome], effort: Effort, folder: Path) -> None:
    """Write curves.csv and summary.json."""
    tables.write_curves(results_of(outcomes), folder / "curves.csv")
    write_text(folder / "summary.json", as_json(summary(outcomes, effort)) + "\n")
