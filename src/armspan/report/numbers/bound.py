"""A problem's diversity, the paper's bound and the forecast: as a table, and for machines."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armspan._files import write_text
from armspan._json import as_json
from armspan.diversity import DiversityReport
from armspan.experiments.forecast import Forecast
from armspan.theory import Bound

TERMS = {
    "irregular": "𝒜 contexts that come too rarely",
    "bad_estimates": "ℬ estimates off by more than their width",
    "bad_frames": "𝒞 frames with too many of those",
    "suboptimal": "𝒟 widths that still exceed the gap",
}


@dataclass(frozen=True)
class Bounded:
    """What is known of a problem without running it: the audit, the bound or why there is none, and the forecast."""

    name: str
    report: DiversityReport
    bound: Bound | None
    refusal: str
    forecast: Forecast
    horizon: int


def bound_table(bound: Bound) -> tuple[list[str], list[list[str]]]:
    """Head and rows: the terms of the bound, and their sum."""
    rows = [[text, _large(getattr(bound, name))] for name, text in TERMS.items()]
    return ["part of the proof", "regret at most"], [*rows, ["total", _large(bound.total)]]


def words_on_bound(bound: Bound) -> str:
    """What to make of the bound."""
    words = "The proof gives this constant; measured regret is far smaller."
    if math.isinf(bound.total):
        return (
            "The total is finite, but too large to write down: it has the factor exp(12l²s²/(2 + d)), the step from "
            f"which α_t exceeds l·s. {words}"
        )
    return words


def words_on_forecast(found: Bounded) -> str:
    """The forecast in a sentence."""
    (low, high), (early, late) = found.forecast.regret_interval, found.forecast.last_interval
    over = {"yes": f"will be over between steps {early:,.0f} and {late:,.0f}", "no": "will not be over by then"}
    exploration = over.get(found.forecast.over, "may not be over by then")
    return f"Regret from {low:,.3g} to {high:,.3g}; exploration {exploration}."


def summary(found: Bounded) -> dict[str, Any]:
    """Everything for machines."""
    report, bound = found.report, found.bound
    return {
        "environment": report.environment,
        "lambda_0": report.lambda_0,
        "lambda_0_upper": _finite(report.lambda_0_upper),
        "gap": report.gap,
        "delta": _finite(report.delta),
        "p": report.p,
        "p_interval": list(report.p_interval),
        "shared_spread": report.shared_spread,
        "shared_spread_interval": list(report.shared_spread_interval),
        "optimal_rank": report.optimal_rank,
        "one_theta": report.one_theta,
        "exact": report.exact,
        "arms": [
            {
                "arm": row.arm,
                "probability": row.probability,
                "second_moment": row.second_moment,
                "basis_eigenvalue": row.basis.eigenvalue,
                "basis": row.basis_features.tolist(),
                "weakest_direction": row.weakest_direction.tolist(),
                "words": row.words,
            }
            for row in report.arms
        ],
        "verdicts": [vars(verdict) for verdict in report.verdicts],
        "bound": None
        if bound is None
        else {name: _finite(getattr(bound, name)) for name in (*TERMS, "total", "last_exploration")},
        "refusal": found.refusal or None,
        "forecast": vars(found.forecast) | {"horizon": found.horizon},
    }


def write_numbers(found: Bounded, folder: Path) -> None:
    """Write bound.json."""
    write_text(folder / "bound.json", as_json(summary(found)) + "\n")


def _large(value: float) -> str:
    return f"{value:,.6g}" if math.isfinite(value) else "beyond 1e308"


def _finite(value: float) -> float | None:
    """JSON knows no infinity."""
    return value if math.isfinite(value) else None
