"""audit(): are contexts diverse enough that exploration is nearly free, is greedy safe, which arm is the trouble?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from armspan import theory
from armspan._typing import BoolArray, FloatArray
from armspan.diversity.basis import Basis, best_basis
from armspan.diversity.covariate import HalfSpace, least_diverse_half_space
from armspan.diversity.meta import meta_contexts
from armspan.diversity.moments import leads, weighted_moment

SAMPLES = 200_000
"""Contexts that are drawn where there is no finite table of them."""


class Audited(Protocol):
    """What an audit must know of an environment."""

    name: str
    n_arms: int
    n_features: int
    feature_bound: float
    parameter_bound: float
    gap: float

    @property
    def noise_scale(self) -> float:
        """R."""
        ...

    @property
    def n_contexts(self) -> int | None:
        """None where contexts do not recur."""
        ...

    def context_table(self, samples: int) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
        """Features (n, K, d), mean rewards (n, K), probabilities (n,), and whether they are all there are."""
        ...


@dataclass(frozen=True)
class ArmDiversity:
    """One arm in the contexts in which it alone is best.

    probability : how often that is. second_moment : λ_min(E[xxᵀ | it is best]), Assumption 1.5.
    basis : the best basis among its features there. basis_features : (d, d) these features, if there are any.
    weakest_direction : (d,) the direction in which its features vary least. words : what that means.
    """

    arm: int
    probability: float
    second_moment: float
    basis: Basis
    basis_features: FloatArray
    weakest_direction: FloatArray
    words: str


@dataclass(frozen=True)
class Verdict:
    """A question, its answer ("yes", "no" or "not known"), and why."""

    question: str
    answer: str
    reason: str


@dataclass(frozen=True)
class DiversityReport:
    """How diverse an environment's contexts are.

    lambda_0 : λ₀ of Section 4, at least; lambda_0_upper : at most (equal where the search was exact).
    gap : Δ. delta : δ = l√(d/λ₀), infinite without diversity.
    p : how often the rarest context of the bases arrives, or the rarest meta-context (Section 5) where contexts do not
        recur; 0 where there is no basis. p_interval : 95 % interval of it.
    arms : a row an arm. half_space : the least diverse half-space of any arm's features (covariate diversity).
    optimal_rank : rank of all arms' optimal features together (the HLS condition asks for all of it).
    margin : the lead of the best arm that 5 % of the contexts fall short of.
    exact : whether all contexts were looked at, or a sample.
    """

    environment: str
    n_features: int
    lambda_0: float
    lambda_0_upper: float
    gap: float
    delta: float
    p: float
    p_interval: tuple[float, float]
    arms: tuple[ArmDiversity, ...]
    half_space: HalfSpace
    optimal_rank: int
    margin: float
    exact: bool
    verdicts: tuple[Verdict, ...]

    def __str__(self) -> str:
        seen = "all contexts" if self.exact else f"{SAMPLES:,} sampled contexts"
        lambda_0 = _interval(self.lambda_0, self.lambda_0_upper)
        p = f"{self.p:.4g}" if self.exact else f"{self.p:.3g} ({self.p_interval[0]:.2g} to {self.p_interval[1]:.2g})"
        lines = [
            f"{self.environment}, {seen}",
            f"λ₀ = {lambda_0}, gap Δ = {self.gap:.4g}, δ = {self.delta:.4g}, p = {p}",
            "arm  is best  λ_min there  best basis  weakest direction",
        ]
        for row in self.arms:
            numbers = f"{row.probability:>7.2%}  {row.second_moment:>11.4g}  {row.basis.eigenvalue:>10.4g}"
            lines.append(f"{row.arm:>3}  {numbers}  {row.words}")
        lines += [f"{verdict.question} {verdict.answer.capitalize()}. {verdict.reason}" for verdict in self.verdicts]
        return "\n".join(lines)


def audit_problem(env: Audited, *, rank_tolerance: float = 1e-9) -> DiversityReport:
    """Measure the diversity of a problem's contexts.

    rank_tolerance : singular values below this times the largest count as 0 in ranks.
    """
    x, means, weights, exact = env.context_table(SAMPLES)
    lead, best = leads(means), np.argmax(means, axis=1)
    mine = [(lead > 0) & (best == a) for a in range(env.n_arms)]
    meta = None if exact else meta_contexts([x[mine[a], a] for a in range(env.n_arms)], len(x), problem_numbers(env))
    rows = tuple(
        _arm(a, x, weights, mine[a], None if meta is None else meta.bases[a], exact) for a in range(env.n_arms)
    )
    if exact:
        lambda_0, upper = min(row.basis.eigenvalue for row in rows), min(row.basis.upper for row in rows)
        p = min(_rarest(row, weights[mine[row.arm]]) for row in rows)
        p_interval = (p, p)
    else:
        lambda_0, upper = (0.0, 0.0) if meta is None else (meta.lambda_0, np.inf)
        p = 0.0 if meta is None else meta.p
        p_interval = (0.0, 0.0) if meta is None else (meta.p_low, meta.p_high)
    half_spaces = [least_diverse_half_space(x[:, a], weights) for a in range(env.n_arms)]
    singular = np.linalg.svd(x[np.arange(len(x)), best], compute_uv=False)
    report = DiversityReport(
        environment=env.name,
        n_features=env.n_features,
        lambda_0=lambda_0,
        lambda_0_upper=float(upper),
        gap=env.gap,
        delta=theory.delta(env.feature_bound, env.n_features, lambda_0) if lambda_0 > 0 else np.inf,
        p=p,
        p_interval=p_interval,
        arms=rows,
        half_space=min(half_spaces, key=lambda entry: entry.eigenvalue),
        optimal_rank=int((singular > rank_tolerance * singular[0]).sum()),
        margin=_quantile(lead, weights, 0.05),
        exact=exact,
        verdicts=(),
    )
    return replace(report, verdicts=(_constant(report), _greedy(report), _hls(report)))


def problem_numbers(env: Audited) -> theory.ProblemNumbers:
    """An environment's K, d, l, s, Δ, R, and M, the largest regret of a step (2ls where contexts are not finite)."""
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
    a: int, x: FloatArray, weights: FloatArray, mine: BoolArray, chosen: FloatArray | None, exact: bool
) -> ArmDiversity:
    """Chosen : the basis of the arm's meta-contexts, where contexts do not recur."""
    d = x.shape[2]
    probability = float(weights[mine].sum())
    if probability == 0:
        nothing = np.empty((0, d))
        return ArmDiversity(a, 0.0, 0.0, Basis((), 0.0, 0.0), nothing, np.zeros(d), f"arm {a} is never best")
    X = x[mine, a]
    values, vectors = np.linalg.eigh(weighted_moment(X, weights[mine]))
    smallest = float(values[0]) if values[0] > d * np.finfo(np.float64).eps * values[-1] else 0.0
    if exact:
        basis = best_basis(X)
        features = X[list(basis.rows)]
    else:
        features = np.empty((0, d)) if chosen is None else chosen
        eigenvalue = 0.0 if chosen is None else float(np.linalg.svd(chosen, compute_uv=False)[-1] ** 2)
        basis = Basis((), eigenvalue, np.inf)
    words = _words(a, vectors[:, 0], smallest, float(values[-1]))
    return ArmDiversity(a, probability, smallest, basis, features, vectors[:, 0], words)


