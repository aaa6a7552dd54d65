"""The agent of every family: it chooses and learns as the simulation does, says its probabilities, and is saved."""

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import armspan
from armspan import ContextUCB, LinTS, LinUCB, LinUCBd
from armspan.agents import FamilyAgent, FamilySettings
from armspan.environments import FiniteContexts, paper_1a
from armspan.errors import ArmspanError, BadFile, InvalidParameter, NotApplicable
from armspan.kernels.families import family
from armspan.kernels.normals import largest_of_normals
from armspan.policies import POLICIES, Policy
from armspan.policies.base import Application
from armspan.policies.yardstick import Yardstick
from tests.lived import lived_through

BOUNDS: dict[str, Any] = {"feature_bound": 1.5, "parameter_bound": 1.0, "noise_scale": 1.0, "ridge": 1.0, "alpha": 1.0}
BOUNDS |= {"horizon": 400, "reward_range": (-20.0, 20.0)}


def given_bounds(kind: type[Policy]) -> Any:
    """A policy that knows all that an agent must know."""
    names: Any = {name: value for name, value in BOUNDS.items() if name in kind.__dataclass_fields__}
    return kind(**names)


def general(policy: Any, n_arms: int, n_features: int, seed: int = 0) -> FamilyAgent:
    """The general agent, of policies that have a tuned one too."""

    def tell(n: int) -> Any:
        application = Application(n_features, n)
        return policy.knobs(application), policy.sizes(application)

    options = FamilySettings(n_features=n_features, seed=seed)
    return FamilyAgent(options, range(n_arms), policy=policy, family=family(policy.compiled), tell=tell)


ALL = [one for one in map(given_bounds, POLICIES.values()) if one.compiled and not isinstance(one, Yardstick)]
ALL += [LinUCB(alpha=kind, feature_bound=1.5) for kind in ("practical", "estimated")]
IDS = [policy.name for policy in ALL]
GENERAL = [policy for policy in ALL if isinstance(policy.agent(2, 2), FamilyAgent)]


@pytest.mark.parametrize("policy", ALL, ids=IDS)
@pytest.mark.parametrize("features", [3])
def test_an_agent_makes_the_choices_of_a_simulation(policy: Any, features: int) -> None:
    """The same contexts, rewards and stream of random numbers: the same arms, step by step."""
    rng = np.random.default_rng(features)
    env = FiniteContexts(rng.normal(size=(3, 4, features)), rng.normal(size=(3, features)))
    seed, steps = 11, 400
    expected = armspan.simulate(env, policy, horizon=steps, runs=1, seed=seed, checkpoints=list(range(1, steps + 1)))
    agent = general(policy, 3, features, seed)
    curve = lived_through(agent, env, seed, steps)
    np.testing.assert_allclose(curve, expected.pseudo_regret[0, 0], atol=1e-9)
    assert (agent.decisions, agent.rewards) == (steps, steps)


@pytest.mark.parametrize("policy", [LinUCB(ridge=0.5, alpha=0.7), LinUCBd(feature_bound=3.0, parameter_bound=1.0)])
def test_the_general_agent_equals_the_tuned_one(policy: Any) -> None:
    rng = np.random.default_rng(4)
    tuned, agent = policy.agent(4, 3), general(policy, 4, 3)
    for _ in range(300):
        x = rng.normal(size=(4, 3)) if rng.random() < 0.5 else rng.normal(size=3)
        mine, theirs = agent.scores(x), tuned.scores(x)
        np.testing.assert_allclose(mine.mean, theirs.mean, atol=1e-9)
        np.testing.assert_allclose(mine.width, theirs.width, atol=1e-9)
        np.testing.assert_allclose(mine.index, theirs.index, atol=1e-9)
        np.testing.assert_allclose(agent.propensities(x), tuned.propensities(x), atol=1e-9)
        arm, _ = tuned.choose(x), agent.choose(x)
        y = float(rng.normal())
        tuned.update(arm, x, y)
        agent.update(arm, x, y)


