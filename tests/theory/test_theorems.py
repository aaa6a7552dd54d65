"""Theorems 1 and 2 against their formulas as the paper prints them, and the lemmas on random instances."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan import theory
from armspan.diversity import problem_numbers, regret_bound
from armspan.environments import FiniteContexts, diversity_dial, paper_1a, paper_1b
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies import LinUCBd
from armspan.simulation import simulate

PROBLEM = theory.ProblemNumbers(3, 2, 0.9, 1.1, 0.2, 0.7)


def test_theorem_1_term_by_term() -> None:
    """8MKdn², M(2 + 2.5K), 8nM(2 + 2.5K), t₂M with t₁ and t₂ of Appendix C."""
    K, d, l, s, gap, M, n, lambda_0 = 3, 2, 0.9, 1.1, 0.2, 0.7, 5, 0.05
    delta_squared = l**2 * d / lambda_0
    t_1 = max(384 * (2 + d) * n * (delta_squared + K) / gap**2, 10)
    t_2 = max(t_1 * math.log(t_1), math.exp(12 * l**2 * s**2 / (2 + d)))
    bound = theory.theorem_1(PROBLEM, n, lambda_0)
    assert bound.irregular == pytest.approx(8 * M * K * d * n**2)
    assert bound.bad_estimates == pytest.approx(M * (2 + 2.5 * K))
    assert bound.bad_frames == pytest.approx(8 * n * M * (2 + 2.5 * K))
    assert bound.suboptimal == pytest.approx(t_2 * M)
    assert bound.total == pytest.approx(8 * M * K * d * n**2 + (8 * n + 1) * M * (2 + 2.5 * K) + t_2 * M)


def test_theorem_1_with_merged_contexts() -> None:
    """t₁ = 384(2 + d)(δ² + mK)/(pΔ²), where Lemma 3 is applied once for each of m merged contexts."""
    K, d, l, gap, p, m, lambda_0 = 3, 2, 0.9, 0.2, 0.25, 6, 0.05
    expected = 384 * (2 + d) * (l**2 * d / lambda_0 + m * K) / (p * gap**2)
    assert theory.t_1(PROBLEM, 1 / p, lambda_0, merged=m) == pytest.approx(expected)
    assert theory.theorem_1(PROBLEM, 1 / p, lambda_0, m).last_exploration == pytest.approx(
        expected * math.log(expected)
    )
    assert theory.t_1(PROBLEM, 4, lambda_0) == theory.t_1(PROBLEM, 4, lambda_0, merged=1)


@given(
    st.integers(2, 20), st.integers(1, 30), st.floats(0.01, 100), st.floats(0.01, 100), st.floats(1e-3, 1),
    st.integers(1, 10**6),
)  # fmt: skip
def test_merged_contexts_the_widths_are_below_the_gap_from_t_2_on(
    K: int, d: int, reach: float, delta_factor: float, p: float, m: int
) -> None:
    """At t ≥ t₂: tp/16 - 4mKα_t²/Δ² ≥ 4α_t²δ²/Δ², the display of Appendix C that ends the proof."""
    gap, l, s = reach, 1.0, reach / 2  # Δ ≤ 2ls
    lambda_0 = 1 / (1 + delta_factor)
    t = theory.t_2(theory.ProblemNumbers(K, d, l, s, gap, gap), 1 / p, lambda_0, m)
    if t > 1e300:
        return
    alpha = l * s + math.sqrt((2 + d) * math.log(1 + t * math.log(t) ** 2))
    assert t * p / 16 - 4 * m * K * alpha**2 / gap**2 >= 4 * alpha**2 * (d / lambda_0) / gap**2 * (1 - 1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 6])
def test_theorem_2_term_by_term(d: int) -> None:
    """8MKd/p², M(2 + 2.5K), 8M(2 + 2.5K)/p, t₄M with t₃ and t₄ of Appendix D as printed, with δ² for every d."""
    K, l, s, gap, M, p, lambda_0 = 3, 0.9, 1.1, 0.2, 0.7, 0.03, 0.05
    t_3 = max(1728 * (2 + d) * (l**2 * d / lambda_0 + 2 * K * d) / (gap**2 * p), 10)
    t_4 = max(t_3 * math.log(t_3) ** 2, math.exp(12 * l**2 * s**2 / (2 + d)))
    bound = theory.theorem_2(replace(PROBLEM, n_features=d), p, lambda_0)
    assert bound.total == pytest.approx(8 * M * K * d / p**2 + (8 / p + 1) * M * (2 + 2.5 * K) + t_4 * M)
    assert bound.last_exploration == pytest.approx(t_4)


@given(st.floats(4, 600), st.integers(2, 200), st.integers(2, 1000), st.floats(1e-3, 1e12))
def test_the_printed_t_4_makes_up_for_its_missing_factor(log_t: float, d: int, K: int, delta_squared: float) -> None:
    """(δ² + 2Kd) log t ≥ 4δ² + 2Kd log((d + t)/d) once log t ≥ 4."""
    t = math.exp(log_t)
    left, right = (delta_squared + 2 * K * d) * log_t, 4 * delta_squared + 2 * K * d * math.log((d + t) / d)
    assert left >= right * (1 - 1e-12)


@given(st.floats(5, 600), st.integers(2, 10**6), st.floats(1, 1e12))
def test_the_same_in_one_dimension(log_t: float, K: int, delta_squared: float) -> None:
    """For d = 1 it takes log t ≥ 5, t ≥ 2K and δ² ≥ 1, which l² ≥ λ₀ gives."""
    t = max(math.exp(log_t), 2.0 * K)
    left, right = (delta_squared + 2 * K) * math.log(t), 4 * delta_squared + 2 * K * (math.log(t) + math.log1p(1 / t))
    assert left >= right * (1 - 1e-12)


@given(st.integers(1, 30), st.integers(2, 50), st.floats(-3, 3), st.floats(1e-6, 1), st.floats(0, 6))
def test_log_t_4_is_at_least_8(d: int, K: int, log_gap: float, p: float, log_delta: float) -> None:
    """Where Δ ≤ 2ls, as it must be; and t₄ ≥ 2K."""
    gap = 10**log_gap
    t = theory.t_4(theory.ProblemNumbers(K, d, 1.0, gap / 2, gap, gap), p, 10**-log_delta)
    assert t >= max(math.exp(8), 2 * K)


@given(
    st.integers(2, 20), st.integers(1, 30), st.floats(0.01, 20), st.floats(0, 6), st.floats(1e-3, 1)
)  # fmt: skip
def test_theorem_2_the_widths_are_below_the_gap_from_t_4_on(
    K: int, d: int, gap: float, log_delta: float, p: float
) -> None:
    """At t ≥ t₄ the lemma's σ̂² ≤ 4δ²/N, N = tp/16 - 8Kα_t²/Δ²·d log((d + t)/d), gives 2α_t σ̂ ≤ Δ."""
    l, s, lambda_0 = 1.0, gap / 2, 10**-log_delta
    t = theory.t_4(theory.ProblemNumbers(K, d, l, s, gap, gap), p, lambda_0)
    if t > 1e300:
        return
    alpha = l * s + math.sqrt((2 + d) * math.log(1 + t * math.log(t) ** 2))
    N = t * p / 16 - 8 * K * alpha**2 / gap**2 * d * math.log((d + t) / d)
    assert N > 0
    assert 4 * alpha**2 * 4 * (d / lambda_0) / N <= gap**2 * (1 + 1e-9)


