"""The one tolerance of all tests: so many rounding errors, times the condition number of the problem."""

from typing import Any

import numpy as np

EPSILON = float(np.finfo(np.float64).eps)


def rounding(*, condition: float = 1.0, operations: int = 100, epsilon: float = EPSILON) -> float:
    """A relative error that rounding alone can cause: so many operations on a problem of this condition number."""
    return operations * condition * epsilon


def assert_close(actual: Any, wanted: Any, *, condition: float = 1.0, operations: int = 100) -> None:
    """Two ways to compute the same numbers agree up to rounding, relative to the largest of them."""
    scale = float(np.abs(np.asarray(wanted, dtype=float)).max(initial=0.0))
    tolerance = rounding(condition=condition, operations=operations)
    np.testing.assert_allclose(actual, wanted, rtol=tolerance, atol=tolerance * scale)
