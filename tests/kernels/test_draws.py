"""Contexts, features and noise have the distributions they should. All seeds are fixed.

A test that compares with a distribution refuses at p < 1e-6; there are about 30 of them, so a correct generator with
another seed fails one with probability below 3e-5.
"""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from armspan.environments import BoxContexts, FiniteContexts, Gaussian, MarkovContexts, Rademacher, paper_1a
from armspan.environments.table import alias_tables
from armspan.kernels import draws
from armspan.kernels.block import Block
from tests.strategies import Array

LEAST_P = 1e-6
RUNS = np.arange(50)


def noise_of(kind: int, scale: float = 1.0, seed: int = 1, size: int = 4000) -> Array:
    noise = np.empty((RUNS.size, size))
    draws.draw_noise(seed, RUNS, 0, kind, scale, noise)
    return noise


@given(st.integers(0, 2**32 - 1))
def test_turn_is_a_point_on_the_circle(word: int) -> None:
    angle = 2 * math.pi * (word + 0.5 - 2**31) / 2**32
    cosine, sine = draws.turn(float(word))
    assert cosine == pytest.approx(math.cos(angle), abs=3e-15)
    assert sine == pytest.approx(math.sin(angle), abs=3e-15)


def test_gaussian_noise_is_gaussian() -> None:
    sample = noise_of(draws.GAUSSIAN).ravel()
    assert stats.kstest(sample, "norm").pvalue > LEAST_P
    n = sample.size
    for moment, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(sample**moment) - expected) < 4.9 * math.sqrt(variance / n)  # 4.9 sd: p = 1e-6
    assert np.abs(sample).max() > 4  # the tail is there


def test_gaussian_noise_is_independent_between_steps_and_runs() -> None:
    noise = noise_of(draws.GAUSSIAN)
    bound = 4.9 / math.sqrt(noise.size)
    for lag in (1, 2, 3, 4):
        assert abs(np.mean(noise[:, lag:] * noise[:, :-lag])) < bound * 1.01
        assert abs(np.mean(noise[lag:] * noise[:-lag])) < bound * 1.1
    # Box–Muller pairs: squares must be uncorrelated too
    squares = noise**2 - 1
    assert abs(np.mean(squares[:, ::2] * squares[:, 1::2])) < 4.9 * 2 / math.sqrt(noise.size / 2)


def test_noise_scales() -> None:
    np.testing.assert_allclose(noise_of(draws.GAUSSIAN, 0.25), 0.25 * noise_of(draws.GAUSSIAN), rtol=1e-14)


def test_rademacher_noise_is_a_fair_sign() -> None:
    sample = noise_of(draws.RADEMACHER, 0.5).ravel()
    assert set(np.unique(sample)) == {-0.5, 0.5}
    assert stats.binomtest(int((sample > 0).sum()), sample.size).pvalue > LEAST_P


def test_different_seeds_give_unrelated_noise() -> None:
    one, other = noise_of(draws.GAUSSIAN, seed=1), noise_of(draws.GAUSSIAN, seed=2)
    assert abs(np.mean(one * other)) < 4.9 / math.sqrt(one.size)


def drawn(stream: Any, first: int, size: int) -> Block:
    """A block of exactly so many steps: what a stream gives may have room for more."""
    block: Block = stream.draw(first, size)
    return block._replace(contexts=block.contexts[:, :size], noise=block.noise[:, :size])


def test_context_frequencies() -> None:
    probabilities = np.array([0.5, 0.25, 0.2, 0.05, 0.0])
    env = FiniteContexts(np.ones((2, 5, 1)), [[1.0], [2.0]], probabilities)
    contexts = drawn(env.stream(3, RUNS), 0, 2000).contexts
    counts = np.bincount(contexts.ravel(), minlength=5)
    assert counts[4] == 0
    assert stats.chisquare(counts[:4], probabilities[:4] * contexts.size).pvalue > LEAST_P