def test_the_unit_of_rewards_does_not_matter() -> None:
    """Rewards in cents instead of euros: noise, gap, parameters and regret all grow a hundredfold."""
    cents = replace(PROBLEM, gap=20.0, parameter_bound=110.0, worst_step=70.0, noise_scale=100.0)
    assert theory.theorem_1(cents, 5, 0.05).total == pytest.approx(100 * theory.theorem_1(PROBLEM, 5, 0.05).total)
    assert theory.theorem_2(cents, 0.1, 0.05).total == pytest.approx(100 * theory.theorem_2(PROBLEM, 0.1, 0.05).total)


@given(st.integers(1, 5), st.integers(0, 10**6))
def test_span_lemma(d: int, seed: int) -> None:
    """Every x with ‖x‖ ≤ l is Φβ with ‖β‖₁ ≤ l√d/√λ_min(ΦᵀΦ)."""
    rng = np.random.default_rng(seed)
    basis, x, l = rng.normal(size=(d, d)), rng.normal(size=d), 1.7
    x *= l * rng.random() / np.linalg.norm(x)
    beta = np.linalg.solve(basis.T, x)
    assert np.abs(beta).sum() <= theory.span_weight(l, basis) * (1 + 1e-9)


@given(st.integers(1, 5), st.integers(0, 10**6), st.floats(0, 0.99))
def test_perturbed_span_lemma(d: int, seed: int, share: float) -> None:
    """Vectors within r of a basis are a basis: λ_min ≥ (√λ_min(ΦᵀΦ) - √d·r)²."""
    rng = np.random.default_rng(seed)
    basis = rng.normal(size=(d, d))
    radius = share * float(np.linalg.svd(basis, compute_uv=False)[-1]) / np.sqrt(d)
    moves = rng.normal(size=(d, d))
    moves *= radius / np.linalg.norm(moves, axis=1, keepdims=True)
    moved = np.linalg.svd(basis + moves, compute_uv=False)[-1] ** 2
    assert moved >= theory.perturbed_eigenvalue(basis, radius) - 1e-12