def _rarest(row: ArmDiversity, weights: FloatArray) -> float:
    """How often the rarest context of the arm's basis arrives."""
    return float(weights[list(row.basis.rows)].min()) if row.basis.rows else 0.0


def _words(a: int, direction: FloatArray, smallest: float, largest: float) -> str:
    """The weakest direction in words that a user can act on."""
    main = int(np.argmax(np.abs(direction)))
    if direction[main] ** 2 > 0.9:
        where = f"feature {main}"
    else:
        where = " ".join(f"{weight:+.2f}·feature {j}" for j, weight in enumerate(direction) if abs(weight) > 0.1)
    if smallest == 0:
        return f"arm {a} is never best in contexts that vary along {where}"
    share = smallest / largest
    how = "hardly varies" if share < 0.01 else "varies least"
    return f"where arm {a} is best, it {how} along {where} ({share:.1%} of its largest)"


def _constant(report: DiversityReport) -> Verdict:
    question = "Does theory promise constant regret?"
    never = [row.arm for row in report.arms if row.probability == 0]
    flat = [row.arm for row in report.arms if row.probability > 0 and row.second_moment == 0]
    if never:
        return Verdict(question, "no", f"Never best: {_list(never)}. Telling such an arm apart costs at least log T.")
    if flat:
        weak = next(row for row in report.arms if row.arm == flat[0])
        return Verdict(question, "no", f"Best in contexts that do not span: {_list(flat)}; {weak.words}.")
    if not report.gap > 0:
        return Verdict(question, "no", "There is no gap between the best arm and the next.")
    return Verdict(
        question, "yes", f"Every arm's own contexts span, with λ₀ = {report.lambda_0:.3g} and δ = {report.delta:.3g}."
    )


def _greedy(report: DiversityReport) -> Verdict:
    question = "Is greedy covered by theory (covariate diversity)?"
    worst = report.half_space
    where = "(" + ", ".join(f"{value:.2f}" for value in worst.direction) + ")"
    if worst.eigenvalue == 0:
        return Verdict(question, "no", f"The features with uᵀx ≥ 0 do not span for u = {where}.")
    answer = "yes" if worst.certain and report.exact else "not known"
    certainty = "no half-space is worse" if worst.certain else "the worst half-space found"
    return Verdict(question, answer, f"λ_min = {worst.eigenvalue:.3g} for u = {where}, {certainty}.")


def _hls(report: DiversityReport) -> Verdict:
    full = report.optimal_rank == report.n_features
    reason = f"All optimal features together have rank {report.optimal_rank} of {report.n_features}."
    return Verdict("Do the optimal features span (HLS)?", "yes" if full else "no", reason)


def _quantile(values: FloatArray, weights: FloatArray, share: float) -> float:
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), share)])


def _interval(low: float, high: float) -> str:
    return f"{low:.5g}" if low == high else f"{low:.5g} or more" if np.isinf(high) else f"{low:.5g} to {high:.5g}"


def _list(arms: Sequence[int]) -> str:
    return ", ".join(f"arm {arm}" for arm in arms)