def test_contexts_are_independent_of_each_other_and_of_the_noise() -> None:
    block = drawn(paper_1a().stream(4, RUNS), 0, 2000)
    pairs = np.bincount((4 * block.contexts[:, :-1] + block.contexts[:, 1:]).ravel(), minlength=16)
    assert stats.chisquare(pairs).pvalue > LEAST_P
    runs = np.bincount((4 * block.contexts[:-1] + block.contexts[1:]).ravel(), minlength=16)
    assert stats.chisquare(runs).pvalue > LEAST_P
    groups = [block.noise[block.contexts == c] for c in range(4)]
    assert stats.kruskal(*groups).pvalue > LEAST_P


def test_markov_transitions_and_long_run() -> None:
    transition = np.array([[0.1, 0.9, 0.0], [0.3, 0.3, 0.4], [0.5, 0.0, 0.5]])
    env = MarkovContexts(np.ones((2, 3, 1)), [[1.0], [2.0]], transition)
    contexts = drawn(env.stream(5, RUNS), 0, 4000).contexts
    for c in range(3):
        follow = np.bincount(contexts[:, 1:][contexts[:, :-1] == c], minlength=3)
        possible = transition[c] > 0
        assert follow[~possible].sum() == 0
        assert stats.chisquare(follow[possible], transition[c][possible] * follow.sum()).pvalue > LEAST_P
    np.testing.assert_allclose(env.probabilities @ transition, env.probabilities, atol=1e-12)
    many = env.stream(6, np.arange(20_000)).draw(0, 2).contexts[:, 0]  # the first context is drawn from the long run
    assert stats.chisquare(np.bincount(many, minlength=3), env.probabilities * 20_000).pvalue > LEAST_P


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=8).filter(sum))
def test_alias_tables_hold_the_distribution(weights: list[int]) -> None:
    probabilities = np.array(weights) / sum(weights)
    threshold, alias = alias_tables(probabilities[None])
    n = probabilities.size
    mass = np.zeros(n)
    for column in range(n):
        mass[column] += float(threshold[0, column]) / 2**32 / n
        mass[alias[0, column]] += (1 - float(threshold[0, column]) / 2**32) / n
    np.testing.assert_allclose(mass, probabilities, atol=1e-9)
    assert not mass[probabilities == 0].any()


@pytest.mark.parametrize("probabilities", [[0.25] * 4, [0.1, 0.2, 0.3, 0.4], [1 / 3] * 3])
def test_contexts_in_lanes_are_those_that_are_picked(probabilities: list[float]) -> None:
    threshold, alias = alias_tables(np.array([probabilities]))
    words = np.random.default_rng(0).integers(0, 2**32, 2001).astype(np.uint64)
    words[:2] = 0, 2**32 - 1
    contexts = np.empty(words.size, dtype=np.int64)
    assert draws.words_to_contexts(words, threshold, alias, 0, contexts) == 0
    np.testing.assert_array_equal(contexts, [draws.pick(word, threshold, alias, 0) for word in words])


