"""The growth verdict on curves whose growth is known; the long examination is `python -m benchmarks.truth growth`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from benchmarks.truth.curves import FAMILIES
from benchmarks.truth.growth import ALL, examine, examine_exponent
from hypothesis import given
from hypothesis import strategies as st

import armspan
from armspan.environments import FiniteContexts, diversity_dial, paper_1a
from armspan.environments.figure_1 import FEATURES_1A, THETA
from armspan.simulation import octaves
from armspan.simulation.growth import growth
from armspan.simulation.plan import as_checkpoints

T = 100_000
MARKS = as_checkpoints(None, T)


def curves(shape: Callable[[Any], Any], runs: int = 50, seed: int = 0) -> Any:
    """Random step curves whose mean at t is shape(t): increments are gamma distributed, a run may be luckier."""
    rng = np.random.default_rng(seed)
    increments = np.diff(shape(MARKS.astype(float)), prepend=0.0)
    luck = rng.uniform(0.5, 1.5, size=(runs, 1))
    return np.cumsum(luck * rng.gamma(np.maximum(2 * increments, 1e-12), 0.5, size=(runs, MARKS.size)), axis=1)


@pytest.mark.parametrize(
    ("shape", "verdict"),
    [
        (lambda t: 100 * (1 - np.exp(-t / 500)), "constant"),
        (lambda t: 0 * t, "constant"),
        (lambda t: 40 * np.log(1 + t), "logarithmic"),
        (lambda t: 3 * np.sqrt(t), "power"),
        (lambda t: 2 * t ** (1 / 3), "undecided"),  # powers of log t look the same for long
        (lambda t: 0.02 * t, "linear"),
        (lambda t: 100 * (1 - (1 + t / 1000) ** -0.5), "undecided"),  # flattens, but is not flat
        (lambda t: 1000 + 0.01 * np.maximum(t - T / 4, 0), "undecided"),  # linear, but only at the end
    ],
)
def test_known_growth(shape: Any, verdict: str) -> None:
    found = growth(MARKS, curves(shape))
    assert found.verdict == verdict, found
    assert found.last_octave.low <= found.last_octave.value <= found.last_octave.high


@pytest.mark.parametrize("exponent", [0.5, 2 / 3])
def test_a_power_has_its_exponent_in_the_interval(exponent: float) -> None:
    found = growth(MARKS, curves(lambda t: 3 * t**exponent, runs=100))
    assert found.verdict == "power"
    assert found.exponent.low - 0.02 <= exponent <= found.exponent.high + 0.02


@pytest.mark.parametrize("name", ["log", "log-perfect", "root", "events-squares"])
def test_an_exponents_interval_holds_what_more_runs_would_show(name: str) -> None:
    """It once held that of 1 in 2 samples of curves like log t. Were 95 % of 400 held, 360 would be once in 20,000."""
    number = next(n for n, family in enumerate(ALL) if family.name == name)
    _, held = examine_exponent((number, 50, T))
    (hits, n), (others, m) = held
    assert n + m > 300
    assert (hits + others) / (n + m) > 0.85, held


@pytest.mark.parametrize("slope", [lambda t: np.log(1 + t), lambda t: np.sqrt(t) / 20, lambda t: t / 20_000])
def test_a_tiny_slope_after_a_large_start_is_never_constant(slope: Any) -> None:
    """Its last doubling is below 1 % of R(T), which was enough for the verdict constant once."""
    found = growth(MARKS, curves(lambda t: 1500 * (1 - np.exp(-t / 100)) + slope(t)))
    assert found.last_octave.value < 0.01
    assert found.verdict != "constant"


@pytest.mark.parametrize("end", [0.75, 0.85, 0.95])
def test_a_late_plateau_is_no_growth_law(end: float) -> None:
    ramps: list[Callable[[Any], Any]] = [np.log1p, np.sqrt, lambda t: 0.02 * t]
    for ramp in ramps:
        until = ramp(np.minimum(MARKS, end * T))
        found = growth(MARKS, curves(lambda t, until=until: 10 * until))  # type: ignore[misc]
        assert found.verdict in ("undecided", "constant"), found


def test_a_few_runs_that_grow_are_not_overlooked() -> None:
    """One run in fifty is linear, the others are flat."""
    flat = np.ones((50, MARKS.size))
    flat[7] += 0.01 * MARKS
    assert growth(MARKS, flat).verdict == "undecided"


def test_bursts_that_come_together_are_no_silence() -> None:
    """Every run explores at steps 4^k: nobody has lost for up to two octaves, and then all do again."""
    bursts = 4.0 ** np.arange(20)
    found = growth(MARKS, np.tile(np.searchsorted(bursts, MARKS, side="right").astype(float), (100, 1)))
    assert found.verdict == "undecided"


def test_few_runs_and_few_steps_are_undecided() -> None:
    found = growth(MARKS, curves(lambda t: 0.02 * t, runs=19))
    assert (found.verdict, found.reason) == ("undecided", "19 runs are too few to tell; use at least 20.")
    marks = as_checkpoints(None, 200)
    found = growth(marks, np.tile(marks.astype(float), (30, 1)))
    assert (found.verdict, found.reason) == ("undecided", "200 steps are too few to tell; use at least 256.")


def test_the_callers_own_checkpoints_are_enough_where_pulls_were_counted() -> None:
    result = armspan.simulate(
        diversity_dial(1.0), armspan.LinUCBd(), horizon=20_000, runs=60, checkpoints=[100, 20_000]
    )
    assert result.growth("LinUCB-d").verdict == "constant"
    assert result.suboptimal_pulls is not None
    alone = growth(result.checkpoints, result.pseudo_regret[0])
    assert alone.verdict == "undecided"
    assert "checkpoints lack steps" in alone.reason


@pytest.mark.parametrize(("value", "verdict"), [(0.0, "constant"), (np.nan, "undecided"), (1e200, "constant")])
def test_odd_numbers(value: float, verdict: str) -> None:
    assert growth(MARKS, np.full((600, MARKS.size), value)).verdict == verdict


def dominated() -> FiniteContexts:
    """The paper's problem (a) with a third arm that is never best: regret grows like log T at least."""
    return FiniteContexts([*FEATURES_1A, [[0.5, 0.5]] * 4], [*THETA, [-0.5, -0.5]])


