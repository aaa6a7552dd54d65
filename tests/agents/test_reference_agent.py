"""Agents of policies without a family: they choose and learn as the naive form does, and lose nothing by mistakes."""

import copy
import os
import pickle
import signal
import threading
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import armspan
from armspan import EXP4, EXP4P, ILTCB, BestFixedArm, KernelUCB, Oracle, RandomizedUCB
from armspan.agents import ReferenceAgent, container
from armspan.environments import FiniteContexts
from armspan.errors import ArmspanError, BadFile, InvalidParameter, NotApplicable
from armspan.policies import POLICIES, Policy
from armspan.policies.base import Application, Chance
from armspan.policies.references.kernel_ucb import KernelReference
from armspan.policies.yardstick import Yardstick
from tests.agents.test_family_agent import BOUNDS, given_bounds

RNG = np.random.default_rng(0)
THETAS = [RNG.normal(size=(3, 2)) for _ in range(4)]
RANGE, HORIZON = BOUNDS["reward_range"], BOUNDS["horizon"]
MODEL = LogisticRegression().fit(RNG.normal(size=(60, 2)), np.arange(60) % 3)


def classified(x: Any) -> Any:
    """A fitted classifier, whose classes are the arms, as an expert."""
    return MODEL.predict_proba(x[:1])[0]


def steepest(x: Any) -> int:
    """A function as one of a class of policies."""
    return int(x[:, 0].argmax())


PLAIN = [one for one in map(given_bounds, POLICIES.values()) if not one.compiled and not isinstance(one, Yardstick)]
PLAIN += [
    KernelUCB(eta=0.5, kernel="linear", shared=True),
    KernelUCB(eta=[1.0] * 500, kernel="matern-3/2", budget=3),
    ILTCB(policies=[1, *THETAS], reward_range=RANGE),
    RandomizedUCB(policies=[1, *THETAS], reward_range=RANGE),
]
FUNCTIONS = [
    KernelUCB(eta=lambda t: 1 / np.sqrt(t)),
    ILTCB(policies=[steepest, *THETAS], reward_range=RANGE),
    EXP4(experts=[classified, 0, THETAS[0]], reward_range=RANGE, horizon=HORIZON),
    EXP4P(experts=[classified, 1, THETAS[1]], reward_range=RANGE, horizon=HORIZON),
]
IDS = [f"{type(policy).__name__}{number}" for number, policy in enumerate(PLAIN + FUNCTIONS)]
EACH = pytest.mark.parametrize("policy", PLAIN + FUNCTIONS, ids=IDS)
SAVED = pytest.mark.parametrize("policy", PLAIN, ids=IDS[: len(PLAIN)])
X = np.array([0.5, -1.0])


def grown(policy: Any, steps: int = 30, **options: Any) -> ReferenceAgent:
    """After some rewards, in contexts that recur, of one kind or the other."""
    agent: ReferenceAgent = policy.agent(arms=["a", "b", "c"], n_features=2, seed=3, **options)
    rng = np.random.default_rng(1)
    for i in range(steps):
        x = rng.integers(0, 4, size=(3, 2) if i % 2 else 2) / 2
        agent.update(agent.choose(x), x, float(rng.normal()))
    return agent


def knowledge(agent: ReferenceAgent) -> Any:
    """All that it would do, and its counts."""
    contexts = [X, -X, np.arange(6.0).reshape(3, 2)]
    return [agent.scores(x).index.tolist() for x in contexts], agent.decisions, agent.rewards, agent.arms


