"""What an audit finds: numbers and words for every arm, numbers and verdicts for the whole."""

from dataclasses import dataclass

import numpy as np

from armspan._typing import FloatArray
from armspan.diversity.basis import Basis
from armspan.diversity.covariate import HalfSpace
from armspan.diversity.meta import MetaContexts


@dataclass(frozen=True)
class ArmDiversity:
    """One arm in the contexts in which it alone is best.

    arm, name : its number, and what it is called.
    features : (m, d) its features there, of all contexts or of those sampled. moment : (d, d) E[xxᵀ | it is best], 0 if
        it never is.
    probability : how often it is best. second_moment : λ_min(E[xxᵀ | it is best]), Assumption 1.5. Each has a 95 %
        interval, which is a point where all contexts were looked at.
    spans : whether it is best somewhere and its features there span; None where a sample cannot tell.
    ties : whether it shares the first place in some context.
    rank : of its features there, at the tolerance of the audit.
    basis : the best basis among its features there. basis_features : (d, d) these features, if there are any.
    weakest_direction : (d,) the direction in which its features vary least. words : what that means.
    """

    arm: int
    name: str
    features: FloatArray
    moment: FloatArray
    probability: float
    probability_interval: tuple[float, float]
    second_moment: float
    second_moment_interval: tuple[float, float]
    spans: bool | None
    ties: bool
    rank: int
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

    def __str__(self) -> str:
        return f"{self.question} {self.answer.capitalize()}. {self.reason}"


@dataclass(frozen=True)
class DiversityReport:
    """How diverse an environment's contexts are.

    lambda_0 : λ₀ of Section 4, at least; lambda_0_upper : at most (equal where the search was exact).
    gap : Δ. delta : δ = l√(d/λ₀), infinite without diversity.
    p : how often the rarest context of the bases arrives, or the rarest meta-context (Section 5) where contexts do not
        recur; 0 where there is no basis. p_interval : 95 % interval of it.
    merged_p, merged : the same where contexts with the same basis features count as one, and how many do at most.
    arms : one entry per arm. feature_names : what the features are called.
    half_space : the least diverse half-space of any arm's features (covariate diversity).
    shared_spread : spread of the best arms' features together (HLS): λ_min(E[xxᵀ]) for the features x of the best arm,
        where one alone is best. shared_spread_interval : 95 % interval of it.
    optimal_rank : rank of these features, and of those of arms that tie for best.
    one_theta : whether one θ for all arms explains the mean rewards, which is the model that HLS is about.
    margin : the lead of the best arm that 5 % of the contexts fall short of.
    meta : the meta-contexts, where contexts do not recur and every arm's features span.
    samples : how many contexts were drawn to measure all this; None where all there are were looked at.
    """

    environment: str
    lambda_0: float
    lambda_0_upper: float
    gap: float
    delta: float
    p: float
    p_interval: tuple[float, float]
    merged_p: float
    merged: int
    arms: tuple[ArmDiversity, ...]
    feature_names: tuple[str, ...]
    half_space: HalfSpace
    shared_spread: float
    shared_spread_interval: tuple[float, float]
    optimal_rank: int
    one_theta: bool
    margin: float
    meta: MetaContexts | None
    samples: int | None
    verdicts: tuple[Verdict, ...]

    @property
    def n_features(self) -> int:
        """D."""
        return len(self.feature_names)

    @property
    def exact(self) -> bool:
        """Whether all contexts were looked at, or a sample."""
        return self.samples is None

    def __str__(self) -> str:
        seen = "all contexts" if self.samples is None else f"{self.samples:,} sampled contexts"
        p = f"{self.p:.4g}" if self.exact else f"{self.p:.3g} ({self.p_interval[0]:.2g} to {self.p_interval[1]:.2g})"
        if self.merged_p > self.p:
            p += f" ({self.merged_p:.4g} with contexts of equal features as one)"
        width = max(3, *(len(row.name) for row in self.arms))
        lines = [
            f"{self.environment}, {seen}",
            f"λ₀ = {self.lambda_0_words}, gap Δ = {self.gap:.4g}, δ = {self.delta:.4g}, p = {p}"
            if self.lambda_0 > 0 or not all(row.spans for row in self.arms)
            else f"gap Δ = {self.gap:.4g}; λ₀, δ and p are too rare to measure",
            f"in 95 % of the contexts the best arm leads by at least {self.margin:.4g}",
            f"{'arm':>{width}}  is best  λ_min there  rank  best basis  weakest direction",
        ]
        for row in self.arms:
            moment = "?" if row.second_moment == 0 and row.spans is not False else f"{row.second_moment:.4g}"
            numbers = f"{row.probability:>7.2%}  {moment:>11}  {row.rank:>4}  {row.basis.eigenvalue:>10.4g}"
            lines.append(f"{row.name:>{width}}  {numbers}  {row.words}")
        if not self.exact:
            lines.append("95 % intervals: " + "; ".join(map(_intervals, self.arms)))
        return "\n".join([*lines, *map(str, self.verdicts)])

    @property
    def lambda_0_words(self) -> str:
        """λ₀, or the interval in which it lies."""
        low, high = self.lambda_0, self.lambda_0_upper
        if high == 0 and all(row.spans for row in self.arms):
            return "too rare to measure"
        if low == high:
            return f"{low:.5g}"
        return f"{low:.5g} or more" if np.isinf(high) else f"{low:.5g} to {high:.5g}"


def _intervals(row: ArmDiversity) -> str:
    (low, high), (least, most) = row.probability_interval, row.second_moment_interval
    there = f", λ_min there {least:.4g} to {most:.4g}" if np.isfinite(most) else ""
    return f"arm {row.name} is best {low:.2%} to {high:.2%}{there}"
