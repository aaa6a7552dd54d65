"""The measurements of an audit: every arm in the contexts in which it is best, and all arms together."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np

from armspan import theory
from armspan._typing import FloatArray
from armspan.diversity.basis import Basis, best_basis
from armspan.diversity.covariate import HalfSpace, least_diverse_half_space
from armspan.diversity.directions import plainest, positive
from armspan.diversity.intervals import wilson
from armspan.diversity.meta import MetaContexts, meta_contexts
from armspan.diversity.moments import leads, losses, one_theta, weakest, weakest_of, weighted_moment
from armspan.diversity.recurrence import basis_contexts
from armspan.diversity.report import ArmDiversity, DiversityReport
from armspan.diversity.verdicts import direction_words, verdicts

SAMPLES = 200_000
"""Contexts that are drawn where there is no finite table of them."""
FEWEST = 300
"""Contexts from which on λ_min has an interval: it is too low in a small sample, and then the interval often misses."""


@runtime_checkable
class Audited(Protocol):
    """What an audit must know about an environment."""

    name: str
    n_arms: int
    n_features: int
    feature_bound: float
    parameter_bound: float
    gap: float

    @property
    def noise_scale(self) -> float:
        """R, for which the noise is R-subgaussian."""
        ...

    @property
    def n_contexts(self) -> int | None:
        """None where contexts do not recur."""
        ...

    def context_table(self, samples: int) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
        """Features (n, K, d), mean rewards (n, K), probabilities (n,), and whether they are all there are."""
        ...


def audit_problem(
    env: Audited,
    *,
    rank_tolerance: float = 1e-9,
    arm_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> DiversityReport:
    """Measure the diversity of a problem's contexts; see `audit` for the options."""
    arm_names = tuple(map(str, range(env.n_arms) if arm_names is None else arm_names))
    feature_names = tuple(map(str, range(env.n_features) if feature_names is None else feature_names))
    x, means, weights, exact = env.context_table(SAMPLES)
    lead, best = leads(means), np.argmax(means, axis=1)
    mine = [(lead > 0) & (best == a) for a in range(env.n_arms)]
    meta = None if exact else meta_of(env)
    spans = (None,) * env.n_arms if exact or not hasattr(env, "certain_spans") else env.certain_spans()
    rows = tuple(
        _arm(
            (a, arm_names[a], feature_names),
            x[mine[a], a],
            weights[mine[a]],
            ties=bool(((lead == 0) & (means[:, a] >= means.max(axis=1) - 1e-12 * np.abs(means).max())).any()),
            rank_tolerance=rank_tolerance,
            sampled=None if exact else len(x),
            certain=spans[a],
            meta_basis=None if meta is None else meta.bases[a],
            nowhere=getattr(env, "nowhere", "never best"),
        )
        for a in range(env.n_arms)
    )
    if exact:
        lambda_0, upper = min(row.basis.eigenvalue for row in rows), min(row.basis.upper for row in rows)
        found = basis_contexts(x, weights, [np.flatnonzero(own) for own in mine], [row.basis_features for row in rows])
        p, p_interval, merged_p, merged = found.p, (found.p, found.p), found.merged_p, found.merged
    else:
        lambda_0, upper = (0.0, 0.0) if meta is None else (meta.lambda_0, np.inf)
        p = 0.0 if meta is None else meta.p
        most = min(row.probability_interval[1] for row in rows) if all(row.spans for row in rows) else 0.0
        p_interval = (0.0, most) if meta is None else (meta.p_low, meta.p_high)
        merged_p, merged = p, 1
    spread, flat = weakest(sum((row.probability * row.moment for row in rows), np.zeros((env.n_features,) * 2)))
    along = np.where(lead > 0, x[np.arange(len(x)), best] @ flat[:, 0], 0.0)
    shared = x.strides[1] == 0  # all arms have the same features
    half_spaces = [least_diverse_half_space(x[:, a], weights) for a in range(1 if shared else env.n_arms)]
    report = DiversityReport(
        environment=env.name,
        lambda_0=lambda_0,
        lambda_0_upper=float(upper),
        gap=env.gap,
        delta=theory.delta(env.feature_bound, env.n_features, lambda_0) if lambda_0 > 0 else np.inf,
        p=p,
        p_interval=p_interval,
        merged_p=merged_p,
        merged=merged,
        arms=rows,
        feature_names=feature_names,
        half_space=_worst(half_spaces),
        shared_spread=spread,
        shared_spread_interval=(spread, spread) if exact else _around(spread, along**2),
        optimal_rank=_rank(x[losses(means) == 0], rank_tolerance),
        one_theta=one_theta(x, means),
        margin=_quantile(lead, weights, 0.05),
        meta=meta,
        samples=None if exact else SAMPLES,
        verdicts=(),
        problem=env,
    )
    return replace(report, verdicts=verdicts(report, env.noise_scale))


