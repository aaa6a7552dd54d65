"""The tuned agent whose exploration follows the noise that it sees: against the definition, step by step."""

import logging
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armspan
from armspan import LinUCB
from armspan.agents import Agent, Statistics
from armspan.agents.container import pack, unpack
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels.agent_calls import NOT_FINITE
from armspan.kernels.agent_learning import learn
from armspan.policies import Policy

BOUND = 3.0


class Naive:
    """Every arm once, then θ̂ᵀx + σ̂·√log(t + 1)·w + ȳ·w²/d, w² = xᵀV⁻¹x; all from the rewards so far, solved afresh."""

    def __init__(self, K: int, d: int, ridge: float) -> None:
        self.K, self.d, self.ridge, self.t = K, d, ridge, 0
        self.seen: list[list[tuple[Any, float]]] = [[] for _ in range(K)]
        self.errors = 0.0

    def fit(self, k: int) -> tuple[Any, Any]:
        V, b = self.ridge * np.eye(self.d), np.zeros(self.d)
        for x, y in self.seen[k]:
            V, b = V + np.outer(x, x), b + y * x
        return np.linalg.inv(V), np.linalg.inv(V) @ b

    def noise(self) -> float:
        fitted = sum(self.d - self.ridge * np.trace(self.fit(k)[0]) for k in range(self.K))
        left = sum(map(len, self.seen)) - fitted
        return math.sqrt(self.errors / left) if left > 0 else 0.0

    def index(self, x: Any) -> Any:
        alpha = self.noise() * math.sqrt(math.log(self.t + 2))
        rewards = [y for rows in self.seen for _, y in rows]
        beta = np.sqrt(np.mean(np.square(rewards))) / self.d if rewards else 0.0
        fits, squares = [self.fit(k) for k in range(self.K)], [x @ self.fit(k)[0] @ x for k in range(self.K)]
        return np.array(
            [theta @ x + alpha * math.sqrt(w2) + beta * w2 for (_, theta), w2 in zip(fits, squares, strict=True)]
        )

    def learn(self, k: int, x: Any, y: float) -> None:
        V_inv, theta = self.fit(k)
        self.errors += (y - theta @ x) ** 2 / (1 + x @ V_inv @ x)
        self.seen[k].append((x, y))


def made(K: int, d: int, **options: Any) -> Agent:
    agent = LinUCB(alpha="practical", feature_bound=BOUND).agent(K, d, **options)
    assert isinstance(agent, Agent)
    return agent


def taught(agent: Agent, steps: int, seed: int) -> Agent:
    rng = np.random.default_rng(seed)
    d = agent.settings.n_features
    for _ in range(steps):
        x = rng.uniform(-1, 1, d)
        arm: Any = agent.choose(x)
        agent.update(arm, x, float(rng.normal(0.3 * x.sum(), 0.2)))
    return agent


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([1, 2, 5, 9, 12]), st.sampled_from([1e-3, 1.0, 1e4]))
def test_it_chooses_as_the_definition_says(seed: int, K: int, d: int, unit: float) -> None:
    """With few features and in the mode of few pulls (d ≥ 8), in whatever unit rewards are."""
    rng = np.random.default_rng(seed)
    theta = unit * rng.normal(size=(K, d))
    agent, naive = made(K, d), Naive(K, d, BOUND**2 / d)
    for t in range(40):
        x = rng.uniform(-1, 1, d)
        arm: Any = agent.choose(x)
        if t < K:
            assert arm == t
        else:
            index = naive.index(x)
            assert index[arm] >= index.max() - 1e-8 * unit
        y = float(theta[arm] @ x + 0.3 * unit * rng.normal())
        agent.update(arm, x, y)
        naive.learn(arm, x, y)
        naive.t += 1
        assert agent.noise == pytest.approx(naive.noise(), rel=1e-6, abs=1e-9 * unit)


