"""Theorems 1 and 2 of the paper as functions of the problem's numbers, term by term.

The paper assumes 1-subgaussian noise. Dividing rewards by R makes R-subgaussian noise 1-subgaussian; then Δ, s and the
regret of a step are divided by R too, and the bound is multiplied by R at the end. All functions here do that.
"""

from dataclasses import dataclass

import numpy as np

from armspan import _html, _validate
from armspan._typing import FloatArray, IntArray
from armspan.errors import InvalidParameter
from armspan.theory.schedules import paper_alpha


@dataclass(frozen=True)
class ProblemNumbers:
    """The numbers of a problem that the theorems need.

    Parameters
    ----------
    n_arms : int
        K.
    n_features : int
        d.
    feature_bound : float
        l, the length of the longest features.
    parameter_bound : float
        s, the length of the longest parameters.
    gap : float
        Δ, the least by which an arm that is not best falls behind.
    worst_step : float
        M, the largest regret of a single step.
    noise_scale : float, default 1
        R, for which the noise is R-subgaussian.
    """

    n_arms: int
    n_features: int
    feature_bound: float
    parameter_bound: float
    gap: float
    worst_step: float
    noise_scale: float = 1.0


@dataclass(frozen=True)
class Bound:
    """An upper bound on the expected regret for every horizon, split as the proof splits it.

    Attributes
    ----------
    irregular : float
        𝒜, after frames in which a needed context came too rarely.
    bad_estimates : float
        ℬ, steps at which some estimate is off by more than its width.
    bad_frames : float
        𝒞, after frames with too many of those.
    suboptimal : float
        𝒟, steps at which the widths are still larger than the gap.
    last_exploration : float
        t₂ or t₄, the step after which 𝒟 is empty.
    """

    irregular: float
    bad_estimates: float
    bad_frames: float
    suboptimal: float
    last_exploration: float

    @property
    def total(self) -> float:
        """The sum of the four terms."""
        return self.irregular + self.bad_estimates + self.bad_frames + self.suboptimal

    def _repr_html_(self) -> str:
        rows = [
            ("𝒜, a needed context came too rarely", self.irregular),
            ("ℬ, an estimate is off by more than its width", self.bad_estimates),
            ("𝒞, too many of those in a frame", self.bad_frames),
            ("𝒟, widths are still larger than the gap", self.suboptimal),
            ("all together", self.total),
            ("no exploration after step", self.last_exploration),
        ]
        return _html.shown("Bound on the expected regret", (), [(name, f"{value:,.4g}") for name, value in rows])


def delta(feature_bound: float, n_features: int, lambda_0: float) -> float:
    """δ = l√(d/λ₀): how much longer than the contexts' own weights a combination of the basis may be.

    Parameters
    ----------
    feature_bound : float
        l.
    n_features : int
        d.
    lambda_0 : float
        λ₀.
    """
    _validate.real("lambda_0", lambda_0, above=0)
    return float(feature_bound * np.sqrt(n_features / lambda_0))


def t_1(problem: ProblemNumbers, n_contexts: float, lambda_0: float, merged: int = 1) -> float:
    """t₁ = max{384(2 + d)n(δ² + mK)/Δ², 10}, where n = 1/p and up to m contexts count as one.

    The paper has m = 1. Contexts in which an arm is best and has the same features may count as one context, with the
    sum of their probabilities. Lemma 3 holds for each of them separately, so Lemma 4 becomes N ≥ t/16n - 4mKα_t²/Δ²,
    Lemma 6 has that N below δ², and 2α_t σ̂ < Δ once t ≥ 64n(δ² + mK)α_t²/Δ².

    Parameters
    ----------
    problem : ProblemNumbers
        The problem.
    n_contexts : float
        n, the number of contexts, or 1/p.
    lambda_0 : float
        λ₀.
    merged : int, default 1
        m, how many contexts count as one.
    """
    K, d, gap = problem.n_arms, problem.n_features, _gap(problem)
    _validate.real("n_contexts", n_contexts, at_least=1)
    _validate.whole("merged", merged, at_least=1)
    d_2 = delta(problem.feature_bound, d, lambda_0) ** 2
    return max(384 * (2 + d) * n_contexts * (d_2 + merged * K) / gap**2, 10.0)


def t_2(problem: ProblemNumbers, n_contexts: float, lambda_0: float, merged: int = 1) -> float:
    """t₂ = max{t₁ log t₁, exp(12l²s²/(2 + d))}: with finite contexts, no exploration after this step.

    Parameters
    ----------
    problem : ProblemNumbers
        The problem.
    n_contexts : float
        n, the number of contexts, or 1/p.
    lambda_0 : float
        λ₀.
    merged : int, default 1
        m, how many contexts count as one; see `t_1`.
    """
    t = t_1(problem, n_contexts, lambda_0, merged)
    return max(t * float(np.log(t)), _bias_step(problem))