@pytest.mark.parametrize("policy", GENERAL, ids=lambda policy: type(policy).__name__)
class TestEach:
    def grown(self, policy: Any, **options: Any) -> FamilyAgent:
        """After some rewards, in recurring contexts."""
        agent: FamilyAgent = policy.agent(arms=["a", "b", "c"], n_features=2, seed=3, **options)
        rng = np.random.default_rng(1)
        for _ in range(50):
            x = rng.integers(0, 3, size=2) / 2
            arm = agent.choose(x)
            agent.update(arm, x, float(rng.normal()))
        return agent

    def test_propensities_are_how_often_arms_are_chosen(self, policy: Any) -> None:
        """4,000 choices with what is known now: each share within 4.9 standard errors, once in 10⁵ by chance."""
        agent, x, n = self.grown(policy), np.array([0.5, 1.0]), 4000
        share = agent.propensities(x)
        assert share.sum() == pytest.approx(1)
        before = agent._knobs()
        agent._knobs = lambda: before  # type: ignore[method-assign]  # the same exploration throughout
        chosen = [agent.choose(x) for _ in range(n)]
        for name, p in zip(agent.arms, share, strict=True):
            assert abs(chosen.count(name) / n - p) <= 4.9 * np.sqrt(p * (1 - p) / n) + 1e-9

    def test_a_decision_has_the_propensity_of_its_arm(self, policy: Any) -> None:
        if policy.needs_all_arms:
            pytest.skip("all arms are eligible")
        agent = self.grown(policy)
        for only in (None, ["a", "c"], ["b"]):
            x = np.array([0.5, 0.0])
            share = agent.propensities(x, only=only)
            decision = agent.decide(x, only=only)
            assert decision.propensity == pytest.approx(share[agent.arms.index(decision.arm)])
            assert only is None or decision.arm in only
            assert share.sum() == pytest.approx(1)
        assert agent.propensities(x, only=["b"]).tolist() == [0, 1, 0]

    def test_it_goes_on_after_saving_as_if_nothing_had_been(self, policy: Any, tmp_path: Any) -> None:
        agent = self.grown(policy, feature_names=["u", "v"])
        agent.save(tmp_path / "agent")
        twins = [armspan.load_agent(tmp_path / "agent"), pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)]
        rng = np.random.default_rng(9)
        for _ in range(30):
            x, y = rng.integers(0, 4, size=2) / 2, float(rng.normal())
            arm = agent.choose(x)
            agent.update(arm, x, y)
            for twin in twins:
                assert twin.choose(x) == arm
                twin.update(arm, x, y)
        for twin in twins:
            assert (twin.arms, twin.feature_names) == (agent.arms, agent.feature_names)
            assert (twin.decisions, twin.rewards) == (agent.decisions, agent.rewards)
            for mine, theirs in zip(agent._state, twin._state, strict=True):
                np.testing.assert_array_equal(mine, theirs)

    def test_damaged_files_are_refused(self, policy: Any) -> None:
        content = self.grown(policy).to_bytes()
        for place in np.random.default_rng(0).integers(0, len(content), size=60):
            broken = bytearray(content)
            broken[place] ^= 1
            with pytest.raises(BadFile):
                FamilyAgent.from_bytes(bytes(broken))
        for size in (0, 10, 60, len(content) - 1):
            with pytest.raises(BadFile):
                FamilyAgent.from_bytes(content[:size])

    def test_a_batch_is_the_same_as_one_by_one(self, policy: Any) -> None:
        one, many = policy.agent(3, 2), policy.agent(3, 2)
        rng = np.random.default_rng(2)
        X, arms, y = rng.integers(0, 3, size=(40, 2)) / 2, rng.integers(0, 3, size=40), rng.normal(size=40)
        for x, arm, reward in zip(X, arms, y, strict=True):
            one.update(int(arm), x, reward)
        many.update(arms.tolist(), X, y)
        np.testing.assert_allclose(one.scores(X[0]).mean, many.scores(X[0]).mean)
        before = many.to_bytes()
        with pytest.raises(ArmspanError):
            many.update([0, 1, 7], X[:3], y[:3])
        assert many.to_bytes() == before

    def test_arms_come_and_go(self, policy: Any) -> None:
        agent = self.grown(policy)
        if policy.fixed_arms or agent._family.name == "hybrid":
            pytest.skip("what is known of an arm depends on the others")
        x = np.array([0.5, 1.0])
        before = agent.scores(x)
        agent.add_arm("new")
        agent.remove_arm("b")
        after = agent.scores(x)
        assert agent.arms == ("a", "c", "new")
        np.testing.assert_allclose(after.mean[:2], before.mean[[0, 2]], rtol=1e-12)
        np.testing.assert_allclose(after.width[:2], before.width[[0, 2]], rtol=1e-12)
        fresh = policy.agent(1, 2).scores(x)
        np.testing.assert_allclose((after.mean[2], after.width[2]), (fresh.mean[0], fresh.width[0]), rtol=1e-12)
        with pytest.raises(InvalidParameter, match="arms must be different names"):
            agent.add_arm("a")

    def test_threads_lose_nothing(self, policy: Any) -> None:
        agent = policy.agent(2, 2)

        def work() -> None:
            for i in range(200):
                agent.update(i % 2, np.array([1.0, i % 3]), 1.0)
                agent.choose(np.array([1.0, i % 3]))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (agent.decisions, agent.rewards) == (800, 800)

    @pytest.mark.parametrize(
        ("do", "sentence"),
        [
            (lambda agent: agent.choose([1.0]), "x must have shape"),
            (lambda agent: agent.choose([np.nan, 1.0]), "x must be finite"),
            (lambda agent: agent.update("d", [1.0, 1.0], 0.0), "arm must be one of a, b, c, got 'd'"),
            (lambda agent: agent.update("a", [1.0, 1.0], "x"), "reward must be a finite number, got 'x'"),
            (lambda agent: agent.choose([1.0, 1.0], only=[]), "only must name at least one arm"),
            (lambda agent: agent.merge(agent), "agents that share a past cannot be merged"),
        ],
    )
    def test_bad_input_is_a_sentence_and_changes_nothing(self, policy: Any, do: Any, sentence: str) -> None:
        agent = self.grown(policy)
        before = agent.to_bytes()
        with pytest.raises(ArmspanError) as error:
            do(agent)
        assert str(error.value).startswith(sentence)
        assert agent.to_bytes() == before