def meta_of(env: Audited) -> MetaContexts | None:
    """The meta-contexts of an environment whose contexts do not recur; None if some arm has no basis.

    Parameters
    ----------
    env : Environment
        The environment.
    """
    x, means, _, _ = env.context_table(SAMPLES)
    best = np.where(leads(means) > 0, np.argmax(means, axis=1), -1)
    return meta_contexts([x[best == a, a] for a in range(env.n_arms)], len(x), problem_numbers(env))


def problem_numbers(env: Audited) -> theory.ProblemNumbers:
    """An environment's K, d, l, s, Δ, R, and M, the largest regret of a step (2ls if contexts are not finite).

    Parameters
    ----------
    env : Environment
        The environment.
    """
    if env.n_contexts is None:
        worst = 2 * env.feature_bound * env.parameter_bound
    else:
        worst = float(np.ptp(env.context_table(1)[1], axis=1).max())
    return theory.ProblemNumbers(
        n_arms=env.n_arms,
        n_features=env.n_features,
        feature_bound=env.feature_bound,
        parameter_bound=env.parameter_bound,
        gap=env.gap,
        worst_step=worst,
        noise_scale=env.noise_scale,
    )


def _arm(
    who: tuple[int, str, Sequence[str]],
    X: FloatArray,
    weights: FloatArray,
    *,
    ties: bool,
    rank_tolerance: float,
    sampled: int | None,
    certain: bool | None,
    meta_basis: FloatArray | None,
    nowhere: str,
) -> ArmDiversity:
    """One row of the report.

    who : the arm's number, its name, and those of the features. X : (m, d) its features where it is best.
    sampled : of how many contexts; None if these are all. certain : whether it spans, where the environment knows.
    meta_basis : that of the arm's meta-contexts, if it has any. nowhere : how to say that no context has
    it best.
    """
    (arm, name, feature_names), d = who, X.shape[1]
    p = float(weights.sum())
    p_interval = (p, p) if sampled is None else wilson(len(X), sampled)
    smallest, direction, rank, basis, features = 0.0, np.zeros(d), 0, Basis((), 0.0, 0.0), np.empty((0, d))
    moment, moment_interval = np.zeros((d, d)), (0.0, 0.0)
    if len(X) == 0:
        words = f"arm {name} is " + (nowhere.replace("best", "best alone") if ties else nowhere)
        if sampled is not None and certain is not False:
            moment_interval = (0.0, np.inf)
            words = f"arm {name} was not best in {sampled:,} sampled contexts" + (", but it can be" if certain else "")
    else:
        moment = weighted_moment(X, weights)
        smallest, weak = weakest_of(X, weights, rank_tolerance)
        missing = weak.shape[1] if smallest == 0 else 0
        constant, rank = (X[0] != 0) & (np.ptp(X, axis=0) == 0), _rank(X, rank_tolerance)
        sizes = np.sqrt(np.diag(moment))
        direction = plainest(weak, sizes, constant) if missing else positive(weak[:, 0])
        share = smallest / float(np.linalg.eigvalsh(moment)[-1]) if smallest else 0.0
        words = direction_words(name, feature_names, direction, share, missing, constant, sizes)
        if missing and sampled is not None and certain is not False:
            words = f"arm {name} was best in {len(X)} of {sampled:,} sampled contexts, too few to tell how it varies"
        moment_interval = (smallest, smallest) if sampled is None else _around(smallest, (X @ direction) ** 2)
        if sampled is not None and len(X) < FEWEST:
            moment_interval = (0.0, np.inf)
        if sampled is None:
            basis = best_basis(X)
            features = X[list(basis.rows)]
        elif meta_basis is not None:
            features = meta_basis
            basis = Basis((), float(np.linalg.svd(meta_basis, compute_uv=False)[-1] ** 2), np.inf)
    return ArmDiversity(
        arm=arm,
        name=name,
        features=X,
        moment=moment,
        probability=p,
        probability_interval=p_interval,
        second_moment=smallest,
        second_moment_interval=moment_interval,
        spans=certain if certain is not None else True if smallest > 0 else False if sampled is None else None,
        ties=ties,
        rank=rank,
        basis=basis,
        basis_features=features,
        weakest_direction=direction,
        words=words,
    )


def _worst(half_spaces: Sequence[HalfSpace]) -> HalfSpace:
    """The worst of several arms' half-spaces; for certain only if each of those is the worst of its arm."""
    worst = min(half_spaces, key=lambda entry: entry.eigenvalue)
    return replace(worst, certain=worst.eigenvalue == 0 or all(entry.certain for entry in half_spaces))


def _around(value: float, sample: FloatArray) -> tuple[float, float]:
    """95 % interval of a mean that came out as value."""
    half = 1.96 * float(sample.std()) / np.sqrt(len(sample))
    return float(max(value - half, 0.0)), float(value + half)


def _rank(X: FloatArray, tolerance: float) -> int:
    """With every feature brought to one scale first, so that units do not matter."""
    scale = np.abs(X).max(axis=0)
    singular = np.linalg.svd(X / np.where(scale > 0, scale, 1.0), compute_uv=False)
    return int((singular > tolerance * singular[0]).sum())


def _quantile(values: FloatArray, weights: FloatArray, share: float) -> float:
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), share)])
