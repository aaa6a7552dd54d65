"""audit(): of an environment, or of data: contexts that were seen, and parameters known or fitted to a log."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray, IntArray
from armspan.diversity.moments import leads, smallest_eigenvalues
from armspan.diversity.report import Audited, DiversityReport, audit_problem
from armspan.errors import InvalidParameter

RESAMPLES = 200


class ContextData:
    """Seen contexts as a problem to be audited: each row as likely as any other.

    contexts : (n, d) features shared by the arms, or (n, K, d). theta_hat : (K, d).
    """

    noise_scale = 1.0

    def __init__(self, contexts: Any, theta_hat: Any, *, name: str = "data") -> None:
        self.name = name
        self.theta_hat = _validate.array("theta_hat", theta_hat, shape=("K", "d"))
        self.n_arms, self.n_features = self.theta_hat.shape
        if self.n_arms < 2:
            raise InvalidParameter(f"theta_hat must have at least 2 arms on its first axis, got {self.n_arms}")
        shared = np.ndim(contexts) == 2
        wanted = ("n", self.n_features) if shared else ("n", self.n_arms, self.n_features)
        given = _validate.array("contexts", contexts, shape=wanted)
        self.n_contexts = len(given)
        self._x = np.repeat(given[:, None, :], self.n_arms, axis=1) if shared else given
        self._means = np.einsum("nkd,kd->nk", self._x, self.theta_hat)
        self.feature_bound = float(np.linalg.norm(given, axis=-1).max())
        self.parameter_bound = float(np.linalg.norm(self.theta_hat, axis=1).max())
        self.gap = float(leads(self._means).min())

    def context_table(self, samples: int) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
        """All of them; see `Audited`."""
        return self._x, self._means, np.full(self.n_contexts, 1 / self.n_contexts), True


def audit(
    env: Audited | None = None, *, contexts: Any = None, theta_hat: Any = None, rank_tolerance: float = 1e-9
) -> DiversityReport:
    """Measure the diversity of an environment's contexts, or of contexts that were seen.

    env : an environment. Or contexts : (n, d) features shared by the arms, or (n, K, d), with theta_hat : (K, d), the
    arms' parameters as known or fitted.
    rank_tolerance : singular values below this times the largest count as 0 in ranks.
    """
    if (env is None) == (contexts is None) or (contexts is None) != (theta_hat is None):
        raise InvalidParameter("audit must be given an environment, or both contexts and theta_hat")
    problem = ContextData(contexts, theta_hat) if env is None else env
    return audit_problem(problem, rank_tolerance=rank_tolerance)


@dataclass(frozen=True)
class Intervals:
    """95 % intervals (K, 2) from a bootstrap of the rows: how often each arm is best, and λ_min of its features."""

    probability: FloatArray
    second_moment: FloatArray


def fit(X: FloatArray, arms: IntArray, rewards: FloatArray, n_arms: int, ridge: float = 1.0) -> FloatArray:
    """θ̂ (K, d) by ridge regression of each arm's rewards on the features of its rows."""
    d = X.shape[1]
    theta_hat = np.zeros((n_arms, d))
    for a in range(n_arms):
        rows = X[arms == a]
        theta_hat[a] = np.linalg.solve(ridge * np.eye(d) + rows.T @ rows, rows.T @ rewards[arms == a])
    return theta_hat


def audit_log(X: FloatArray, arms: IntArray, rewards: FloatArray, n_arms: int, *, name: str) -> DiversityReport:
    """Audit logged decisions with shared features X (n, d): parameters are fitted, then every row is a context."""
    return audit_problem(ContextData(X, fit(X, arms, rewards, n_arms), name=name))


def bootstrap(X: FloatArray, arms: IntArray, rewards: FloatArray, n_arms: int, *, seed: int = 0) -> Intervals:
    """Resample the rows, fit again, measure again; so the intervals hold what fitting leaves uncertain."""
    rng = np.random.default_rng(seed)
    n = len(X)
    found = np.empty((RESAMPLES, 2, n_arms))
    for i in range(RESAMPLES):
        rows = rng.integers(n, size=n)
        data = ContextData(X[rows], fit(X[rows], arms[rows], rewards[rows], n_arms))
        x, means, weights, _ = data.context_table(n)
        found[i] = smallest_eigenvalues(x, means, weights)
    low, high = np.quantile(found, [0.025, 0.975], axis=0)
    return Intervals(np.column_stack([low[0], high[0]]), np.column_stack([low[1], high[1]]))