def test_merging_adds_what_both_have_seen() -> None:
    rng = np.random.default_rng(5)
    parts, whole = [LinTS(scale=1.0).agent(3, 2) for _ in range(2)], LinTS(scale=1.0).agent(3, 2)
    for i in range(60):
        x, arm, y = rng.normal(size=2), int(rng.integers(3)), float(rng.normal())
        parts[i % 2].update(arm, x, y)
        whole.update(arm, x, y)
    parts[0].merge(parts[1])
    x = np.array([0.3, -0.8])
    np.testing.assert_allclose(parts[0].scores(x).mean, whole.scores(x).mean, atol=1e-12)
    np.testing.assert_allclose(parts[0].scores(x).width, whole.scores(x).width, atol=1e-12)
    assert parts[0].rewards == 60
    with pytest.raises(NotApplicable, match="share a past"):
        parts[0].merge(parts[1])
    with pytest.raises(InvalidParameter, match="the same policy"):
        parts[0].merge(LinTS(scale=2.0).agent(3, 2))
    with pytest.raises(NotApplicable, match="UCB per context cannot be merged"):
        ContextUCB(noise_scale=1.0).agent(2, 1).merge(ContextUCB(noise_scale=1.0).agent(2, 1))


@pytest.mark.long
def test_thompson_learns_in_an_application() -> None:
    """In the paper's problem 1a the agent's last choices are the best ones; 8 agents, chance of failure below 10⁻⁶.

    Of forty such agents, 96 % of the last choices were the best ones, with a standard deviation of 3 %.
    """
    env, good = paper_1a(), 0
    for seed in range(8):
        block = env.stream(seed, np.array([0])).draw(0, 3000)
        agent = LinTS(scale=1.0).agent(2, 2, seed=seed)
        for i in range(3000):
            c = block.contexts[0, i]
            arm = agent.choose(block.x[c])
            agent.update(arm, block.x[c], block.means[c, arm] + block.noise[0, i])
            good += bool(i >= 2500 and block.losses[c, arm] == 0)
    assert good / (8 * 500) > 0.8


