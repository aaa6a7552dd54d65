"""Agents learn a late reward as a simulation does, if they are told the mark of its decision."""

import heapq
from typing import Any

import numpy as np
import pytest

import armspan
from armspan import EXP4, ILTCB, LinTS, LinUCB
from armspan.environments import DelayedRewards, FiniteContexts
from armspan.errors import BadFile, InvalidParameter
from armspan.policies import POLICIES
from armspan.policies.yardstick import Yardstick
from tests.agents.test_family_agent import given_bounds

SEED, STEPS = 11, 150
RNG = np.random.default_rng(3)
ENV = FiniteContexts(RNG.normal(size=(3, 4, 2)) / 2, RNG.normal(size=(3, 2)), noise=0.3)
ALL = [one for one in map(given_bounds, POLICIES.values()) if not isinstance(one, Yardstick)]


def marks_of(policy: Any) -> bool:
    """Whether its decisions have marks."""
    return policy.agent(3, 2).decide([0.1, 0.2]).mark is not None


MARKED = [policy for policy in ALL if marks_of(policy)]
IDS = [policy.name for policy in MARKED]


def test_who_has_marks() -> None:
    """Those that force pulls, decide in stages, or weight rewards by probabilities."""
    forced = {"ExploreThenCommit", "PEGE", "EpochGreedy", "OLSBandit", "LassoBandit", "GreedyFirst"}
    assert {type(policy).__name__ for policy in MARKED} == forced | {
        "SupLinUCB",
        "SupLinRel",
        "EXP4",
        "EXP4P",
        "ILTCB",
        "RandomizedUCB",
    }


def lived(policy: Any, env: DelayedRewards, agent: Any, *, told: bool) -> tuple[float, Any]:
    """The regret of an agent whose rewards come as those of a simulation do, and the agent."""
    block, lost = ENV.stream(SEED, np.array([0])).draw(0, STEPS), 0.0
    coming: list[tuple[Any, ...]] = []
    for step in range(STEPS):
        while coming and coming[0][0] <= step:
            _, _, arm, x, reward, mark = heapq.heappop(coming)
            agent.update(arm, x, reward, mark=mark if told else None)
        c = block.contexts[0, step]
        made = agent.decide(block.x[c])
        lost += block.losses[c, made.arm]
        delay = env.delay(SEED, 0, step + 1)
        if delay is not None:
            reward = block.means[c, made.arm] + block.noise[0, step]
            heapq.heappush(coming, (step + 1 + delay, step, made.arm, block.x[c], reward, made.mark))
    return lost, agent


@pytest.mark.parametrize("policy", MARKED, ids=IDS)
def test_late_rewards_are_learnt_as_in_a_simulation(policy: Any) -> None:
    """The same contexts, rewards, delays and random numbers: the same choices, and the same after a file."""
    env = DelayedRewards(ENV, mean=15.0, lost=0.1)
    expected = armspan.simulate(env, policy, horizon=STEPS, runs=1, seed=SEED)
    lost, agent = lived(policy, env, policy.agent(3, 2, seed=SEED), told=True)
    assert lost == pytest.approx(expected.pseudo_regret[0, 0, -1], rel=1e-9)
    twin = armspan.agents.PolicyAgent.from_bytes(agent.to_bytes())
    for x in RNG.normal(size=(20, 2)):
        np.testing.assert_allclose(twin.propensities(x), agent.propensities(x), atol=1e-9)


def test_it_matters() -> None:
    """Without marks, EXP4 and OLSBandit learn late rewards otherwise."""
    env = DelayedRewards(ENV, mean=15.0, lost=0.1)
    for policy in (one for one in MARKED if type(one).__name__ in ("EXP4", "OLSBandit")):
        _, one = lived(policy, env, policy.agent(3, 2, seed=SEED), told=True)
        _, other = lived(policy, env, policy.agent(3, 2, seed=SEED), told=False)
        assert one.to_bytes() != other.to_bytes()


@pytest.mark.parametrize("policy", MARKED, ids=IDS)
def test_a_reward_that_comes_at_once_needs_no_mark(policy: Any) -> None:
    """The mark of the latest decision, or none: the same is learnt."""
    one, other = policy.agent(3, 2, seed=4), policy.agent(3, 2, seed=4)
    rng = np.random.default_rng(1)
    for _ in range(60):
        x, reward = rng.normal(size=2) / 2, rng.normal()
        first, second = one.decide(x), other.decide(x)
        assert first == second
        one.update(first.arm, x, reward, mark=first.mark), other.update(second.arm, x, reward)
    made = one.decide_many(rng.normal(size=(3, 2)))
    assert made.marks is not None
    assert len(made.marks) == 3
    one.update(made.arms, rng.normal(size=(3, 2)), [0.1, 0.2, 0.3], mark=made.marks)


def test_bad_marks_are_refused_and_nothing_is_learnt() -> None:
    """One sentence each."""
    tuned = LinUCB(ridge=1.0, alpha=1.0, feature_bound=1.0).agent(3, 2)
    sup = next(policy for policy in MARKED if policy.name == "SupLinUCB").agent(3, 2)
    exp4 = next(policy for policy in MARKED if policy.name == "EXP4").agent(3, 2)
    x = [0.1, 0.2]
    for agent, mark, words in (
        (tuned, 0, "mark must be left out"),
        (LinTS().agent(3, 2), 0, "mark must be left out: LinTS.* learns any reward alike"),
        (sup, 99, "mark must be what decide gave, one of -1, 0"),
        (sup, True, "mark must be what decide gave"),
        (sup, (0.2, 0.3, 0.5), "mark must be what decide gave"),
        (exp4, 1, "mark must"),
        (exp4, (0.5, 0.6, 0.2), "mark must be the probabilities that decide gave"),
        (exp4, (0.0, 0.5, 0.5), "mark must be the probabilities that decide gave"),
    ):
        before = agent.to_bytes()
        with pytest.raises(InvalidParameter, match=words):
            agent.update(0, x, 0.5, mark=mark)
        assert agent.to_bytes() == before
    with pytest.raises(InvalidParameter, match="mark must have 2 entries, one per reward"):
        sup.update([0, 1], [x, x], [0.1, 0.2], mark=[0])


def test_damaged_marks_in_a_file_are_refused() -> None:
    """A probability of 0 for an arm that was pulled cannot be."""
    agent: Any = ILTCB(policies=[0, 1, 2], reward_range=(-3, 3)).agent(3, 2)
    made = agent.decide([0.1, 0.2])
    agent.update(made.arm, [0.1, 0.2], 0.5, mark=made.mark)
    agent._past._marks[0] = np.eye(3)[(made.arm + 1) % 3]
    with pytest.raises(BadFile):
        armspan.agents.PolicyAgent.from_bytes(agent.to_bytes())


def test_experts_that_are_functions_have_marks_too() -> None:
    """Such agents keep no rewards, but learn late ones as the compiled form does."""
    agent = EXP4(experts=[0, lambda x: np.ones(3) / 3], horizon=100, reward_range=(-3, 3)).agent(3, 2)
    plain = EXP4(experts=[0, np.zeros((3, 2))], horizon=100, reward_range=(-3, 3)).agent(3, 2)
    for one in (agent, plain):
        first = one.decide([0.3, 0.1])
        for _ in range(5):
            one.update(1, [0.3, 0.1], 2.0)
        one.update(first.arm, [0.3, 0.1], 1.0, mark=first.mark)
    np.testing.assert_allclose(agent.propensities([0.3, 0.1]), plain.propensities([0.3, 0.1]), rtol=1e-9)
