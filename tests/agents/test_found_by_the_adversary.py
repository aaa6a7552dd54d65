"""What `python -m benchmarks.adversary` and other adversaries found, in a few lines each."""

from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import pytest

import armspan
from armspan import (
    EXP4,
    EXP4P,
    FALCON,
    ILTCB,
    OFUL,
    PEGE,
    EpochGreedy,
    EpsilonGreedy,
    ExploreThenCommit,
    Greedy,
    GreedyFirst,
    LassoBandit,
    LinRel,
    LinTS,
    LinUCB,
    LinUCBd,
    OLSBandit,
    RandomizedUCB,
    SquareCB,
    SupLinRel,
    SupLinUCB,
)
from armspan.agents import Agent, FamilyAgent
from armspan.environments import DelayedRewards, FiniteContexts, paper_1b
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies import POLICIES, Policy
from armspan.policies.yardstick import Yardstick
from tests.agents.test_family_agent import general

POLICY = LinUCBd(feature_bound=20.0, alpha=1.0)


@pytest.mark.parametrize("window", [1, 10, 300])
def test_a_single_precision_agent_with_a_window_can_be_loaded(window: int) -> None:
    for number in range(11, 60, 1 if window < 300 else 7):
        agent = LinUCB(feature_bound=1.0, ridge=number / 10_000, alpha=1.0).agent(1, 2, dtype="float32", window=window)
        for axis in (0, 1):
            for _ in range(window):
                agent.update(0, np.eye(2)[axis], 0.5)
        loaded = Agent.from_bytes(agent.to_bytes())
        np.testing.assert_array_equal(loaded.scores([0.5, 0.5]).width, agent.scores([0.5, 0.5]).width)


@pytest.mark.parametrize("ridge", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10])
def test_widths_with_a_window_and_a_small_ridge(ridge: float) -> None:
    agent = LinUCB(feature_bound=1.0, ridge=ridge, alpha=1.0).agent(1, 2, window=1)
    agent.update(0, [-0.7, 0.7], 0.5)
    agent.update(0, [0.6, 0.6], 0.5)
    assert agent.scores([0.6, -0.6]).width[0] == pytest.approx(np.sqrt(0.72 / ridge), rel=1e-5)
    rng = np.random.default_rng(0)
    agent = LinUCB(feature_bound=1.0, ridge=ridge, alpha=1.0).agent(1, 2, window=3)
    rows = rng.uniform(-0.7, 0.7, (200, 2))
    for x in rows:
        agent.update(0, x, 1.0)
    V = ridge * np.eye(2) + rows[-3:].T @ rows[-3:]
    x = np.array([0.3, -0.5])
    assert agent.scores(x).width[0] == pytest.approx(np.sqrt(x @ np.linalg.solve(V, x)), rel=1e-5)


def test_statistics_in_single_precision_are_a_prior() -> None:
    for number in range(1, 100):
        agent = POLICY.agent(1, 2, dtype="float32")
        agent.update(0, [0.01, number / 10_000], 1.0)
        other = POLICY.agent(1, 2, dtype="float32")
        other.add_arm("new", prior=agent.statistics(0))
        assert other.statistics("new").pulls == 1


def test_the_least_ridge_counts_the_intercept() -> None:
    policy = LinUCB(feature_bound=1e-3, ridge=1e-16, alpha=1.0)
    policy.agent(1, 1)
    with pytest.raises(InvalidParameter, match=r"ridge must be at least 1e-10·\(feature_bound² \+ 1\) = 1e-10"):
        policy.agent(1, 1, intercept=True)


@pytest.mark.parametrize("by", ["agent", "delta"])
@pytest.mark.parametrize("learnt", [False, True])
def test_a_relatives_new_arm_is_added_and_one_that_was_removed_stays_away(by: str, learnt: bool) -> None:
    home = POLICY.agent(arms=["a", "b"], n_features=2)
    home.update("a", [1.0, 0.0], 1.0)
    home.update("b", [1.0, 0.0], 1.0)
    worker = home.copy()
    worker.add_arm("new")
    if learnt:
        worker.update("a", [0.0, 1.0], 1.0)
    home.remove_arm("b")
    home.merge(worker if by == "agent" else worker.delta())
    assert home.arms == ("a", "new")
    assert home.statistics("a").pulls == 1 + learnt


def decide(agent: Agent, times: int) -> None:
    for _ in range(times):
        agent.choose([1.0, 0.0])