@EACH
def test_an_agent_makes_the_choices_of_a_simulation(policy: Any) -> None:
    """The same contexts, rewards and stream of random numbers: the same arms, step by step."""
    rng, seed, steps = np.random.default_rng(7), 11, 80
    env = FiniteContexts(rng.normal(size=(3, 4, 2)), rng.normal(size=(3, 2)))
    marks = list(range(1, steps + 1))
    expected = armspan.simulate(env, policy, horizon=steps, runs=1, seed=seed, checkpoints=marks, engine="python")
    block, agent, lost = env.stream(seed, np.array([0])).draw(0, steps), policy.agent(3, 2, seed=seed), 0.0
    assert type(agent) is ReferenceAgent
    curve = []
    for i in range(steps):
        c = block.contexts[0, i]
        arm = agent.choose(block.x[c]) if i % 3 else agent.decide(block.x[c]).arm
        agent.update(arm, block.x[c], block.means[c, arm] + block.noise[0, i])
        lost += block.losses[c, arm]
        curve.append(lost)
    np.testing.assert_allclose(curve, expected.pseudo_regret[0, 0], atol=1e-9)
    assert (agent.decisions, agent.rewards) == (steps, steps)


@EACH
def test_propensities_and_scores_are_those_of_the_reference(policy: Any) -> None:
    agent, reference = policy.agent(3, 2, seed=5), policy.reference(Application(2, 3))
    rng = np.random.default_rng(2)
    for step in range(1, 31):
        x, y = rng.normal(size=(3, 2)), float(rng.normal())
        scores, share = agent.scores(x), agent.propensities(x)
        if hasattr(reference, "probabilities"):
            np.testing.assert_allclose(share, reference.probabilities(x, 0, step), atol=1e-12)
            np.testing.assert_array_equal(scores.mean, scores.index)
        else:
            index = reference.index(x, 0, step)
            tied = np.isclose(index, index.max(), rtol=1e-12)
            np.testing.assert_allclose(share, tied / tied.sum())
            np.testing.assert_allclose(scores.index, index, rtol=1e-12)
            np.testing.assert_allclose(scores.mean, reference.estimates(x)[0], rtol=1e-12)
        decision = agent.decide(x)
        assert decision.propensity == pytest.approx(share[decision.arm], rel=1e-12)
        agent.update(decision.arm, x, y)
        reference.update(decision.arm, x, 0, y)


@dataclass(frozen=True, kw_only=True)
class Careless(ILTCB):
    """It may choose among some of the arms, though its weights are for all."""

    @property
    def needs_all_arms(self) -> None:
        return None


@pytest.mark.parametrize("policy", [KernelUCB(eta=0.0), Careless(reward_range=RANGE)])
def test_propensities_are_how_often_arms_are_chosen(policy: Any) -> None:
    """1,500 choices with what is known now: each share within 4.9 standard errors, once in 10⁵ by chance."""
    agent, n = policy.agent(3, 2), 1500
    if isinstance(policy, ILTCB):
        agent.update(1, X, 9.0)
    for only in (None, [0, 2]):
        share = agent.propensities(X, only=only)
        found = np.bincount([agent.choose(X, only=only) for _ in range(n)], minlength=3) / n
        assert (abs(found - share) <= 4.9 * np.sqrt(share * (1 - share) / n)).all()


@pytest.mark.parametrize("policy", [KernelUCB(eta=1.0), Careless(reward_range=RANGE)])
def test_only_some_arms_may_be_eligible(policy: Any) -> None:
    agent = grown(policy)
    whole = agent.propensities(X)
    for only in (["a", "c"], ["b"]):
        share, decision = agent.propensities(X, only=only), agent.decide(X, only=only)
        assert decision.arm in only
        assert share.sum() == pytest.approx(1)
        assert decision.propensity == share[agent.arms.index(decision.arm)]
        if hasattr(agent._reference, "probabilities"):
            allowed = np.array([name in only for name in agent.arms])
            np.testing.assert_allclose(share, whole * allowed / whole[allowed].sum())
    assert agent.propensities(X, only=["b"]).tolist() == [0, 1, 0]


@SAVED
def test_it_goes_on_after_saving_as_if_nothing_had_been(policy: Any, tmp_path: Any) -> None:
    agent = grown(policy, feature_names=["u", "v"])
    agent.save(tmp_path / "agent")
    twins = [armspan.load_agent(tmp_path / "agent"), pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)]
    twins += [agent.copy(), ReferenceAgent.from_bytes(agent.to_bytes())]
    rng = np.random.default_rng(9)
    for _ in range(10):
        x, y = rng.integers(0, 4, size=(3, 2)) / 2, float(rng.normal())
        arm = agent.choose(x)
        agent.update(arm, x, y)
        for twin in twins:
            assert twin.choose(x) == arm
            twin.update(arm, x, y)
    for twin in twins:
        assert twin.to_bytes() == agent.to_bytes()
        assert knowledge(twin) == knowledge(agent)


