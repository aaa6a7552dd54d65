"""The lemmas behind the theorems as functions: what holds in every run while estimates are good."""

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.theory.theorems import ProblemNumbers, delta, problem_alpha


def irregular_probability(steps: IntArray, p: float) -> FloatArray:
    """exp(-p²·steps/2) bounds the probability that a context of probability p comes at most half as often as expected.

    This is Hoeffding's inequality, with which the appendices bound 𝒜.

    Parameters
    ----------
    steps : array
        Lengths of frames.
    p : float
        Probability of the context.
    """
    return np.exp(-(p**2) * steps / 2)


def noise_martingale(u: FloatArray, noise_sum: FloatArray, gram: FloatArray, noise_scale: float = 1.0) -> float:
    """M_t(u) = exp(uᵀz - ½R²uᵀṼu), a supermartingale for every fixed u, so its mean is at most 1 (Lemma 1).

    Parameters
    ----------
    u : (d,) array
        A fixed direction.
    noise_sum : (d,) array
        z = Σ η·x over the pulls of an arm.
    gram : (d, d) array
        Ṽ = Σ xxᵀ over the same pulls, without the dummies.
    noise_scale : float, default 1
        R.
    """
    return float(np.exp(u @ noise_sum - noise_scale**2 * (u @ gram @ u) / 2))


def mixed_martingale(noise_sum: FloatArray, gram: FloatArray, ridge: float, noise_scale: float = 1.0) -> float:
    """M̄_t = √(det V₀/det V)·exp(½‖z‖²_{V⁻¹}/R²): M_t(u) averaged over u ~ N(0, (R²V₀)⁻¹), with mean at most 1 too.

    V₀ = ridge·I and V = V₀ + Ṽ, with ridge = l² in the paper. (Its h has V₀ as the covariance; V₀⁻¹ is meant.)

    Parameters
    ----------
    noise_sum : (d,) array
        z = Σ η·x over the pulls of an arm.
    gram : (d, d) array
        Ṽ = Σ xxᵀ over the same pulls.
    ridge : float
        V begins as ridge·I.
    noise_scale : float, default 1
        R.
    """
    V = gram + ridge * np.eye(len(gram))
    exponent = noise_sum @ np.linalg.solve(V, noise_sum) / noise_scale**2 - _log_det_ratio(gram, ridge)
    return float(np.exp(exponent / 2))


def noise_radius(u: float, gram: FloatArray, ridge: float, noise_scale: float = 1.0) -> float:
    """R√(2u + log(det V/det V₀)): ‖z‖_{V⁻¹} reaches it with probability at most e⁻ᵘ (Lemma 2).

    Parameters
    ----------
    u : float
        How sure to be: the probability is at most e⁻ᵘ.
    gram : (d, d) array
        Ṽ = Σ xxᵀ over the pulls of an arm.
    ridge : float
        V begins as ridge·I.
    noise_scale : float, default 1
        R.
    """
    return float(noise_scale * np.sqrt(2 * u + _log_det_ratio(gram, ridge)))


def _log_det_ratio(gram: FloatArray, ridge: float) -> float:
    return float(np.linalg.slogdet(np.eye(len(gram)) + gram / ridge)[1])


def dummy_bias(x: FloatArray, V: FloatArray, theta: FloatArray, feature_bound: float) -> float:
    """-l²θᵀV⁻¹x: what the dummy contexts add to an estimate, by Appendix C at most l·s·σ̂ in size; it shrinks like V⁻¹.

    Parameters
    ----------
    x : (d,) array
        Features.
    V : (d, d) array
        l²I + Σxxᵀ over the pulls of an arm.
    theta : (d,) array
        The arm's parameter.
    feature_bound : float
        l.
    """
    return float(-(feature_bound**2) * theta @ np.linalg.solve(V, x))


def suboptimal_pulls(t: IntArray, problem: ProblemNumbers) -> FloatArray:
    """4α_t²/Δ²: the most pulls of a suboptimal arm in a context up to step t while estimates are good (Lemma 3).

    Parameters
    ----------
    t : array
        Step numbers 1, 2, ….
    problem : ProblemNumbers
        The problem.
    """
    return 4 * problem_alpha(t, problem) ** 2 / problem.gap**2


def optimal_pulls(t: IntArray, problem: ProblemNumbers, n_contexts: float, merged: int = 1) -> FloatArray:
    """t/16n - 4mKα_t²/Δ²: on 𝒟, the fewest pulls of an optimal arm in its context (Lemma 4, as proved).

    Parameters
    ----------
    t : array
        Step numbers 1, 2, ….
    problem : ProblemNumbers
        The problem.
    n_contexts : float
        n, the number of contexts, or 1/p.
    merged : int, default 1
        m, how many contexts count as one (see `t_1`); 1 in the paper.
    """
    return t / (16 * n_contexts) - merged * problem.n_arms * suboptimal_pulls(t, problem)