def test_decisions_of_relatives_are_counted_once_and_none_is_lost() -> None:
    home = POLICY.agent(1, 2)
    home.update(0, [1.0, 0.0], 1.0)
    worker = home.copy()
    decide(worker, 100)
    home.merge(worker)
    assert home.decisions == 100
    home.merge(worker)
    assert home.decisions == 100
    home.update(0, [1.0, 0.0], 1.0)
    worker.merge(home)
    assert worker.decisions == 100
    decide(worker, 5)
    decide(home, 7)
    delta = worker.delta()
    home.merge(delta)
    home.merge(delta)
    assert home.decisions == 112
    loaded = Agent.from_bytes(home.to_bytes())
    decide(loaded, 3)
    home.merge(loaded)
    assert (home.decisions, home.rewards) == (115, 2)


def test_decisions_without_rewards_are_shared_by_copies() -> None:
    agent = POLICY.agent(1, 2)
    decide(agent, 100)
    agent.merge(agent.copy())
    assert agent.decisions == 100
    stranger = POLICY.agent(1, 2)
    decide(stranger, 10)
    agent.merge(stranger)
    assert agent.decisions == 110


# Agents of all policies: arms that come and go, and arms that are not eligible

TOLD: dict[str, Any] = {"feature_bound": 2.0, "parameter_bound": 1.0, "noise_scale": 0.5, "horizon": 400}


def told(kind: type[Policy], **more: Any) -> Any:
    """A policy that knows all that an agent must know."""
    return kind(**{name: value for name, value in TOLD.items() if name in kind.__dataclass_fields__} | more)


EACH = [told(kind) for kind in POLICIES.values() if not issubclass(kind, Yardstick)]
EACH += [replace(policy, shared=True) for policy in EACH if hasattr(policy, "shared")]
EACH += [told(LinUCB, alpha=kind, shared=one) for kind in ("practical", "estimated") for one in (False, True)]
EACH += [told(EpsilonGreedy, until_sure=True), told(Greedy, pulls=5), told(Greedy, pulls=5, shared=True)]
EACH += [told(EXP4, experts=[lambda x: np.full(len(x), 1 / len(x))])]
FIXED = (ExploreThenCommit, PEGE, OLSBandit, LassoBandit, GreedyFirst, EXP4, EXP4P, ILTCB, RandomizedUCB)
WHOLE = (*FIXED, EpochGreedy, SupLinUCB, SupLinRel)


def named(policy: Any) -> str:
    words = [type(policy).__name__, policy.name, "shared" if getattr(policy, "shared", False) else "", policy.compiled]
    return " ".join(str(word) for word in words if word)


each = pytest.mark.parametrize("policy", EACH, ids=named)


def grown(policy: Any) -> Any:
    """An agent of three arms that has decided and learnt 20 times."""
    agent, rng = policy.agent(arms=["a", "b", "c"], n_features=2, seed=1), np.random.default_rng(3)
    for _ in range(20):
        x = rng.uniform(-1, 1, size=(3, 2))
        agent.update(agent.choose(x), x, float(rng.random()))
    return agent


def assert_same_future(*agents: tuple[Any, Any], steps: int = 50) -> None:
    """The same choices and propensities for the same contexts and rewards; with each agent, its `only`."""
    rng, n_arms = np.random.default_rng(7), len(agents[0][0].arms)
    for _ in range(steps):
        x, reward = rng.uniform(-1, 1, size=(n_arms, 2)), float(rng.random())
        shares = [agent.propensities(x, only=only) for agent, only in agents]
        arms = [agent.choose(x, only=only) for agent, only in agents]
        assert len(set(arms)) == 1
        for share, (agent, _) in zip(shares, agents, strict=True):
            np.testing.assert_array_equal(share, shares[0])
            agent.update(arms[0], x, reward)


@each
@pytest.mark.parametrize("change", ["add", "remove"])
def test_arms_come_and_go_as_if_the_agent_had_been_saved_or_are_refused(policy: Any, change: str) -> None:
    agent = grown(policy)
    can_be_saved = policy.compiled or not isinstance(policy, EXP4)
    before = agent.to_bytes() if can_be_saved else b""
    fixed = isinstance(policy, FIXED) or bool(getattr(policy, "pulls", 0))
    assert (policy.fixed_arms is not None) == fixed
    do = partial(agent.add_arm, "new") if change == "add" else partial(agent.remove_arm, "a")
    if fixed:
        sentence = f"arms of {policy.name} can be neither added nor removed, because its .*; start a new agent with the"
        with pytest.raises(NotApplicable, match=sentence):
            do()
        assert agent.arms == ("a", "b", "c")
        assert not can_be_saved or agent.to_bytes() == before
    else:
        do()
        twins = type(agent).from_bytes(agent.to_bytes()), agent.copy()
        assert_same_future((agent, None), *((twin, None) for twin in twins))