def test_it_is_the_policy_of_the_simulation() -> None:
    """The agent played against the same contexts and noise loses exactly what the compiled policy loses."""
    env = armspan.environments.paper_1c(0)
    policy = LinUCB(alpha="practical", feature_bound=env.feature_bound)
    result = armspan.simulate(env, [policy, _AsPolicy(policy)], horizon=150, runs=2)
    assert result.pseudo_regret[0] == pytest.approx(result.pseudo_regret[1])


class _AsPolicy:
    """The agent of a policy, as a policy of a user's own."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def agent(self, n_arms: int, n_features: int, seed: int) -> Any:
        return self.policy.agent(n_arms, n_features, seed=seed)


class TestFirstPulls:
    def test_every_arm_is_tried_though_no_reward_has_come(self) -> None:
        agent = made(4, 2)
        assert [agent.choose(np.ones(2)) for _ in range(4)] == [0, 1, 2, 3]

    def test_a_new_arm_is_tried_though_others_are_far_better(self) -> None:
        """Without it, an arm whose rewards are near 1,000 would wait for ever behind others that are known to be."""
        agent = made(2, 1)
        for _ in range(50):
            arm: Any = agent.choose(np.ones(1))
            agent.update(arm, np.ones(1), 1000.0)
        agent.add_arm("new")
        assert agent.propensities(np.ones(1)).tolist() == [0, 0, 1]
        assert agent.exploration(np.ones(1)).chosen == "new"
        assert agent.choose(np.ones(1)) == "new"
        assert agent.choose(np.ones(1)) != "new"

    def test_arms_that_are_known_are_not_tried(self) -> None:
        agent = made(2, 1)
        agent.update([0, 1] * 10, np.ones((20, 1)), np.tile([1.0, 0.0], 10))
        assert [agent.choose(np.ones(1)) for _ in range(3)] == [0, 0, 0]

    def test_in_a_batch_they_take_turns(self) -> None:
        agent = made(3, 1)
        assert agent.choose_many(np.ones((2, 1))) == [0, 1]
        assert agent.decide_many(np.ones((1, 1))).propensities.tolist() == [1.0]
        for arm in range(3):
            agent.update(arm, np.ones(1), float(arm))
        assert agent.choose(np.ones(1)) == 2

    def test_only_those_who_may_be_chosen(self) -> None:
        agent = made(3, 1)
        assert agent.choose(np.ones(1), only=[2]) == 2
        agent.update(2, np.ones(1), 1.0)
        assert agent.decide(np.ones(1)).arm == 0
        assert agent.choose(np.ones(1)) == 1
        assert agent.top(np.ones(1), 1) == [2]

    def test_an_arm_that_goes_takes_its_turn_with_it(self) -> None:
        agent = made(3, 1)
        assert agent.choose(np.ones(1)) == 0
        agent.remove_arm(0)
        assert [agent.choose(np.ones(1)) for _ in range(2)] == [1, 2]


class TestTheSumsBehindIt:
    """σ̂ after anything that changes what is known equals σ̂ of an agent that has seen just that."""

    def test_merged(self) -> None:
        one, other = taught(made(3, 2), 60, seed=1), taught(made(3, 2), 50, seed=2)
        both = made(3, 2)
        for agent, seed in ((one, 1), (other, 2)):
            again, rng = made(3, 2), np.random.default_rng(seed)
            for _ in range(agent.rewards):
                x = rng.uniform(-1, 1, 2)
                arm: Any = again.choose(x)
                y = float(rng.normal(0.3 * x.sum(), 0.2))
                again.update(arm, x, y)
                both.update(arm, x, y)
        one.merge(other)
        assert one.noise == pytest.approx(both.noise, rel=1e-9)
        assert one.alpha == pytest.approx(both.alpha, rel=1e-2)  # decisions were not made, and count in t

    def test_reported_home(self) -> None:
        home = taught(made(2, 2), 30, seed=1)
        worker = home.copy()
        taught(worker, 40, seed=2)
        home.merge(worker.delta())
        assert home.noise == pytest.approx(worker.noise, rel=1e-9)

    def test_a_window(self) -> None:
        agent, rng = made(2, 2, window=20), np.random.default_rng(0)
        rows, arms, rewards = rng.uniform(-1, 1, (70, 2)), rng.integers(2, size=70), rng.normal(size=70)
        for arm, x, y in zip(arms, rows, rewards, strict=True):
            agent.update(int(arm), x, float(y))
        fresh = made(2, 2)
        fresh.update(arms[-20:], rows[-20:], rewards[-20:])
        assert agent.noise == pytest.approx(fresh.noise, rel=1e-8)

    def test_what_lost_weight(self) -> None:
        """The noise falls to a hundredth: an agent that forgets comes to know it, another does not."""
        found = []
        for options in ({"half_life": 50.0}, {}):
            agent, rng = made(1, 1, **options), np.random.default_rng(0)
            for t in range(800):
                agent.update(0, np.ones(1), float(rng.normal(0, 1 if t < 200 else 0.01)))
            found.append(agent.noise)
        assert found[0] < 0.05 < 0.4 < found[1]

    def test_batches_and_single_rewards(self) -> None:
        rng = np.random.default_rng(3)
        rows, arms, rewards = rng.uniform(-1, 1, (60, 9)), rng.integers(3, size=60), rng.normal(size=60)
        single, batch = made(3, 9), made(3, 9)
        for arm, x, y in zip(arms, rows, rewards, strict=True):
            single.update(int(arm), x, float(y))
        batch.update(arms, rows, rewards)
        assert batch.noise == pytest.approx(single.noise, rel=1e-9)

    def test_arms_with_a_prior_and_without_arms_that_went(self) -> None:
        agent = taught(made(3, 2), 60, seed=4)
        other = taught(made(3, 2), 60, seed=4)
        agent.remove_arm(1)
        agent.add_arm(1, other.statistics(1))
        assert agent.noise == pytest.approx(other.noise, rel=1e-9)
        seen = other.statistics(0)
        with pytest.raises(InvalidParameter, match="squares must be"):
            agent.add_arm("x", Statistics(seen.gram, seen.moment, seen.pulls))
        assert agent.arms == (0, 2, 1)

    def test_saved_and_loaded(self, tmp_path: Any) -> None:
        agent = taught(made(3, 9), 30, seed=5)
        agent.add_arm("late")
        agent.save(tmp_path / "agent")
        again = armspan.load_agent(tmp_path / "agent")
        assert isinstance(again, Agent)
        assert again.noise == pytest.approx(agent.noise, rel=1e-12)
        assert again.alpha == pytest.approx(agent.alpha, rel=1e-12)
        assert again.choose(np.ones(9)) == agent.choose(np.ones(9)) == "late"
        x = np.linspace(-1, 1, 9)
        assert again.choose(x) == agent.choose(x)


def _forgetting(agent: Agent) -> Agent:
    return taught(made(3, 2, half_life=20.0), 60, seed=6)


def _windowed(agent: Agent) -> Agent:
    return taught(made(3, 2, window=25), 60, seed=6)


def _merged(agent: Agent) -> Agent:
    agent.merge(taught(made(3, 2), 40, seed=8))
    return agent


def _without_an_arm(agent: Agent) -> Agent:
    agent.remove_arm(1)
    return agent


def _with_an_arm(agent: Agent) -> Agent:
    agent.add_arm("new", like=0)
    return agent


def _in_a_batch(agent: Agent) -> Agent:
    agent.update([0, 1], np.ones((2, 2)), np.array([30.0, -2.0]))
    return agent


WAYS = [lambda agent: agent, _forgetting, _windowed, _merged, _without_an_arm, _with_an_arm, _in_a_batch]
WAYS += [lambda agent: agent.copy(), lambda agent: Agent.from_bytes(agent.to_bytes())]


@pytest.mark.parametrize("way", WAYS, ids=range(len(WAYS)))
def test_what_is_not_known_counts_as_much_as_rewards_are_large(way: Any) -> None:
    """ȳ² = Σy²/N over all that every arm holds, whatever has happened to it; and all ways to decide go by the index."""
    agent = way(taught(made(3, 2), 50, seed=7))
    rng, seen = np.random.default_rng(1), [agent.statistics(arm) for arm in agent.arms]
    size = math.sqrt(sum(one.squares for one in seen) / sum(one.pulls for one in seen))
    for x in rng.uniform(-2, 2, (5, 2)):
        scores = agent.scores(x)
        index = scores.mean + agent.alpha * scores.width + size * scores.width**2 / 2
        np.testing.assert_allclose(scores.index, index, rtol=1e-9, atol=1e-12)
        best = {agent.arms[int(index.argmax())]}
        assert {agent.copy().choose(x), agent.copy().decide(x).arm, *agent.copy().choose_many(x[None])} == best


def test_a_file_from_before_squares_were_kept() -> None:
    """One column less per arm: it loads, and merges with its like, but not into one that learns its noise."""
    old = armspan.LinUCB(alpha=1.0, feature_bound=BOUND, ridge=BOUND**2 / 2).agent(2, 2)
    old.update([0, 1, 0], np.eye(2)[[0, 1, 1]], np.ones(3))
    content = without_squares(old.to_bytes())
    loaded = Agent.from_bytes(content)
    assert loaded.scores([1.0, 0.5]).mean == pytest.approx(old.scores([1.0, 0.5]).mean)
    assert math.isnan(loaded.statistics(0).squares)
    assert Agent.from_bytes(loaded.to_bytes()).rewards == 3
    fresh = made(2, 2)
    with pytest.raises(InvalidParameter, match="squares must be"):
        fresh.merge(loaded)
    assert fresh.rewards == 0


def without_squares(content: bytes) -> bytes:
    found = unpack(content, "it")
    arrays = dict(found.arrays)
    arrays["arms"] = np.delete(arrays["arms"], 3, axis=1)
    header = {name: value for name, value in found.header.items() if name != "forced"}
    return pack(header, arrays)


def test_bad_input() -> None:
    with pytest.raises(NotApplicable, match="dtype must be left out"):
        made(2, 2, dtype="float32")
    plain = armspan.Greedy(feature_bound=1.0).agent(2, 2)
    with pytest.raises(NotApplicable, match="noise must be learnt"):
        _ = plain.noise


def test_rewards_larger_than_contexts_are_learnt_in_one_step() -> None:
    """A reward has nothing to do with the length of contexts: it must not take the slow way."""
    agent = armspan.LinUCBd(feature_bound=0.5, parameter_bound=1.0, noise_scale=1.0).agent(2, 2)
    agent.update(0, np.full(2, 0.1), 0.1)  # compiles
    for reward in (0.1, 0.9, -40.0, 1e99):
        assert learn(agent._state.whole, 0, np.full(2, 0.1), reward) == 0
    assert learn(agent._state.whole, 0, np.full(2, 0.1), 1e101) == NOT_FINITE


def test_an_arm_whose_first_reward_is_lost_is_tried_again() -> None:
    agent = LinUCB(alpha="practical", feature_bound=1.0).agent(2, 1, seed=0)
    rng, shown = np.random.default_rng(0), 0
    for visit in range(1500):
        if visit == 300:
            agent.add_arm("new")
        arm = agent.choose([1.0])
        shown += arm == "new"
        if arm != "new" or shown > 1:
            agent.update(arm, [1.0], (9.0 if arm == "new" else 5.0) + 0.5 * rng.standard_normal())
    assert shown > 900  # from step 512 + 2 on


@pytest.mark.parametrize("shared", [False, True])
def test_all_ways_to_decide_try_again_at_the_same_steps(shared: bool) -> None:
    """Rewards of arms 1 and 4 never come; the others' are large, so that no index of theirs is the largest."""
    policy = LinUCB(alpha="practical", feature_bound=BOUND, shared=shared)
    agents = [policy.agent(5, 2, seed=0) for _ in range(3)]
    steps = []
    for step in range(70):
        x = np.array([1.0, 0.01 * step]) if not shared else np.tile([1.0, 0.01 * step], (5, 1)) + np.eye(5, 2)
        sure = agents[0].propensities(x)
        arm = agents[0].choose(x)
        assert sure[arm] > 0
        for other in agents[1:]:
            assert other.decide(x).arm == arm
        if arm in (1, 4):
            steps.append((step, arm))
        else:
            for agent in agents:
                agent.update(arm, x, 50.0 + step % 3)
    again = [(power + arm, arm) for power in (16, 32, 64) for arm in (1, 4)]
    assert shared or steps == [(1, 1), (4, 4), *again]
    if not shared:
        fresh = policy.agent(5, 2, seed=0)
        assert isinstance(fresh, Agent)
        fresh.choose_many(np.ones((7, 2)))
        for arm in (0, 2, 3):
            fresh.update(arm, np.ones(2), 50.0)
        many = fresh.choose_many(np.ones((20, 2)))
        assert [step + 7 for step, arm in enumerate(many) if arm in (1, 4)] == [17, 20]