@given(st.integers(1, 4), st.integers(1, 60), st.floats(0.1, 3), st.integers(0, 10**6))
def test_elliptical_potential_lemma(d: int, steps: int, ridge: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    V, total, l = ridge * np.eye(d), 0.0, 1.3
    for _ in range(steps):
        x = rng.normal(size=d)
        x *= l * rng.random() / np.linalg.norm(x)
        total += min(1.0, float(x @ np.linalg.solve(V, x)))
        V += np.outer(x, x)
    assert total <= theory.elliptical_potential(d, ridge, l, steps) + 1e-9


def test_bounds_of_environments() -> None:
    a, b = regret_bound(paper_1a()), regret_bound(paper_1b())
    assert b.total < a.total / 10  # more diversity, lower bound
    assert problem_numbers(paper_1a()).worst_step == pytest.approx(0.22)
    with pytest.raises(
        NotApplicable,
        match=r"no theorem applies to this problem \(diversity dial at 0\)\. Best in contexts",
    ):
        regret_bound(diversity_dial(0.0))


def test_measured_regret_is_below_every_bound() -> None:
    """A bound that the measured regret passes would be no bound."""
    env = paper_1b()
    result = simulate(env, LinUCBd(), horizon=20_000, runs=20)
    problem, mean = problem_numbers(env), result.mean()[0]
    assert mean[-1] < regret_bound(env).total
    late = result.checkpoints >= 10
    assert (mean[late] < theory.linucb_bound(result.checkpoints[late], problem)).all()
    assert np.all(np.diff(theory.suplinucb_shape(result.checkpoints[late], problem)) > 0)
    assert theory.dominated_arm_shape(np.array([1000]), problem)[0] == pytest.approx(2 * math.log(1000) / 0.12)


def test_width_bound_is_infinite_until_it_says_something() -> None:
    t = np.array([10, 10**9])
    early, late = theory.width_squared_bound(t, PROBLEM, 5, 0.05)
    assert early == np.inf
    assert 0 < late < 1


@pytest.mark.parametrize(
    ("p", "lambda_0", "gap", "sentence"),
    [
        (0.1, 0.0, 1.0, "lambda_0 must be > 0, got 0.0"),
        (0.0, 0.1, 1.0, "p must be > 0, got 0.0"),
        (2.0, 0.1, 1.0, "p must be <= 1, got 2"),
        (0.1, 0.1, 0.0, "gap must be > 0, got 0.0"),
    ],
)
def test_theorems_refuse_what_they_do_not_cover(p: float, lambda_0: float, gap: float, sentence: str) -> None:
    problem = theory.ProblemNumbers(2, 3, 1.0, 1.0, gap, 1.0)
    with pytest.raises(InvalidParameter, match=sentence):
        theory.theorem_2(problem, p, lambda_0)
    if p == 0.1:
        with pytest.raises(InvalidParameter, match=sentence):
            theory.theorem_1(problem, 10, lambda_0)


def test_without_noise_there_is_no_bound() -> None:
    """The proof divides by R, and α_t with R = 0 is not the one that it needs."""
    env = FiniteContexts(paper_1b().features, paper_1b().theta, noise=0.0)
    with pytest.raises(InvalidParameter, match="noise_scale must be > 0, got 0"):
        regret_bound(env)
