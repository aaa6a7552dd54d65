"""What an agent promises to an application."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

import armspan
from armspan import Greedy, LinUCB, LinUCBd
from armspan._typing import IntArray
from armspan.environments import BoxContexts, Environment, FiniteContexts, paper_1a, paper_1b
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels import agent_layout as layout
from armspan.policies import Policy
from tests import naive
from tests.tolerance import assert_close

SMALL = LinUCBd(feature_bound=1.0, parameter_bound=1.0)
RNG = np.random.default_rng(0)
MISSPELT: Any = {"colour": "red"}


def live(agent: Any, env: Environment, steps: int, seed: int) -> IntArray:
    """The agent through run 0 of a simulation; returns what it pulled."""
    block = env.stream(seed, np.zeros(1, dtype=np.int64)).draw(0, steps)
    pulled = np.empty(steps, dtype=np.int64)
    for i in range(steps):
        c = block.contexts[0, i]
        pulled[i] = agent.choose(block.x[c])
        agent.update(int(pulled[i]), block.x[c], float(block.means[c, pulled[i]] + block.noise[0, i]))
    return pulled


@pytest.mark.parametrize(
    ("env", "steps"),
    [
        (paper_1a(), 20_000),
        (paper_1b(), 3000),
        (BoxContexts(np.eye(3), gap=0.1), 3000),
        (FiniteContexts(RNG.normal(size=(9, 20, 17)), RNG.normal(size=(9, 17))), 3000),
    ],
    ids=["1a", "1b", "box", "many arms, pruned"],
)  # fmt: skip
@pytest.mark.parametrize("policy", [LinUCBd(), Greedy(), LinUCB(alpha=0.3, ridge=2.0)], ids=lambda policy: policy.name)
def test_the_simulator_and_the_agent_make_the_same_choices(env: Environment, steps: int, policy: Policy) -> None:
    """The same contexts, noise and ties: the same arms, so the same regret, step by step."""
    bounds: Any = {"feature_bound": env.feature_bound}
    if not isinstance(policy, Greedy):
        bounds |= {"parameter_bound": env.parameter_bound, "noise_scale": env.noise_scale}
    own: Any = replace(policy, **bounds)
    agent = own.agent(n_arms=env.n_arms, n_features=env.n_features, seed=11)
    pulled = live(agent, env, steps, seed=11)
    block = env.stream(11, np.zeros(1, dtype=np.int64)).draw(0, steps)
    losses = block.losses[block.contexts[0, :steps], pulled]
    result = armspan.simulate(env, policy, horizon=steps, runs=1, seed=11)
    np.testing.assert_allclose(
        np.cumsum(losses)[result.checkpoints - 1], result.pseudo_regret[0, 0], rtol=1e-9, atol=1e-9
    )


def test_alpha_is_the_papers() -> None:
    agent = LinUCBd(feature_bound=0.9, parameter_bound=1.1, noise_scale=0.5).agent(n_arms=2, n_features=3)
    for t in range(1, 6):
        assert agent.alpha == pytest.approx(naive.alpha(t, 3, 0.9, 1.1, 0.5))
        agent.update(agent.choose([0.1, 0.2, 0.3]), [0.1, 0.2, 0.3], 1.0)
    scores = agent.scores([0.1, 0.2, 0.3])
    np.testing.assert_allclose(scores.index, scores.mean + agent.alpha * scores.width)
    assert "index" in str(scores)


def test_schedules_of_every_kind() -> None:
    for alpha in (0.5, [0.5] * 50, lambda t: 0.5):
        agent = LinUCB(ridge=1.0, alpha=alpha).agent(n_arms=2, n_features=2)
        for _ in range(5):
            agent.update(agent.choose([1.0, 0.0]), [1.0, 0.0], 1.0)
        assert agent.alpha == 0.5


def test_names_of_any_hashable_kind() -> None:
    names = ["tea", 7, ("milk", 2), None, frozenset({1})]
    agent = SMALL.agent(arms=names, n_features=2)
    assert agent.arms == tuple(names)
    for name in names:
        agent.update(name, [0.5, 0.5], 1.0)
    assert [agent.statistics(name).pulls for name in names] == [1.0] * 5
    assert agent.choose([0.5, 0.5], only=[("milk", 2)]) == ("milk", 2)


def test_only_eligible_arms_are_chosen() -> None:
    agent = SMALL.agent(n_arms=4, n_features=2)
    for reward, arm in enumerate(range(4)):
        for _ in range(50):
            agent.update(arm, [0.6, 0.6], float(reward))
    assert agent.choose([0.6, 0.6]) == 3
    assert agent.choose([0.6, 0.6], only=[0, 1]) == 1
    for only, sentence in (([], "only must name at least one arm"), ([9], "arm must be one of 0, 1, 2, 3, got 9")):
        with pytest.raises(InvalidParameter, match=sentence):
            agent.choose([0.6, 0.6], only=only)


@pytest.mark.long
def test_propensities_are_how_often_arms_are_chosen() -> None:
    """20,000 decisions; each share within 4.5 standard deviations of its propensity."""
    agent = LinUCB(ridge=1.0, alpha=1.0).agent(n_arms=4, n_features=2, epsilon=0.2, seed=3)
    agent.update(0, [1.0, 0.0], -5.0)
    agent.update(1, [1.0, 0.0], -5.0)
    x = [1.0, 0.0]  # arms 2 and 3 tie
    expected = agent.propensities(x)
    np.testing.assert_allclose(expected, [0.05, 0.05, 0.45, 0.45])
    decisions = [agent.decide(x) for _ in range(20_000)]
    for arm in range(4):
        chosen = [decision for decision in decisions if decision.arm == arm]
        assert len(chosen) / 20_000 == pytest.approx(expected[arm], abs=4.5 * np.sqrt(0.25 / 20_000))
        assert {round(decision.propensity, 12) for decision in chosen} == {round(float(expected[arm]), 12)}
    np.testing.assert_allclose(agent.propensities(x, only=[0, 2]), [0.1, 0, 0.9, 0])
    first = LinUCB(ridge=1.0, alpha=1.0).agent(n_arms=3, n_features=2, ties="first")
    assert [first.choose(x) for _ in range(20)] == [0] * 20
    np.testing.assert_allclose(first.propensities(x), [1, 0, 0])
    assert first.decide(x).propensity == 1.0


def test_batches_are_learnt_all_or_not_at_all() -> None:
    agent = SMALL.agent(n_arms=3, n_features=2)
    agent.update([0, 1, 2], np.eye(3, 2), [1.0, 2.0, 3.0])
    before = [part.copy() for part in agent._state.parts]
    X = np.random.default_rng(0).normal(size=(40, 2))
    for n, rewards, arms in ((3, [1, 2, 3], [0, 1, 2]), (40, np.ones(40), [0] * 40)):
        bad = X[:n].copy()
        bad[n - 1, 1] = np.nan
        with pytest.raises(InvalidParameter, match=r"X must be finite, got nan at \[\d+, 1\]"):
            agent.update(arms, bad, rewards)
        wrong = np.array(rewards, dtype=float)
        wrong[-1] = np.inf
        with pytest.raises(InvalidParameter, match="reward must be finite"):
            agent.update(arms, X[:n], wrong)
        with pytest.raises(InvalidParameter, match="arm must be one of 0, 1, 2, got 5"):
            agent.update([*arms[:-1], 5], X[:n], rewards)
        with pytest.raises(InvalidParameter, match=f"arm must have {n} entries"):
            agent.update(arms[:-1], X[:n], rewards)
    for part, kept in zip(agent._state.parts, before, strict=True):
        np.testing.assert_array_equal(part, kept)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda a: a.choose([1.0]), r"x must have shape \(2,\), got shape \(1,\)"),
        (lambda a: a.choose(np.ones(3)), r"x must have shape \(2,\), got shape \(3,\)"),
        (lambda a: a.choose(np.ones((5, 2))), r"x must have shape \(3, 2\), got shape \(5, 2\)"),
        (lambda a: a.choose([1.0, float("nan")]), r"x must be finite, got nan at \[1\]"),
        (lambda a: a.choose(np.array([1.0, np.inf])), r"x must be finite, got inf at \[1\]"),
        (lambda a: a.choose("ab"), "x must have shape"),
        (lambda a: a.choose(["a", "b"]), "x must be an array of numbers"),
        (lambda a: a.choose(np.array([1e200, 0.0])), "x must be small enough"),
        (lambda a: a.update(0, np.array([1.0, 0.0]), 1e200), "x and reward must be below 1e"),
        (lambda a: a.add_arm(9, 5), "prior must be statistics of an arm or a pair"),
        (lambda a: a.add_arm(9, (np.zeros((3, 3, 2)), [1, 2, 3])), r"prior X must have shape \(n, 2\)"),
        (lambda a: a.add_arm(9, weight=0.5), "weight must come with prior or like"),
        (lambda a: SMALL.agent(arms="abc", n_features=2), "arms must be a sequence of names"),
        (lambda a: SMALL.agent(1, feature_names=["u", "v"]).merge(SMALL.agent(1, feature_names=["v", "u"])),
         "other must have the same feature_names"),
        (lambda a: a.update(0, np.array([1.0, np.nan]), 1.0), r"x must be finite, got nan at \[1\]"),
        (lambda a: a.update(0, [1.0, 0.0], float("nan")), "reward must be a finite number, got nan"),
        (lambda a: a.update(0, [1.0, 0.0], "much"), "reward must be a finite number, got 'much'"),
        (lambda a: a.update(0, [1.0, 0.0], None), "reward must be a finite number, got None"),
        (lambda a: a.update(0, np.ones((2, 2)), 1.0), r"x must have shape \(3, 2\), got shape \(2, 2\)"),
        (lambda a: a.update(3, [1.0, 0.0], 1.0), "arm must be one of 0, 1, 2, got 3"),
        (lambda a: a.update([0], [1.0, 0.0], 1.0), r"arm must be one of 0, 1, 2, got \[0\]"),
        (lambda a: a.scores([[1.0]]), r"x must have shape \(3, 2\)"),
        (lambda a: a.scores_many(np.full((3, 2), np.nan)), r"X must be finite, got nan at \[0, 0\]"),
        (lambda a: a.explain([1.0, 0.0], 7), "arm must be one of"),
        (lambda a: a.add_arm(0), "arms must be different names"),
        (lambda a: a.add_arm([]), "arms must be hashable names"),
        (lambda a: a.add_arm(9, like=8), "arm must be one of 0, 1, 2, got 8"),
        (lambda a: a.add_arm(9, like=0, weight=2), r"weight must be in \(0, 1\], got 2"),
        (lambda a: a.add_arm(9, (np.eye(3), [1, 2, 3])), r"X must have shape \(n, 2\)"),
        (lambda a: a.remove_arm("x"), "arm must be one of"),
        (lambda a: a.merge(a), "other must be another agent"),
        (lambda a: a.merge(SMALL.agent(2, 3)), "other must have the same n_features, got 2 and 3"),
        (lambda a: SMALL.agent(0, 2), "n_arms must be an integer from 1 to 10000000, got 0"),
        (lambda a: SMALL.agent(2), "n_features must be an integer >= 1, got None"),
        (lambda a: SMALL.agent(2, 2, epsilon=2), "epsilon must be from 0 to 1, got 2"),
        (lambda a: SMALL.agent(2, 2, half_life=5, window=5), "half_life and window must not both be given"),
        (lambda a: SMALL.agent(2, 2, **MISSPELT), "LinUCBd.agent has no option 'colour'; it has n_arms, .*_contexts"),
        (lambda a: SMALL.agent(2, 2, dtype="int8"), "dtype must be one of float64, float32"),
        (lambda a: SMALL.agent(2, feature_names=["a", "a"]), "feature_names must differ"),
        (lambda a: LinUCBd().agent(2, 2), "LinUCB-d needs feature_bound: give it to the policy$"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_nothing_is_lost(call: Any, sentence: str) -> None:
    agent = SMALL.agent(n_arms=3, n_features=2)
    agent.update(1, [0.3, 0.4], 1.0)
    before = [part.copy() for part in agent._state.parts]
    with pytest.raises(armspan.ArmspanError, match=sentence):
        call(agent)
    for part, kept in zip(agent._state.parts, before, strict=True):
        np.testing.assert_array_equal(part, kept)


def test_frames_rows_and_mappings_are_read_by_name() -> None:
    agent = SMALL.agent(arms=["a", "b"], n_features=2)
    frame = pd.DataFrame({"age": [0.1, 0.5], "visits": [0.9, 0.2]})
    agent.update(["a", "b"], frame, [1.0, 2.0])
    assert agent.feature_names == ("age", "visits")
    plain = agent.scores([0.1, 0.9]).mean
    for x in (frame.iloc[0], {"visits": 0.9, "age": 0.1}, frame[["visits", "age"]].iloc[:1], frame.iloc[:1]):
        np.testing.assert_array_equal(agent.scores(x).mean, plain)
    assert_close(agent.scores_many(frame[["visits", "age"]]).mean[0], plain)  # another kernel adds in another order
    for wrong in (frame.rename(columns={"age": "shoe"}), {"age": 1.0}, frame.assign(more=1.0)):
        with pytest.raises(InvalidParameter, match="must have the features age, visits; it"):
            agent.scores(wrong)


def test_an_intercept_is_a_constant_feature() -> None:
    agent = LinUCB(ridge=0.5, alpha=1.0).agent(n_arms=2, n_features=2, intercept=True)
    by_hand = LinUCB(ridge=0.5, alpha=1.0).agent(n_arms=2, n_features=3)
    rng = np.random.default_rng(0)
    for _ in range(40):
        x = rng.normal(size=2)
        full = np.append(x, 1.0)
        arm = agent.choose(x)
        assert arm == by_hand.choose(full)
        agent.update(arm, x, float(x[0] + 3))
        by_hand.update(arm, full, float(x[0] + 3))
    X = rng.normal(size=(30, 2))
    wide = np.column_stack([X, np.ones(30)])
    np.testing.assert_allclose(agent.scores_many(X).width, by_hand.scores_many(wide).width)
    agent.update([0] * 30, X, np.ones(30))
    by_hand.update([0] * 30, wide, np.ones(30))
    np.testing.assert_allclose(agent.explain(X[0], 0).width, by_hand.explain(wide[0], 0).width)
    assert SMALL.agent(2, 2, intercept=True).settings.ridge == pytest.approx(2.0)


@pytest.mark.parametrize("d", [3, 40])
def test_many_contexts_are_scored_and_chosen_like_single_ones(d: int) -> None:
    rng = np.random.default_rng(d)
    agent, other = (SMALL.agent(n_arms=5, n_features=d, epsilon=0.3, seed=4) for _ in range(2))
    for one in (agent, other):
        learn = np.random.default_rng(1)
        for _ in range(150):
            one.update(int(learn.integers(5)), learn.normal(size=d), float(learn.normal()))
    for X in (rng.normal(size=(12, d)), rng.normal(size=(12, 5, d))):
        scores = agent.scores_many(X)
        for row, x in enumerate(X):
            single = agent.scores(x)
            np.testing.assert_allclose(scores.mean[row], single.mean, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(scores.width[row], single.width, rtol=1e-9)
        assert agent.choose_many(X) == [other.choose(x) for x in X]
    assert agent.decisions == other.decisions == 24


def test_arms_come_and_go_with_warm_starts() -> None:
    agent = SMALL.agent(arms=["old"], n_features=2)
    X, rewards = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60.0)
    agent.update(["old"] * 60, X, rewards)
    agent.add_arm("twin", like="old")
    agent.add_arm("half", like="old", weight=0.5)
    agent.add_arm("log", (X, rewards))
    agent.add_arm("other agent's", agent.statistics("old"))
    scores = agent.scores([0.3, 0.4])
    np.testing.assert_allclose(scores.mean[[1, 3, 4]], scores.mean[0])
    assert scores.width[2] > scores.width[0]
    agent.remove_arm("old")
    np.testing.assert_allclose(agent.scores([0.3, 0.4]).mean, scores.mean[1:])
    with pytest.raises(InvalidParameter, match=r"prior.gram must be a sum of xxᵀ"):
        agent.add_arm("odd", armspan.agents.Statistics(-np.eye(2), np.zeros(2), 1.0))


def test_merging_is_learning_everything_in_one_place() -> None:
    rng = np.random.default_rng(0)
    workers = [SMALL.agent(n_arms=4, n_features=12) for _ in range(3)]
    one = SMALL.agent(n_arms=4, n_features=12)
    for i in range(600):
        x, arm, reward = rng.normal(size=12), int(rng.integers(4)), float(rng.normal())
        workers[i % 3].update(arm, x, reward)
        one.update(arm, x, reward)
    workers[0].merge(workers[1])
    workers[0].merge(workers[2])
    x = rng.normal(size=12)
    np.testing.assert_allclose(workers[0].scores(x).mean, one.scores(x).mean, rtol=1e-9)
    np.testing.assert_allclose(workers[0].scores(x).width, one.scores(x).width, rtol=1e-10)
    assert workers[0].rewards == 600
    assert workers[0].alpha == one.alpha
    for agent in (SMALL.agent(2, 2, window=5), SMALL.agent(2, 2, half_life=5)):
        with pytest.raises(NotApplicable, match="agents that forget cannot be merged"):
            agent.merge(SMALL.agent(2, 2))


def test_a_window_forgets_all_but_the_last() -> None:
    rng = np.random.default_rng(0)
    agent = LinUCB(ridge=0.5, alpha=1.0).agent(n_arms=2, n_features=3, window=20)
    fresh = LinUCB(ridge=0.5, alpha=1.0).agent(n_arms=2, n_features=3)
    log = [(int(rng.integers(2)), np.round(rng.normal(size=3), 1), float(rng.normal())) for _ in range(2000)]
    for arm, x, reward in log:
        agent.update(arm, x, reward)
    for arm, x, reward in log[-20:]:
        fresh.update(arm, x, reward)
    x = rng.normal(size=3)
    np.testing.assert_allclose(agent.scores(x).mean, fresh.scores(x).mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(agent.scores(x).width, fresh.scores(x).width, rtol=1e-8)
    assert sum(row.pulls for row in agent.explain(x, 0).evidence) == fresh.statistics(0).pulls


def test_the_newest_reward_counts_in_full() -> None:
    """With a half-life of one reward the last ones weigh 1, ½, ¼, …"""
    agent = LinUCB(ridge=1.0, alpha=1.0).agent(n_arms=1, n_features=1, half_life=1)
    for reward in (5.0, 3.0, 2.0):
        agent.update(0, [1.0], reward)
    assert agent.statistics(0).moment[0] == pytest.approx(2.0 + 3.0 / 2 + 5.0 / 4)
    assert agent.statistics(0).pulls == pytest.approx(1.75)


def test_a_half_life_halves() -> None:
    agent = LinUCB(ridge=1.0, alpha=1.0).agent(n_arms=1, n_features=1, half_life=64)
    for _ in range(64):
        agent.update(0, [2.0], 1.0)
    before = agent.statistics(0)
    for _ in range(64):
        agent.update(0, [0.0], 0.0)
    after = agent.statistics(0)
    assert after.gram[0, 0] == pytest.approx(before.gram[0, 0] / 2, rel=1e-9)
    assert after.moment[0] == pytest.approx(before.moment[0] / 2, rel=1e-9)
    assert agent.scores([1.0]).width[0] == pytest.approx(1 / np.sqrt(1 + after.gram[0, 0]))


@pytest.mark.long
def test_a_forgetting_agent_follows_a_world_that_turns_over() -> None:
    """Arm 0 is better for 2,000 steps and worse for the next 300; who forgets notices sooner."""
    right = {}
    for name, options in {"all": {}, "half-life": {"half_life": 50}, "window": {"window": 100}}.items():
        agent = LinUCBd(feature_bound=1.0, parameter_bound=1.0, noise_scale=0.1).agent(2, 1, **cast(Any, options))
        right[name] = 0
        for t in range(2300):
            arm = agent.choose([1.0])
            agent.update(arm, [1.0], float(arm == (0 if t < 2000 else 1)))
            right[name] += t >= 2000 and arm == 1
    assert right["all"] < 150 < 200 < min(right["half-life"], right["window"])
    assert SMALL.agent(2, 1, window=10).settings.longest == 10


def test_explanations_are_the_papers_primal_view() -> None:
    """β minimises βᵀN⁻¹β subject to x = Xβ over all that was seen and the dummy contexts (Proposition 1)."""
    rng = np.random.default_rng(2)
    agent, contexts = LinUCB(ridge=0.8, alpha=1.0).agent(n_arms=1, n_features=3), rng.normal(size=(5, 3))
    sums = np.zeros(5)
    pulls = np.array([4, 1, 7, 2, 3])
    for c in np.repeat(np.arange(5), pulls):
        reward = float(rng.normal())
        sums[c] += reward
        agent.update(0, contexts[c], reward)
    x = rng.normal(size=3)
    why = agent.explain(x, 0)
    columns = np.column_stack([contexts.T, np.sqrt(0.8) * np.eye(3)])
    beta = naive.minimise_beta(columns, np.append(pulls, [1, 1, 1]).astype(float), x)
    for row in why.evidence:
        (c,) = np.flatnonzero((contexts == row.x).all(axis=1))
        assert row.beta == pytest.approx(beta[c], rel=1e-8)
        assert row.pulls == pulls[c]
        assert row.mean_reward == pytest.approx(sums[c] / pulls[c])
    assert why.prior_variance == pytest.approx((beta[5:] ** 2).sum())
    assert (why.other_mean, why.other_variance) == (0.0, 0.0)
    assert why.mean == pytest.approx(float(agent.scores(x).mean[0]))
    assert "the prior (dummy contexts)" in str(why)


def test_memory_is_bounded_and_keeps_what_recurs() -> None:
    rng = np.random.default_rng(3)
    agent = SMALL.agent(n_arms=2, n_features=3, memory=32)
    often = rng.normal(size=3)
    for i in range(3000):
        agent.update(i % 2, often if i % 4 == 0 else rng.normal(size=3), 1.0)
    assert agent._state.head[layout.REMEMBERED] <= 32
    why = agent.explain(often, 0)
    assert max(row.pulls for row in why.evidence) == 750
    assert why.other_variance > 0
    parts = sum(row.variance_part for row in why.evidence) + why.other_variance + why.prior_variance
    assert parts == pytest.approx(why.width**2, rel=1e-9)
    none = SMALL.agent(n_arms=2, n_features=3, memory=0)
    none.update(0, often, 1.0)
    assert none.explain(often, 0).evidence == ()
    assert none.explain(often, 0).other_mean == pytest.approx(none.scores(often).mean[0])


def test_the_gauge_sees_exploration_end() -> None:
    """Two arms far apart: at first every decision explores, in the end none does."""
    agent = LinUCBd(feature_bound=1.0, parameter_bound=1.0, noise_scale=0.1).agent(arms=["good", "bad"], n_features=2)
    rng, exploring = np.random.default_rng(0), []
    for _ in range(3000):
        x = np.abs(rng.normal(size=2))
        x /= np.linalg.norm(x)
        exploring.append(bool(agent.exploration(x)))
        arm = agent.choose(x)
        agent.update(arm, x, float(x.sum() if arm == "good" else -x.sum()))
    assert all(exploring[:3])
    assert sum(exploring[-500:]) < 10
    good, bad = agent.diversity()
    assert good.growth > 0.05
    assert bad.pulls < 300
    assert "was seen least along -0.70·feature 0 +0.71·feature 1" in good.words
    assert agent.exploration([1.0, 0.0]).greedy == "good"


def test_pruning_never_changes_the_answer() -> None:
    rng = np.random.default_rng(5)
    policy = replace(SMALL, feature_bound=2.0)  # what is longer is not pruned
    pruned, plain = (policy.agent(n_arms=30, n_features=20, seed=1) for _ in range(2))
    plain._state.head[layout.PRUNE] = 0.0
    theta = rng.normal(size=(30, 20))
    for i in range(4000):
        x = rng.normal(size=20 if i % 2 else (30, 20)) / 5
        arm = pruned.choose(x)
        assert arm == plain.choose(x)
        own = x if x.ndim == 1 else x[arm]
        for agent in (pruned, plain):
            agent.update(arm, own, float(theta[arm] @ own + 0.05 * rng.normal()) if agent is pruned else 0.0)
        plain._state.arms[:], plain._state.store[:] = pruned._state.arms, pruned._state.store
    assert pruned._state.head[layout.EVALUATED] < 0.95 * plain._state.head[layout.EVALUATED]


def test_get_params_and_repr() -> None:
    agent = SMALL.agent(arms=["a", "b"], feature_names=["x", "y"], seed=5, epsilon=0.1)
    params = agent.get_params()
    assert (params["arms"], params["feature_names"], params["seed"], params["epsilon"]) == (
        ["a", "b"],
        ("x", "y"),
        5,
        0.1,
    )
    assert repr(agent) == (
        "<Agent of LinUCBd(feature_bound=1.0, parameter_bound=1.0): 2 arms, 2 features, 0 decisions, 0 rewards>"
    )


def test_a_window_heals_after_an_outlier() -> None:
    agent = SMALL.agent(1, 1, window=5)
    for x in [0.5] * 5 + [9e4] + [0.5] * 50:
        agent.update(0, [x], 1.0)
    assert agent.statistics(0).gram[0, 0] == pytest.approx(5 * 0.25)
    assert agent.scores([0.5]).mean[0] == pytest.approx(0.5 * 2.5 / (1 + 1.25))


def test_single_precision_refuses_what_it_cannot_hold() -> None:
    agent = SMALL.agent(1, 2, dtype="float32")
    for x in (np.array([1e25, 1.0]), [1e25, 1.0]):
        with pytest.raises(InvalidParameter):
            agent.update(0, x, 1.0)
    with pytest.raises(InvalidParameter):
        agent.update([0] * 10, np.full((10, 2), 1e25), np.ones(10))
    assert agent.rewards == 0


def test_clicks_may_be_true_or_false() -> None:
    for x in ([0.1, 0.2], np.array([0.1, 0.2])):
        agent = SMALL.agent(1, 2)
        agent.update(0, x, True)
        agent.update(0, x, np.False_)
        assert agent.statistics(0).moment == pytest.approx([0.1, 0.2])


def test_refused_input_names_no_features() -> None:
    agent = SMALL.agent(1, 2)
    with pytest.raises(InvalidParameter):
        agent.choose({"u": float("nan"), "v": 1.0})
    assert agent.feature_names is None
    agent.choose({"u": 0.5, "v": 1.0})
    assert agent.feature_names == ("u", "v")
