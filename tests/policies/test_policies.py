"""Policies are frozen, keyword-only descriptions; their bounds, schedules and refusals."""

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from armspan.environments import FiniteContexts, Rademacher, paper_1a, paper_1c
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies import POLICIES, ContextUCB, Greedy, LinUCB, LinUCBd, Policy
from armspan.simulation import simulate
from tests import naive
from tests.strategies import Array, tables

ALL: list[type[Policy]] = list(POLICIES.values())
T = np.arange(1, 100)


@pytest.mark.parametrize("kind", ALL)
def test_frozen_and_keyword_only(kind: Any) -> None:
    policy = kind(label="mine")
    assert policy.name == "mine"
    assert kind().name == kind.title
    assert kind() == kind()
    with pytest.raises(FrozenInstanceError):
        policy.label = "other"
    with pytest.raises(TypeError):
        kind(1.0)


def test_bounds_come_from_the_policy_or_else_from_the_environment() -> None:
    env = paper_1a()
    l, s = env.feature_bound, env.parameter_bound
    np.testing.assert_allclose(LinUCBd().schedule(env)(T), [naive.alpha(t, 2, l, s) for t in T.tolist()])
    own = LinUCBd(feature_bound=2.0, parameter_bound=3.0, noise_scale=0.5)
    np.testing.assert_allclose(own.schedule(env)(T), [naive.alpha(t, 2, 2.0, 3.0, 0.5) for t in T.tolist()])
    assert own.penalty(env) == 4.0
    assert LinUCB(ridge=0.3).penalty(env) == 0.3
    np.testing.assert_array_equal(Greedy().schedule(env)(T), 0.0)


def test_the_scale_of_the_noise_is_taken_from_the_environment() -> None:
    env = FiniteContexts(paper_1a().features, paper_1a().theta, noise=Rademacher(0.5))
    l, s = env.feature_bound, env.parameter_bound
    np.testing.assert_allclose(LinUCBd().schedule(env)(T), [naive.alpha(t, 2, l, s, 0.5) for t in T.tolist()])
    np.testing.assert_allclose(ContextUCB().schedule(env)(T), 0.5 * ContextUCB(noise_scale=1.0).schedule(env)(T))


def test_context_ucb_refuses_contexts_that_do_not_recur() -> None:
    for engine in ("cpu", "python"):
        with pytest.raises(NotApplicable, match="UCB per context needs contexts that recur, but those of paper 1c"):
            simulate(paper_1c(0), [LinUCBd(), ContextUCB()], horizon=10, runs=1, engine=engine)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LinUCBd(feature_bound=0), "feature_bound must be > 0, got 0"),
        (lambda: LinUCB(parameter_bound=-1.0), "parameter_bound must be > 0, got -1.0"),
        (lambda: Greedy(feature_bound=float("nan")), "feature_bound must be > 0, got nan"),
        (lambda: LinUCBd(noise_scale=-0.5), "noise_scale must be >= 0, got -0.5"),
        (lambda: ContextUCB(noise_scale=True), "noise_scale must be >= 0, got True"),
        (lambda: LinUCB(ridge=0.0), "ridge must be > 0, got 0.0"),
        (lambda: LinUCB(alpha=-2), "alpha must be >= 0, got -2"),
        (lambda: ContextUCB(alpha=[1.0, float("nan")]), "alpha must be finite, got nan at [1]"),
    ],
)
def test_bad_parameters(make: Any, sentence: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        make()
    assert str(caught.value) == sentence


@given(tables())
def test_ucb_per_context_is_the_oracles(table: tuple[Array, Array]) -> None:
    """Its index after a few pulls, from the naive form of the package and from the oracle."""
    features, theta = table
    K, n, _ = features.shape
    env = FiniteContexts(features, theta)
    ours, oracle = ContextUCB().reference(env), naive.NaiveContextUCB(n, K)
    rng = np.random.default_rng(0)
    for t in range(1, 30):
        c, a, y = int(rng.integers(n)), int(rng.integers(K)), float(rng.normal())
        np.testing.assert_allclose(ours.index(features[:, c], c, t), oracle.index(c, t))
        ours.update(a, features[:, c], c, y)
        oracle.update(a, c, y)
