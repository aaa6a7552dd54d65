"""Smooth families: an expected curve, runs of different size, and increments that are gamma distributed."""

from collections.abc import Callable

import numpy as np

from armspan._typing import FloatArray, IntArray
from benchmarks.truth.drawing import Drawn, Family, early, log_uniform, pareto_factors, run_factors

Expected = Callable[[np.random.Generator, int, FloatArray], FloatArray]
"""(rng, runs, t) to expected regret (C,) or (R, C) at the times t (C,); T = t[-1]."""


def _family(
    name: str,
    truth: str,
    exponent: float | None,
    expected: Expected,
    words: str,
    *,
    finish: Callable[[np.random.Generator, FloatArray, FloatArray], FloatArray] | None = None,
    factors: Callable[[np.random.Generator, int], FloatArray] = run_factors,
    local: Callable[[int], float] | None = None,
) -> Family:
    def draw(rng: np.random.Generator, runs: int, checkpoints: IntArray) -> Drawn:
        t = checkpoints.astype(np.float64)
        mean = expected(rng, runs, t) * factors(rng, runs)
        steps = np.diff(t, prepend=0.0)
        increments = np.clip(np.diff(mean, axis=1, prepend=0.0), 0.0, steps)
        return Drawn(np.cumsum((finish or _gamma)(rng, increments, t), axis=1), None)

    return Family(name, truth, exponent, draw, words, local)


def _gamma(rng: np.random.Generator, increments: FloatArray, t: FloatArray) -> FloatArray:
    """Gamma increments with the given means, made of pieces of about `grain`, at most 1 a step."""
    grain = log_uniform(rng, 0.01, 0.5)
    return np.minimum(grain * rng.standard_gamma(increments / grain), np.diff(t, prepend=0.0))


def _perfect(rng: np.random.Generator, increments: FloatArray, t: FloatArray) -> FloatArray:
    """No noise at all."""
    return increments


def _wobbly(rng: np.random.Generator, increments: FloatArray, t: FloatArray) -> FloatArray:
    """Each run's rate wanders up and down over an octave or so, apart from the gamma noise."""
    sigma, octaves = rng.uniform(0.3, 0.9), rng.uniform(0.5, 2.0)
    keep = np.exp(-np.diff(np.log2(t), prepend=0.0) / octaves)
    z = rng.standard_normal(increments.shape)
    for i in range(1, t.size):
        z[:, i] = keep[i] * z[:, i - 1] + np.sqrt(1 - keep[i] ** 2) * z[:, i]
    return _gamma(rng, np.minimum(increments * np.exp(sigma * z - sigma**2 / 2), np.diff(t, prepend=0.0)), t)


def _perfect_factors(rng: np.random.Generator, runs: int) -> FloatArray:
    """All runs alike in half of the draws."""
    return run_factors(rng, runs, 0.2 * float(rng.random() < 0.5))


def _offset(rng: np.random.Generator, t: FloatArray, curve: FloatArray) -> FloatArray:
    """In half of the draws an early cost of up to 40 % of what the curve reaches comes on top."""
    if rng.random() < 0.5:
        return curve
    amount = rng.uniform(0.05, 0.4) * curve[-1]
    return curve + early(t, float(np.clip(amount, 1e-6, t[-1] / 100)))


# -- constant ----------------------------------------------------------------------------------------------------------


def _ramp(rng: np.random.Generator, end: FloatArray, t: FloatArray, kinds: int) -> FloatArray:
    """Regret that grows linearly, like √t or (kinds = 3) like log t until `end` (R, 1), and not after."""
    kind, until = rng.integers(kinds), np.minimum(t, end)
    if kind == 0:
        return log_uniform(rng, 0.01, 0.5) * until
    if kind == 1:
        return log_uniform(rng, 0.2, 3.0) * np.sqrt(until)
    return log_uniform(rng, 1.0, 10.0) * np.log1p(until / 5)