@pytest.mark.parametrize("policy", FUNCTIONS, ids=lambda one: type(one).__name__)
def test_functions_are_not_saved_but_copied(policy: Any, tmp_path: Any) -> None:
    agent = grown(policy)
    with pytest.raises(NotApplicable, match=r"an agent whose \w+ (is a function|has functions in it) cannot be saved"):
        agent.save(tmp_path / "agent")
    assert list(tmp_path.iterdir()) == []
    before = knowledge(agent)
    for twin in (agent.copy(), copy.copy(agent), copy.deepcopy(agent)):
        assert knowledge(twin) == before
        twin.update("a", X, 5.0)
        assert knowledge(twin) != before
    assert knowledge(agent) == before
    assert agent._past is None  # nothing is kept that no file will hold


def test_damaged_files_are_refused() -> None:
    content = grown(KernelUCB(eta=1.0)).to_bytes()
    for place in np.random.default_rng(0).integers(0, len(content), size=40):
        broken = bytearray(content)
        broken[place] ^= 1
        with pytest.raises(BadFile):
            ReferenceAgent.from_bytes(bytes(broken))
    for size in (0, 10, 60, len(content) - 1):
        with pytest.raises(BadFile):
            ReferenceAgent.from_bytes(content[:size])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("past_arms", lambda values: values + 3),
        ("past_arms", lambda values: values - 3),
        ("past_arms", lambda values: values.astype(float)),
        ("past_contexts", lambda values: values + 1000),
        ("past_rewards", lambda values: values * np.inf),
        ("past_rewards", lambda values: values + 1000.0),
        ("past_rewards", lambda values: values[:-1]),
        ("contexts", lambda values: values[:-1]),
        ("contexts", lambda values: values * np.nan),
        ("context_sizes", lambda values: values[:-1]),
        ("context_sizes", lambda values: np.append(values[:-1], [values[-1] - 1, 1])),
    ],
)
def test_files_whose_parts_do_not_fit_are_refused(name: str, change: Any) -> None:
    stored = container.unpack(grown(ILTCB(policies=THETAS, reward_range=RANGE)).to_bytes(), "content")
    header = {key: value for key, value in stored.header.items() if key != "arrays"}
    with np.errstate(invalid="ignore"):
        arrays = stored.arrays | {name: change(stored.arrays[name])}
    assert ReferenceAgent.from_bytes(container.pack(header, stored.arrays)).rewards == 30
    with pytest.raises(BadFile, match="its parts do not fit together"):
        ReferenceAgent.from_bytes(container.pack(header, arrays))


@EACH
def test_late_rewards_are_learnt_when_they_come(policy: Any) -> None:
    """One by one, in another order, or many at once: what the reference learns in that order."""
    one, many, reference = policy.agent(3, 2), policy.agent(3, 2), policy.reference(Application(2, 3))
    rng = np.random.default_rng(2)
    contexts, rewards = rng.normal(size=(12, 3, 2)), rng.normal(size=12)
    arms = [one.choose(x) for x in contexts]
    for x in contexts:
        many.choose(x)
    for i in reversed(range(12)):
        one.update(arms[i], contexts[i], rewards[i])
        reference.update(arms[i], contexts[i], 0, rewards[i])
    many.update(arms[::-1], contexts[::-1], rewards[::-1])
    shown = np.array([X] * 3)
    answer = reference.probabilities if hasattr(reference, "probabilities") else reference.index
    np.testing.assert_array_equal(one.scores(X).index, answer(shown, 0, 13))
    assert knowledge(one) == knowledge(many)
    assert (many.decisions, many.rewards) == (12, 12)


