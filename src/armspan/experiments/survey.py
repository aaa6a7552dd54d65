"""How diverse is a random draw of θ as in Figure 1c? The paper's own draw is not given, so many are looked at."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from armspan._cores import available_cores
from armspan._typing import BoolArray, FloatArray, Progress
from armspan.diversity.intervals import wilson
from armspan.environments import paper_1c

CONTEXTS = 10_000
"""Contexts by which each draw is judged."""
THRESHOLDS = (0.001, 0.01, 0.05, 0.1)


@dataclass(frozen=True)
class Draw:
    """One draw of θ: its seed, and how often its rarest arm is best."""

    seed: int
    rarest: float


@dataclass(frozen=True)
class Share:
    """The share of draws whose rarest arm is best with at least this probability, and its 95 % Wilson interval."""

    threshold: float
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Survey:
    """Many draws of θ for Figure 1c.

    Attributes
    ----------
    rarest : (n,) array
        How often the rarest arm of draw 0, 1, … was best.
    possible : (n,) array
        Whether each arm can be best at all, by the closed form.
    """

    rarest: FloatArray
    possible: BoolArray

    @property
    def n_draws(self) -> int:
        """How many draws were looked at."""
        return self.rarest.size

    @property
    def most_diverse(self) -> Draw:
        """The draw whose rarest arm is best most often."""
        return self._draw(int(np.argmax(self.rarest)))

    @property
    def typical(self) -> Draw:
        """The median draw."""
        return self._draw(int(np.argsort(self.rarest, kind="stable")[self.n_draws // 2]))

    def shares(self) -> list[Share]:
        """How many draws are diverse to a useful degree."""
        hits = [int((self.rarest >= threshold).sum()) for threshold in THRESHOLDS]
        entries = zip(THRESHOLDS, hits, strict=True)
        return [Share(threshold, count / self.n_draws, *wilson(count, self.n_draws)) for threshold, count in entries]

    def _draw(self, seed: int) -> Draw:
        return Draw(seed, float(self.rarest[seed]))


def survey_1c(draws: int, progress: Progress) -> Survey:
    """Look at paper_1c(0), paper_1c(1), …"""
    result, possible = np.empty(draws), np.empty(draws, dtype=bool)
    with ThreadPoolExecutor(available_cores()) as pool:
        try:
            for seed, found in enumerate(pool.map(_look, range(draws))):
                result[seed], possible[seed] = found
                progress(seed + 1, draws)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return Survey(result, possible)


def _look(seed: int) -> tuple[float, bool]:
    """How often the rarest arm of paper_1c(seed) is best, and whether all arms can be."""
    env = paper_1c(seed)
    _, means = env.sample(CONTEXTS)
    wins = np.bincount(np.argmax(means, axis=1), minlength=means.shape[1])
    return float(wins.min() / CONTEXTS), all(env.certain_spans())
