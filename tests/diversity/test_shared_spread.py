"""HLS: the spread of the best arms' features together, which a model with one θ for all arms asks for."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import armspan
from armspan.diversity import audit_log
from armspan.diversity.answers import HLS
from armspan.diversity.moments import one_theta
from armspan.environments import BoxContexts, FiniteContexts, MarkovContexts, paper_1a, paper_1c
from armspan.policies.oful import OFUL
from tests.strategies import Array, tables
from tests.tolerance import assert_close


def naive_moment(features: Array, theta: Array, probabilities: Array) -> Array:
    """E[xxᵀ 1{one arm alone is best}] for the features x of that arm, context by context."""
    K, n, d = features.shape
    means = np.array([[theta[a] @ features[a, c] for c in range(n)] for a in range(K)])
    total = np.zeros((d, d))
    for c in range(n):
        first, second = sorted(range(K), key=lambda a: -means[a, c])[:2]
        if means[first, c] - means[second, c] > 1e-12 * np.abs(means).max():
            total += probabilities[c] * np.outer(features[first, c], features[first, c])
    return total


@given(tables(), st.integers(0, 2**32), st.booleans())
def test_it_is_what_a_naive_computation_gives(table: tuple[Array, Array], seed: int, markov: bool) -> None:
    features, theta = table
    n = features.shape[1]
    rng = np.random.default_rng(seed)
    moves = rng.dirichlet(np.ones(n), size=n) * 0.5 + 0.5 / n
    env: Any = MarkovContexts(features, theta, moves) if markov else FiniteContexts(features, theta, moves[0])
    arrivals = moves[0]
    if markov:
        values, vectors = np.linalg.eig(moves.T)
        arrivals = np.real(vectors[:, np.argmax(np.real(values))])
        arrivals = arrivals / arrivals.sum()
    values = np.linalg.eigvalsh(naive_moment(features, theta, arrivals))
    report = armspan.audit(env)
    assert report.shared_spread == pytest.approx(max(values[0], 0.0), abs=1e-12 * max(values[-1], 1.0))
    assert report.shared_spread_interval == (report.shared_spread,) * 2


@given(tables())
def test_it_is_at_least_what_the_arms_give_each(table: tuple[Array, Array]) -> None:
    """λ_min of a sum is at least the sum of λ_min (Weyl); so diverse contexts have it, and not the other way round."""
    report = armspan.audit(FiniteContexts(*table))
    least = sum(row.probability * row.second_moment for row in report.arms)
    assert report.shared_spread >= least * (1 - 1e-9)
    if report.verdicts[1].answer == "yes":
        assert report.verdicts[4].answer == "yes"


def test_known_cases() -> None:
    """Unit vectors, each the best with probability ½: E[xxᵀ] = I/2. All of them on one line: 0."""
    eye = FiniteContexts([[[1.0, 0], [0, 0.1]], [[0.1, 0], [0, 1.0]]], np.ones((2, 2)))
    report = armspan.audit(eye)
    assert report.shared_spread == pytest.approx(0.5)
    assert report.verdicts[1].answer == "no"  # no arm's own contexts span
    assert report.verdicts[4].answer == "yes"
    line = FiniteContexts([[[1.0, 2.0], [0.1, 0]], [[0, 0.1], [2.0, 4.0]]], np.ones((2, 2)))
    report = armspan.audit(line)
    assert report.shared_spread == 0
    assert (report.verdicts[4].question, report.verdicts[4].answer) == (HLS, "no")
    assert report.verdicts[4].reason == (
        "The best arms' features together have rank 1 of 2. In a model with one θ for all arms, playing the best arm "
        "does not teach all of θ."
    )
    same = np.random.default_rng(0).normal(size=(7, 3))
    shared = armspan.audit(contexts=same, theta_hat=np.eye(2, 3))
    assert_close(shared.shared_spread, np.linalg.eigvalsh(same.T @ same / 7)[0])  # whichever arm is best


def test_the_line_says_for_which_model_it_holds() -> None:
    x = np.random.default_rng(1).normal(size=(3, 5, 2))
    promise = "In a model with one θ for all arms, that and a gap make OFUL's regret constant."
    one, own = (armspan.audit(FiniteContexts(x, theta)) for theta in (np.ones((3, 2)), [[1, 0], [0, 1], [1, 1]]))
    value = f"The spread of the best arms' features together is {one.shared_spread:.3g}. "
    assert one.verdicts[4].reason == value + promise
    assert one.one_theta
    assert not own.one_theta
    assert own.verdicts[4].reason.endswith(f"{promise} Here each arm has its own θ, and what counts is λ₀.")
    assert str(one.verdicts[4]) in str(one)
    level = armspan.audit(BoxContexts(np.ones((2, 2))))  # one θ, and contexts arbitrarily close to a tie
    low, high = level.shared_spread_interval
    assert level.verdicts[4].reason == (
        f"The spread of the best arms' features together is {level.shared_spread:.3g} ({low:.3g} to {high:.3g}). "
        f"{promise} Here there is no gap."
    )


def test_one_theta_is_seen_wherever_it_holds() -> None:
    """Blocks of their own make one θ of several; units do not matter, and a little noise in θ is enough to refute."""
    rng = np.random.default_rng(2)
    x, theta = rng.normal(size=(200, 3, 4)), rng.normal(size=4)
    for unit in (1e-8, 1.0, 1e8):
        scaled = x * [unit, 1, 1, 1]
        assert one_theta(scaled, x @ theta)
        assert not one_theta(scaled, x @ theta + 1e-3 * x[:, :, 0] * [0, 0, 1])
    blocks = np.zeros((200, 2, 4))
    blocks[:, 0, :2], blocks[:, 1, 2:] = x[:, 0, :2], x[:, 1, 2:]
    assert one_theta(blocks, np.einsum("nkd,kd->nk", blocks, rng.normal(size=(2, 4))))


def test_ties_alone_are_not_enough_for_yes() -> None:
    """The second direction is seen only where two arms tie, and which of them is pulled nobody knows."""
    tied = FiniteContexts([[[1.0, 0], [0.5, 0.5]], [[0.1, 0], [1.0, 0]]], np.ones((2, 2)))
    report = armspan.audit(tied)
    assert (report.shared_spread, report.optimal_rank) == (0.0, 2)
    assert report.verdicts[4].answer == "not known"
    everywhere = armspan.audit(FiniteContexts([np.eye(2), np.eye(2)], np.ones((2, 2))))
    assert (everywhere.shared_spread, everywhere.verdicts[4].answer) == (0.0, "not known")


def test_a_sample_gives_an_interval_that_holds_the_truth() -> None:
    """The truth by another sample, of 800,000: both errors together stay below 4.5 standard errors but for 10⁻⁵."""
    for env in (BoxContexts([[1.0, -1.0], [-1.0, 1.0]], gap=0.2), paper_1c(0)):
        report = armspan.audit(env)
        low, high = report.shared_spread_interval
        assert low < report.shared_spread < high
        x, means = env.sample(800_000, seed=3)
        X = x[np.arange(len(x)), np.argmax(means, axis=1)]
        truth = np.linalg.eigvalsh(X.T @ X / len(X))[0]
        assert report.shared_spread == pytest.approx(truth, abs=4.5 * (high - low) / 2 / 1.96 * np.sqrt(1 + 1 / 4))
        assert report.verdicts[4].answer == "yes"


def test_what_a_sample_does_not_show_is_not_known() -> None:
    flat = armspan.audit(BoxContexts([[1.0, -1.0], [-1.0, 1.0]], low=[0.0, 0.0], high=[1.0, 1e-12]))
    assert flat.verdicts[4].answer in ("yes", "not known")  # never no: it is a sample

    class Flat(BoxContexts):
        def context_table(self, samples: int) -> tuple[Array, Array, Array, bool]:
            x, means, weights, _ = super().context_table(samples)
            return x * [1.0, 0.0], means, weights, False

    report = armspan.audit(Flat([[1.0, -1.0], [-1.0, 1.0]]))
    assert (report.shared_spread, report.verdicts[4].answer) == (0.0, "not known")
    assert report.verdicts[4].reason == "The best arms' features together have rank 1 of 2 in 200,000 sampled contexts."


def test_of_estimated_parameters_it_is_a_number_and_no_verdict() -> None:
    a = paper_1a()
    many = np.repeat(np.swapaxes(a.features, 0, 1), 300, axis=0)
    report, truth = armspan.audit(contexts=many, theta_hat=a.theta), armspan.audit(a)
    assert report.shared_spread == pytest.approx(truth.shared_spread)
    assert report.verdicts[4].answer == "not known"
    assert "is about 0.172, by the parameters given: an estimate" in report.verdicts[4].reason


def test_of_a_log_it_is_a_number_and_no_verdict() -> None:
    rng = np.random.default_rng(4)
    X, arms = rng.normal(size=(300, 2)) * [1.0, 0.5], rng.integers(2, size=300)
    log = audit_log(X, arms.tolist(), X[np.arange(300), arms])
    assert_close(log.shared_spread, np.linalg.eigvalsh(X.T @ X / 300)[0])
    assert HLS not in [verdict.question for verdict in log.verdicts]
    assert f"(HLS): about {log.shared_spread:.3g}, an estimate, not a verdict." in str(log)


@pytest.mark.slow
def test_oful_stops_exploring_where_it_is_positive_and_not_where_it_is_0() -> None:
    """One θ = (1, 1): the best features span, or lie on one line while the loser's direction is still to be learnt."""
    spanning = FiniteContexts([[[1.0, 0], [0, 0.4]], [[0.4, 0], [0, 1.0]]], np.ones((2, 2)))
    line = FiniteContexts([[[1.0, 0]], [[0, 0.8]]], np.ones((2, 2)))
    for env, answer in ((spanning, "yes"), (line, "no")):
        report = armspan.audit(env)
        assert (report.verdicts[4].answer, report.one_theta) == (answer, True)
        marks = [30_000, 300_000]
        result = armspan.simulate(env, OFUL(shared=True), horizon=marks[-1], runs=20, checkpoints=marks)
        later = np.diff(result.pseudo_regret[0], axis=-1)
        assert (later == 0).all() if answer == "yes" else (later > 0).all()
