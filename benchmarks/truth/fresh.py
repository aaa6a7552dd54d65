"""A second set of families of regret curves: drawn up after the rule for growth was fixed, without knowledge of it.

They serve to measure its error rates on curves that had no part in its design, so it must not be adapted to them.
The truth is how the expected regret grows if the process goes on as described, whatever a draw shows until T.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray
from benchmarks.truth.drawing import Drawn, Family, early, log_uniform, run_factors
from benchmarks.truth.events import Grid


class Pulls(NamedTuple):
    """Expected lossy steps until each time of the grid, (R or 1, K, G), what each costs, (R or 1, K), at most 1.

    slots : (G,) steps between the times of the grid in which losses are possible; None for all.
    """

    expected: FloatArray
    cost: FloatArray
    slots: IntArray | None = None


Pull = Callable[[np.random.Generator, int, FloatArray], Pulls]
"""(rng, runs, t) to lossy steps, at the times t (G,) of the grid; T = t[-1]."""
Mean = Callable[[np.random.Generator, int, FloatArray], FloatArray]
"""(rng, runs, t) to expected regret (C,) or (R, C) at the times t (C,); T = t[-1]."""


def _events(name: str, truth: str, exponent: float | None, pull: Pull, words: str) -> Family:
    """Single lossy steps of single arms, at most one a step."""

    def draw(rng: np.random.Generator, runs: int, checkpoints: IntArray) -> Drawn:
        grid = Grid.of(checkpoints)
        pulls = pull(rng, runs, grid.t.astype(np.float64))
        slots = grid.steps if pulls.slots is None else pulls.slots
        mean = np.maximum(np.diff(pulls.expected, axis=2, prepend=0.0), 0.0)
        counts = np.empty((runs, mean.shape[1], slots.size), dtype=np.int64)
        left, room = np.tile(slots, (runs, 1)), np.tile(slots.astype(np.float64), (len(mean), 1))
        for arm in range(mean.shape[1]):  # a multinomial, one arm after the other
            p = np.divide(mean[:, arm], room, out=np.zeros_like(room), where=room > 1e-9)
            counts[:, arm] = rng.binomial(left, np.clip(p, 0.0, 1.0))
            left -= counts[:, arm]
            room -= mean[:, arm]
        cost = np.broadcast_to(pulls.cost, (runs, mean.shape[1]))
        curves = np.cumsum(np.einsum("rkg,rk->rg", counts, cost), axis=1)[:, grid.checkpoints]
        losses = np.add.reduceat(counts, grid.octaves, axis=2)[:, :, ::-1]
        return Drawn(curves, np.ascontiguousarray(np.swapaxes(losses, 1, 2)))

    return Family(name, truth, exponent, draw, words)


def _smooth(
    name: str, truth: str, exponent: float | None, mean: Mean, words: str, local: Callable[[int], float] | None = None
) -> Family:
    """Runs of different size whose regret grows by small jumps of one size, without losses."""

    def draw(rng: np.random.Generator, runs: int, checkpoints: IntArray) -> Drawn:
        t = checkpoints.astype(np.float64)
        gains = np.maximum(np.diff(mean(rng, runs, t) * run_factors(rng, runs), axis=1, prepend=0.0), 0.0)
        jump = log_uniform(rng, 0.02, 0.5)
        gains = np.minimum(jump * rng.poisson(gains / jump), np.diff(t, prepend=0.0))
        return Drawn(np.cumsum(gains, axis=1), None)

    return Family(name, truth, exponent, draw, words, local)


def _shared(rng: np.random.Generator, total: FloatArray, slots: IntArray | None = None) -> Pulls:
    """Share lossy steps (R, G) or (G,) among 1 to 5 arms."""
    K = int(rng.integers(1, 6))
    share = rng.dirichlet(np.full(K, 2.0))
    return Pulls(np.atleast_2d(total)[:, None, :] * share[:, None], rng.uniform(0.05, 1.0, (1, K)), slots)


def _of_arms(rng: np.random.Generator, *arms: FloatArray) -> Pulls:
    """One curve (R, G) or (G,) for each arm, in random order."""
    stacked = np.stack(np.broadcast_arrays(*[np.atleast_2d(arm) for arm in arms]), axis=1)
    return Pulls(stacked[:, rng.permutation(len(arms))], rng.uniform(0.05, 1.0, (1, len(arms))))


def _learnt(s: FloatArray, amount: FloatArray | float) -> FloatArray:
    """Losses until s steps after the start of learning, which ends after `amount` losses; none before."""
    return -amount * np.expm1(-np.maximum(s, 0.0) / (1.5 * amount))


def _first(rng: np.random.Generator, t: FloatArray) -> FloatArray:
    """Learning at the start, the same in all runs."""
    return early(t, log_uniform(rng, 2.0, min(500.0, t[-1] / 100)))


def _log(t: FloatArray, rate: FloatArray | float) -> FloatArray:
    """`rate` losses per octave, and less than one a step at the start."""
    return rate * np.log2(1 + t / (4 + 2 * rate))


def _chosen(rng: np.random.Generator, runs: int, share: float) -> FloatArray:
    """A share of the runs, at least one: (R, 1), 1 for these and 0 for the others."""
    return (rng.permutation(runs)[:, None] < max(1, round(share * runs))).astype(np.float64)


def _again(starts: FloatArray, t: FloatArray, learn: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Expected losses (R, G) of what learns anew at each of the starts (R, M), sorted and from 0."""
    last = (starts[:, :, None] <= t).sum(axis=1) - 1
    before = np.cumsum(learn(np.diff(starts, axis=1)), axis=1)
    before = np.concatenate([np.zeros((len(starts), 1)), before], axis=1)
    return np.take_along_axis(before, last, axis=1) + learn(t - np.take_along_axis(starts, last, axis=1))


