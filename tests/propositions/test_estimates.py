"""Appendix C on irregular frames and on errors of estimates: Hoeffding's step, Lemmas 1 and 2, the dummies' bias."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from armspan import theory
from armspan._typing import FloatArray
from armspan.diversity import audit
from armspan.environments import FiniteContexts, Gaussian, Rademacher, paper_1a, paper_1b
from armspan.environments.noise import Noise
from armspan.policies import LinUCBd
from armspan.simulation import simulate
from tests import naive

STEPS, RUNS = 60, 200


@given(st.integers(1, 5000), st.floats(1e-3, 1))
def test_hoeffdings_step_is_above_the_binomial(steps: int, p: float) -> None:
    """P[N ≤ p/2·steps] for N ~ B(steps, p)."""
    bound = theory.irregular_probability(np.array([steps]), p)[0]
    assert binom.cdf(math.floor(p / 2 * steps), steps, p) <= bound * (1 + 1e-9)


def test_hoeffdings_step_as_printed() -> None:
    """exp(-2^(k-1)/2n²) in the finite setting, exp(-p²2^(k-2)) in the general one."""
    k = np.arange(1, 20)
    np.testing.assert_allclose(theory.irregular_probability(2 ** (k - 1), 1 / 7), np.exp(-(2.0 ** (k - 1)) / (2 * 49)))
    np.testing.assert_allclose(theory.irregular_probability(2 ** (k - 1), 0.3), np.exp(-(0.3**2) * 2.0 ** (k - 2)))


def test_irregular_frames_are_as_rare_as_hoeffding_says() -> None:
    """A frame is in 𝒜 with probability at most Kd·exp(-p²·length/2); counts in 500 runs, plus 4.5 deviations."""
    env, runs = paper_1b(), 500
    irregular = simulate(env, LinUCBd(), horizon=2**11 - 1, runs=runs, events=True).events["LinUCB-d"].irregular
    lengths = 2 ** np.arange(irregular.shape[1] - 1)  # frame k is judged by frame k - 1, of length 2^(k-1)
    bound = env.n_arms * env.n_features * theory.irregular_probability(lengths, audit(env).p)
    expected = runs * np.minimum(bound, 1.0)
    assert (irregular.sum(axis=0)[1:] <= expected + 4.5 * np.sqrt(expected)).all()
    assert expected[-1] < 0.1  # the last frame is long enough for the bound to say something


def noisy_runs(noise: Noise) -> list[tuple[FloatArray, FloatArray]]:
    """The sums z = Σ η·x and Ṽ = Σ xxᵀ of arm 0 after STEPS steps of the oracle's LinUCB-d, in RUNS runs."""
    a = paper_1a()
    env = FiniteContexts(a.features, a.theta, noise=noise)
    l, s, R = env.feature_bound, env.parameter_bound, noise.scale
    result = []
    for run in range(RUNS):
        block = env.stream(5, np.array([run])).draw(0, STEPS)
        policy = naive.NaiveLinUCB(2, 2, ridge=l**2)
        z, gram = np.zeros(2), np.zeros((2, 2))
        for t in range(1, STEPS + 1):
            c, eta = int(block.contexts[0, t - 1]), float(block.noise[0, t - 1])
            means, widths = policy.estimates(block.x[c])
            arm = int(np.argmax(means + naive.alpha(t, 2, l, s, R) * widths))
            policy.update(arm, block.x[c, arm], float(block.means[c, arm]) + eta)
            if arm == 0:
                z, gram = z + eta * block.x[c, 0], gram + np.outer(block.x[c, 0], block.x[c, 0])
        result.append((z, gram))
    return result


@pytest.fixture(scope="module", params=[Gaussian(1.0), Rademacher(0.5)], ids=["Gaussian", "Rademacher"])
def noisy(request: pytest.FixtureRequest) -> tuple[float, list[tuple[FloatArray, FloatArray]]]:
    """The noise's scale, and runs with it."""
    return request.param.scale, noisy_runs(request.param)


@pytest.mark.parametrize("u", [(0.1, 0.1), (0.2, -0.2), (-0.15, 0.05), (0.0, 0.0)])
def test_lemma_1_the_mean_is_at_most_1(
    u: tuple[float, float], noisy: tuple[float, list[tuple[FloatArray, FloatArray]]]
) -> None:
    """E[M_t(u)] ≤ 1, although the arms were chosen by what the noise had shown before; 4.5 standard errors."""
    R, runs = noisy
    values = np.array([theory.noise_martingale(np.array(u) / R, z, gram, R) for z, gram in runs])
    assert values.mean() <= 1 + 4.5 * values.std() / math.sqrt(RUNS) + 1e-12
    assert values.mean() == pytest.approx(1.0, abs=0.5)  # and it is not 1 by being nothing