@pytest.mark.parametrize("policy", [told(kind) for kind in (SquareCB, FALCON, EpochGreedy, OFUL, LinRel)], ids=named)
def test_numbers_that_depend_on_the_arms_follow_them(policy: Any) -> None:
    agent = policy.agent(3, 2)
    agent.choose([0.5, 0.5])  # the knobs of the next steps are known
    for change, n_arms in ((partial(agent.add_arm, 3), 4), (partial(agent.remove_arm, 0), 3)):
        change()
        other = policy.agent(n_arms, 2)
        steps = [(agent._ahead.at(t), other._ahead.at(t)) for t in range(1, 100)]
        assert all(mine == theirs for mine, theirs in steps)


@pytest.mark.parametrize("kind", [SupLinUCB, SupLinRel])
def test_the_widths_of_stages_follow_the_number_of_arms(kind: type[Policy]) -> None:
    agent = grown(told(kind))
    agent.add_arm("new")
    np.testing.assert_array_equal(agent._state.limits, told(kind).agent(4, 2)._state.limits)


@each
def test_all_arms_by_name_are_no_restriction(policy: Any) -> None:
    agent = grown(policy)
    assert_same_future((agent, None), (agent.copy(), ["c", "a", "b"]))


@each
def test_some_arms_by_name_teach_the_same_or_are_refused(policy: Any) -> None:
    agent, x = grown(policy), [0.5, -0.5]
    whole = isinstance(policy, WHOLE) or bool(getattr(policy, "pulls", 0))
    assert (policy.needs_all_arms is not None) == whole
    if whole:
        sentence = rf"only must name all arms of {policy.name}, because .*, got \['a', 'c'\]"
        for ask in (agent.choose, agent.decide, agent.propensities, agent.exploration):
            with pytest.raises(NotApplicable, match=sentence):
                ask(x, only=["a", "c"])
        assert agent.decisions == 20
    elif isinstance(agent, FamilyAgent):
        before = [array.copy() for array in agent._state]
        for only in (None, ["a", "c"]):  # choosing takes nothing down, so that nothing is lost where arms are left out
            assert agent.choose(x, only=only) in (only or agent.arms)
            for mine, theirs in zip(agent._state, before, strict=True):
                np.testing.assert_array_equal(mine, theirs)


# Schedules that are arrays


def test_an_array_over_steps_may_end_with_the_last_step() -> None:
    agent = LinTS(scale=np.ones(50)).agent(2, 2)
    for _ in range(50):
        agent.update(agent.choose([1.0, 0.5]), [1.0, 0.5], 1.0)
    with pytest.raises(InvalidParameter, match="scale must have one entry per step, got 50 entries for step 51"):
        agent.choose([1.0, 0.5])
    assert agent.decisions == 50


def test_an_array_may_be_as_long_as_a_run_with_late_rewards() -> None:
    env = DelayedRewards(paper_1b(), steps=2)
    short, long = LinTS(scale=np.ones(200)), LinTS(scale=1.0)
    found, expected = armspan.simulate(env, [short, long], horizon=200, runs=2).pseudo_regret
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(InvalidParameter, match="scale must have one entry per step, got 200 entries for step 201"):
        armspan.simulate(env, [short], horizon=201, runs=2)


def test_a_function_that_always_gives_one_value_in_a_list_is_no_schedule() -> None:
    with pytest.raises(InvalidParameter, match="scale must give one value per step"):
        LinTS(scale=lambda t: [0.5]).agent(2, 2).choose([1.0, 0.5])


# Arms that look alike


def test_arms_with_equal_features_are_equally_probable_by_one_draw_for_all() -> None:
    """LinTS with one θ draws as many propensities: 10,000 draws, within 4 standard errors of what is exact here."""
    agent = LinTS(scale=0.5, shared=True).agent(n_arms=3, n_features=2, seed=1)
    np.testing.assert_allclose(agent.propensities(np.ones((3, 2))), 1 / 3, atol=1e-12)
    found = agent.propensities(np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]))
    np.testing.assert_allclose(found, [0.25, 0.25, 0.5], atol=0.02)
    assert found[0] == found[1]