@EACH
@pytest.mark.parametrize(
    ("do", "sentence"),
    [
        (lambda agent: agent.choose([1.0]), "x must have shape"),
        (lambda agent: agent.choose([np.nan, 1.0]), "x must be finite"),
        (lambda agent: agent.update("d", [1.0, 1.0], 0.0), "arm must be one of a, b, c, got 'd'"),
        (lambda agent: agent.update("a", [1.0, 1.0], "x"), "reward must be a finite number, got 'x'"),
        (lambda agent: agent.update("a", [1.0, 1.0], 1e101), "reward must be below 1e+100"),
        (lambda agent: agent.update(["a", "d"], [[1.0, 1.0]] * 2, [0.0, 1.0]), "arm must be one of a, b, c, got 'd'"),
        (lambda agent: agent.update(["a"], [[1.0, 1.0]] * 2, [0.0, 1.0]), "arm must have 2 entries, one per reward"),
        (lambda agent: agent.update(["a"] * 2, [[1.0, 1.0], [np.inf, 0]], [0.0, 1.0]), "X must be finite, got inf"),
        (lambda agent: agent.update(["a"] * 2, [[1.0, 1e100]] * 2, [0.0, 1.0]), "X must be small enough, below 1e+100"),
        (lambda agent: agent.choose([1.0, 1.0], only=[]), "only must name at least one arm"),
        (lambda agent: agent.merge(agent), "agents that share a past cannot be merged"),
        (lambda agent: agent.merge(3), "other must be an agent of the same kind, got 3"),
        (lambda agent: agent.remove_arm("d"), "arm must be one of a, b, c, got 'd'"),
    ],
)
def test_bad_input_is_a_sentence_and_changes_nothing(policy: Any, do: Any, sentence: str) -> None:
    agent = grown(policy, 5)
    before = knowledge(agent)
    with pytest.raises(ArmspanError) as error:
        do(agent)
    assert str(error.value).startswith(sentence)
    assert knowledge(agent) == before


@EACH
def test_rewards_outside_the_range_are_refused_before_anything_is_learnt(policy: Any) -> None:
    agent = grown(policy, 5)
    if not hasattr(policy, "reward_range"):
        agent.update("a", X, 21.0)
        return
    before = knowledge(agent)
    for arm, x, reward in (("a", X, 21.0), (["a", "b"], [X, X], [1.0, -20.5])):
        with pytest.raises(InvalidParameter, match=r"reward must be from -20 to 20, as reward_range says, got -?2"):
            agent.update(arm, x, reward)
    assert knowledge(agent) == before


@pytest.mark.parametrize("shared", [False, True])
def test_arms_of_kernel_ucb_come_and_go(shared: bool) -> None:
    agent = grown(KernelUCB(eta=1.0, shared=shared))
    before = agent.scores(X)
    agent.add_arm("new")
    agent.remove_arm("b")
    after = agent.scores(X)
    assert agent.arms == ("a", "c", "new")
    np.testing.assert_array_equal(after.mean[:2], before.mean[[0, 2]])
    np.testing.assert_array_equal(after.width[:2], before.width[[0, 2]])
    fresh = agent.policy.agent(1, 2).scores(X)
    known = (before.mean[0], before.width[0]) if shared else (fresh.mean[0], fresh.width[0])
    assert (after.mean[2], after.width[2]) == known
    agent.update("new", X, 1.0)
    loaded = ReferenceAgent.from_bytes(agent.to_bytes())
    assert knowledge(loaded) == knowledge(agent)
    with pytest.raises(InvalidParameter, match="arms must be different names"):
        agent.add_arm("a")
    theory = KernelUCB(horizon=100).agent(2, 2)
    theory.add_arm(2)  # its η knows how many arms there are
    assert theory.scores(X).index.tolist() == KernelUCB(horizon=100).agent(3, 2).scores(X).index.tolist()


