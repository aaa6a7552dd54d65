"""armspan bound: how diverse the contexts of a described problem are, and what the paper's theorems promise for it."""

import argparse
import math
from typing import Any

from armspan._json import as_json
from armspan.cli.common import add_command, add_spec
from armspan.diversity import DiversityReport, audit, regret_bound
from armspan.errors import NotApplicable
from armspan.experiments.forecast import forecast
from armspan.experiments.spec import load_spec
from armspan.simulation.runner import check_sizes
from armspan.theory import Bound

EXAMPLE = "armspan bound examples/offers.toml"

TERMS = {
    "irregular": "𝒜, contexts that come too rarely",
    "bad_estimates": "ℬ, estimates off by more than their width",
    "bad_frames": "𝒞, frames with too many of those",
    "suboptimal": "𝒟, widths that still exceed the gap",
}


def add_parser(commands: Any) -> None:
    """Describe the command."""
    parser = add_command(
        commands,
        "bound",
        help="diversity of a described problem, and the theorems' bound",
        description="Audit the contexts of a problem described in a TOML file, and print the paper's bound for it.",
        example=EXAMPLE,
    )
    add_spec(parser)
    parser.add_argument("--horizon", type=int, help="steps up to which the forecast looks, instead of the file's")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Audit, bound, print."""
    spec = load_spec(args.spec)
    env, horizon = spec.env, spec.horizon if args.horizon is None else args.horizon
    check_sizes(horizon=horizon, runs=1, seed=0, engine="cpu")
    report, quiet = audit(env), forecast(env, horizon=horizon)
    bound, refusal = None, ""
    try:
        bound = regret_bound(env)
    except NotApplicable as error:
        refusal = str(error)
    if args.json:
        print(as_json(_numbers(report, bound, refusal) | {"forecast": vars(quiet) | {"horizon": horizon}}))
        return 0
    print(report)
    if bound is None:
        print(f"\nNo bound: {refusal}")
    else:
        print("\nThe paper's bound of the expected regret, for every horizon")
        for name, text in TERMS.items():
            print(f"  {text:<42}{_large(getattr(bound, name)):>14}")
        print(f"  {'in all':<42}{_large(bound.total):>14}")
        if math.isinf(bound.total):
            print("Finite, but too large for a number: exp(12l²s²/(2 + d)), the step from which α_t outgrows l·s.")
        print("The constant is what the proof gives; measured regret is far smaller.")
    print(f"\nRough forecast for LinUCB-d up to step {horizon:,} (a run without noise; no bound)")
    (low, high), (early, late) = quiet.regret_interval, quiet.last_interval
    over = {"yes": f"over between step {early:,.0f} and {late:,.0f}", "no": "not over by then"}
    print(f"  regret {low:,.3g} to {high:,.3g}; exploration {over.get(quiet.over, 'perhaps not over by then')}")
    print("  Such intervals held for at least 95 % of random problems (docs/accuracy.md).")
    return 0


def _large(value: float) -> str:
    return f"{value:,.6g}" if math.isfinite(value) else "beyond 1e308"


def _numbers(report: DiversityReport, bound: Bound | None, refusal: str) -> dict[str, Any]:
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
        "refusal": refusal or None,
    }


def _finite(value: float) -> float | None:
    """JSON knows no infinity."""
    return value if math.isfinite(value) else None
