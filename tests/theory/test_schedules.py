"""α_t: the paper's schedule against the oracle, and every form in which a user may give one."""

import math

import numpy as np
import pytest

from armspan.errors import InvalidParameter
from armspan.theory import as_schedule, f, paper_alpha
from tests import naive

T = np.arange(1, 200)


def test_f_and_alpha_are_the_papers() -> None:
    np.testing.assert_allclose(f(T), [naive.f(t) for t in T.tolist()])
    ours = paper_alpha(T, n_features=3, bias=0.9 * 1.2, noise_scale=0.5)
    np.testing.assert_allclose(ours, [naive.alpha(t, 3, 0.9, 1.2, 0.5) for t in T.tolist()])


def test_constants_arrays_and_functions_are_schedules() -> None:
    values = np.linspace(3, 1, 199)
    np.testing.assert_array_equal(as_schedule(2.5)(T), np.full(199, 2.5))
    np.testing.assert_array_equal(as_schedule(values.tolist())(T[10:20]), values[10:20])
    np.testing.assert_array_equal(as_schedule(lambda t: 1 / t)(T), 1 / T)
    np.testing.assert_array_equal(as_schedule(lambda t: 7)(T), np.full(199, 7.0))
    np.testing.assert_allclose(as_schedule(lambda t: math.log(t) if t > 1 else 0.0)(T), np.log(T))


@pytest.mark.parametrize(
    ("alpha", "sentence"),
    [
        (-1.0, "alpha must be >= 0, got -1.0"),
        (float("nan"), "alpha must be >= 0, got nan"),
        ("big", "alpha must be >= 0, got 'big'"),
        ([1.0, float("inf")], r"alpha must be finite, got inf at \[1\]"),
        ([[1.0]], r"alpha must have shape \(T,\), got shape \(1, 1\)"),
        ([1.0, 2.0], "alpha must have one entry per step, got 2 entries for step 199"),
        (lambda t: t[:3], r"alpha must give one value per step, got shape \(3,\) for 199 steps"),
        (lambda t: np.log(0.5 * t), "alpha must be finite and >= 0, got -0.69.* at step 1"),
    ],
)
def test_what_is_no_schedule_is_refused(alpha: object, sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        as_schedule(alpha)(T)  # type: ignore[arg-type]