@pytest.mark.parametrize("policy", [ILTCB(), RandomizedUCB(), EXP4(experts=[classified], gamma=0.1)])
def test_other_arms_stay(policy: Any) -> None:
    agent = policy.agent(arms=["a", "b", "c"], n_features=2)
    for do in (partial(agent.add_arm, "new"), partial(agent.remove_arm, "a")):
        with pytest.raises(NotApplicable, match=f"arms of {policy.name} can be neither added nor removed, because its"):
            do()
    assert agent.arms == ("a", "b", "c")
    with pytest.raises(NotApplicable, match=f"agents of {policy.name} cannot be merged"):
        agent.merge(policy.agent(arms=["a", "b", "c"], n_features=2))


def test_merging_kernel_regressions_adds_what_both_have_seen() -> None:
    rng, policy = np.random.default_rng(5), KernelUCB(eta=1.0)
    parts, whole = [policy.agent(3, 2) for _ in range(2)], policy.agent(3, 2)
    for i in range(40):
        x, arm, y = rng.normal(size=2), int(rng.integers(3)), float(rng.normal())
        parts[i % 2].update(arm, x, y)
        whole.update(arm, x, y)
    parts[0].merge(parts[1])
    np.testing.assert_allclose(parts[0].scores(X).mean, whole.scores(X).mean, atol=1e-12)
    np.testing.assert_allclose(parts[0].scores(X).width, whole.scores(X).width, atol=1e-12)
    assert parts[0].rewards == 40
    assert knowledge(parts[0].copy()) == knowledge(ReferenceAgent.from_bytes(parts[0].to_bytes()))
    with pytest.raises(NotApplicable, match="share a past"):
        parts[0].merge(parts[1])
    with pytest.raises(InvalidParameter, match="the same policy"):
        parts[0].merge(KernelUCB(eta=2.0).agent(3, 2))


class TestMistakes:
    """Of a kernel, or of a function: one clear sentence, and nothing that was learnt is lost."""

    def test_a_kernel_that_is_not_positive(self) -> None:
        policy = KernelUCB(eta=1.0, kernel="polynomial", degree=1, coef0=-1.0, gamma=1.0, ridge=0.5)
        agent = policy.agent(2, 1)
        agent.update(0, [1.5], 1.0)
        before = knowledge_of_one(agent, 1.5)
        for arm, x, y in ((0, [0.1], 1.0), ([1, 0], [[1.2], [0.1]], [1.0, 1.0])):
            with pytest.raises(InvalidParameter, match="kernel must be positive, got a Schur complement of -"):
                agent.update(arm, x, y)
            assert knowledge_of_one(agent, 1.5) == before
        with pytest.raises(InvalidParameter, match="kernel must be positive, got a variance of -"):
            agent.choose([0.1])
        assert knowledge_of_one(agent, 1.5) == before

    def test_a_kernel_too_large_for_a_number(self) -> None:
        agent = grown(KernelUCB(eta=1.0, kernel="polynomial", degree=4, budget=3))
        before = knowledge(agent)
        for do in (agent.choose, lambda x: agent.update("a", x, 1.0), agent.decide, agent.scores):
            with pytest.raises(InvalidParameter, match="x must be small enough that its kernel is a finite number"):
                do(np.array([1e60, 1e60]))
        assert knowledge(agent) == before

    @pytest.mark.parametrize(
        ("policy", "sentence"),
        [
            (EXP4(experts=[lambda x: np.full(3, x[0, 0])], gamma=0.1), r"what experts\[0\] returns must sum to 1, got"),
            (EXP4P(experts=[lambda x: x[:2, 0]], horizon=99), r"what experts\[0\] returns must have shape \(3,\), got"),
            (EXP4(experts=[lambda x: [1, 1, -1]], gamma=0.1), r"what experts\[0\] returns must be >= 0, got -1"),
            (EXP4(experts=[lambda x: None], gamma=0.1), r"what experts\[0\] returns must be an array of numbers"),
            (ILTCB(policies=[0, lambda x: 3]), r"policies\[1\] must return an arm from 0 to 2, got 3"),
            (RandomizedUCB(policies=[lambda x: "a"]), r"policies\[0\] must return an arm from 0 to 2, got 'a'"),
        ],
    )
    def test_a_function_that_returns_something_else(self, policy: Any, sentence: str) -> None:
        agent = policy.agent(3, 2)
        for do in (agent.choose, agent.decide, agent.propensities, agent.scores, lambda x: agent.update(0, x, 1.0)):
            with pytest.raises(InvalidParameter, match=sentence):
                do([0.5, 1.0])
        assert (agent.decisions, agent.rewards) == (0, 0)

    def test_one_bad_answer_in_a_batch_leaves_nothing_of_it(self) -> None:
        def moody(x: Any) -> Any:
            return np.array([0.5, 0.5]) if x[0, 0] < 1 else np.array([0.5, 0.6])

        def broken(x: Any) -> Any:
            if x[0, 0] >= 1:
                raise RuntimeError("out of order")
            return 0

        contexts = np.array([[0.1], [0.2], [1.0]])
        for policy, error in (
            (EXP4(experts=[moody, 0], gamma=0.1), InvalidParameter),
            (ILTCB(policies=[broken, 1]), RuntimeError),
        ):
            agent = policy.agent(2, 1)
            agent.update(0, [0.3], 1.0)
            before = knowledge_of_one(agent)
            with pytest.raises(error):
                agent.update([0, 1, 0], contexts, [1.0, 1.0, 1.0])
            assert knowledge_of_one(agent) == before
            agent.update([0, 1], contexts[:2], [1.0, 1.0])
            assert agent.rewards == 3

    def test_a_function_cannot_change_what_others_see(self) -> None:
        def greedy_hands(x: Any) -> Any:
            x[:] = 0.0
            return 0

        with pytest.raises(ValueError, match="read-only"):
            ILTCB(policies=[greedy_hands, 1]).agent(2, 1).choose([1.0])


