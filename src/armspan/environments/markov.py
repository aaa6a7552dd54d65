"""Finite contexts that arrive as an ergodic Markov chain: all that the paper's proof needs of arrivals."""

from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray
from armspan.environments.assumptions import Assumption
from armspan.environments.table import TableEnvironment
from armspan.errors import InvalidParameter


class MarkovContexts(TableEnvironment):
    """A finite set of contexts of which the next depends on the present one; the first is drawn from the long run.

    features, theta, noise : as in `FiniteContexts`.
    transition : (n, n) array. Row c is the distribution of the context after c; the chain must be ergodic.
    """

    def __init__(
        self, features: Any, theta: Any, transition: Any, noise: Any = 1.0, *, name: str = "Markov contexts"
    ) -> None:
        super().__init__(features, theta, noise)
        self.name = name
        n = self.n_contexts
        self.transition = _validate.distribution("transition", transition, shape=(n, n))
        _check_ergodic(self.transition)
        self.probabilities = _stationary(self.transition)

    def arrival_rows(self) -> FloatArray:
        return np.vstack([self.transition, self.probabilities])

    def arrivals(self) -> Assumption:
        reason = "Arrivals are a Markov chain, not independent; it is ergodic, which is all that the proof needs."
        return Assumption("1.4", "Stochastic arrivals", True, reason)


def _check_ergodic(transition: FloatArray) -> None:
    """A chain is ergodic if some power of its matrix has no zero; then that of exponent (n-1)² + 1 has none."""
    n = len(transition)
    reach = transition > 0
    ever = reach | np.eye(n, dtype=bool)
    for _ in range(n.bit_length()):
        ever = ever @ ever
    if not ever.all():
        c, to = (int(i) for i in np.argwhere(~ever)[0])
        raise InvalidParameter(f"transition must be ergodic, but context {to} cannot be reached from context {c}")
    power = np.eye(n, dtype=bool)
    for bit in f"{(n - 1) ** 2 + 1:b}":
        power = power @ power
        if bit == "1":
            power = power @ reach
    if not power.all():
        raise InvalidParameter("transition must be ergodic, but it is periodic: give some context a chance to repeat")


def _stationary(transition: FloatArray) -> FloatArray:
    """π with π = πP and Σπ = 1."""
    n = len(transition)
    equations = np.vstack([transition.T - np.eye(n), np.ones(n)])
    result = np.linalg.lstsq(equations, np.append(np.zeros(n), 1.0), rcond=None)[0]
    result = np.maximum(result, 0.0)
    return np.asarray(result / result.sum())