def test_box_features_are_uniform_where_no_gap_is_asked() -> None:
    env = BoxContexts([[1.0, 0.5], [-1.0, 2.0]], low=[-1, 2], high=[1, 5])
    block = env.stream(7, RUNS).draw(0, 400)
    for a in range(2):
        for j, (low, width) in enumerate(((-1, 2), (2, 3))):
            assert stats.kstest(block.x[:, a, j], "uniform", (low, width)).pvalue > LEAST_P
    flat = block.x.reshape(-1, 4)
    correlations = np.asarray(np.corrcoef(flat.T))[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 4.9 / math.sqrt(len(flat))
    assert abs(np.corrcoef(flat[1:, 0], flat[:-1, 0])[0, 1]) < 4.9 / math.sqrt(len(flat))
    assert abs(np.corrcoef(flat[:, 0], block.noise.ravel())[0, 1]) < 4.9 / math.sqrt(len(flat))


def test_box_features_with_a_gap_are_those_draws_that_have_it() -> None:
    theta = np.array([[1.0, 0.5], [-1.0, 2.0]])
    x, means = BoxContexts(theta, gap=0.6).sample(20_000, seed=8)
    np.testing.assert_allclose(means, np.einsum("nkd,kd->nk", x, theta), rtol=1e-12)
    assert np.diff(np.sort(means, axis=1), axis=1).min() >= 0.6
    rng = np.random.default_rng(0)
    free = rng.random((60_000, 2, 2))
    leads = np.abs(np.diff(np.einsum("nkd,kd->nk", free, theta), axis=1))[:, 0]
    for a in range(2):
        for j in range(2):
            assert stats.ks_2samp(x[:, a, j], free[leads >= 0.6][:, a, j]).pvalue > LEAST_P


@pytest.mark.parametrize(
    ("K", "d", "gap", "n_runs", "B"),
    [(5, 4, 0.5, 3, 70), (2, 1, 0.3, 2, 10), (3, 1, 0.0, 1, 20), (10, 3, 0.05, 2, 140)],
)
def test_box_features_drawn_side_by_side_are_those_drawn_one_by_one(
    K: int, d: int, gap: float, n_runs: int, B: int
) -> None:
    """One by one, as on a GPU, by plain Python."""
    rng, runs, rows = np.random.default_rng(K + d), np.arange(5, 5 + n_runs), n_runs * B
    low, u = -rng.random(d), np.empty((K * d + 3) // 4 * 4)
    env = BoxContexts(rng.normal(size=(K, d)), low, low + 1 + rng.random(d), gap=gap)
    block, seed = env.stream(7, runs).draw(100, B), np.uint64(7)
    wanted = np.empty((rows, K, d)), np.empty((rows, K)), np.empty((rows, K))
    for c in range(rows):
        run, step = runs[c // B], 100 + c % B
        draws.features(seed, run, step, env.low, env.high, env.theta, env.gap, u, *wanted, c, K, d)
    for ours, theirs in zip((block.x, block.means, block.losses), wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("noise", [Gaussian(0.3), Rademacher(2.0)])
def test_noise_is_the_same_in_every_environment(noise: Gaussian | Rademacher) -> None:
    table = drawn(FiniteContexts(np.ones((2, 3, 1)), [[1.0], [2.0]], noise=noise).stream(9, RUNS[:3]), 0, 100)
    box = BoxContexts([[1.0], [2.0]], noise=noise).stream(9, RUNS[:3]).draw(0, 100)
    np.testing.assert_array_equal(table.noise, box.noise)


@given(st.integers(1, 60).map(lambda half: 2 * half))
@settings(max_examples=15)
def test_draws_do_not_depend_on_how_steps_are_blocked(cut: int) -> None:
    env = MarkovContexts(np.ones((2, 2, 1)), [[1.0], [2.0]], [[0.6, 0.4], [0.2, 0.8]])
    whole = drawn(env.stream(10, RUNS[:3]), 0, 151)
    stream = env.stream(10, RUNS[:3])
    parts = [drawn(stream, 0, cut), drawn(stream, cut, 151 - cut)]
    for name in ("contexts", "noise"):
        together = np.concatenate([getattr(part, name) for part in parts], axis=1)
        np.testing.assert_array_equal(together, getattr(whole, name))


def test_the_vectorised_logarithm_is_right_to_the_last_place() -> None:
    words = np.random.default_rng(0).integers(0, 2**32, 20_000).astype(np.float64)
    words[:5] = 0, 1, 2**31, 2**32 - 1, 3037000499  # the ends, and the root of a half
    for word in words:
        exact = math.log((word + 0.5) * 2.0**-32)
        assert abs(draws.log_unit_in_lanes(word) - exact) <= 2 * np.spacing(abs(exact))
