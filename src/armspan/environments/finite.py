"""Finite contexts that arrive independently: Section 4 of the paper."""

from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray
from armspan.environments.assumptions import Assumption, independent
from armspan.environments.table import TableEnvironment


class FiniteContexts(TableEnvironment):
    """A finite set of contexts that arrive independently.

    Its truth is in `reward_table`, `best_arms`, `gap` and `lambda_0()`.

    Parameters
    ----------
    features : (K, n, d) or (n, d) array
        Feature vector of each arm in each context; (n, d) if all arms share them.
    theta : (K, d) array
        Parameter of each arm. An arm's mean reward is its theta times its features.
    probabilities : (n,) array, optional
        How often each context arrives; all equally often if left out.
    noise : float or noise, default 1
        The standard deviation of Gaussian noise, or `Gaussian(scale)`, `Rademacher(scale)`, or `Bernoulli()` for
        clicks, whose probability is the mean reward.
    name : str
        Its name in reports.
    """

    def __init__(
        self, features: Any, theta: Any, probabilities: Any = None, noise: Any = 1.0, *, name: str = "finite contexts"
    ) -> None:
        super().__init__(features, theta, noise)
        self.name = name
        if probabilities is None:
            probabilities = np.full(self.n_contexts, 1 / self.n_contexts)
        self._set_probabilities(_validate.distribution("probabilities", probabilities, shape=(self.n_contexts,)))

    def arrival_rows(self) -> FloatArray:
        return self.probabilities[None, :]

    def arrivals(self) -> Assumption:
        return independent(self.n_contexts)