FROM_ALL = [EXP4(horizon=99), EXP4P(horizon=99), SupLinUCB(horizon=99), SupLinRel(horizon=99), ILTCB(), RandomizedUCB()]
"""What a reward teaches these depends on the features of all arms."""


@pytest.mark.parametrize("policy", FROM_ALL, ids=lambda policy: policy.name)
def test_a_reward_is_not_learnt_from_one_row_where_all_arms_rows_count(policy: Policy) -> None:
    assert policy.learns_from_all_arms
    rng = np.random.default_rng(0)
    agent, twin = (policy.agent(3, 2, seed=0) for _ in range(2))
    rows = rng.uniform(size=(3, 2))
    arm = agent.choose(rows)
    for x, y in ((rows[arm], 0.5), (rows[[arm]], [0.5])):
        with pytest.raises(NotApplicable, match=r"needs x as it was given to choose, of shape \(3, 2\)"):
            agent.update([arm] if isinstance(y, list) else arm, x, y)
    assert agent.rewards == 0
    agent.update(arm, rows, 0.5)
    agent.update([arm], rows[None], [0.5])
    twin.update(twin.choose(rows[0]), rows[0], 0.5)  # a context that arms share
    assert (agent.rewards, twin.rewards) == (2, 1)


def test_for_others_the_row_of_the_arm_is_enough() -> None:
    kinds = {kind for kind in POLICIES.values() if kind().learns_from_all_arms}
    assert kinds == {type(policy) for policy in FROM_ALL}
    rng = np.random.default_rng(1)
    agents: list[Any] = [OLSBandit(h=0.2, feature_bound=2.0).agent(3, 2, seed=0) for _ in range(2)]
    for _ in range(40):
        rows, y = rng.uniform(size=(3, 2)), float(rng.normal())
        arm = agents[0].choose(rows)
        assert agents[1].choose(rows) == arm
        agents[0].update(arm, rows, y)
        agents[1].update(arm, rows[arm], y)


