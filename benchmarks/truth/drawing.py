"""What a family of regret curves is, and the few random choices that smooth and event-driven families share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray


class Drawn(NamedTuple):
    """One sample of curves.

    curves : (R, C) cumulative regret of each run at each checkpoint.
    losses : (R, B, K) lossy steps of each arm in the bins of `armspan.simulation.octaves`; None for smooth families.
    """

    curves: FloatArray
    losses: IntArray | None


Draw = Callable[[np.random.Generator, int, IntArray], Drawn]


@dataclass(frozen=True)
class Family:
    """Regret curves of known growth.

    truth : how the expected regret grows: "constant", "logarithmic", "power", "linear" or "other".
    exponent : of a power; 1 for linear; otherwise None.
    local : for √t·log t and t/log t, the slope of the expected curve at T on log-log scales.
    """

    name: str
    truth: str
    exponent: float | None
    draw: Draw
    words: str
    local: Callable[[int], float] | None = None


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """A number between low and high, uniform in its logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(max(low, high)))))


def run_factors(rng: np.random.Generator, runs: int, sigma: float | None = None) -> FloatArray:
    """How much larger or smaller each run is: (R, 1), lognormal with mean 1."""
    s = rng.uniform(0.05, 0.6) if sigma is None else sigma
    return np.exp(s * rng.standard_normal((runs, 1)) - s * s / 2)


def pareto_factors(rng: np.random.Generator, runs: int) -> FloatArray:
    """The same with heavy tails: (R, 1), Pareto with mean 1 whose variance is infinite."""
    tail = rng.uniform(1.2, 1.9)
    return (1 + rng.pareto(tail, (runs, 1))) * (tail - 1) / tail


def early(t: FloatArray, amount: float) -> FloatArray:
    """A cost that is paid early and then over, at no more than 1 a step."""
    return -amount * np.expm1(-t / (1.5 * amount))