def _plateau(low: float, high: float, kinds: int) -> Expected:
    def expected(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
        middle = t[-1] * log_uniform(rng, max(low, 20 / t[-1]), high)
        end = np.clip(middle * rng.uniform(0.9, 1.1, (runs, 1)), low * t[-1], high * t[-1])
        return _ramp(rng, end, t, kinds)

    return expected


def _plateau_spread(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    if rng.random() < 0.5:
        share = np.exp(rng.uniform(np.log(0.03), 0.0, (runs, 1)))
    else:
        late = rng.random((runs, 1)) < rng.uniform(0.1, 0.6)
        share = np.where(late, rng.uniform(0.8, 0.99, (runs, 1)), rng.uniform(0.05, 0.15, (runs, 1)))
    return _ramp(rng, share * t[-1], t, 2)


def _slow_approach(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    a, height = rng.uniform(0.25, 1.0), log_uniform(rng, 3.0, 100.0)
    return height * (1 - (1 + t / (height * rng.uniform(1.0, 3.0))) ** -a)


def _exponential_approach(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    tau = t[-1] * log_uniform(rng, 0.01, 0.2) * rng.uniform(0.8, 1.2, (runs, 1))
    return -log_uniform(rng, 3.0, 0.005 * t[-1]) * np.expm1(-t / tau)


# -- logarithmic and near it -------------------------------------------------------------------------------------------


def _log(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    a = log_uniform(rng, 0.3, 10.0)
    return _offset(rng, t, a * np.log1p(t / max(2 * a, log_uniform(rng, 1.0, t[-1] / 500))))


def _log_squared(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    return _offset(rng, t, log_uniform(rng, 0.1, 2.0) * np.log1p(t / rng.uniform(1.0, 5.0)) ** 2)


def _log_log(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    a = log_uniform(rng, 1.0, 20.0)
    return a * np.log1p(np.log1p(t / rng.uniform(1.0, 3.0)))


def _hidden(grow: Callable[[FloatArray], FloatArray], low: float, high: float) -> Expected:
    """A large early cost, then growth whose last doubling is a share between low and high of R(T)."""

    def expected(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
        amount, share = log_uniform(rng, 20.0, min(1000.0, t[-1] / 100)), log_uniform(rng, low, high)
        curve, end = grow(t), grow(np.array([t[-1] / 2, t[-1]]))
        size = share * amount / (end[1] - end[0] - share * end[1])
        return early(t, amount) * run_factors(rng, runs) + size * curve * run_factors(rng, runs)

    return expected


# -- powers and near them ----------------------------------------------------------------------------------------------


def _power(gamma: float, largest: float) -> Expected:
    def expected(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
        a, shift = log_uniform(rng, 0.03, largest) / gamma, log_uniform(rng, 1.0, t[-1] / 1000)
        return _offset(rng, t, a * ((t + shift) ** gamma - shift**gamma))

    return expected


def _linear(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    return _offset(rng, t, log_uniform(rng, 0.005, 0.5) * t)


def _root_log(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    return log_uniform(rng, 0.05, 0.5) * np.sqrt(t) * np.log1p(t)


def _root_log_slope(T: int) -> float:
    return float(0.5 + T / (1 + T) / np.log1p(T))


def _linear_over_log(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    return log_uniform(rng, 0.02, 0.8) * t / np.log(np.e + t)


def _linear_over_log_slope(T: int) -> float:
    return float(1 - T / (np.e + T) / np.log(np.e + T))


def _phase_change(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    onset = t[-1] * rng.uniform(0.2, 0.3) * rng.uniform(0.9, 1.1, (runs, 1))
    before = early(t, log_uniform(rng, 3.0, t[-1] / 100))
    return before + log_uniform(rng, 0.005, 0.3) * np.maximum(t - onset, 0.0)


SMOOTH = (
    _family(
        "plateau-early", "constant", None, _plateau(0.001, 0.1, 3),
        "Regret grows until some time before a tenth of the horizon and stops.",
    ),
    _family(
        "plateau-half", "constant", None, _plateau(0.45, 0.55, 3),
        "Regret grows until about half of the horizon and stops.",
    ),
    _family(
        "plateau-late", "constant", None, _plateau(0.75, 0.95, 2),
        "Regret grows linearly or like √t until 0.75 to 0.95 of the horizon and stops.",
    ),
    _family(
        "plateau-spread", "constant", None, _plateau_spread,
        "Each run stops growing at its own time, some early and some close to the horizon.",
    ),
    _family(
        "plateau-slow", "constant", None, _slow_approach,
        "Regret nears its limit C as slowly as C - t^-a, with a between 0.25 and 1.",
    ),
    _family(
        "plateau-exponential", "constant", None, _exponential_approach,
        "Regret nears its limit exponentially, with a time of 0.01 to 0.2 of the horizon.",
    ),
    _family(
        "plateau-perfect", "constant", None, _plateau(0.001, 0.3, 3),
        "A plateau without any noise; in half of the draws all runs are alike.",
        finish=_perfect, factors=_perfect_factors,
    ),
    _family(
        "plateau-heavy", "constant", None, _plateau(0.001, 0.2, 3),
        "Early plateaus whose heights have Pareto tails.", factors=pareto_factors,
    ),
    _family("log", "logarithmic", None, _log, "Logarithmic from the start, half of the time over an early cost."),
    _family(
        "log-perfect", "logarithmic", None, _log, "Logarithmic without any noise.",
        finish=_perfect, factors=_perfect_factors,
    ),
    _family(
        "log-wobbly", "logarithmic", None, _log,
        "Logarithmic, with rates that wander up and down over octaves.", finish=_wobbly,
    ),
    _family(
        "log-heavy", "logarithmic", None, _log,
        "Logarithmic, with slopes that have Pareto tails from run to run.", factors=pareto_factors,
    ),
    _family(
        "log-hidden", "logarithmic", None, _hidden(np.log1p, 0.002, 0.009),
        "Logarithmic with a tiny slope after a large start: the last doubling is below 1 % of R(T).",
    ),
    _family(
        "root-hidden", "power", 0.5, _hidden(np.sqrt, 0.003, 0.03),
        "√t after a large start: the last doubling is 0.3 to 3 % of R(T).",
    ),
    _family(
        "linear-hidden", "linear", 1.0, _hidden(lambda t: t, 0.003, 0.03),
        "Linear after a large start: the last doubling is 0.3 to 3 % of R(T).",
    ),
    _family("log-squared", "other", None, _log_squared, "Grows like log² t."),
    _family("log-log", "other", None, _log_log, "Grows like log log t."),
    _family("cube-root", "power", 1 / 3, _power(1 / 3, 1.0), "Grows like t^⅓."),
    _family("root", "power", 0.5, _power(0.5, 1.0), "Grows like √t."),
    _family(
        "root-perfect", "power", 0.5, _power(0.5, 1.0), "√t without any noise.",
        finish=_perfect, factors=_perfect_factors,
    ),
    _family("root-wobbly", "power", 0.5, _power(0.5, 1.0), "√t, with rates that wander over octaves.", finish=_wobbly),
    _family(
        "root-heavy", "power", 0.5, _power(0.5, 0.3), "√t, with Pareto tails from run to run.", factors=pareto_factors,
    ),
    _family("root-log", "other", None, _root_log, "Grows like √t·log t.", local=_root_log_slope),
    _family("two-thirds", "power", 2 / 3, _power(2 / 3, 0.5), "Grows like t^⅔."),
    _family("nine-tenths", "power", 0.9, _power(0.9, 0.2), "Grows like t^0.9."),
    _family(
        "linear-over-log", "other", None, _linear_over_log, "Grows like t/log t.", local=_linear_over_log_slope,
    ),
    _family("linear", "linear", 1.0, _linear, "Linear, half of the time over an early cost."),
    _family(
        "linear-phase", "linear", 1.0, _phase_change,
        "An early cost, then nothing, then linear from about a quarter of the horizon on.",
    ),
)  # fmt: skip
"""Families without losses."""