def test_arms_with_equal_features_are_tied_where_they_share_a_lasso() -> None:
    agent = LassoBandit(h=1.0, shared=True).agent(3, 3, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(60):
        rows = rng.normal(size=(3, 3))
        agent.update(agent.choose(rows), rows, float(rows[0, 0] + rng.normal()))
        assert (
            np.ptp(agent.scores(np.full((3, 3), 0.5)).index) < 1e-14
        )  # there are processors that sum in another order


def test_an_arm_that_is_not_eligible_does_not_make_another_one_forced_for_ever() -> None:
    """Each eligible arm once, then again after 2ⁿ + a decisions: one by one, or many at once."""
    policy = LinUCB(alpha="practical", feature_bound=1.0)
    one, many = (policy.agent(arms=list("abcd"), n_features=2) for _ in range(2))
    chosen = [one.choose([0.5, 0.5], only=list("bcd")) for _ in range(300)]
    assert chosen[:3] == ["b", "c", "d"]
    assert max(chosen.count(arm) for arm in "bcd") < 150
    assert many.choose_many([[0.5, 0.5]] * 300, only=list("bcd")) == chosen
    assert [one.choose([0.5, 0.5]), many.choose_many([[0.5, 0.5]])[0]] == ["a", "a"]  # eligible at last
    for agent in (one, many):
        assert agent.statistics("a").pulls == agent.diversity()[0].pulls == 0.0
        twin = armspan.Agent.from_bytes(agent.to_bytes())
        assert [twin.choose([0.5, 0.5]) for _ in range(40)] == [agent.choose([0.5, 0.5]) for _ in range(40)]


@pytest.mark.parametrize("shared", [False, True])
def test_a_general_practical_agent_that_learnt_a_log_need_not_try_every_arm(shared: bool) -> None:
    """Of what the log has told nothing of, it does."""
    agent = general(LinUCB(alpha="practical", feature_bound=1.5, shared=shared), 5, 2)
    rng = np.random.default_rng(0)
    X, arms = rng.uniform(size=(400, 2)), list(map(int, rng.integers(4, size=400)))
    agent.update(arms, X, X @ [1.0, 0.0] + 0.1 * rng.normal(size=400))
    x = np.eye(5, 2) * 0.1 + [[0.0, 0.1], [0.2, 0.0], [1.0, 0.2], [0.3, 0.1], [0.1, 0.1]]
    assert agent.propensities(x)[2] == 1.0
    chosen = [agent.choose(x) for _ in range(6)]
    assert chosen == ([2] * 6 if shared else [2, 2, 2, 2, 4, 2])


@pytest.mark.parametrize(
    "policy",
    [
        LinUCB(alpha="practical", feature_bound=1.0),
        LinUCB(alpha=np.linspace(2.0, 0.0, 200), ridge=1.0, feature_bound=1.0),
        LinUCBd(feature_bound=1.0, parameter_bound=1.0, noise_scale=1.0),
    ],
    ids=["practical", "array", "paper"],
)
def test_many_contexts_after_a_log_are_decided_as_one_by_one(policy: Any) -> None:
    """While there are more rewards than decisions, t stands still; scores are those of the next decision."""
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(-0.7, 0.7, size=(100, 2)), rng.uniform(-0.7, 0.7, size=(130, 2))
    one, many = policy.agent(2, 2), policy.agent(2, 2)
    for agent in (one, many):
        agent.update([0, 1] * 50, X, np.tanh(X[:, 0]))
    np.testing.assert_allclose(many.scores_many(Y).index, [one.scores(y).index for y in Y], rtol=1e-12)
    assert many.choose_many(Y) == [one.choose(y) for y in Y]


def test_every_agent_says_that_it_explores() -> None:
    """By intervals where the largest index wins, by probabilities where arms are drawn, ties and ε included."""
    x = [1.0, 0.5]
    sure = OFUL(feature_bound=2.0, parameter_bound=1.0, noise_scale=1.0).agent(2, 2)
    sure.update([0, 1] * 5, [x] * 10, [1.0, 0.9] * 5)
    assert sure.exploration(x).overlapping == (1,)
    drawn = LinTS(scale=0.5).agent(3, 2)
    drawn.update(0, x, 0.0)
    assert set(drawn.exploration(x).overlapping) == {1, 2}
    mixed = LinUCB(alpha=0.0, ridge=1.0, feature_bound=2.0).agent(3, 2, epsilon=0.3)
    mixed.update(0, x, 1.0)
    assert mixed.exploration(x)
    assert not LinUCB(alpha=0.0, ridge=1.0, feature_bound=2.0, shared=True).agent(1, 2).exploration(x)


@pytest.mark.parametrize("forgets", [{"half_life": 70.0}, {"window": 100}], ids=["half-life", "window"])
def test_a_forgotten_arm_is_tried_again_for_ever(forgets: dict[str, Any]) -> None:
    """Rewards are far from 0, so that what is forgotten does not win by its index; the worse arm becomes the better."""
    agent = LinUCB(alpha="practical", feature_bound=1.2).agent(2, 2, **forgets)
    rng, pulls = np.random.default_rng(0), 0
    for t in range(6_000):
        x = np.array([1.0, rng.uniform(0.0, 0.5)])
        arm = agent.choose(x)
        mean = 10.0 if arm == 0 else 9.0 if t < 2_000 else 20.0
        agent.update(arm, x, mean + 0.1 * rng.normal())
        pulls += arm if t >= 4_000 else 0
    assert pulls > 1_800


def test_a_recommendation_leaves_out_who_cannot_run_and_says_why() -> None:
    """Features as they come from a table: ages and incomes."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(18, 80, 50), rng.uniform(1e3, 9e4, 50)])
    found = armspan.recommend(FiniteContexts(X, [[0.01, 1e-5], [0.02, 5e-6]], noise=0.1), horizon=50)
    assert any("long; bring them to about 1" in words for words in found.why)


def test_nothing_to_do_and_arms_without_order_are_refused_in_words() -> None:
    """Once an empty batch "must have shape (n, 2), got shape (0, 2)", and a set gave arms in an order of chance."""
    agent, unordered = LinTS().agent(2, 2), cast("Any", {"a", "b"})
    with pytest.raises(InvalidParameter, match=r"X must not be empty, got shape \(0, 2\)"):
        agent.choose_many(np.zeros((0, 2)))
    with pytest.raises(InvalidParameter, match="arms must be a sequence of names, in order, got"):
        LinTS().agent(arms=unordered, n_features=2)