@pytest.mark.long
@given(st.integers(0, 10**9))
@settings(max_examples=15)
def test_the_largest_of_normals_against_quadrature_by_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    m, s = rng.normal(size=K) * 10 ** rng.uniform(-2, 1), 10 ** rng.uniform(-3, 1.5, size=K)
    p = largest_of_normals(m, s)
    assert p.sum() == pytest.approx(1)
    for a in range(K):
        others = [b for b in range(K) if b != a]

        def density(z: float, a: int = a, others: list[int] = others) -> float:
            return float(stats.norm.pdf(z) * np.prod(stats.norm.cdf((m[a] + s[a] * z - m[others]) / s[others])))

        cuts = {float(np.clip((m[b] - m[a] + j * s[b]) / s[a], -9, 9)) for b in others for j in (-5, -2, 0, 2, 5)}
        exact = integrate.quad(density, -9.5, 9.5, points=sorted(cuts), limit=2000, epsabs=1e-13)[0]
        assert abs(p[a] - exact) < 1e-8


def test_the_largest_of_normals_where_some_are_certain() -> None:
    np.testing.assert_allclose(largest_of_normals(np.array([0.0, 2.0, 2.0]), np.zeros(3)), [0, 0.5, 0.5])
    tail = stats.norm.sf(1.0)
    shares = largest_of_normals(np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(shares, [(1 - tail) / 2, (1 - tail) / 2, tail], atol=1e-12)
    two = largest_of_normals(np.array([0.3, -0.2]), np.array([0.5, 1.2]))
    np.testing.assert_allclose(two[0], stats.norm.cdf(0.5 / np.hypot(0.5, 1.2)), atol=1e-12)


def test_what_an_agent_must_be_told() -> None:
    with pytest.raises(InvalidParameter, match=r"LinTS\.agent has no option 'epsilon'; it has n_arms, "):
        LinTS().agent(2, 2, epsilon=0.1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="n_arms must be"):
        LinTS().agent(n_features=2)
    agent = LinTS(scale=1.0, feature_bound=1.0).agent(
        2, feature_names=["u", "v"], intercept=True, long_contexts="raise"
    )
    assert agent.choose({"v": 0.1, "u": 0.2}) in (0, 1)
    with pytest.raises(InvalidParameter, match="feature_bound = 1 long"):
        agent.choose([3.0, 4.0])
    assert "LinTS" in repr(agent)


@pytest.mark.parametrize("policy", GENERAL, ids=[policy.name for policy in GENERAL])
def test_many_contexts_are_decided_as_one_by_one(policy: Any) -> None:
    """`choose_many`, `decide_many` and `scores_many` are what single calls are, and a bad row decides nothing."""
    rng, one, other = np.random.default_rng(4), policy.agent(3, 2, seed=5), policy.agent(3, 2, seed=5)
    for X in (rng.normal(size=(30, 2)) / 2, rng.normal(size=(30, 3, 2)) / 2):
        scores = one.scores_many(X)
        for row, x in enumerate(X):
            np.testing.assert_array_equal(scores.index[row], other.scores(x).index)
        arms = one.choose_many(X)
        assert arms == [other.choose(x) for x in X]
        rewards = rng.normal(size=len(X))
        one.update(arms, X, rewards), other.update(arms, X, rewards)
        made, expected = one.decide_many(X), [other.decide(x) for x in X]
        assert made.arms == [decision.arm for decision in expected]
        assert made.propensities.tolist() == [decision.propensity for decision in expected]
    X[7, 0] = np.nan
    before = one.to_bytes()
    for ask in (one.choose_many, one.decide_many, one.scores_many):
        with pytest.raises(InvalidParameter, match="X must be finite"):
            ask(X)
    assert one.to_bytes() == before


def test_what_only_tuned_agents_have_is_said() -> None:
    """Asked for, it is a sentence; `hasattr` says no; other names are as for any object."""
    agent = LinTS().agent(2, 2)
    for name in ("explain", "diversity", "statistics", "delta", "top"):
        assert not hasattr(agent, name)
        assert hasattr(LinUCB(ridge=1.0, alpha=1.0, feature_bound=1.0).agent(2, 2), name)
    with pytest.raises(AttributeError, match=r"agents of LinTS.* have no explain: only those of LinUCBd, LinUCB and"):
        agent.explain([1.0, 0.0], 0)
    with pytest.raises(AttributeError, match="object has no attribute 'colour'"):
        agent.colour  # noqa: B018
