"""Eight numbers at once are what NumPy makes of them, to the last bit."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from armspan.kernels import vectors
from armspan.kernels._compile import exact_kernel
from armspan.kernels.vectors import all_of, eight, get, magnitude, pick, put, root

KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "quotient": lambda a, b: a / b,
    "one number first": lambda a, b: 1.0 / (3.0 - 2.0 * b),
    "one number last": lambda a, b: (a + 1.0) * 0.5 - 7.0,
    "root": lambda a, b: root(magnitude(a)),
    "larger": lambda a, b: pick(a > b, a, b),
    "smaller": lambda a, b: pick(a < b, a, b),
    "equal": lambda a, b: pick(a == b, a, eight(5.0)),
}


@exact_kernel
def sum_up(a: Any, b: Any) -> Any:
    """Two numbers into one, in place."""
    total = eight(0.0)
    for row in range(len(a)):
        total += get(a, row)
        total -= get(b, row)
    put(a, 0, total)
    return all_of(total > eight(0.0))


@pytest.mark.parametrize("kind", KINDS)
def test_operations_are_those_of_numpy(kind: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 3, 8))
    a[1, 3:5] = b[1, 3:5]
    found, operation = np.zeros((3, 8)), numba.njit(KINDS[kind])

    @numba.njit(error_model="numpy")
    def work(a: Any, b: Any, found: Any) -> None:
        put(found, 1, operation(get(a, 1), get(b, 1)))

    work(a, b, found)
    np.testing.assert_array_equal(found, [np.zeros(8), KINDS[kind](a[1], b[1]), np.zeros(8)])


def test_sums_in_place_and_flags_of_all() -> None:
    a, b = np.arange(24.0).reshape(3, 8) + 1.0, np.zeros((3, 8))
    wanted = a.sum(axis=0)
    assert sum_up(a.copy(), b)
    b[2, 5] = 1e3
    assert not sum_up(a, b)
    wanted[5] -= 1e3
    np.testing.assert_array_equal(a[0], wanted)


def test_numbers_are_moved_as_by_plain_python() -> None:
    rng = np.random.default_rng(2)
    for kind in (np.float64, np.int64):
        source, starts = rng.integers(0, 99, 200).astype(kind), rng.integers(0, 180, (2, 8))
        turned = numba.njit(lambda *args: vectors.turn_block(*args))
        found, wanted = np.zeros((9, 8), kind), np.zeros((9, 8), kind)
        turned(found, 1, 2, source, starts, 1, 5)
        vectors.turn_block(wanted, 1, 2, source, starts, 1, 5)
        np.testing.assert_array_equal(found, wanted)
    numbers, places = rng.random(200), rng.permutation(24)[:16].reshape(2, 8) * 8
    picked, given = np.zeros((3, 8)), np.zeros((2, 200))

    @numba.njit(error_model="numpy")
    def move(numbers: Any, places: Any, picked: Any, target: Any) -> None:
        put(picked, 1, vectors.collect(numbers, places, 1, 3))
        vectors.hand_out(target, places, 0, 2, numbers.reshape(25, 8), 4, 3)

    move(numbers, places, picked, given[0])
    np.testing.assert_array_equal(picked, [np.zeros(8), vectors.collect(numbers, places, 1, 3), np.zeros(8)])
    vectors.hand_out(given[1], places, 0, 2, numbers.reshape(25, 8), 4, 3)
    np.testing.assert_array_equal(*given)
    assert (given[0] > 0).sum() == 32