# -- constant ----------------------------------------------------------------------------------------------------------


def _gaps(low: float, high: float, goes_on: bool) -> Pull:
    """Each run has its own gap, and explores half of the steps for a time of about 1/gap²."""

    def pull(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
        median = t[-1] * log_uniform(rng, low, high)
        end = median * 10 ** (rng.uniform(0.4, 1.0) * rng.standard_normal((runs, 1)))
        total = 0.5 * np.minimum(t, end)
        if goes_on:
            total = total + 0.5 * end * np.log(np.maximum(t / end, 1.0))
        pulls = _shared(rng, total)
        return pulls._replace(cost=pulls.cost * np.clip(0.3 * np.sqrt(median / end), 0.003, 1.0))

    return pull


def _log_ends(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    end = t[-1] * 2 ** rng.uniform(-1.0, 0.15, (runs, 1))
    return _shared(rng, _log(np.minimum(t, end), log_uniform(rng, 0.5, 15.0)))


def _restart(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    when, amount = t[-1] * rng.uniform(0.3, 0.95, (runs, 1)), log_uniform(rng, 3.0, 0.02 * t[-1])
    return _of_arms(rng, _first(rng, t), _learnt(t - when, amount))


def _restart_together(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    when, length = t[-1] * rng.uniform(0.5, 0.9), t[-1] * log_uniform(rng, 0.01, 0.08)
    burst = rng.uniform(0.5, 8.0) * np.log1p(np.clip(t - when, 0.0, length) / 10)
    return np.atleast_2d(rng.uniform(0.2, 0.9) * np.sqrt(np.minimum(t, 0.01 * t[-1])) + burst)


def _commit(share: float) -> Pull:
    """Loses at a share of the steps, or at all, until a given step, the same in all runs."""

    def pull(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
        explored = np.minimum(t, np.floor(share * t[-1]))
        p = log_uniform(rng, 0.0003, 0.9) if rng.random() < 0.7 else 1.0
        return _shared(rng, p * explored, np.diff(explored, prepend=0.0).astype(np.int64))

    return pull


def _beyond(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    end = t[-1] * rng.uniform(1.2, 5.0, (runs, 1))
    pulls = _shared(rng, rng.uniform(0.1, 0.6) * np.minimum(t, end))
    return pulls._replace(cost=0.02 * pulls.cost)


# -- logarithmic, and powers of the logarithm --------------------------------------------------------------------------


def _log_falls(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    turn, slope = t[-1] * log_uniform(rng, 0.03, 0.4), log_uniform(rng, 1.0, 30.0)
    late = np.log(np.maximum(t / turn, 1.0)) * rng.uniform(0.05, 0.4)
    return np.atleast_2d(slope * (np.log1p(np.minimum(t, turn) / (2 * slope)) + late))


def _arm_dropped(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    until = t[-1] * log_uniform(rng, 0.03, 0.4) * rng.uniform(0.8, 1.25, (runs, 1))
    dropped = _log(np.minimum(t, until), log_uniform(rng, 2.0, 15.0))
    return _of_arms(rng, dropped, _log(t, log_uniform(rng, 0.2, 1.5)))


def _power_then_log(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    x, exponent = 10 * t / t[-1], rng.uniform(0.4, 0.75)
    number = log_uniform(rng, 3.0, 0.5 * (t[-1] / 10) ** exponent)
    return _shared(rng, number * (np.minimum(x, 1.0) ** exponent + exponent * np.log(np.maximum(x, 1.0))))


def _epsilon(power: float, low: float, high: float) -> Pull:
    """Explores with probability min(1, c/t^power), c between low and high; K losing arms and a best one."""

    def pull(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
        c, K = log_uniform(rng, low, high), int(rng.integers(1, 6))
        full = c ** (1 / power)
        x = np.maximum(t, full)
        rest = c * np.log(x / full) if power == 1 else c * (x ** (1 - power) - full ** (1 - power)) / (1 - power)
        each = (np.minimum(t, full) + rest) / (K + 1) + rng.choice([0.0, 1.0]) * _first(rng, t) / K
        return _of_arms(rng, *[each] * K)

    return pull


def _few_log(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    slope = log_uniform(rng, 3.0, 30.0) * _chosen(rng, runs, rng.uniform(0.05, 0.2))
    return _of_arms(rng, _first(rng, t), _log(t, slope))


def _doublings(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    """0 and steps c·2^k: (R, M), with c = 1, or between 1 and 2 and different in each run."""
    phase = rng.choice([0.0, 1.0]) * rng.random((runs, 1))
    return np.concatenate([np.zeros((runs, 1)), 2 ** (phase + np.arange(2 + np.log2(t[-1])))], axis=1)


def _forgets(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    amount = log_uniform(rng, 0.3, 10.0)
    return _shared(rng, _again(_doublings(rng, runs, t), t, lambda s: _learnt(s, amount)))


def _forgets_log(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    slope = log_uniform(rng, 0.05, 1.0)
    return _shared(rng, _again(_doublings(rng, runs, t), t, lambda s: _log(s, slope)))


def _log_three_halves(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    return _shared(rng, log_uniform(rng, 0.05, 2.0) * np.log2(1 + t / 10) ** 1.5)


def _log_cubed(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    return np.atleast_2d(log_uniform(rng, 0.01, 0.3) * np.log1p(t / 10) ** 3)


# -- powers, linear ----------------------------------------------------------------------------------------------------


def _power(exponent: float) -> Pull:
    def pull(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
        number = log_uniform(rng, 5.0, min(1000.0, 0.5 * t[-1] ** exponent))
        return _shared(rng, number * (t / t[-1]) ** exponent)

    return pull


def _powers(low: float, high: float) -> Mean:
    return lambda rng, runs, t: log_uniform(rng, 0.05, 0.9) * t ** rng.uniform(low, high, (runs, 1))


def _mixed_powers_slope(T: int) -> float:
    """The expected curve is proportional to (t^0.75 - t^0.45)/log t."""
    return float((0.75 * T**0.75 - 0.45 * T**0.45) / (T**0.75 - T**0.45) - 1 / np.log(T))


def _relapses(exponent: float, low: float, high: float) -> Pull:
    """Relapses at times that are Poisson in log t; one at s lasts c·s^exponent steps, c between low and high."""

    def pull(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
        octaves = float(np.log2(t[-1]))
        number = rng.poisson(rng.uniform(0.3, 1.2) * octaves, (runs, 1))
        when = 2 ** (octaves * rng.random((runs, max(1, int(number.max())))))
        when = np.where(np.arange(when.shape[1]) < number, when, np.inf)
        length = log_uniform(rng, low, high) * np.minimum(when, t[-1]) ** exponent
        lasted = np.clip(t - when[:, :, None], 0.0, length[:, :, None]).sum(axis=1)
        return _shared(rng, log_uniform(rng, 0.02, 0.5) * lasted)

    return pull


def _slopes(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    pulls = _shared(rng, 10 ** rng.uniform(-4.0, -0.3, (runs, 1)) * t)
    return pulls._replace(cost=pulls.cost * rng.uniform(0.1, 1.0, (runs, 1)))


def _drift(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    period, even = t[-1] * log_uniform(rng, 0.03, 0.12), log_uniform(rng, 1.0, 300.0)
    between = rng.gamma(even, period / even, (runs, 10 + int(2 * t[-1] / period)))
    between[:, 0] *= rng.random(runs)
    starts = np.concatenate([np.zeros((runs, 1)), np.cumsum(between, axis=1)], axis=1)
    amount = log_uniform(rng, 1.0, 0.05 * period)
    return _shared(rng, _again(starts, t, lambda s: _learnt(s, amount)))


def _stuck_arm(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    stuck = log_uniform(rng, 0.02, 0.9) * _chosen(rng, runs, 0.03) * t
    return _of_arms(rng, _log(t, log_uniform(rng, 0.1, 1.0)), stuck)


def _wakes(rng: np.random.Generator, runs: int, t: FloatArray) -> Pulls:
    onset = t[-1] * rng.uniform(0.5, 0.9, (runs, 1))
    awake = _chosen(rng, runs, rng.uniform(0.02, 0.1)) * np.maximum(t - onset, 0.0)
    return _of_arms(rng, _first(rng, t), log_uniform(rng, 0.01, 0.5) * awake)


def _bias(rng: np.random.Generator, runs: int, t: FloatArray) -> FloatArray:
    x = t / t[-1]
    ratio = rng.uniform(0.5, 3.0) * (1 - 0.5**0.5) / 0.5
    return np.atleast_2d(log_uniform(rng, 0.05, 0.6) * np.sqrt(t[-1]) * (np.sqrt(x) + ratio * x))


FRESH: tuple[Family, ...] = (
    _events("fresh-gaps", "constant", None, _gaps(0.001, 0.03, False),
        "Each run has its own gap and stops at its own time, lognormal over decades; a few stop beyond the horizon."),
    _events("fresh-log-ends", "constant", None, _log_ends,
        "Logarithmic until each run's own end: in the last octave for 87 %, just beyond the horizon for 13 %."),
    _events("fresh-restart", "constant", None, _restart,
        "Flat after the start, then once a burst of new learning, at a late time of each run's own, then flat."),
    _smooth("fresh-restart-together", "constant", None, _restart_together,
        "Flat from T/100 on, then once a burst of new learning, between 0.5T and 0.98T in all runs, then flat."),
    _events("fresh-commit-30", "constant", None, _commit(0.3), "A constant rate of losses; none after step 0.3T."),
    _events("fresh-commit-60", "constant", None, _commit(0.6), "A constant rate of losses; none after step 0.6T."),
    _events("fresh-commit-90", "constant", None, _commit(0.9), "A constant rate of losses; none after step 0.9T."),
    _events("fresh-beyond", "constant", None, _beyond,
        "Tiny gaps: linear up to T, since each run stops between 1.2T and 5T; the end is beyond the horizon."),
    _events("fresh-gaps-log", "logarithmic", None, _gaps(0.0002, 0.01, True),
        "Each run has its own gap: linear until its own time, lognormal over decades, and logarithmic after it."),
    _smooth("fresh-log-falls", "logarithmic", None, _log_falls,
        "Logarithmic, with a slope that falls to 5 to 40 % of itself between 0.03T and 0.4T."),
    _events("fresh-arm-dropped", "logarithmic", None, _arm_dropped,
        "Two logarithmic arms; the frequent one is given up at about 0.03T to 0.4T, the rare one never."),
    _events("fresh-power-then-log", "logarithmic", None, _power_then_log,
        "Losses whose number is a power with exponent 0.4 to 0.75 until T/10 and a logarithm from there on."),
    _events("fresh-epsilon-1", "logarithmic", None, _epsilon(1.0, 1.0, 50.0), "ε-greedy exploration with ε = c/t."),
    _events("fresh-few-log", "logarithmic", None, _few_log,
        "5 to 20 % of the runs (at least one) logarithmic with a large slope, the others flat after the start."),
    _events("fresh-forgets", "logarithmic", None, _forgets,
        "A policy forgets at doubling times and learns again, at the same cost each time."),
    _events("fresh-forgets-log", "other", None, _forgets_log,
        "A policy forgets at doubling times and begins a logarithm anew, so that regret grows like log² t."),
    _events("fresh-log-1.5", "other", None, _log_three_halves, "Losses whose number grows like log^1.5 t."),
    _smooth("fresh-log-cubed", "other", None, _log_cubed, "Grows like log³ t."),
    _events("fresh-epsilon-half", "power", 0.5, _epsilon(0.5, 0.05, 2.0), "ε-greedy exploration with ε = c/√t."),
    _events("fresh-epsilon-two-thirds", "power", 1 / 3, _epsilon(2 / 3, 0.2, 5.0),
        "ε-greedy exploration with ε = c/t^⅔."),
    _events("fresh-power-0.47", "power", 0.47, _power(0.47), "Losses whose number grows like t^0.47."),
    _events("fresh-power-0.58", "power", 0.58, _power(0.58), "Losses whose number grows like t^0.58."),
    _smooth("fresh-power-0.71", "power", 0.71, _powers(0.71, 0.71), "Grows like t^0.71."),
    _smooth("fresh-mixed-powers", "other", None, _powers(0.45, 0.75),
        "Each run is a power with its own exponent between 0.45 and 0.75, so that the mean grows like t^0.75/log t.",
        _mixed_powers_slope),
    _events("fresh-relapses-root", "power", 0.5, _relapses(0.5, 0.5, 3.0),
        "Each run relapses 0.3 to 1.2 times per octave, at random, for a time in proportion to √t."),
    _events("fresh-relapses-linear", "linear", 1.0, _relapses(1.0, 0.02, 0.3),
        "Each run relapses 0.3 to 1.2 times per octave, at random, for a time in proportion to t."),
    _events("fresh-slopes", "linear", 1.0, _slopes,
        "Linear, with rates of losses over almost four decades from run to run."),
    _events("fresh-drift", "linear", 1.0, _drift,
        "Every 0.03T to 0.12T on average, regularly or at random, something changes and is learnt again."),
    _events("fresh-stuck-arm", "linear", 1.0, _stuck_arm,
        "A dominated arm is pulled rarely, like log t; in 3 % of the runs (at least one) another is stuck for ever."),
    _events("fresh-wakes", "linear", 1.0, _wakes,
        "2 to 10 % of the runs (at least one) begin to lose at a constant rate only after T/2; the others stay flat."),
    _smooth("fresh-bias", "linear", 1.0, _bias,
        "√t and a small linear part, which adds 0.5 to 3 times as much as the √t in the last octave."),
)  # fmt: skip
"""All of them; those with losses and those without, by truth."""
