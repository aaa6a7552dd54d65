"""The knobs of one step after the other, from schedules that are evaluated for many steps at a time."""

from collections.abc import Sequence

import numpy as np

from armspan._typing import FloatArray
from armspan.theory import Schedule

AHEAD = 1024
"""Steps that are evaluated at a time, at most."""


class Ahead:
    """Schedules, evaluated ahead as far as they go: one that ends is refused in the step after its last, not before."""

    def __init__(self, schedules: Sequence[Schedule]) -> None:
        self._schedules = schedules
        self._first, self._size = 0, 0
        self._values: list[FloatArray] = []

    def at(self, t: int) -> tuple[FloatArray, ...]:
        """The knobs of step t, an array (1,) each."""
        if not self._first <= t < self._first + self._size:
            self._look_ahead(t)
        place = t - self._first
        return tuple(values[place : place + 1] for values in self._values)

    def _look_ahead(self, t: int) -> None:
        size = AHEAD
        while True:
            steps = np.append(np.arange(t, t + size), t + size - 1)  # never one alone, which any list of one would fit
            try:
                values = [np.asarray(schedule(steps)) for schedule in self._schedules]
            except Exception:  # a user's function may raise anything where it ends
                if size == 1:
                    raise
                size //= 2
            else:
                self._first, self._size, self._values = t, size, values
                return
