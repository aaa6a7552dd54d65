"""Regret grows no faster than a policy's paper promises, in problems that satisfy what its proof assumes.

The short form has policies whose promise a short horizon can show; `python -m benchmarks.promises` has all. It is wrong
in fewer than one of a thousand seeds: exponents lie at least four standard errors below the limit.
"""

import math

import numpy as np
import pytest
from benchmarks.promises import LAWS, PROMISES, Promise, exponent, measure, own_parameters

from armspan import RandomChoice

HORIZON, RUNS = 2**14, 10
LOGARITHM = 0.15
"""What log(T/T₀) adds to an exponent at this horizon, or a little more."""


def promised(promise: Promise) -> float:
    law = LAWS[promise.law]
    return math.log2(law(HORIZON) / law(HORIZON / 16)) / 4 + LOGARITHM


@pytest.mark.parametrize(
    "name", ["OLSBandit, q = 20", "GreedyFirst", "TruncatedLinUCB", "ExploreThenCommit", "EpochGreedy", "LinMED"]
)
def test_regret_grows_no_faster_than_promised(name: str) -> None:
    promise = PROMISES[name]
    assert max(found for found, _, _ in measure(promise, HORIZON, RUNS)) < promised(promise)


def test_a_policy_that_learns_nothing_keeps_no_promise() -> None:
    for law in ("log T", "√T", "T^⅔"):
        promise = Promise(lambda T: RandomChoice(), own_parameters, law)
        assert min(low for _, low, _ in measure(promise, HORIZON, RUNS)) > promised(promise)


def test_the_exponent_of_a_power_is_found() -> None:
    rng = np.random.default_rng(0)
    early, late = (size * rng.uniform(0.9, 1.1, 200) for size in (1.0, 16**0.5))
    found, low, high = exponent(early, late, rng)
    assert found == pytest.approx(0.5, abs=0.01)
    assert low < 0.5 < high
    assert high - low < 0.02
