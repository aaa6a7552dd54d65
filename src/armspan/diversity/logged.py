"""The audit of logged decisions: parameters fitted to the log, and how far what is found can be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray, IntArray, Progress
from armspan.diversity.data import ContextData, check_names
from armspan.diversity.measure import audit_problem
from armspan.diversity.moments import smallest_eigenvalues, weakest, weighted_moment
from armspan.diversity.report import DiversityReport
from armspan.errors import InvalidParameter

RESAMPLES = 200
LARGEST = 1e140


@dataclass(frozen=True)
class LoggedDiversity:
    """The audit of a log, with 95 % intervals from resampling its rows.

    report : the audit, by parameters fitted to the log, every row a context.
    probability : (K, 2) intervals of how often each arm is best, from a bootstrap.
    second_moment : (K, 2) intervals of λ_min of its features there. A sample's own λ_min is too small, since it picks
        the direction in which the sample happens to vary least. So the lower end is the bootstrap's, and the upper end
        comes from random halves: the direction from one, how much features vary along it from the other.
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
    _validate.whole("seed", seed, at_least=0)
    check_names("feature_names", feature_names, X.shape[1])
    if max(np.abs(X).max(), np.abs(rewards).max()) > LARGEST:
        raise InvalidParameter(f"X and rewards must be at most {LARGEST:g}, so that sums of squares are numbers")
    if len(arms) != len(X):
        raise InvalidParameter(f"arms must have {len(X)} entries, one a row of X, got {len(arms)}")
    names, chosen = _numbered(arms)
    K = len(names)
    if K < 2:
        raise InvalidParameter(f"arms must name at least 2 arms, got {K}")
    theta_hat = fit(X, chosen, rewards, K)
    report = audit_problem(ContextData(X, theta_hat, name=name), arm_names=names, feature_names=feature_names)
    rng = np.random.default_rng(seed)
    found, halves = np.empty((resamples, 2, K)), np.empty((resamples, K))
    for i in range(resamples):
        rows = rng.integers(len(X), size=len(X))
        found[i] = _measure(X[rows], chosen[rows], rewards[rows], K)
        order = rng.permutation(len(X))
        halves[i] = _across(X, chosen, rewards, K, order[: len(X) // 2], order[len(X) // 2 :])
        if progress is not None:
            progress(i + 1, resamples)
    (p_low, moment_low), (p_high, moment_high) = np.quantile(found, [0.025, 0.975], axis=0)
    moment_high = np.maximum(moment_high, np.quantile(halves, 0.975, axis=0))
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


def _across(
    X: FloatArray, arms: IntArray, rewards: FloatArray, n_arms: int, first: IntArray, second: IntArray
) -> FloatArray:
    """How much each arm's features vary in the second half of the rows along what is weakest in the first."""
    if len(first) == 0:
        return np.zeros(n_arms)
    theta_hat, result = fit(X[first], arms[first], rewards[first], n_arms), np.zeros(n_arms)
    for a in range(n_arms):
        one, other = (half[np.argmax(half @ theta_hat.T, axis=1) == a] for half in (X[first], X[second]))
        if len(one) and len(other):
            _, weak = weakest(weighted_moment(one, np.ones(len(one))))
            result[a] = ((other @ weak[:, 0]) ** 2).mean()
    return result


def _numbered(arms: Sequence[Any]) -> tuple[list[str], IntArray]:
    """Names in order, numbers by size and others by letter, and the place of each row's arm among them."""
    try:
        distinct = set(arms)
    except TypeError:
        raise InvalidParameter("arms must be names or numbers, got something that cannot be compared") from None
    try:
        ordered = sorted(distinct)
    except TypeError:  # of several kinds
        ordered = sorted(distinct, key=str)
    place = {arm: number for number, arm in enumerate(ordered)}
    whole = all(isinstance(arm, float) and arm.is_integer() for arm in ordered)  # a column with a gap turns into floats
    return [str(int(arm) if whole else arm) for arm in ordered], np.array([place[arm] for arm in arms], dtype=np.int64)
