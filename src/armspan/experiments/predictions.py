"""Said before, seen after: for random problems, what is predicted compared with what the simulation then shows."""

from dataclasses import dataclass

import numpy as np

from armspan._typing import Progress
from armspan.diversity import audit
from armspan.experiments.families import FAMILIES, draw_problem
from armspan.experiments.forecast import Forecast, forecast, last_exploration
from armspan.policies import LinUCBd
from armspan.simulation import simulate

PROBLEMS = 200
VERDICTS = ("constant", "logarithmic", "power", "linear", "undecided")


SAID = (
    "constant, over by then",
    "constant, perhaps not over at this horizon",
    "constant, not over at this horizon",
    "not constant",
    "not known",
)


@dataclass(frozen=True)
class Prediction:
    """One problem: what was predicted from the problem alone, and what came out.

    family : what kind of problem it is. predicted : whether theory promises constant regret ("yes", "no", "not known").
    """

    family: str
    lambda_0: float
    gap: float
    predicted: str
    forecast: Forecast
    verdict: str
    regret: float
    last_exploration: float

    @property
    def said(self) -> str:
        """The prediction in words; where theory promises a constant, whether the horizon is long enough to see it."""
        if self.predicted != "yes":
            return SAID[3] if self.predicted == "no" else SAID[4]
        when = {
            "yes": "over by then",
            "no": "not over at this horizon",
            "not known": "perhaps not over at this horizon",
        }
        return f"constant, {when[self.forecast.over]}"

    @property
    def contradicts(self) -> bool:
        """Whether the verdict says what the prediction excludes; before exploration is over, growth is no surprise."""
        if self.said == SAID[0]:
            return self.verdict in VERDICTS[1:4]
        return self.said == SAID[3] and self.verdict == "constant"


def run_predictions(
    *, runs: int, horizon: int, seed: int, progress: Progress, problems: int = PROBLEMS
) -> tuple[Prediction, ...]:
    """Draw the problems, predict, simulate."""
    rng = np.random.default_rng(seed)
    predictions: list[Prediction] = []
    for number in range(problems):
        predictions.append(predict(list(FAMILIES)[number % len(FAMILIES)], rng, runs=runs, horizon=horizon, seed=seed))
        progress(len(predictions), problems)
    return tuple(predictions)


def predict(family: str, rng: np.random.Generator, *, runs: int, horizon: int, seed: int) -> Prediction:
    """One problem of a family: draw, predict, simulate."""
    env = draw_problem(family, rng)
    report, expected = audit(env), forecast(env, horizon=horizon)
    result = simulate(env, LinUCBd(), horizon=horizon, runs=runs, seed=seed, engine="cpu")
    return Prediction(
        family=family,
        lambda_0=report.lambda_0,
        gap=report.gap,
        predicted=report.verdicts[0].answer,
        forecast=expected,
        verdict=result.growth("LinUCB-d").verdict,
        regret=float(result.mean()[0, -1]),
        last_exploration=last_exploration(result),
    )


def confusion(predictions: tuple[Prediction, ...]) -> dict[str, dict[str, int]]:
    """How many problems of each prediction got each verdict."""
    return {
        said: {verdict: sum(e.said == said and e.verdict == verdict for e in predictions) for verdict in VERDICTS}
        for said in SAID
    }


def foreseen(predictions: tuple[Prediction, ...]) -> tuple[float, float]:
    """The shares of the problems whose regret, and whose last exploration, lay in the interval of the forecast.

    The second only counts problems whose exploration was over: steps after the horizon are not seen.
    """
    regret = [e.forecast.regret_interval[0] <= e.regret <= e.forecast.regret_interval[1] for e in predictions]
    over = [e for e in predictions if e.verdict == "constant"]
    last = [e.forecast.last_interval[0] <= e.last_exploration <= e.forecast.last_interval[1] for e in over]
    return float(np.mean(regret)), float(np.mean(last)) if last else float("nan")
