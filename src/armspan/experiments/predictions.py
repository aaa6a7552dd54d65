"""Said before, seen after: for random problems, what is predicted against what the simulation then shows."""

from dataclasses import dataclass

import numpy as np

from armspan._typing import Progress
from armspan.diversity import audit
from armspan.environments import FiniteContexts
from armspan.experiments.forecast import Forecast, forecast
from armspan.policies import LinUCBd
from armspan.simulation import simulate

PROBLEMS = 60
LEAST_GAP, LEAST_LAMBDA_0 = 0.1, 0.02
"""Half of the problems are diverse, with at least this gap and λ₀; the others have the gap but not the diversity."""


@dataclass(frozen=True)
class Prediction:
    """One problem: what was predicted from the problem alone, and what came out."""

    kind: str
    lambda_0: float
    gap: float
    predicted_constant: bool
    forecast: Forecast
    verdict: str
    regret: float
    last_exploration: float


def run_predictions(*, runs: int, horizon: int, seed: int, progress: Progress) -> tuple[Prediction, ...]:
    """Draw the problems, predict, simulate."""
    rng = np.random.default_rng(seed)
    kinds = [kind for _ in range(PROBLEMS // 4) for kind in ("diverse", "diverse", "flat", "dominated")]
    predictions = []
    for kind in kinds:
        env = draw(kind, rng)
        report = audit(env)
        plateau = forecast(env, horizon=horizon)
        result = simulate(env, LinUCBd(), horizon=horizon, runs=runs, seed=seed, events=True)
        entry = Prediction(
            kind=kind,
            lambda_0=report.lambda_0,
            gap=report.gap,
            predicted_constant=report.verdicts[0].answer == "yes",
            forecast=plateau,
            verdict=result.growth("LinUCB-d").verdict,
            regret=float(result.mean()[0, -1]),
            last_exploration=float(np.median(result.events["LinUCB-d"].last_suboptimal)),
        )
        predictions.append(entry)
        progress(len(predictions), len(kinds))
    return tuple(predictions)


def draw(kind: str, rng: np.random.Generator) -> FiniteContexts:
    """A random problem: unit features and parameters, 2 to 4 arms, 2 or 3 features, 6 to 12 contexts.

    kind : "diverse"; "flat", a diverse one whose arm 0 keeps of its optimal features only what its reward sees, so that
    they are parallel; "dominated", with an arm that is never best.
    """
    while True:
        K, d, n = int(rng.integers(2, 5)), int(rng.integers(2, 4)), int(rng.integers(6, 13))
        features, theta = rng.normal(size=(K, n, d)), rng.normal(size=(K, d))
        features /= np.linalg.norm(features, axis=2, keepdims=True)
        theta /= np.linalg.norm(theta, axis=1, keepdims=True)
        env = FiniteContexts(features, theta, name=f"{kind} problem")
        if env.gap < LEAST_GAP:
            continue
        dominated = min(env.optimal_contexts(a).size for a in range(K)) == 0
        if kind == "dominated" and dominated:
            return env
        if kind != "dominated" and env.lambda_0() >= LEAST_LAMBDA_0:
            if kind == "diverse":
                return env
            mine = env.optimal_contexts(0)
            features[0, mine] = env.reward_table[0, mine, None] * theta[0]
            return FiniteContexts(features, theta, name="flat problem")


def confusion(predictions: tuple[Prediction, ...]) -> dict[str, dict[str, int]]:
    """How many problems of each prediction got each verdict."""
    verdicts = ("constant", "logarithmic", "power", "linear", "undecided")
    return {
        words: {
            verdict: sum(entry.predicted_constant is constant and entry.verdict == verdict for entry in predictions)
            for verdict in verdicts
        }
        for words, constant in (("constant", True), ("not constant", False))
    }


def within_factor(predictions: tuple[Prediction, ...], factor: float = 3.0) -> tuple[float, float]:
    """The shares of the diverse problems whose regret, and whose last exploration, the forecast met within a factor."""
    diverse = [entry for entry in predictions if entry.kind == "diverse"]
    ratios = np.array(
        [
            [entry.forecast.regret / entry.regret, entry.forecast.last_exploration / entry.last_exploration]
            for entry in diverse
        ]
    )
    hits = (np.abs(np.log(ratios)) <= np.log(factor)).mean(axis=0)
    return float(hits[0]), float(hits[1])