def test_lemma_1_is_the_products_of_single_steps() -> None:
    """M_t(u) = Π exp(η uᵀx - ½(R uᵀx)²)."""
    rng = np.random.default_rng(0)
    u, X, eta, R = rng.normal(size=3), rng.normal(size=(7, 3)), rng.normal(size=7), 0.7
    expected = math.prod(math.exp(e * float(u @ x) - (R * float(u @ x)) ** 2 / 2) for e, x in zip(eta, X, strict=True))
    assert theory.noise_martingale(u, X.T @ eta, X.T @ X, R) == pytest.approx(expected)


def test_the_mixture_is_the_mean_over_u() -> None:
    """M̄_t = E[M_t(u)] for u ~ N(0, (R²V₀)⁻¹), by 10⁶ draws; 4.5 standard errors."""
    rng = np.random.default_rng(1)
    X, eta, R, ridge = rng.normal(size=(4, 2)), rng.normal(size=4), 0.7, 3.0
    z, gram = X.T @ eta, X.T @ X
    u = rng.normal(size=(1_000_000, 2)) / (R * math.sqrt(ridge))
    values = np.exp(u @ z - R**2 * ((u @ gram) * u).sum(axis=1) / 2)
    error = float(values.std()) / 1000
    assert theory.mixed_martingale(z, gram, ridge, R) == pytest.approx(float(values.mean()), abs=4.5 * error)


def test_lemma_2_noise_is_within_its_radius(noisy: tuple[float, list[tuple[FloatArray, FloatArray]]]) -> None:
    """P[‖z‖_{V⁻¹} ≥ √(2u + log(det V/det V₀))] ≤ e⁻ᵘ, counted, plus 4.5 standard deviations; E[M̄_t] ≤ 1."""
    (R, runs), ridge = noisy, paper_1a().feature_bound ** 2
    sizes = np.array([math.sqrt(z @ np.linalg.solve(gram + ridge * np.eye(2), z)) for z, gram in runs])
    for u in (0.1, 0.5, 1.0, 2.0, 4.0):
        radii = np.array([theory.noise_radius(u, gram, ridge, R) for _, gram in runs])
        allowed = RUNS * math.exp(-u)
        assert (sizes >= radii).sum() <= allowed + 4.5 * math.sqrt(allowed)
    mixed = np.array([theory.mixed_martingale(z, gram, ridge, R) for z, gram in runs])
    assert mixed.mean() <= 1 + 4.5 * mixed.std() / math.sqrt(RUNS)


def test_the_dummies_bias_vanishes() -> None:
    """What the dummy contexts add to the estimate, |Σ_j β_j (0 - l·θ_j)|, is at most l·s·σ̂ and goes to 0 with pulls."""
    env = paper_1a()
    l, s, d = env.feature_bound, env.parameter_bound, env.n_features
    policy = naive.NaiveLinUCBd(env.features, l, lambda t: 0.0)
    biases = []
    for pulls in (0, 1, 10, 100, 1000, 10_000, 100_000):
        for a in range(env.n_arms):
            for c in env.optimal_contexts(a):
                policy.N[a][c] = pulls
        largest = 0.0
        for c in range(env.n_contexts):
            _, widths, betas = policy.estimates(c)
            for a in range(env.n_arms):
                bias = -l * float(env.theta[a] @ betas[a][-d:])  # dummy j's true reward is l·θ_j, and 0 was put down
                assert abs(bias) <= l * s * widths[a] * (1 + 1e-9)
                V = l**2 * np.eye(d) + sum(policy.N[a][i] * np.outer(x, x) for i, x in enumerate(env.features[a]))
                assert theory.dummy_bias(env.features[a, c], V, env.theta[a], l) == pytest.approx(bias, abs=1e-12)
                largest = max(largest, abs(bias))
        biases.append(largest)
    assert biases == sorted(biases, reverse=True)
    assert biases[-1] < 0.01 * biases[0]
    assert biases[-1] == pytest.approx(biases[-2] / 10, rel=0.02)  # like 1/pulls, up to l²/(pulls·λ_min)
