"""The audit of logged decisions: parameters fitted to the log, and how far what is found can be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray, IntArray, Progress
from armspan.diversity.data import ContextData
from armspan.diversity.measure import audit_problem
from armspan.diversity.moments import smallest_eigenvalues
from armspan.diversity.report import DiversityReport
from armspan.errors import InvalidParameter

RESAMPLES = 200


@dataclass(frozen=True)
class LoggedDiversity:
    """The audit of a log, with 95 % intervals from a bootstrap of its rows.

    report : the audit, by parameters fitted to the log, every row a context.
    probability, second_moment : (K, 2) intervals of how often each arm is best, and of λ_min of its features there.
    diverse : the share of the resamples in which every arm was best somewhere and its features there spanned.
    rows : how many decisions of each arm (K,) the log has.

    λ₀ has no interval: it rests on the d most different rows, and a resample lacks a third of any rows.
    """

    report: DiversityReport
    probability: FloatArray
    second_moment: FloatArray
    diverse: float
    rows: IntArray


def audit_log(
    X: Any,
    arms: Sequence[Any],
    rewards: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    name: str = "log",
    resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> LoggedDiversity:
    """Audit logged decisions.

    X : (n, d) features, shared by the arms. arms : (n,) names of those chosen. rewards : (n,).
    resamples : of the bootstrap, in each of which rows are drawn, parameters fitted and diversity measured again, so
    that the intervals hold what fitting leaves uncertain. progress : called as progress(done, total).
    """
    X = _validate.array("X", X, shape=("n", "d"))
    rewards = _validate.array("rewards", rewards, shape=(len(X),))
    _validate.whole("resamples", resamples, at_least=1)
    if len(arms) != len(X):
        raise InvalidParameter(f"arms must have {len(X)} entries, one a row of X, got {len(arms)}")
    names, chosen = _numbered(arms)
    if len(names) < 2:
        raise InvalidParameter(f"arms must name at least 2 arms, got {len(names)}")
    K = len(names)
    report = audit_problem(
        ContextData(X, fit(X, chosen, rewards, K), name=name), arm_names=names, feature_names=feature_names
    )
    rng = np.random.default_rng(seed)
    found = np.empty((resamples, 2, K))
    for i in range(resamples):
        rows = rng.integers(len(X), size=len(X))
        found[i] = _measure(X[rows], chosen[rows], rewards[rows], K)
        if progress is not None:
            progress(i + 1, resamples)
    (p_low, moment_low), (p_high, moment_high) = np.quantile(found, [0.025, 0.975], axis=0)
    return LoggedDiversity(
        report=report,
        probability=np.column_stack([p_low, p_high]),
        second_moment=np.column_stack([moment_low, moment_high]),
        diverse=float((found[:, 1] > 0).all(axis=1).mean()),
        rows=np.bincount(chosen, minlength=K),
    )


def fit(X: FloatArray, arms: IntArray, rewards: FloatArray, n_arms: int, ridge: float = 1.0) -> FloatArray:
    """θ̂ (K, d) by ridge regression of each arm's rewards on the features of its rows."""
    d = X.shape[1]
    theta_hat = np.zeros((n_arms, d))
    for a in range(n_arms):
        rows = X[arms == a]
        theta_hat[a] = np.linalg.solve(ridge * np.eye(d) + rows.T @ rows, rows.T @ rewards[arms == a])
    return theta_hat


def _measure(X: FloatArray, arms: IntArray, rewards: FloatArray, n_arms: int) -> tuple[FloatArray, FloatArray]:
    x, means, weights, _ = ContextData(X, fit(X, arms, rewards, n_arms)).context_table(len(X))
    return smallest_eigenvalues(x, means, weights)


def _numbered(arms: Sequence[Any]) -> tuple[list[str], IntArray]:
    """Names in order, numbers by size and others by letter, and the place of each row's arm among them."""
    distinct = set(arms)
    try:
        ordered = sorted(distinct)
    except TypeError:  # of several kinds
        ordered = sorted(distinct, key=str)
    place = {arm: number for number, arm in enumerate(ordered)}
    return [str(arm) for arm in ordered], np.array([place[arm] for arm in arms], dtype=np.int64)
