"""How often the contexts of the bases come, and what Theorem 1 promises where contexts share their features."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import armspan
from armspan.diversity import problem_numbers
from armspan.environments import FiniteContexts, paper_1a
from armspan.events.regions import regions_of
from tests import naive
from tests.strategies import Array

REPEATS = 6


def repeated(seed: int = 0) -> FiniteContexts:
    """24 contexts: the winning arm has one of two features, six times each; the loser's differ from one to the next."""
    rng = np.random.default_rng(seed)
    features = 0.05 + 0.1 * rng.random((2, 4 * REPEATS, 2))
    winning = np.array([[1.0, 0.1], [0.1, 1.0]])
    for a in range(2):
        features[a, 2 * REPEATS * a : 2 * REPEATS * (a + 1)] = np.repeat(winning, REPEATS, axis=0)
    return FiniteContexts(features, np.array([[0.8, 0.7], [0.7, 0.8]]))


def theorem_1(env: FiniteContexts, n: float, m: int) -> float:
    """8MKdn² + (8n + 1)M(2 + 2.5K) + t₂M with t₁ = 384(2 + d)n(δ² + mK)/Δ², from the truth by naive code."""
    K, _, d = env.features.shape
    means = naive.mean_rewards(env.features, env.theta)
    l = max(float(np.linalg.norm(x)) for x in env.features.reshape(-1, d))
    s = max(float(np.linalg.norm(theta)) for theta in env.theta)
    M, gap = float((means.max(axis=1) - means.min(axis=1)).max()), naive.gap(env.features, env.theta)
    t_1 = max(384 * (2 + d) * n * (l**2 * d / naive.lambda_0(env.features, env.theta) + m * K) / gap**2, 10)
    t_2 = max(t_1 * math.log(t_1), math.exp(12 * l**2 * s**2 / (2 + d)))
    return 8 * M * K * d * n**2 + (8 * n + 1) * M * (2 + 2.5 * K) + t_2 * M


def test_basis_features_that_recur_are_merged_at_a_price() -> None:
    """With n = 24, m = 1 is valid; so is 1/p = 4 with m = 6. n = 4 with m = 1, once promised, is not."""
    env = repeated()
    report = armspan.audit(env)
    assert [report.p, report.merged_p, report.merged] == pytest.approx([1 / 24, 1 / 4, REPEATS])
    apart, merged = theorem_1(env, 24, 1), theorem_1(env, 4, REPEATS)
    assert armspan.regret_bound(env).total == pytest.approx(min(apart, merged))
    assert armspan.regret_bound(env).total > 1.5 * theorem_1(env, 4, 1)
    assert "p = 0.04167 (0.25 if contexts with equal features count as one)" in str(report)


def test_the_same_context_listed_twice_changes_nothing() -> None:
    """Contexts in which every arm has the same features are one context, so merging them costs nothing."""
    a = paper_1a()
    copies = FiniteContexts(np.repeat(a.features, REPEATS, axis=1), a.theta)
    assert armspan.audit(copies).merged == 1
    assert armspan.regret_bound(copies).total == pytest.approx(armspan.regret_bound(a).total)


def test_without_repeats_there_is_nothing_to_merge() -> None:
    report = armspan.audit(paper_1a())
    assert (report.p, report.merged_p, report.merged) == (0.25, 0.25, 1)
    assert armspan.regret_bound(paper_1a()).total == pytest.approx(theorem_1(paper_1a(), 4, 1))


@given(st.integers(0, 10**6))
def test_events_and_audit_have_one_p(seed: int) -> None:
    """The probability of the rarest context among those that stand for the basis vectors, the most frequent of each."""
    rng = np.random.default_rng(seed)
    env = repeated(seed)
    env = FiniteContexts(env.features, env.theta, rng.dirichlet(np.ones(24)))
    cells, report = regions_of(env), armspan.audit(env)
    largest = [float(env.probabilities[REPEATS * i : REPEATS * (i + 1)].max()) for i in range(4)]
    assert cells.p == report.p == pytest.approx(min(largest))
    assert report.merged_p == pytest.approx(min(env.probabilities.reshape(4, REPEATS).sum(axis=1)))
    for a in range(2):
        chosen: Array = env.probabilities[cells.basis[a]]
        assert sorted(chosen) == sorted(largest[2 * a : 2 * a + 2])


def test_an_arm_without_a_basis_leaves_the_others_theirs() -> None:
    """Arm 1 wins along one line only."""
    features = [[[1.0, 0.0], [0.0, 1.0], [0.1, 0.1], [0.1, 0.1]], [[0.1, 0.1], [0.1, 0.1], [1.0, 1.0], [2.0, 2.0]]]
    env = FiniteContexts(features, [[1.0, 1.0], [1.0, 1.0]])
    cells = regions_of(env)
    assert cells.basis.tolist() == [[True, True, False, False], [False] * 4]
    assert cells.p == 0.25  # as if all contexts came equally often
    assert armspan.audit(env).p == 0.0


def test_merged_contexts_are_pulled_as_often_as_lemma_4_says() -> None:
    """The pulls of an arm in all contexts with one of its basis features, before frames that are in neither 𝒜 nor 𝒞.

    𝒜 is counted for single contexts here. That the merged ones came too rarely has probability at most exp(-p²2^k/4),
    1e-111 for the first frame in which the bound is above 0.
    """
    truth = repeated()
    env = FiniteContexts(truth.features, truth.theta, noise=0.02)
    result = armspan.simulate(env, armspan.LinUCBd(), horizon=2**17 - 1, runs=5, events=True)
    events, problem, says_something = result.events["LinUCB-d"], problem_numbers(env), False
    for k in range(1, events.steps.shape[1]):
        good = ~events.irregular[:, k] & ~events.clouded[:, k]
        t = np.arange(2**k, 2 ** (k + 1))
        least = armspan.theory.optimal_pulls(t, problem, 4, merged=REPEATS).max()
        for i in range(4):
            pulls = events.pulls[good, k - 1, REPEATS * i : REPEATS * (i + 1), i // 2].sum(axis=1)
            assert (pulls >= least).all()
            says_something |= bool(pulls.size and least > 0)
    assert says_something
