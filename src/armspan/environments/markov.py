"""Finite contexts that arrive as an ergodic Markov chain: all that the paper's proof requires of arrivals."""

from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.environments.assumptions import Assumption
from armspan.environments.table import TableEnvironment
from armspan.errors import InvalidParameter


class MarkovContexts(TableEnvironment):
    """A finite set of contexts in which the next one depends on the present one.

    The first context is drawn from the long-run frequencies.

    Parameters
    ----------
    features : (K, n, d) or (n, d) array
        Feature vector of each arm in each context; (n, d) if all arms share them.
    theta : (K, d) array
        Parameter of each arm.
    transition : (n, n) array
        Row c is the distribution of the context after c; the chain must be ergodic.
    noise : float or noise, default 1
        The standard deviation of Gaussian noise, or `Gaussian(scale)`, `Rademacher(scale)` or `Bernoulli()`.
    name : str
        Its name in reports.
    """

    independent_arrivals = False

    def __init__(
        self, features: Any, theta: Any, transition: Any, noise: Any = 1.0, *, name: str = "Markov contexts"
    ) -> None:
        super().__init__(features, theta, noise)
        self.name = name
        n = self.n_contexts
        self.transition = _validate.distribution("transition", transition, shape=(n, n))
        _check_ergodic(self.transition)
        self._set_probabilities(_stationary(self.transition))

    def arrival_rows(self) -> FloatArray:
        return np.vstack([self.transition, self.probabilities])

    def arrivals(self) -> Assumption:
        reason = "Arrivals are a Markov chain, not independent; it is ergodic, which is all that the proof needs."
        return Assumption("1.4", "Stochastic arrivals", True, reason)


def _check_ergodic(transition: FloatArray) -> None:
    """A chain is ergodic if every context can be reached from every other, and not only in periods."""
    forth, back = _distances(transition > 0), _distances(transition.T > 0)
    if (forth < 0).any():
        to = int(np.argmax(forth < 0))
        raise InvalidParameter(f"transition must be ergodic, but context {to} cannot be reached from context 0")
    if (back < 0).any():
        c = int(np.argmax(back < 0))
        raise InvalidParameter(f"transition must be ergodic, but context 0 cannot be reached from context {c}")
    here, there = np.nonzero(transition)
    period = int(np.gcd.reduce(np.abs(forth[here] + 1 - forth[there])))  # every cycle's length is a multiple of it
    if period != 1:
        raise InvalidParameter(
            f"transition must be ergodic, but it has period {period}: give some context a chance to repeat"
        )


def _distances(edges: BoolArray) -> IntArray:
    """Steps from context 0 to each context along edges (n, n); -1 where there is no way."""
    distance = np.full(len(edges), -1)
    distance[0], front, steps = 0, np.array([0]), 0
    while front.size:
        steps += 1
        front = np.flatnonzero(edges[front].any(axis=0) & (distance < 0))
        distance[front] = steps
    return distance


def _stationary(transition: FloatArray) -> FloatArray:
    """π with π = πP and Σπ = 1."""
    n = len(transition)
    equations = np.vstack([transition.T - np.eye(n), np.ones(n)])
    result = np.linalg.lstsq(equations, np.append(np.zeros(n), 1.0), rcond=None)[0]
    result = np.maximum(result, 0.0)
    return np.asarray(result / result.sum())
