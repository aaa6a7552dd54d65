"""Tails: how regret and the end of exploration are distributed over very many runs, along the diversity dial.

Runs are counted in bins a few at a time and then dropped, so a billion runs need no more memory than those few.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armspan._typing import FloatArray, IntArray, Progress
from armspan.environments import diversity_dial
from armspan.environments.table import TableEnvironment
from armspan.errors import Interrupted
from armspan.policies import LinUCBd
from armspan.simulation import Result, simulate

LEVELS = (0.03, 0.1, 0.2, 0.45, 0.7)
"""Of the diversity dial; 0.1 is the paper's problem (a)."""
BINS = 2_000
"""Values of regret at which runs are counted, evenly spaced on a log scale: less than 1 % apart."""
STEPS = 250
"""Checkpoints, likewise: the end of exploration is known to within some 5 %."""
TOGETHER = 200_000
"""Runs that are held at a time."""


@dataclass(frozen=True)
class Tail:
    """The outcome of very many runs of LinUCB-d in one problem.

    mean, sd, largest : of the final pseudo-regret. values : (BINS,) regrets, exceeded : (BINS,) how many runs ended
    above each. steps : (C,) checkpoints, exploring : (C,) how many runs pulled a suboptimal arm after each.
    """

    level: float
    lambda_0: float
    runs: int
    engine: str
    mean: float
    sd: float
    largest: float
    values: FloatArray
    exceeded: IntArray
    steps: IntArray
    exploring: IntArray

    def quantile(self, probability: float) -> float:
        """The regret that a run stays below with this probability, to the width of a bin."""
        return min(float(self.values[_first_below(self.exceeded, self.beyond(probability))]), self.largest)

    def over(self, probability: float) -> float:
        """The step after which a run explores no more with this probability; inf if that is near the horizon."""
        left = self.beyond(probability)
        return float(self.steps[_first_below(self.exploring, left)]) if self.still_exploring <= left else math.inf

    def beyond(self, probability: float) -> int:
        """How many runs may lie beyond a quantile."""
        return self.runs - math.ceil(probability * self.runs - 1e-6)

    @property
    def still_exploring(self) -> int:
        """How many runs pulled a suboptimal arm between the last two checkpoints."""
        return int(self.exploring[-2:][0])

    def as_dict(self) -> dict[str, Any]:
        """Everything it holds, for JSON."""
        return {name: part.tolist() if isinstance(part, np.ndarray) else part for name, part in vars(self).items()}


@dataclass(frozen=True)
class Tails:
    """How regret and the end of exploration are distributed over very many runs, at several levels of diversity.

    Attributes
    ----------
    entries : tuple of Tail
        One entry per level, from the least diverse on.
    horizon : int
        Steps of a run.
    """

    entries: tuple[Tail, ...]
    horizon: int

    def told(self, probabilities: Sequence[float]) -> list[float]:
        """The probabilities beyond which there is at least one run; the others' quantiles would be the largest of all.

        Parameters
        ----------
        probabilities : list of float
            The probabilities asked for.
        """
        return [p for p in probabilities if self.entries[0].beyond(p) > 0]


def run_tails(*, runs: int, horizon: int, seed: int, engine: str, progress: Progress) -> Tails:
    """Simulate and count; a Ctrl-C keeps the levels that are done, in `Interrupted.partial`."""
    done: list[Tail] = []

    def part(steps: int, total: int) -> None:
        progress(len(done) * total + steps, len(LEVELS) * total)

    try:
        for level in LEVELS:
            done.append(run_tail(level, runs=runs, horizon=horizon, seed=seed, engine=engine, progress=part))
    except Interrupted as stop:
        stop.partial = Tails(tuple(done), horizon) if done else None
        raise
    return Tails(tuple(done), horizon)


def run_tail(level: float, *, runs: int, horizon: int, seed: int, engine: str, progress: Progress) -> Tail:
    """One level of the dial."""
    env: TableEnvironment = diversity_dial(level)
    worst = float(np.ptp(env.reward_table, axis=0).max())
    values = np.geomspace(env.gap / 2, max(worst * horizon, env.gap), BINS)
    steps = np.unique(np.round(np.geomspace(1, horizon, min(STEPS, horizon))).astype(np.int64))
    exceeded, exploring = np.zeros(BINS, np.int64), np.zeros(steps.size, np.int64)
    total, squares, largest, used = 0.0, 0.0, 0.0, ""
    for first in range(0, runs, TOGETHER):
        numbers = range(first, min(first + TOGETHER, runs))

        def part(now: int, all_now: int, before: int = first) -> None:
            progress(before * horizon + now, runs * horizon)

        result = simulate(
            env,
            LinUCBd(),
            horizon=horizon,
            runs=numbers,
            seed=seed,
            engine=engine,
            checkpoints=steps.tolist(),
            progress=part,
        )
        final = result.pseudo_regret[0, :, -1]
        exceeded += _above(values, final)
        exploring += _above(steps, _last_exploration(result))
        total, squares, largest = total + final.sum(), squares + (final**2).sum(), max(largest, float(final.max()))
        used = result.engine
    mean = total / runs
    sd = math.sqrt(max(squares / runs - mean * mean, 0.0))
    return Tail(level, env.lambda_0(), runs, used, mean, sd, largest, values, exceeded, steps, exploring)


def _last_exploration(result: Result) -> IntArray:
    """The checkpoint of each run at which its regret was first what it came to: then a suboptimal arm was last pulled.

    0 where none ever was.
    """
    curves = result.pseudo_regret[0]
    first = np.argmax(curves == curves[:, -1:], axis=1)
    return np.where(curves[:, -1] > 0, result.checkpoints[first], 0)


def _above(grid: FloatArray | IntArray, sample: FloatArray | IntArray) -> IntArray:
    """How many of the sample are above each value of the grid."""
    return sample.size - np.searchsorted(np.sort(sample), grid, side="right")


def _first_below(counts: IntArray, limit: int) -> int:
    """The first entry of counts, which fall, that is at most the limit."""
    return int(np.argmax(counts <= limit))