@pytest.mark.parametrize("d", [1, 3, 20])
@pytest.mark.parametrize("at_once", [False, True])
def test_unequal_sizes_of_features_are_told_once(d: int, at_once: bool, caplog: pytest.LogCaptureFixture) -> None:
    """One by one and in a batch; with the constant of the intercept, for one feature alone has one size."""
    rng = np.random.default_rng(0)
    arms, X, rewards = rng.integers(3, size=400).tolist(), rng.uniform(size=(400, d)), rng.normal(size=400)

    def told(sizes: Any, policy: Any, options: Any) -> int:
        agent = policy.agent(3, d, intercept=True, **options)
        caplog.clear()
        with caplog.at_level(logging.WARNING, "armspan"):
            if at_once:
                agent.update(arms, X * sizes, rewards)
                agent.update(arms, X * sizes, rewards)
            else:
                for arm, x, reward in zip(arms, X * sizes, rewards.tolist(), strict=True):
                    agent.update(arm, x, reward)
        return sum("the largest feature is" in record.getMessage() for record in caplog.records)

    sizes = np.ones(d)
    sizes[0] = 50.0
    bound: Any = {"feature_bound": 100.0}
    learnt, forgets = LinUCB(alpha="practical", **bound), {"window": 100}
    for policy, options in (
        (learnt, {}),
        (learnt, forgets),
        (LinUCB(alpha="practical", shared=True, **bound), {}),
        (LinUCB(alpha="estimated", **bound), {}),
    ):
        assert told(sizes, policy, options) == 1
        assert told(np.ones(d), policy, options) == 0
    assert told(sizes, LinUCB(alpha=1.0, ridge=1.0, **bound), {}) == 0