def knowledge_of_one(agent: ReferenceAgent, x: float = 0.9) -> Any:
    """As `knowledge`, for one feature."""
    return agent.scores([x]).index.tolist(), agent.decisions, agent.rewards, agent.copy().nbytes


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system has no such signals")
def test_ctrl_c_in_a_batch_leaves_nothing_of_it() -> None:
    def pressed(x: Any) -> int:
        if x[0, 0] == 1.0:
            signal.raise_signal(signal.SIGINT)
        return 0

    agent, before = ILTCB(policies=[pressed, 1]).agent(2, 1), signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            agent.update([0, 1, 0], [[0.5], [1.0], [0.5]], [1.0, 1.0, 1.0])
    finally:
        signal.signal(signal.SIGINT, before)
    assert agent.rewards == agent._reference.history.steps == 0


def test_threads_lose_nothing() -> None:
    for policy in (KernelUCB(eta=1.0), EXP4(experts=[classified, 0], gamma=0.1)):
        agent = policy.agent(3, 2)

        def work(agent: Any = agent) -> None:
            for i in range(50):
                agent.update(i % 3, np.array([1.0, i % 3]), 1.0)
                agent.choose(np.array([1.0, i % 3]))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (agent.decisions, agent.rewards) == (200, 200)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_children_of_a_busy_process_do_not_hang() -> None:
    agent, done = KernelUCB(eta=1.0).agent(3, 2), threading.Event()

    def work() -> None:
        while not done.wait(1e-4):
            agent.update([0, 1, 2], np.ones((3, 2)), [1.0, 0.0, 1.0])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                own = agent.rewards
                agent.update(0, [0.1, 0.2], 1.0)
                os._exit(0 if agent.rewards == own + 1 else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        thread.join()


def test_names_intercept_and_bounds() -> None:
    agent = KernelUCB(eta=1.0).agent(2, feature_names=["u", "v"], intercept=True)
    assert agent.choose({"v": 0.1, "u": 0.2}) in (0, 1)
    agent.update(1, {"v": 0.1, "u": 0.2}, True)
    assert agent._reference.arms[1].points.tolist() == [[0.2, 0.1, 1.0]]
    with pytest.raises(InvalidParameter, match=r"KernelUCB\.agent has no option 'epsilon'; it has n_arms, "):
        KernelUCB(eta=1.0).agent(2, 2, epsilon=0.1)  # type: ignore[arg-type]
    with pytest.raises(NotApplicable, match="KernelUCB needs horizon, or eta: give it to the policy"):
        KernelUCB().agent(2, 2)
    assert "KernelUCB(eta=1.0): 2 arms, 2 features, 1 decision, 1 reward" in repr(agent)
    shown = agent.copy()
    pandas = pytest.importorskip("pandas")
    shown.update([0, 1], pandas.DataFrame({"v": [0.3, 0.4], "u": [0.1, 0.2]}), [1.0, 0.0])
    assert shown._reference.arms[0].points.tolist() == [[0.1, 0.3, 1.0]]
    first = KernelUCB(eta=1.0).agent(2, 2)
    first.update([0, 1], pandas.DataFrame({"v": [0.3, 0.4], "u": [0.1, 0.2]}), [1.0, 0.0])
    assert first.feature_names == ("v", "u")


def test_a_dictionary_that_is_full_is_saved_too() -> None:
    """Beyond the budget, and beyond the step at which inverses are computed afresh."""
    rng, agent = np.random.default_rng(4), KernelUCB(eta=1.0, budget=5).agent(1, 2)
    agent.update([0] * 1030, rng.normal(size=(1030, 2)), rng.normal(size=1030))
    loaded = ReferenceAgent.from_bytes(agent.to_bytes())
    assert loaded.scores(X).index.tolist() == agent.scores(X).index.tolist()
    assert agent.nbytes > 1030 * 40


# Policies of others


class Sampled(KernelReference):
    """Draws around its estimates."""

    chance = Chance(0, 0)

    def index(self, x: Any, context: int, step: int) -> Any:
        mean, width = self.estimates(x)
        return mean + width * self.chance.normals(step, len(x))


@dataclass(frozen=True, kw_only=True)
class KernelTS(KernelUCB):
    title: ClassVar[str] = "KernelTS"

    def reference(self, env: Any) -> Any:
        usual, own = super().reference(env), object.__new__(Sampled)
        own.__dict__.update(usual.__dict__)
        return own


def test_a_policy_that_draws_its_index_has_an_agent_without_probabilities() -> None:
    policy, env = KernelTS(eta=1.0), FiniteContexts(RNG.normal(size=(3, 4, 2)), RNG.normal(size=(3, 2)))
    expected = armspan.simulate(env, policy, horizon=40, runs=1, seed=2, checkpoints=list(range(1, 41)))
    block, agent, lost = env.stream(2, np.array([0])).draw(0, 40), policy.agent(3, 2, seed=2), []
    for i in range(40):
        c = block.contexts[0, i]
        arm = agent.choose(block.x[c])
        agent.update(arm, block.x[c], block.means[c, arm] + block.noise[0, i])
        lost.append(block.losses[c, arm])
    np.testing.assert_allclose(np.cumsum(lost), expected.pseudo_regret[0, 0], atol=1e-9)
    for do in (agent.decide, agent.propensities):
        with pytest.raises(NotApplicable, match="KernelTS draws its index by chance, so no probability is known"):
            do(X)
    with pytest.raises(NotApplicable, match="only agents of armspan's own policies can be saved, got KernelTS"):
        agent.to_bytes()
    agent.update([0] * 9, np.ones((9, 2)), np.ones(9))
    assert len({agent.choose(RNG.normal(size=2)) for _ in range(50)}) > 1  # more rewards than decisions


def test_a_form_that_does_not_say_that_it_learns_late_has_no_agent() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Own(Policy):
        title: ClassVar[str] = "own"

        def reference(self, env: Any) -> Any:
            return object()

    with pytest.raises(NotApplicable, match="own has no agent: it overrides what its family does"):
        Own().agent(2, 2)


@pytest.mark.parametrize("policy", [Oracle(), BestFixedArm()])
def test_yardsticks_have_no_agent_and_say_why(policy: Any) -> None:
    with pytest.raises(NotApplicable, match=f"{policy.name} has no agent: it must know the true mean rewards"):
        replace(policy).agent(2, 2)