def t_3(problem: ProblemNumbers, p: float, lambda_0: float) -> float:
    """t₃ = max{1728(2 + d)(δ² + 2Kd)/(Δ²p), 10}.

    The last display of the paper's proof takes σ̂² ≤ δ²/N from a lemma that has 4δ²/N. The printed t₄ holds
    anyway: (δ² + 2Kd) log t ≥ 4δ² + 2Kd log((d + t)/d) once log t ≥ 4 (for d = 1 once log t ≥ 5 and t ≥ 2K), and since
    Δ ≤ 2ls, log t₄ is at least 8.

    Parameters
    ----------
    problem : ProblemNumbers
        The problem.
    p : float
        How often the rarest meta-context arrives.
    lambda_0 : float
        λ₀.
    """
    K, d, gap = problem.n_arms, problem.n_features, _gap(problem)
    _validate.real("p", p, above=0)
    if p > 1:
        raise InvalidParameter(f"p must be <= 1, got {p:g}")
    d_2 = delta(problem.feature_bound, d, lambda_0) ** 2
    return max(1728 * (2 + d) * (d_2 + 2 * K * d) / (gap**2 * p), 10.0)


def t_4(problem: ProblemNumbers, p: float, lambda_0: float) -> float:
    """t₄ = max{t₃ log²t₃, exp(12l²s²/(2 + d))}: with general contexts, no exploration after this step.

    Parameters
    ----------
    problem : ProblemNumbers
        The problem.
    p : float
        How often the rarest meta-context arrives.
    lambda_0 : float
        λ₀.
    """
    t = t_3(problem, p, lambda_0)
    return max(t * float(np.log(t)) ** 2, _bias_step(problem))


def theorem_1(problem: ProblemNumbers, n_contexts: float, lambda_0: float, merged: int = 1) -> Bound:
    """Theorem 1, for finite contexts that arrive uniformly: 8MKdn² + M(2 + 2.5K) + 8nM(2 + 2.5K) + t₂M.

    n enters the proof only as 1/n, the probability of the contexts in the bases; 1/p may stand for it.

    Parameters
    ----------
    problem : ProblemNumbers
        The problem.
    n_contexts : float
        n, the number of contexts, or 1/p.
    lambda_0 : float
        λ₀.
    merged : int, default 1
        m, how many contexts of a basis count as one; see `t_1`.
    """
    return _bound(problem, n_contexts, t_2(problem, n_contexts, lambda_0, merged))


def theorem_2(problem: ProblemNumbers, p: float, lambda_0: float) -> Bound:
    """Theorem 2, for general contexts: 8MKd/p² + M(2 + 2.5K) + 8M(2 + 2.5K)/p + t₄M.

    Here the paper's 𝒞 is the frames F_k with too many bad estimates. Its proof needs the frames after them, F_{k+1}, as
    in the finite case; this bound, and the counting of events, read 𝒞 in that way.

    Parameters
    ----------
    problem : ProblemNumbers
        The problem.
    p : float
        How often the rarest meta-context arrives.
    lambda_0 : float
        λ₀.
    """
    last_exploration = t_4(problem, p, lambda_0)
    return _bound(problem, 1 / p, last_exploration)


def _bound(problem: ProblemNumbers, rarity: float, last_exploration: float) -> Bound:
    """Rarity : n, or 1/p: how rarely a needed context comes."""
    M, K, d = problem.worst_step, problem.n_arms, problem.n_features
    estimates = M * (2 + 2.5 * K)
    return Bound(
        irregular=8 * M * K * d * rarity**2,
        bad_estimates=estimates,
        bad_frames=8 * rarity * estimates,
        suboptimal=last_exploration * M,
        last_exploration=last_exploration,
    )


def _gap(problem: ProblemNumbers) -> float:
    """Δ in units of the noise."""
    _validate.real("gap", problem.gap, above=0)
    return problem.gap / _validate.real("noise_scale", problem.noise_scale, above=0)


def _bias_step(problem: ProblemNumbers) -> float:
    """exp(12l²s²/(2 + d)): from this step on l·s no longer dominates α_t."""
    s = problem.parameter_bound / _validate.real("noise_scale", problem.noise_scale, above=0)
    with np.errstate(over="ignore"):
        return float(np.exp(12 * (problem.feature_bound * s) ** 2 / (2 + problem.n_features)))


def problem_alpha(t: IntArray, problem: ProblemNumbers) -> FloatArray:
    """α_t for these numbers."""
    bias = problem.feature_bound * problem.parameter_bound
    return paper_alpha(t, n_features=problem.n_features, bias=bias, noise_scale=problem.noise_scale)