def test_a_dominated_arm_is_seen_by_its_own_pulls() -> None:
    """At 2¹⁹ steps the other arms have cost some 500 and stopped; curves alone do not show what goes on."""
    result = armspan.simulate(dominated(), armspan.LinUCBd(), horizon=2**19, runs=60)
    found = result.growth("LinUCB-d")
    assert found.verdict == "logarithmic", found
    assert "suboptimal pulls of arm 2" in found.reason


def test_the_papers_problem_at_a_short_horizon_is_undecided() -> None:
    result = armspan.simulate(paper_1a(), armspan.LinUCBd(), horizon=5_000, runs=100)
    assert result.growth("LinUCB-d").verdict == "undecided"


@given(st.integers(1, 5000))
def test_every_step_has_one_bin(horizon: int) -> None:
    ends, bins = octaves.edges(horizon), octaves.bins_of(0, horizon, horizon)
    assert ends[0] == horizon
    assert ends[-1] == 0
    for t in {1, horizon, (horizon + 1) // 2, max(1, horizon // 3)}:
        b = bins[t - 1]
        assert ends[b + 1] < t <= ends[b]
    assert np.all(np.diff(bins) <= 0)


def test_no_family_of_curves_fools_the_verdict() -> None:
    """The short form of the examination: 10 samples of each family, of which at most 2 may be wrong (at a true rate of
    5 % that fails with probability 1.2 % per family, at the measured ones hardly ever; the seed is fixed).
    """
    for family in FAMILIES:
        score = examine(family, runs=50, horizon=100_000, samples=10)
        assert score.wrong <= 2, (family.name, score.verdicts)


@pytest.mark.slow
def test_decided_and_right_at_full_size() -> None:
    """At the paper's size, at least 8 of 10 samples of 100 runs are decided, and rightly; at the measured rates, 92 %
    and more, fewer happen with probability 4 % at most, and the seed is fixed.
    """
    cases = {
        "constant": (paper_1a(), armspan.LinUCBd()),
        "logarithmic": (diversity_dial(0.0), armspan.LinUCBd()),
        "linear": (paper_1a(), armspan.Greedy()),
    }
    for verdict, (env, policy) in cases.items():
        result = armspan.simulate(env, policy, horizon=500_000, runs=1000, seed=11)
        assert result.suboptimal_pulls is not None
        samples = [slice(first, first + 100) for first in range(0, 1000, 100)]
        pulls, regret = result.suboptimal_pulls[0], result.pseudo_regret[0]
        found = [growth(result.checkpoints, regret[rows], pulls[rows]).verdict for rows in samples]
        assert found.count(verdict) >= 8, found
        assert found.count(verdict) + found.count("undecided") == 10
