"""Event-driven families: single lossy steps of single arms, drawn as counts on a grid of times."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.simulation.octaves import edges as bin_edges
from benchmarks.truth.drawing import Drawn, Family, early, log_uniform, run_factors


class Grid(NamedTuple):
    """Checkpoints and ends of the bins of time together: times (G,), steps between them, where the two kinds are."""

    t: IntArray
    steps: IntArray
    checkpoints: IntArray
    octaves: IntArray

    @classmethod
    def of(cls, checkpoints: IntArray) -> "Grid":
        T = int(checkpoints[-1])
        edges = bin_edges(T)[::-1]  # 0, 1, …, T
        t = np.union1d(checkpoints, edges[1:])
        starts = np.searchsorted(t, edges[:-1], side="right")
        return cls(t, np.diff(t, prepend=0), np.searchsorted(t, checkpoints), starts)


class Plan(NamedTuple):
    """Expected events until each time of the grid, (R or 1, K, G), and what bounds them.

    slots : (G,) events that there can be at most in each step of the grid; None for one a step.
    cluster : how many losses come with each event on average, at least 1.
    """

    expected: FloatArray
    slots: IntArray | None = None
    cluster: float = 1.0


Planner = Callable[[np.random.Generator, int, FloatArray], Plan]
"""(rng, runs, t) to a plan, at the times t (G,) of the grid; T = t[-1]."""


def _family(name: str, truth: str, exponent: float | None, planner: Planner, words: str) -> Family:
    def draw(rng: np.random.Generator, runs: int, checkpoints: IntArray) -> Drawn:
        grid = Grid.of(checkpoints)
        counts = _counts(rng, runs, grid, planner(rng, runs, grid.t.astype(np.float64)))
        curves = np.cumsum(_costs(rng, counts), axis=1)[:, grid.checkpoints]
        losses = np.add.reduceat(counts, grid.octaves, axis=2)[:, :, ::-1]
        return Drawn(curves, np.ascontiguousarray(np.swapaxes(losses, 1, 2)))

    return Family(name, truth, exponent, draw, words)


def _counts(rng: np.random.Generator, runs: int, grid: Grid, plan: Plan) -> IntArray:
    """Lossy steps (R, K, G) of each arm; together at most as many as there are steps."""
    slots = grid.steps if plan.slots is None else plan.slots
    mean = np.maximum(np.diff(plan.expected, axis=2, prepend=0.0), 0.0)
    total = mean.sum(axis=1)
    p = np.minimum(np.divide(total, slots, out=np.zeros_like(total), where=slots > 0), 1.0)
    events = rng.binomial(slots, np.broadcast_to(p, (runs, slots.size)))
    counts = np.zeros((runs, mean.shape[1], slots.size), dtype=np.int64)
    run, g = np.nonzero(events)
    row = run if len(mean) > 1 else np.zeros_like(run)
    shares = mean[row, :, g] / total[row, g][:, None]
    counts[run, :, g] = rng.multinomial(events[run, g], np.minimum(shares, 1.0))
    return counts if plan.cluster == 1 else _in_clusters(rng, counts, grid.steps, plan.cluster)


def _in_clusters(rng: np.random.Generator, counts: IntArray, steps: IntArray, size: float) -> IntArray:
    """Let each event be a cluster of losses of the same arm, with geometric sizes."""
    some = counts > 0
    counts[some] += rng.negative_binomial(counts[some], 1 / size)
    left = np.broadcast_to(steps, counts[:, 0].shape)
    for arm in range(counts.shape[1]):
        counts[:, arm] = np.minimum(counts[:, arm], left)
        left = left - counts[:, arm]
    return counts


def _costs(rng: np.random.Generator, counts: IntArray) -> FloatArray:
    """What the losses cost, (R, G): at most 1 each, by arm; in half of the draws by context (of two) as well."""
    K = counts.shape[1]
    low = rng.uniform(0.05, 0.9, K)
    cost = np.einsum("rkg,k->rg", counts, low)
    if rng.random() < 0.5:
        some = counts > 0
        dear = np.zeros_like(counts)
        dear[some] = rng.binomial(counts[some], rng.uniform(0.1, 0.9))
        cost += np.einsum("rkg,k->rg", dear, rng.uniform(0.0, 1.0, K) * (1 - low))
    return cost


def _split(rng: np.random.Generator, expected: FloatArray) -> FloatArray:
    """Share events (R, G) or (G,) among 2 to 4 arms: (R or 1, K, G)."""
    share = rng.dirichlet(np.full(int(rng.integers(2, 5)), 1.0))
    return np.atleast_2d(expected)[:, None, :] * share[:, None]


def _varied(rng: np.random.Generator, runs: int) -> FloatArray:
    """Rates that differ between runs, in half of the draws: (R, 1)."""
    return run_factors(rng, runs) if rng.random() < 0.5 else np.ones((runs, 1))


def _start(rng: np.random.Generator, runs: int, t: FloatArray, least: float = 5.0) -> FloatArray:
    """A large early cost of each run."""
    return early(t, log_uniform(rng, least, min(1000.0, t[-1] / 100))) * np.minimum(_varied(rng, runs), 1.4)


def _stack(*arms: FloatArray) -> FloatArray:
    """One curve (R, G) for each arm to (R, K, G)."""
    return np.stack(np.broadcast_arrays(*[np.atleast_2d(arm) for arm in arms]), axis=1)


# -- constant ----------------------------------------------------------------------------------------------------------


def _nothing_after(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    return Plan(_split(rng, _start(rng, runs, t)))


def _die_power(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    a, amount = rng.uniform(0.3, 1.0), log_uniform(rng, 3.0, 60.0)
    total = amount * (1 - (1 + t / (amount * rng.uniform(1.5, 4.0))) ** -a)
    return Plan(_split(rng, total * _varied(rng, runs)))


def _die_exponential(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    tau = t[-1] * log_uniform(rng, 0.02, 0.2) * rng.uniform(0.8, 1.2, (runs, 1))
    return Plan(_split(rng, -log_uniform(rng, 3.0, 0.005 * t[-1]) * np.expm1(-t / tau)))


def _stuck(tail: float) -> Planner:
    """Each run loses at a constant rate until its own time, which has P[time > t] = (1 + t/t₀)^-tail."""

    def planner(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
        until = t[-1] * log_uniform(rng, 0.01, 0.03) * rng.pareto(tail, (runs, 1))
        return Plan(_split(rng, log_uniform(rng, 0.02, 0.4) * np.minimum(t, until)))

    return planner


# -- logarithmic -------------------------------------------------------------------------------------------------------


def _octaves(rng: np.random.Generator, t: FloatArray) -> FloatArray:
    """Octaves passed at each time, roughly: a rate per step of at most 1/t₀ = 1/4 or less."""
    return np.log2(1 + t / rng.uniform(4.0, 8.0))


def _log(low: float, high: float, start: float = 0.0, cluster: float = 1.0) -> Planner:
    """Between low and high events per run and octave, after an early cost of at least `start` events."""

    def planner(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
        size = rng.uniform(1.5, cluster) if cluster > 1 else 1.0
        total = log_uniform(rng, low, high) / size * _octaves(rng, t) * _varied(rng, runs)
        if start:
            total = total + _start(rng, runs, t, start)
        return Plan(_split(rng, total), cluster=size)

    return planner


def _hidden_arm(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    rare = log_uniform(rng, 0.1, 2.0) * _octaves(rng, t) * _varied(rng, runs)
    arms = [_start(rng, runs, t, 20.0) / 2, _start(rng, runs, t, 20.0) / 2, rare]
    return Plan(_stack(*[arms[i] for i in rng.permutation(3)]))


def _bursts(base: float, growth: float) -> Planner:
    """Forced exploration from steps c·base^k on, in bursts of growth^k steps (times a number); c = 1 half the time."""

    def planner(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
        phase = 0.0 if rng.random() < 0.5 else rng.random()
        starts = np.floor(base ** (phase + np.arange(1 + int(np.log(t[-1]) / np.log(base)))) + 1e-6)
        length = np.floor(rng.integers(1, 9) * growth ** np.arange(starts.size))
        length = np.minimum(length, np.diff(starts, append=np.inf))
        forced = np.clip(t[:, None] - starts + 1, 0, length).sum(axis=1)
        lossy = 1.0 if rng.random() < 0.5 else rng.uniform(0.3, 0.95)
        return Plan(_split(rng, lossy * forced), np.diff(forced, prepend=0.0).astype(np.int64))

    return planner


def _squares_log(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    roots = np.floor(np.sqrt(t))
    harmonic = np.cumsum(np.minimum(1.0, rng.uniform(0.5, 3.0) / np.arange(1, roots[-1] + 1)))
    return Plan(_split(rng, harmonic[roots.astype(np.int64) - 1]), np.diff(roots, prepend=0.0).astype(np.int64))


def _squares(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    squares, burst = np.floor(np.sqrt(t)), int(rng.integers(1, 4))
    forced = np.minimum(burst * (squares - 1) + np.minimum(t - squares**2 + 1, burst), t)
    forced = np.maximum.accumulate(forced)
    return Plan(_split(rng, rng.uniform(0.5, 1.0) * forced), np.diff(forced, prepend=0.0).astype(np.int64))


# -- powers, linear ----------------------------------------------------------------------------------------------------


def _root(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    """Between 3 and 100 events in all, of which some 30 % come in the last octave."""
    total = log_uniform(rng, 3.0, 100.0) * np.sqrt(t / t[-1]) * _varied(rng, runs)
    return Plan(_split(rng, total + (_start(rng, runs, t) if rng.random() < 0.5 else 0.0)))


def _log_squared(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    return Plan(_split(rng, log_uniform(rng, 0.02, 0.3) * _octaves(rng, t) ** 2 * _varied(rng, runs)))


def _linear(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    return Plan(_split(rng, log_uniform(rng, 0.01, 0.2) * t))


def _linear_sparse(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    total = log_uniform(rng, 0.5, 20.0) * t / t[-1] * _varied(rng, runs)
    return Plan(_split(rng, total + (_start(rng, runs, t) if rng.random() < 0.5 else 0.0)))


def _linear_under_log(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    octaves, rare = _octaves(rng, t), log_uniform(rng, 2.0, 30.0) * t / t[-1]
    arms = [rng.uniform(0.3, 2.0) * octaves, rng.uniform(0.3, 2.0) * octaves, rare * _varied(rng, runs)]
    return Plan(_stack(*[arms[i] for i in rng.permutation(3)]))


def _some_linear(low: float, high: float, others_grow: bool) -> Planner:
    """A share of the runs, at least one, is linear."""

    def planner(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
        number = max(1, round(rng.uniform(low, high) * runs))
        linear = rng.permutation(runs)[:, None] < number
        others = _start(rng, runs, t)
        if others_grow and rng.random() < 0.5:
            others = others + rng.uniform(0.3, 2.0) * _octaves(rng, t)
        return Plan(_split(rng, np.where(linear, log_uniform(rng, 0.01, 0.3) * t, others)))

    return planner


def _phase_change(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    onset = t[-1] * rng.uniform(0.2, 0.3) * rng.uniform(0.9, 1.1, (runs, 1))
    events = log_uniform(rng, 3.0, 0.1 * t[-1])
    return Plan(_split(rng, _start(rng, runs, t) + events / t[-1] * np.maximum(t - onset, 0.0)))


def _seasons(rng: np.random.Generator, runs: int, t: FloatArray) -> Plan:
    period, share = t[-1] * rng.uniform(0.05, 0.2), rng.uniform(0.15, 0.6)
    shifted = t / period + rng.random()
    active = np.floor(shifted) + np.minimum(shifted % 1, share) / share
    return Plan(_split(rng, log_uniform(rng, 1.0, 0.01 * period) * (active - active[0]) * _varied(rng, runs)))


EVENTS = (
    _family(
        "events-stop", "constant", None, _nothing_after, "Losses at the start and none after, by 2 to 4 arms.",
    ),
    _family(
        "events-die-power", "constant", None, _die_power, "Losses die out: their rate falls like t^-1.3 to t^-2.",
    ),
    _family("events-die-exponential", "constant", None, _die_exponential, "The rate of losses falls exponentially."),
    _family(
        "events-stragglers", "constant", None, _stuck(2.0),
        "Each run loses at a constant rate until it gets unstuck, at a time with tail t^-2.",
    ),
    _family(
        "events-log", "logarithmic", None, _log(0.5, 3.0), "0.5 to 3 losses per run and octave, at any time.",
    ),
    _family(
        "events-log-sparse", "logarithmic", None, _log(0.1, 0.5, 5.0),
        "0.1 to 0.5 losses per run and octave after an early cost.",
    ),
    _family(
        "events-log-rare", "logarithmic", None, _log(0.02, 0.1, 20.0),
        "0.02 to 0.1 losses per run and octave after a large early cost; a draw may hold hardly any.",
    ),
    _family(
        "events-log-clustered", "logarithmic", None, _log(0.3, 3.0, 5.0, 6.0),
        "0.3 to 3 losses per run and octave that come in clusters of up to 6 on average.",
    ),
    _family(
        "events-log-hidden-arm", "logarithmic", None, _hidden_arm,
        "One of 3 arms loses at 0.1 to 2 steps per octave under a large early cost of the others.",
    ),
    _family(
        "events-jumps-2", "logarithmic", None, _bursts(2.0, 1.0),
        "Forced exploration in bursts at steps 2^k, and no other losses.",
    ),
    _family(
        "events-jumps-4", "logarithmic", None, _bursts(4.0, 1.0),
        "Forced exploration in bursts at steps 4^k, so that every other octave is flat.",
    ),
    _family(
        "events-squares-log", "logarithmic", None, _squares_log,
        "At steps k² an arm is explored with a probability that falls like 1/k.",
    ),
    _family("events-squares", "power", 0.5, _squares, "Forced exploration in bursts at every step k²."),
    _family(
        "events-epochs", "power", 0.5, _bursts(2.0, 2**0.5),
        "Explore, then commit, in doubling epochs: bursts at 2^k whose length grows like 2^(k/2).",
    ),
    _family(
        "events-stuck", "power", 0.5, _stuck(0.5),
        "Each run is linear until it gets unstuck at a time with tail t^-½: all flatten, the mean grows like √t.",
    ),
    _family("events-root", "power", 0.5, _root, "Losses whose number grows like √t, 3 to 100 per run in all."),
    _family("events-log-squared", "other", None, _log_squared, "Losses whose number grows like log² t."),
    _family("events-linear", "linear", 1.0, _linear, "Losses at a constant rate of 1 to 20 % of the steps."),
    _family(
        "events-linear-sparse", "linear", 1.0, _linear_sparse,
        "Losses at a constant rate per step, but only 0.5 to 20 per run in all.",
    ),
    _family(
        "events-linear-under-log", "linear", 1.0, _linear_under_log,
        "One of 3 arms loses at a constant rate, 2 to 30 times per run, under logarithmic losses of the others.",
    ),
    _family(
        "events-few-linear", "linear", 1.0, _some_linear(0.01, 0.05, False),
        "1 to 5 % of the runs (at least one) linear, the others flat after the start.",
    ),
    _family(
        "events-some-linear", "linear", 1.0, _some_linear(0.1, 0.3, True),
        "10 to 30 % of the runs linear, the others flat or logarithmic.",
    ),
    _family(
        "events-phase", "linear", 1.0, _phase_change,
        "Losses at the start, then none, then a constant rate from about a quarter of the horizon on.",
    ),
    _family(
        "events-seasons", "linear", 1.0, _seasons,
        "Losses in 15 to 60 % of each season of 0.05 to 0.2 of the horizon, and none in between.",
    ),
)  # fmt: skip
"""Families with losses."""
