"""Policies are frozen, keyword-only descriptions; their bounds, schedules and refusals."""

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from armspan.environments import FiniteContexts, Rademacher, paper_1a, paper_1c
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies import POLICIES, ContextUCB, Greedy, LinUCB, LinUCBd, Policy
from armspan.policies.epoch_greedy import EpochGreedy
from armspan.policies.explore_then_commit import ExploreThenCommit
from armspan.policies.pege import PEGE
from armspan.policies.random_choice import RandomChoice
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


@pytest.mark.parametrize("learnt", ["practical", "estimated"])
@pytest.mark.parametrize("shared", [False, True])
def test_merged_agents_explore_as_much_as_one_that_has_seen_all(learnt: str, shared: bool) -> None:
    """Each of 40 workers has few rewards, which its own parameters explain well; together they do not."""
    policy, rng = LinUCB(alpha=learnt, feature_bound=2.0, shared=shared), np.random.default_rng(0)
    whole, home = policy.agent(2, 5), policy.agent(2, 5)
    for _ in range(40):
        worker = policy.agent(2, 5)
        for _ in range(6):
            arm, x, y = int(rng.integers(2)), rng.uniform(-0.8, 0.8, 5), float(5 + rng.normal())
            worker.update(arm, x, y)
            whole.update(arm, x, y)
        home.merge(worker)
    for _ in range(3):  # and they learn alike afterwards
        merged, one = home.scores([0.4, -0.3, 0.2, 0.1, 0.5]), whole.scores([0.4, -0.3, 0.2, 0.1, 0.5])
        np.testing.assert_allclose(merged.index, one.index, rtol=1e-9)
        for agent in (home, whole):
            agent.update(1, [0.1, 0.2, 0.3, 0.4, 0.5], 3.0)


@pytest.mark.parametrize("policy", [ExploreThenCommit(pulls=5), PEGE(), EpochGreedy()], ids=lambda policy: policy.name)
def test_a_log_teaches_an_agent_that_learns_forced_pulls_alone(policy: Any) -> None:
    """As docs/agents.md says for an agent that was lost: its log, by `update` alone."""
    rng, policy = np.random.default_rng(4), replace(policy, ridge=0.1)
    agent, x = policy.agent(2, 2), rng.normal(size=(10, 2))
    arms, y = np.arange(10) % 2, rng.normal(size=10)
    agent.update(arms.tolist(), x, y)
    theta = [np.linalg.solve(x[a::2].T @ x[a::2] + 0.1 * np.eye(2), x[a::2].T @ y[a::2]) for a in (0, 1)]
    np.testing.assert_allclose(agent.scores([0.3, -0.7]).mean, np.array(theta) @ [0.3, -0.7])


@pytest.mark.parametrize("policy", [PEGE(ridge=0.1), EpochGreedy(ridge=0.1)], ids=lambda policy: policy.name)
def test_rewards_of_greedy_choices_teach_these_agents_nothing(policy: Any) -> None:
    """Also after a merge: what the other has asked for is still waited for."""
    home, worker = policy.agent(2, 1), policy.agent(2, 1)
    for _ in range(40):
        arm, due = worker.choose([1.0]), worker._state.due.sum()
        if due:
            worker.update(arm, [1.0], 1.0)
        else:
            break
    assert worker._state.asked.sum() == 1
    home.merge(worker)
    before = home.scores([1.0]).mean
    home.update(arm, [1.0], 50.0)
    np.testing.assert_array_equal(home.scores([1.0]).mean, before)
    home.update(arm, [1.0], 50.0)  # which nobody has asked for
    assert home.scores([1.0]).mean[arm] > before[arm]


def test_an_agent_that_commits_learns_the_first_rewards_of_every_arm() -> None:
    """From a log, and from its own choices; later ones change nothing, whoever has asked for them."""
    agent = ExploreThenCommit(pulls=2, ridge=1.0).agent(2, 1)
    agent.update([0, 0, 0], [[1.0]] * 3, [1.0, 2.0, 50.0])
    assert agent.scores([1.0]).mean.tolist() == [1.0, 0.0]
    assert agent.choose([1.0]) == 1
    agent.update([1, 1, 1], [[1.0]] * 3, [4.0, 5.0, 50.0])
    assert agent.scores([1.0]).mean.tolist() == [1.0, 3.0]


def test_practical_exploration_finds_what_it_has_not_tried_where_noise_is_small() -> None:
    """Four arms, one pull of each at first. Residuals say little, and an arm is expected to earn 0 elsewhere.

    Without the size of rewards in its index it lost 84; now 7, with a standard error of 0.5, and the limit is 26.
    """
    features = np.column_stack([np.ones(30), np.random.default_rng(4109).uniform(size=(30, 3))])
    theta = [[0.6, 0.8, -0.5, 0.2], [0.5, -0.6, 0.9, 0.1], [0.7, 0.1, 0.1, -0.3], [0.2, 0.1, 0.0, -0.3]]
    env = FiniteContexts(np.tile(features, (4, 1, 1)), theta, noise=0.1)
    found = simulate(env, [LinUCB(alpha="practical"), RandomChoice()], horizon=3_000, runs=30).mean()[:, -1]
    assert found[0] < 0.02 * found[1]
