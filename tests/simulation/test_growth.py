"""The growth verdict on curves whose growth is known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

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
        (lambda t: 3 * np.sqrt(t), "square-root"),
        (lambda t: 0.02 * t, "linear"),
        (lambda t: 100 + 0.001 * t, "linear"),
        (lambda t: 100 * (1 - (1 + t / 1000) ** -0.5), "undecided"),  # flattens, but is not flat
    ],
)
def test_known_growth(shape: Any, verdict: str) -> None:
    found = growth(MARKS, curves(shape))
    assert found.verdict == verdict, found
    assert found.last_doubling_interval[0] <= found.last_doubling <= found.last_doubling_interval[1]


def test_noise_that_hides_the_growth_is_undecided() -> None:
    """Between log and square root, with few and very different runs."""
    found = growth(MARKS, curves(lambda t: 0.5 * t**0.25, runs=6))
    assert found.verdict == "undecided"
    assert "more runs or a longer horizon" in found.reason


def test_few_runs_are_undecided() -> None:
    found = growth(MARKS, curves(lambda t: 0.02 * t, runs=4))
    assert found.verdict == "undecided"
    assert "4 runs are too few" in found.reason


def test_the_callers_own_checkpoints_are_enough() -> None:
    everything = curves(lambda t: 40 * np.log(1 + t))
    few = np.searchsorted(MARKS, [10, 1000, 5000, 12_000, 30_000, 60_000, T])
    assert growth(MARKS[few], everything[:, few]).verdict == "logarithmic"
    late = growth(MARKS[-1:], everything[:, -1:])
    assert late.verdict == "undecided"
    assert late.reason == "There is no checkpoint near step 6250, where the verdict must look."


def test_a_short_run_or_sparse_checkpoints_do_not_tell() -> None:
    line = np.arange(1.0, 51)[:, None]
    short = growth(np.array([1, 2]), np.hstack([line, 2 * line]))
    assert (short.verdict, short.reason) == ("undecided", "2 steps are too few to tell; give at least 16.")
    sparse = growth(np.array([1, 20_000]), np.hstack([line, 20_000 * line]))
    assert sparse.verdict == "undecided"


@pytest.mark.slow
def test_error_rates() -> None:
    """The wrong verdict (another growth, not "undecided") is rare: at most 5 of 200 for each shape."""
    shapes: dict[str, Callable[[Any], Any]] = {
        "constant": lambda t: 100 * (1 - np.exp(-t / 500)),
        "logarithmic": lambda t: 40 * np.log(1 + t),
        "square-root": lambda t: 3 * np.sqrt(t),
        "linear": lambda t: 0.02 * t,
    }
    for verdict, shape in shapes.items():
        found = [growth(MARKS, curves(shape, seed=seed)).verdict for seed in range(200)]
        assert sum(word not in (verdict, "undecided") for word in found) <= 5
        assert found.count(verdict) >= 180


def test_many_runs_have_the_intervals_of_a_bootstrap() -> None:
    """Beyond 500 runs the means of resamples come from their normal limit; here they are drawn, run by run."""
    rng = np.random.default_rng(3)
    checkpoints, runs = np.array([1000, 4000, 8000, 16000]), 1500
    curves = np.cumsum(rng.exponential(size=(runs, 4)) * [10, 4, 2, 2], axis=1)
    result = growth(checkpoints, curves)
    means = curves[rng.integers(runs, size=(4000, runs))].mean(axis=1)  # (4000, 4)
    shares = (means[:, 3] - means[:, 2]) / means[:, 3]
    exponents = np.log((means[:, 3] - means[:, 1]) / (means[:, 1] - means[:, 0])) / np.log(4)
    for ours, theirs in ((result.last_doubling_interval, shares), (result.exponent_interval, exponents)):
        low, high = np.quantile(theirs, [0.025, 0.975])
        np.testing.assert_allclose(ours, (low, high), rtol=0, atol=0.1 * (high - low))


def test_a_few_bad_runs_among_many_are_still_seen() -> None:
    """The means of 600 runs of which 6 grow are far from normal; the normal limit alone would not decide."""
    rng = np.random.default_rng(0)
    checkpoints = np.array([1000, 4000, 8000, 16000])
    curves = np.ones((600, 4))
    curves[:6] += rng.exponential(size=(6, 1)) * checkpoints
    assert growth(checkpoints, curves).verdict == "linear"


@pytest.mark.parametrize(("value", "verdict"), [(0.0, "constant"), (np.nan, "undecided"), (1e200, "constant")])
def test_odd_numbers_in_many_runs(value: float, verdict: str) -> None:
    assert growth(np.array([1000, 4000, 8000, 16000]), np.full((600, 4), value)).verdict == verdict