@pytest.mark.parametrize("rows", [1, 20, 50, 600])
def test_a_rare_flag_that_was_standardised_is_not_told(rows: int, caplog: pytest.LogCaptureFixture) -> None:
    """Until it is set for the first time, it looks like a small constant."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        flag = (rng.random(600) < 0.01) + 0.0
        X = np.clip(np.column_stack([(flag - 0.01) / 0.1, rng.normal(size=(600, 2))]), -3, 3)
        agent = LinUCB(alpha="practical", feature_bound=6.0).agent(3, 3, intercept=True)
        with caplog.at_level(logging.WARNING, "armspan"):
            for i in range(0, 600, rows):
                arms = rng.integers(3, size=rows).tolist()
                agent.update(*((arms, X[i : i + rows], np.ones(rows)) if rows > 1 else (arms[0], X[i], 1.0)))
    assert caplog.records == []


@pytest.mark.parametrize(("options", "K", "rows"), [({}, 2, 20), ({}, 100, 399), ({"half_life": 100.0}, 3, 3000)])
def test_unequal_sizes_are_told_however_batches_come(
    options: Any, K: int, rows: int, caplog: pytest.LogCaptureFixture
) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(3000), rng.uniform(20, 70, 3000)])
    agent = LinUCB(alpha="practical", feature_bound=80.0).agent(K, 2, **options)
    with caplog.at_level(logging.WARNING, "armspan"):
        for i in range(0, min(3000, 10 * rows), rows):
            part = X[i : i + rows]
            agent.update(rng.integers(K, size=len(part)).tolist(), part, np.ones(len(part)))
    assert ["the largest feature is" in record.getMessage() for record in caplog.records] == [True]