def width_squared_bound(
    t: IntArray, problem: ProblemNumbers, n_contexts: float, lambda_0: float, merged: int = 1
) -> FloatArray:
    """δ²/(t/16n - 4mKα_t²/Δ²): on 𝒟, the most σ̂² can be (Lemma 6); infinite where the denominator is not positive.

    Parameters
    ----------
    t : array
        Step numbers 1, 2, ….
    problem : ProblemNumbers
        The problem.
    n_contexts : float
        n, the number of contexts, or 1/p.
    lambda_0 : float
        λ₀.
    merged : int, default 1
        m, how many contexts count as one; see `t_1`.
    """
    pulls = optimal_pulls(t, problem, n_contexts, merged)
    d_2 = delta(problem.feature_bound, problem.n_features, lambda_0) ** 2
    return np.where(pulls > 0, d_2 / np.where(pulls > 0, pulls, 1.0), np.inf)


def group_suboptimal_pulls(t: IntArray, problem: ProblemNumbers) -> FloatArray:
    """8α_t²/Δ²·d log((d + t)/d): pulls in a group in which another arm is best, where contexts do not recur.

    It corresponds to `suboptimal_pulls` for finite contexts.

    Parameters
    ----------
    t : array
        Step numbers 1, 2, ….
    problem : ProblemNumbers
        The problem.
    """
    d = problem.n_features
    return 2 * suboptimal_pulls(t, problem) * d * np.log((d + t) / d)


def group_optimal_pulls(t: IntArray, problem: ProblemNumbers, p: float) -> FloatArray:
    """tp/16 - 8Kα_t²/Δ²·d log((d + t)/d): on 𝒟, the fewest pulls of an arm in each of its meta-contexts.

    Parameters
    ----------
    t : array
        Step numbers 1, 2, ….
    problem : ProblemNumbers
        The problem.
    p : float
        How often the rarest meta-context arrives.
    """
    return t * p / 16 - problem.n_arms * group_suboptimal_pulls(t, problem)


def group_width_squared_bound(t: IntArray, problem: ProblemNumbers, p: float, lambda_0: float) -> FloatArray:
    """4δ² over `group_optimal_pulls`: on 𝒟, the most σ̂² can be; infinite where the denominator is not positive.

    Parameters
    ----------
    t : array
        Step numbers 1, 2, ….
    problem : ProblemNumbers
        The problem.
    p : float
        How often the rarest meta-context arrives.
    lambda_0 : float
        λ₀.
    """
    pulls = group_optimal_pulls(t, problem, p)
    d_2 = delta(problem.feature_bound, problem.n_features, lambda_0) ** 2
    return np.where(pulls > 0, 4 * d_2 / np.where(pulls > 0, pulls, 1.0), np.inf)


def span_weight(feature_bound: float, basis: FloatArray) -> float:
    """l√d/√λ_min(ΦᵀΦ): the most that ‖β‖₁ can be where x = Φβ and ‖x‖ ≤ l (Lemma 5).

    Parameters
    ----------
    feature_bound : float
        l.
    basis : (d, d) array
        The vectors of Φ as rows.
    """
    smallest = float(np.linalg.svd(basis, compute_uv=False)[-1])
    return float(feature_bound * np.sqrt(len(basis)) / smallest)


def perturbed_eigenvalue(basis: FloatArray, radius: float) -> float:
    """(√λ_min(ΦᵀΦ) - √d·r)²: at least λ_min after every vector moved by at most r < √(λ_min/d) (Lemma 7).

    Parameters
    ----------
    basis : (d, d) array
        The vectors of Φ as rows.
    radius : float
        r.
    """
    smallest = float(np.linalg.svd(basis, compute_uv=False)[-1])
    return max(smallest - float(np.sqrt(len(basis))) * radius, 0.0) ** 2


def elliptical_potential(n_features: int, ridge: float, feature_bound: float, steps: int) -> float:
    """Lemma 8: the most that Σ min(1, ‖x_t‖²_{V⁻¹}) can be, 2d log((d·ridge + n·l²)/(d·ridge)), over n steps.

    Parameters
    ----------
    n_features : int
        d.
    ridge : float
        V begins as ridge·I.
    feature_bound : float
        l.
    steps : int
        n.
    """
    return float(2 * n_features * np.log1p(steps * feature_bound**2 / (n_features * ridge)))
