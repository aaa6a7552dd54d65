"""Where regret will level off, and when exploration will be over: a rough estimate from the problem alone.

It comes from the *quiet run*: the same problem without noise, with the exploration that the noise would have called
for, averaged over a few draws of the contexts. Noise usually makes real regret larger. It is a heuristic, not a bound;
the theorem's own constant is larger by many orders of magnitude. Its intervals were measured on random problems;
`python -m benchmarks.truth predictions` measures them again.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from armspan import _html
from armspan._text import amount
from armspan.environments import as_environment
from armspan.policies import LinUCBd
from armspan.simulation import Result, octaves, simulate

QUIET_RUNS = 8
REGRET_SPREAD, LAST_SPREAD = (0.7, 2.5), (0.25, 4.0)
"""Measured against forecast, in 95 % of random problems: the regret at the end, and the last step of exploration."""


@dataclass(frozen=True)
class Forecast:
    """What is expected of LinUCB-d up to a horizon. Intervals are made to hold for 95 % of random problems.

    Attributes
    ----------
    regret, regret_interval : float, (float, float)
        Mean regret at the horizon.
    last_exploration, last_interval : float, (float, float)
        The step after which a run pulls no suboptimal arm (median).
    over : str
        Whether exploration will be over at this horizon: "yes", "no" or "not known".
    """

    regret: float
    regret_interval: tuple[float, float]
    last_exploration: float
    last_interval: tuple[float, float]
    over: str

    def _repr_html_(self) -> str:
        low, high = self.regret_interval
        first, last = self.last_interval
        form = amount(self.regret, low, high)
        rows = [
            ("mean regret at the horizon", f"{self.regret:{form}}", f"{low:{form}} to {high:{form}}"),
            ("last step of exploration", f"{self.last_exploration:,.0f}", f"{first:,.0f} to {last:,.0f}"),
            ("is exploration over by then?", self.over, ""),
        ]
        return _html.shown("Forecast for LinUCB-d", ("", "forecast", "95 % interval"), rows)


def forecast(env: Any, *, horizon: int, seed: int = 1) -> Forecast:
    """Forecast the regret of LinUCB-d by a quiet run: no noise, with α_t as if there were.

    Its intervals were measured where the paper's theory applies. Where it does not (parameters drift, rewards come
    late or are not linear, an adversary picks the contexts), or in an environment of your own, nobody knows how often
    they hold.

    Parameters
    ----------
    env : Environment or object
        An environment, or an object with its methods, as `armspan.simulate` takes it.
    horizon : int
        Steps per run.
    seed : int, default 1
        Seed of the contexts.

    Returns
    -------
    Forecast
        The regret, the end of exploration, and intervals for both.
    """
    env = as_environment(env)
    policy = LinUCBd(noise_scale=env.noise_scale)
    result = simulate(env.without_noise(), policy, horizon=horizon, runs=QUIET_RUNS, seed=seed)
    regret, last = float(result.mean()[0, -1]), last_exploration(result)
    low, high = (last * factor for factor in LAST_SPREAD)
    return Forecast(
        regret=regret,
        regret_interval=(regret * REGRET_SPREAD[0], regret * REGRET_SPREAD[1]),
        last_exploration=last,
        last_interval=(min(low, horizon), min(high, horizon)),
        over="yes" if high < horizon else "no" if last > 0.9 * horizon else "not known",
    )


def last_exploration(result: Result) -> float:
    """The step after which a run pulls no suboptimal arm: the median over the runs, as precise as the bins of time."""
    assert result.suboptimal_pulls is not None
    lost = result.suboptimal_pulls[0].any(axis=2)
    ends = octaves.edges(result.horizon)
    return float(np.median(np.where(lost.any(axis=1), ends[np.argmax(lost, axis=1)], 0)))
