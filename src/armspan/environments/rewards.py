"""Finite contexts whose mean rewards are a table, linear in the features or not; and labelled tables as bandits."""

from typing import Any

import numpy as np

from armspan import _validate
from armspan._text import counted
from armspan._typing import FloatArray
from armspan.environments.assumptions import Assumption, independent
from armspan.environments.noise import as_noise
from armspan.environments.table import TableEnvironment
from armspan.errors import InvalidParameter, NotApplicable

LINEAR = 1e-9
"""How far from linear rewards may be by rounding, relative to their size."""


class RewardTable(TableEnvironment):
    """A finite set of contexts with any mean reward for each arm, linear in the features or not.

    The attribute `theta` is each arm's best linear fit, weighted by how often contexts arrive, and `misfit` is the
    largest distance of a reward from it, in contexts that arrive. If that is more than rounding, or half the gap, the
    paper's theory does not cover this environment.

    Parameters
    ----------
    features : (K, n, d) or (n, d) array
        Feature vector of each arm in each context; (n, d) if all arms share them.
    rewards : (K, n) array
        Mean reward of each arm in each context.
    probabilities : (n,) array, optional
        How often each context arrives; all equally often if left out.
    noise : float or noise, default 1
        The standard deviation of Gaussian noise, or `Gaussian(scale)`, `Rademacher(scale)` or `Bernoulli()`.
    name : str
        Its name in reports.
    """

    def __init__(
        self, features: Any, rewards: Any, probabilities: Any = None, noise: Any = 1.0, *, name: str = "reward table"
    ) -> None:
        self.name = name
        self._read(features, rewards)
        self.reward_table = _validate.array("rewards", rewards, shape=(self.n_arms, self.n_contexts))
        self.noise = as_noise(noise)
        if probabilities is None:
            probabilities = np.full(self.n_contexts, 1 / self.n_contexts)
        probabilities = _validate.distribution("probabilities", probabilities, shape=(self.n_contexts,))
        root = np.sqrt(probabilities)
        self.theta = np.array(
            [
                np.linalg.lstsq(root[:, None] * x, root * y, rcond=None)[0]
                for x, y in zip(self.features, self.reward_table, strict=True)
            ]
        )
        self._find_truth()
        self._set_probabilities(probabilities)
        fitted = np.einsum("knd,kd->kn", self.features, self.theta)
        self.misfit = float(np.abs(self.reward_table - fitted)[:, probabilities > 0].max())

    @property
    def outside_theory(self) -> str | None:
        rounding = LINEAR * float(np.abs(self.reward_table[:, self.probabilities > 0]).max())
        if self.misfit <= min(rounding, self.gap / 2 or rounding):  # a worse fit may mistake the best arm
            return None
        return f"rewards of {self.name} are not linear in the features: off by up to {self.misfit:.3g}"

    def arrival_rows(self) -> FloatArray:
        return self.probabilities[None, :]

    def arrivals(self) -> Assumption:
        return independent(self.n_contexts)

    def mean_rewards(self, x: FloatArray) -> FloatArray:
        found = np.flatnonzero((np.swapaxes(self.features, 0, 1) == x).all(axis=(1, 2)))
        if not found.size:
            raise NotApplicable(f"{self.name} knows the mean rewards of its own contexts only")
        means = self.reward_table[:, found]
        if (means != means[:, :1]).any():
            which = ", ".join(map(str, found[:5])) + (", …" if found.size > 5 else "")
            raise NotApplicable(f"contexts {which} of {self.name} have these features, and different mean rewards")
        return means[:, 0]


def labelled(X: Any, y: Any, *, intercept: bool = True, name: str = "labels") -> RewardTable:
    """A labelled table as a bandit: each row is a context, each label an arm; the right arm has reward 1, the others 0.

    All rows are equally likely. Features are standardised to mean 0 and standard deviation 1, constant ones are left
    out, and then all are scaled by one number so that the longest row has length 1.

    Parameters
    ----------
    X : (n, d) array
        Features.
    y : (n,) array
        Labels.
    intercept : bool, default True
        Whether to add a constant 1.
    name : str
        Its name in reports.
    """
    X = _validate.array("X", X, shape=("rows", "features"))
    _validate.unmasked("y", y)
    given = np.asarray(y, dtype=object)  # as they are: a number among texts is no text
    try:
        missing = np.flatnonzero([label != label for label in given.ravel()])  # nan
        if missing.size:
            raise InvalidParameter(f"y must have no missing labels, got {given.ravel()[missing[0]]} at {missing[0]}")
        labels, which = np.unique(given, return_inverse=True)
    except TypeError:
        raise InvalidParameter("y must have labels of one kind, all numbers or all texts, got several") from None
    if which.shape != (len(X),) or len(labels) < 2:
        kinds = counted(len(labels), "kind")
        raise InvalidParameter(f"y must have {len(X)} labels, of at least 2 kinds, got {kinds}")
    X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=0))[1])  # at most 1, so that squares are numbers in any unit
    varies = np.any(X[0] != X, axis=0)
    X = (X - X.mean(axis=0))[:, varies] / X.std(axis=0)[varies]
    if intercept:
        X = np.column_stack([X, np.ones(len(X))])
    X = X / np.linalg.norm(X, axis=1).max()
    rewards = (which == np.arange(len(labels))[:, None]).astype(np.float64)
    return RewardTable(np.broadcast_to(X, (len(labels), *X.shape)), rewards, noise=0.0, name=name)
