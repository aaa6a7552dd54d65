"""Hybrid LinUCB, experts, kernels and enumerated policies: each against an oracle of its own, and its own claim."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.metrics import pairwise

from armspan import LinUCB, simulate
from armspan.environments import Bernoulli, BoxContexts, FiniteContexts, RewardTable
from armspan.errors import ArmspanError, InvalidParameter, NotApplicable
from armspan.kernels.block import Block, Tally
from armspan.policies import POLICIES
from armspan.policies.base import Application
from armspan.policies.exp4 import EXP4
from armspan.policies.exp4p import EXP4P
from armspan.policies.hybrid_linucb import HybridLinUCB
from armspan.policies.iltcb import ILTCB
from armspan.policies.kernel_ucb import KernelUCB
from armspan.policies.randomized_ucb import RandomizedUCB
from armspan.policies.references import enumerated
from armspan.policies.references.kernel_ucb import KernelRegression, similarity
from armspan.simulation.engines.interpreted import ReferenceActor
from tests.strategies import environments

pytestmark = pytest.mark.slow
"""`make test` compares every policy with its reference, and its agent with the simulation; this goes on from there."""

RNG = np.random.default_rng(0)
THETAS = [RNG.normal(size=(3, 2)) for _ in range(6)]
CLICKS = RewardTable(RNG.normal(size=(3, 8, 2)), RNG.uniform(size=(3, 8)), noise=Bernoulli())


def assert_forms_agree(env: Any, policies: list[Any], horizon: int, seed: int) -> None:
    cpu, python = (simulate(env, policies, horizon=horizon, runs=2, seed=seed, engine=e) for e in ("cpu", "python"))
    np.testing.assert_allclose(cpu.pseudo_regret, python.pseudo_regret, atol=1e-9)


def assert_agent_chooses_as_a_simulation(policy: Any, env: Any, steps: int = 300, seed: int = 11) -> None:
    """The same contexts, rewards and stream of random numbers: the same arms, step by step."""
    policy = policy.within(steps)
    expected = simulate(env, policy, horizon=steps, runs=1, seed=seed, checkpoints=list(range(1, steps + 1)))
    agent = policy.agent(env.n_arms, env.n_features, seed=seed)
    block, lost, curve = env.stream(seed, np.array([0])).draw(0, steps), 0.0, []
    for i in range(steps):
        c = block.contexts[0, i]
        arm = agent.choose(block.x[c])
        y = float(block.noise[0, i] < block.means[c, arm]) if block.clicks else block.means[c, arm] + block.noise[0, i]
        agent.update(arm, block.x[c], y)
        lost += block.losses[c, arm]
        curve.append(lost)
    np.testing.assert_allclose(curve, expected.pseudo_regret[0, 0], atol=1e-9)


# LinUCB hybrid


class BigRidge:
    """One ridge regression, of penalty 1, on z and x in arm a's own block."""

    def __init__(self, K: int, d: int, m: int) -> None:
        self.V, self.b, self.m = np.eye(m + K * d), np.zeros(m + K * d), m

    def features(self, x: Any, a: int) -> Any:
        w, d = np.zeros(self.b.size), x.shape[1]
        w[: self.m] = x[a, : self.m]
        w[self.m + a * d : self.m + (a + 1) * d] = x[a]
        return w

    def estimates(self, x: Any) -> tuple[Any, Any]:
        W = np.array([self.features(x, a) for a in range(len(x))])
        return W @ np.linalg.solve(self.V, self.b), np.sqrt(np.einsum("ki,ik->k", W, np.linalg.solve(self.V, W.T)))

    def update(self, a: int, x: Any, y: float) -> None:
        w = self.features(x, a)
        self.V += np.outer(w, w)
        self.b += y * w


class TestHybrid:
    @given(environments(), st.integers(1, 5), st.integers(1, 60), st.integers(0, 2**64 - 1))
    @settings(max_examples=15, deadline=None)
    def test_the_compiled_form_equals_algorithm_2(self, env: Any, m: int, horizon: int, seed: int) -> None:
        some = HybridLinUCB(shared_features=min(m, env.n_features), label="some")
        assert_forms_agree(env, [HybridLinUCB(), some, HybridLinUCB(alpha=0.3)], horizon, seed)

    @pytest.mark.parametrize(("K", "d", "m"), [(2, 1, 1), (3, 4, 4), (5, 3, 1), (4, 5, 3)])
    def test_it_is_one_big_ridge_regression(self, K: int, d: int, m: int) -> None:
        rng, policy = np.random.default_rng(d), HybridLinUCB(shared_features=m)
        agent, oracle = policy.agent(K, d), BigRidge(K, d, m)
        reference = policy.reference(Application(d, K))
        alpha = 1 + np.sqrt(np.log(2 / 0.05) / 2)
        for step in range(1, 200):
            x, y = rng.normal(size=(K, d)), float(rng.normal())
            mean, width = oracle.estimates(x)
            scores = agent.scores(x)
            np.testing.assert_allclose(scores.mean, mean, atol=1e-9)
            np.testing.assert_allclose(scores.width, width, atol=1e-9)
            np.testing.assert_allclose(reference.index(x, 0, step), mean + alpha * width, atol=1e-9)
            arm = agent.choose(x)
            assert arm == np.argmax(mean + alpha * width)
            agent.update(arm, x, y)
            reference.update(arm, x, 0, y)
            oracle.update(arm, x, y)

    def test_agents_merge_and_are_tidied_to_what_one_would_have_learnt(self) -> None:
        rng, policy = np.random.default_rng(5), HybridLinUCB(shared_features=2)
        one, two, both = (policy.agent(3, 3) for _ in range(3))
        for i in range(100):
            x, arm, y = rng.normal(size=(3, 3)), int(rng.integers(3)), float(rng.normal())
            for agent in ((one, two)[i % 2], both):
                agent.update(arm, x, y)
        one.merge(two)
        np.testing.assert_allclose(one.scores(x).mean, both.scores(x).mean, atol=1e-10)
        np.testing.assert_allclose(one.scores(x).width, both.scores(x).width, atol=1e-10)

    @pytest.mark.parametrize("m", [None, 1])
    def test_its_agent(self, m: int | None) -> None:
        env = FiniteContexts(RNG.normal(size=(3, 4, 3)), RNG.normal(size=(3, 3)))
        assert_agent_chooses_as_a_simulation(HybridLinUCB(shared_features=m), env)

    def test_what_arms_share_is_learnt_faster(self) -> None:
        """θ is the same for all of 20 arms: less regret than arms alone, 20 runs each, by 10 standard errors or so."""
        env = BoxContexts(np.tile([1.0, -0.5, 0.3], (20, 1)), -1.0, 1.0, gap=0.01, noise=0.3)
        policies = [HybridLinUCB(alpha=0.5), LinUCB(ridge=1.0, alpha=0.5)]
        hybrid, alone = simulate(env, policies, horizon=2000, runs=20).pseudo_regret[:, :, -1]
        assert hybrid.mean() < 0.8 * alone.mean()


# EXP4 and EXP4.P


def adversarial(T: int) -> tuple[Any, Any, Any]:
    """Features (T, 4, 3), an oblivious table of 0/1 rewards (T, 4), and three θ's of which the first is best.

    At first arm 0 pays and that expert's advice does not; then its advice pays, in 9 of 10 steps.
    """
    rng = np.random.default_rng(7)
    x, thetas = rng.normal(size=(T, 4, 3)), [rng.normal(size=(4, 3)) for _ in range(3)]
    paying = np.einsum("tkd,kd->tk", x, thetas[0]).argmax(axis=1)
    paying = np.where(rng.uniform(size=T) < 0.9, paying, rng.integers(4, size=T))
    paying[: T // 8] = 0
    return x, np.eye(4)[paying], thetas


class TestExperts:
    @given(environments(), st.integers(20, 60), st.integers(0, 2**64 - 1))
    @settings(max_examples=15, deadline=None)
    def test_the_compiled_forms_equal_the_references(self, env: Any, horizon: int, seed: int) -> None:
        thetas = list(np.random.default_rng(seed).normal(size=(4, env.n_arms, env.n_features)))
        ints = [EXP4(), EXP4P(), EXP4(gamma=0.5, experts=[1, 0]), EXP4P(reward_range=(-3, 5))]
        assert_forms_agree(env, [*ints, EXP4(experts=thetas), EXP4P(experts=thetas, delta=0.3)], horizon, seed)

    def test_weights_are_as_printed(self) -> None:
        """One step by hand: 2 arms, the expert of arm 0, and the uniform one."""
        y, gamma, T, delta = 0.6, 0.2, 50, 0.1
        x = np.ones((2, 1))
        one = EXP4(experts=[0], gamma=gamma).reference(Application(1, 2))
        p = 0.8 * (np.array([1.0, 0.0]) + 0.5) / 2 + 0.1
        np.testing.assert_allclose(one.probabilities(x, 0, 1), p)
        one.update(0, x, 0, y)
        np.testing.assert_allclose(np.exp(one.log_w), np.exp(gamma / 2 * np.array([1, 0.5]) * y / p[0]))
        two = EXP4P(experts=[0], delta=delta, horizon=T).reference(Application(1, 2))
        p_min = np.sqrt(np.log(2) / (2 * T))
        p = (1 - 2 * p_min) * (np.array([1.0, 0.0]) + 0.5) / 2 + p_min
        np.testing.assert_allclose(two.probabilities(x, 0, 1), p)
        two.update(1, x, 0, y)
        bonus = np.array([1 / p[0], 0.5 / p[0] + 0.5 / p[1]]) * np.sqrt(np.log(2 / delta) / (2 * T))
        np.testing.assert_allclose(two.log_w, p_min / 2 * (np.array([0, 0.5]) * y / p[1] + bonus))

    @pytest.mark.parametrize("kind", [EXP4, EXP4P])
    def test_regret_is_below_the_bound(self, kind: Any) -> None:
        """In at least 95 % of 200 runs, on a sequence where uniform play would be far above it. EXP4 in the mean."""
        T, R, K = 4000, 200, 4
        x, table, thetas = adversarial(T)
        policy, runs = kind(experts=[0, 1, 2, 3, *thetas], horizon=T), np.arange(R)
        rows = np.tile(np.arange(T), (R, 1))
        block = Block(np.uint64(1), 0, runs, rows, x, table, table, np.zeros((R, T)), 1.0)  # losses are rewards here
        curve, tally = np.empty((R, 1)), Tally(np.zeros(T, dtype=np.int64), np.zeros((R, 1, K), dtype=np.uint32))
        policy.learner(Application(3, K), runs).advance(block, np.array([T]), curve, tally)
        advised = [np.eye(K)[a][None].repeat(T, 0) for a in range(K)]
        advised += [np.eye(K)[np.einsum("tkd,kd->tk", x, theta).argmax(axis=1)] for theta in thetas]
        best, N = max(float((xi * table).sum()) for xi in advised), len(advised) + 1
        regret = best - curve[:, 0]
        bound = 2 * np.sqrt((math.e - 1) * T * K * np.log(N)) if kind is EXP4 else 6 * np.sqrt(K * T * np.log(N / 0.05))
        assert best - T / K > 1.2 * bound
        assert np.mean(regret <= bound) >= 0.95
        assert regret.mean() <= bound

    @pytest.mark.parametrize("policy", [EXP4(experts=[2, *THETAS]), EXP4P(experts=[2, *THETAS]), EXP4()])
    def test_their_agents_draw_as_the_references_say(self, policy: Any) -> None:
        """Mixed experts; 4,000 choices: each share within 4.9 standard errors, once in 10⁵ by chance."""
        policy, rng = policy.within(500), np.random.default_rng(2)
        agent, reference = policy.agent(3, 2, seed=3), policy.reference(Application(2, 3))
        actor = ReferenceActor(reference, 1.0, 3)
        for step in range(1, 201):
            x, y = rng.normal(size=(3, 2)), float(rng.uniform())
            np.testing.assert_allclose(agent.propensities(x), reference.probabilities(x, 0, step), atol=1e-12)
            arm = agent.choose(x)
            assert arm == actor.choose(x, 0, 0, step)
            agent.update(arm, x, y)
            reference.update(arm, x, 0, y)
        share, n = agent.propensities(x), 4000
        assert share.sum() == pytest.approx(1, abs=1e-12)
        found = np.bincount([agent.choose(x) for _ in range(n)], minlength=3) / n
        assert (abs(found - share) <= 4.9 * np.sqrt(share * (1 - share) / n)).all()

    @pytest.mark.parametrize("policy", [EXP4(), EXP4P(), EXP4(experts=THETAS), EXP4P(experts=THETAS)])
    def test_an_agent_makes_the_choices_of_a_simulation(self, policy: Any) -> None:
        assert_agent_chooses_as_a_simulation(policy, CLICKS)

    def test_functions_are_experts_too(self) -> None:
        def knows(x: Any) -> Any:
            return np.eye(len(x))[CLICKS.best_arm(x)]

        policy = EXP4(experts=[knows, lambda x: np.full(3, 1 / 3)])
        assert policy.compiled is None
        with_it, without = simulate(CLICKS, [policy, EXP4()], horizon=1000, runs=3).pseudo_regret[:, :, -1]
        assert with_it.max() < without.min() / 2
        with pytest.raises(ArmspanError, match=r"what experts\[0\] returns must sum to 1, got 0.7"):
            simulate(CLICKS, EXP4(experts=[lambda x: np.array([0.5, 0.2, 0.0])]), horizon=20, runs=1)

    def test_agents_are_saved(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(POLICIES, "EXP4", EXP4)
        agent = EXP4(experts=[1, *THETAS], horizon=100, reward_range=(-1, 2)).agent(3, 2)
        for _ in range(30):
            agent.update(agent.choose([0.3, -1.0]), [0.3, -1.0], 2.0)
        twin, x = agent.copy(), [1.0, 0.2]
        np.testing.assert_array_equal(twin.propensities(x), agent.propensities(x))

    @pytest.mark.parametrize("reward", [-0.01, 1.01])
    def test_agents_refuse_rewards_outside_their_range(self, reward: float) -> None:
        agent = EXP4(gamma=0.1).agent(2, 1)
        before = agent.to_bytes()
        with pytest.raises(InvalidParameter, match=r"reward must be from 0 to 1, as reward_range says, got"):
            agent.update(0, [1.0], reward)
        assert agent.to_bytes() == before


# KernelUCB

KERNELS = {
    "linear": pairwise.linear_kernel,
    "polynomial": lambda x, z: pairwise.polynomial_kernel(x, z, gamma=0.7, degree=4, coef0=0.3),
    "rbf": lambda x, z: pairwise.rbf_kernel(x, z, gamma=0.7),
    "matern-3/2": Matern(length_scale=1.7, nu=1.5),
    "matern-5/2": Matern(length_scale=1.7, nu=2.5),
}


class TestKernelUCB:
    @pytest.mark.parametrize("name", KERNELS)
    def test_kernels_are_those_of_scikit_learn(self, name: str) -> None:
        rng = np.random.default_rng(1)
        x, z = rng.normal(size=(30, 3)), rng.normal(size=(20, 3))
        ours = similarity(name, gamma=0.7, degree=4, coef0=0.3, length_scale=1.7)
        np.testing.assert_allclose(ours(x, z), KERNELS[name](x, z), rtol=1e-12, atol=1e-14)

    @given(environments(), st.integers(1, 60), st.integers(0, 2**64 - 1))
    @settings(max_examples=15, deadline=None)
    def test_with_a_linear_kernel_it_is_linucb(self, env: Any, horizon: int, seed: int) -> None:
        """Of the same model, choice by choice."""
        ridge = 0.8 * env.feature_bound**2
        for shared in (False, True):
            same = KernelUCB(kernel="linear", ridge=ridge, eta=0.9, shared=shared)
            linear = LinUCB(ridge=ridge, alpha=0.9, shared=shared)
            one, other = simulate(env, [same, linear], horizon=horizon, runs=2, seed=seed).pseudo_regret
            np.testing.assert_allclose(one, other, atol=1e-9)

    @pytest.mark.parametrize("shared", [False, True])
    def test_it_still_is_beyond_its_budget(self, shared: bool) -> None:
        """200 contexts, of which the dictionary keeps 8: they span, so that nothing is lost."""
        rng = np.random.default_rng(9)
        env = FiniteContexts(rng.normal(size=(3, 200, 3)), rng.normal(size=(3, 3)))
        same = KernelUCB(kernel="linear", ridge=2.0, eta=0.9, budget=8, shared=shared)
        linear = LinUCB(ridge=2.0, alpha=0.9, shared=shared)
        one, other = simulate(env, [same, linear], horizon=300, runs=3, seed=1).pseudo_regret
        np.testing.assert_allclose(one, other, atol=1e-9)

    @pytest.mark.parametrize("repeats", [1, 5])
    def test_estimates_are_those_of_a_gaussian_process(self, repeats: int) -> None:
        """Points that come again are counted, which changes nothing."""
        rng = np.random.default_rng(3)
        x, y = np.repeat(rng.normal(size=(40, 2)), repeats, axis=0), rng.normal(size=40 * repeats)
        order = rng.permutation(len(x))
        k = similarity("rbf", gamma=0.5, degree=1, coef0=0.0, length_scale=1.0)
        ours = KernelRegression(k, 0.3, 100, 2)
        for i in order:
            ours.learn(x[i], y[i])
        oracle = GaussianProcessRegressor(RBF(1.0), alpha=0.3, optimizer=None).fit(x, y)
        at = rng.normal(size=(50, 2))
        mean, sd = oracle.predict(at, return_std=True)
        np.testing.assert_allclose(ours.estimates(at), (mean, sd**2), atol=1e-9)
        assert len(ours.points) == 40

    def test_what_the_dictionary_costs(self) -> None:
        """600 points of a smooth function, exactly and by dictionaries: the error falls with the budget."""
        rng = np.random.default_rng(4)
        x, at = rng.uniform(-1, 1, size=(600, 2)), rng.uniform(-1, 1, size=(200, 2))
        y = np.sin(3 * x[:, 0]) * x[:, 1] + 0.1 * rng.normal(size=600)
        k = similarity("rbf", gamma=1.0, degree=1, coef0=0.0, length_scale=1.0)
        found = {}
        for budget in (600, 40, 10):
            found[budget] = KernelRegression(k, 0.1, budget, 2)
            for row, reward in zip(x, y, strict=True):
                found[budget].learn(row, reward)
        mean, variance = found[600].estimates(at)
        errors = {budget: np.abs(found[budget].estimates(at)[0] - mean).max() for budget in (40, 10)}
        assert errors[40] < 0.02 < errors[10]
        assert (found[40].estimates(at)[1] > 0.95 * variance).all()  # rather too wide than too narrow

    def test_it_learns_what_is_not_linear(self) -> None:
        """Rewards by the distance to a point: the RBF kernel loses less than LinUCB, in each of 3 runs."""
        rng = np.random.default_rng(6)
        x = np.tile(rng.uniform(-1, 1, size=(1, 30, 2)), (2, 1, 1))
        means = np.stack([(x[0] ** 2).sum(axis=1) < 0.5, (x[0] ** 2).sum(axis=1) >= 0.5]).astype(float)
        env = RewardTable(x, means, noise=0.2)
        policies = [KernelUCB(gamma=4.0, eta=0.5), LinUCB(ridge=1.0, alpha=0.5)]
        rbf, linear = simulate(env, policies, horizon=600, runs=3).pseudo_regret[:, :, -1]
        assert rbf.max() < linear.min() / 2

    def test_a_kernel_that_is_not_positive_is_refused(self) -> None:
        env = FiniteContexts(RNG.normal(size=(2, 20, 2)), RNG.normal(size=(2, 2)))
        policy = KernelUCB(kernel="polynomial", degree=2, coef0=-5.0, ridge=0.01, eta=1.0)
        with pytest.raises(InvalidParameter, match="kernel must be positive, got"):
            simulate(env, policy, horizon=50, runs=1)

    def test_theory_has_its_width_from_the_horizon(self) -> None:
        env = Application(2, 3)
        assert KernelUCB().within(100).schedule(env)(np.array([1]))[0] == np.sqrt(2 * np.log(2 * 100 * 3 / 0.05))
        with pytest.raises(NotApplicable, match="KernelUCB needs horizon, or eta: give it to the policy"):
            KernelUCB().reference(env)


# ILTCB and RandomizedUCB


def instance(seed: int, K: int = 3, N: int = 8, tau: int = 400) -> Any:
    """Actions (n, N), shares (n,), regrets (N,), and a small μ, which makes it hard."""
    rng = np.random.default_rng(seed)
    regrets = rng.uniform(0, 0.5, size=N)
    mu = min(1 / (2 * K), np.sqrt(np.log(16 * tau**2 * N / 0.05) / (K * tau)))
    return rng.integers(K, size=(30, N)), rng.dirichlet(np.ones(30)), regrets - regrets.min(), K, mu


def variances(weights: Any, actions: Any, shares: Any, K: int, mu: float) -> Any:
    """Ê[1/Q^μ(π(x)|x)] of every policy, term by term."""
    result = np.zeros(actions.shape[1])
    for row, share in zip(actions, shares, strict=True):
        for policy, arm in enumerate(row):
            follow = sum(weight for weight, other in zip(weights, row, strict=True) if other == arm)
            result[policy] += share / ((1 - K * mu) * follow + mu)
    return result


class TestILTCB:
    @pytest.mark.parametrize("seed", range(12))
    def test_coordinate_descent_solves_op_within_the_steps_promised(self, seed: int) -> None:
        actions, shares, regrets, K, mu = instance(seed, tau=10 ** (2 + seed % 4))
        b = regrets / (100 * mu)
        start = np.random.default_rng(seed).dirichlet(np.ones(len(b)))
        for given_Q in (None, start):
            Q, steps = enumerated.solve_op(actions, shares, regrets, K, mu, given_Q)
            assert (Q >= 0).all()
            assert Q.sum() <= 1 + 1e-12
            assert Q @ b <= 2 * K + 1e-9
            assert (variances(Q, actions, shares, K, mu) <= 2 * K + b + 1e-9).all()
            assert given_Q is not None or steps <= 4 * np.log(1 / (K * mu)) / mu

    def test_a_run_keeps_op_and_its_propensities_are_exact(self) -> None:
        """After every epoch; and 4,000 draws are within 4.9 standard errors of them, once in 10⁵ by chance."""
        policy, rng = ILTCB(policies=[0, *THETAS, lambda x: 2]), np.random.default_rng(1)
        reference: Any = policy.reference(Application(2, 3))
        actor, contexts = ReferenceActor(reference, 1.0, 5), rng.normal(size=(12, 3, 2))
        for t in range(1, 1025):
            c = int(rng.integers(12))
            p = reference.probabilities(contexts[c], c, t)
            assert p.sum() == pytest.approx(1, abs=1e-12)
            assert p.min() >= reference.mu - 1e-15
            arm = actor.choose(contexts[c], c, 0, t)
            before = reference.history.earned.copy()
            reference.update(arm, contexts[c], c, 1.0)
            gained = reference.history.earned - before
            np.testing.assert_allclose(gained, (reference.history.act(contexts[c]) == arm) / p[arm])
            if t & (t - 1) == 0:
                past, K, mu = reference.history, 3, reference.mu
                assert mu == min(1 / 6, np.sqrt(np.log(16 * t**2 * 8 / 0.05) / (3 * t)))
                b = past.regrets() / (100 * mu)
                assert (variances(reference.Q, past.actions, past.shares, K, mu) <= 2 * K + b + 1e-9).all()
                assert reference.Q @ b <= 2 * K + 1e-9
        assert past.shares.sum() == pytest.approx(1)
        n, p = 4000, reference.probabilities(contexts[0], 0, 1)
        found = np.bincount([actor.choose(contexts[0], 0, 1, t) for t in range(1, n + 1)], minlength=3) / n
        assert (abs(found - p) <= 4.9 * np.sqrt(p * (1 - p) / n)).all()

    @pytest.mark.parametrize("kind", [ILTCB, RandomizedUCB])
    def test_it_comes_to_follow_the_best_policy(self, kind: Any) -> None:
        """One policy knows: in the second half regret is less than 3/4 of uniform play's, in each of 3 runs."""
        steps = 4096 if kind is ILTCB else 800
        policy = kind(policies=[lambda x: 0, lambda x: 1, lambda x: 2, CLICKS.best_arm])
        curve = simulate(CLICKS, policy, horizon=steps, runs=3, checkpoints=[steps // 2, steps]).pseudo_regret[0]
        uniform = float(CLICKS.probabilities @ (CLICKS.reward_table.max(axis=0) - CLICKS.reward_table.mean(axis=0)))
        assert (curve[:, 1] - curve[:, 0] < 0.75 * uniform * steps / 2).all()


class TestRandomizedUCB:
    @pytest.mark.parametrize("seed", range(20))
    def test_cutting_planes_find_the_least(self, seed: int) -> None:
        """Half-spaces around a distribution, against scipy's linear programs."""
        rng = np.random.default_rng(seed)
        N, m = int(rng.integers(2, 9)), int(rng.integers(1, 9))
        cost, G = rng.uniform(size=N), rng.normal(size=(m, N))
        h = G @ rng.dirichlet(np.ones(N)) + 0.1 * rng.uniform(size=m)
        planes = enumerated.CuttingPlanes(cost)
        assert all(planes.add(g, limit) for g, limit in zip(G, h, strict=True))
        found, wanted = planes.minimiser(), linprog(cost, A_ub=G, b_ub=h, A_eq=np.ones((1, N)), b_eq=[1])
        assert (G @ found <= h + 1e-9).all()
        assert cost @ found == pytest.approx(wanted.fun, abs=1e-9)

    @pytest.mark.parametrize("kappa", [0.0, 1.0, 100.0, 3000.0])
    def test_the_worst_mixture_is_one_of_two_policies(self, kappa: float) -> None:
        """No other of 3,000 mixtures, of two or more, is worse."""
        rng = np.random.default_rng(int(kappa))
        V, regrets, K = rng.uniform(1, 60, size=6), rng.uniform(size=6), 3
        over, Q, limit = enumerated.worst_mixture(V, regrets, K, kappa)
        assert limit == pytest.approx(max(4.0 * K, kappa * float(Q @ regrets) ** 2))
        assert over == pytest.approx(float(Q @ V) - limit)
        assert Q.sum() == pytest.approx(1)
        others = np.vstack([rng.dirichlet(np.full(6, a), size=1000) for a in (0.05, 0.3, 1.0)])
        assert (others @ V - np.maximum(4 * K, kappa * (others @ regrets) ** 2) <= over + 1e-9).all()

    @pytest.mark.parametrize("seed", range(6))
    def test_its_program_is_solved(self, seed: int) -> None:
        """Within the slack K for every Q, and no distribution that keeps the constraints without it has less regret."""
        actions, shares, regrets, K, mu = instance(seed, N=5, tau=20_000)
        kappa = 20_000 / (180 * 2 * np.log(5 * 20_000 / 0.05))
        rng, keeps = np.random.default_rng(seed), 0

        def over(P: Any) -> float:
            return enumerated.worst_mixture(variances(P, actions, shares, K, mu), regrets, K, kappa)[0]

        P = enumerated.solve_randomized(actions, shares, regrets, K, mu, kappa)
        assert over(P) <= K + 1e-9
        assert P.sum() == pytest.approx(1)
        for other in rng.dirichlet(np.full(5, 0.5), size=150):
            if other @ regrets < P @ regrets:
                assert over(other) > 0
            else:
                keeps += over(other) <= 0
        assert keeps > 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: HybridLinUCB(shared_features=0), "shared_features must be an integer >= 1, got 0"),
        (
            lambda: HybridLinUCB(shared_features=3),
            "shared_features must be an integer from 1 to the number of",
        ),
        (lambda: HybridLinUCB(delta=1.0), "delta must be > 0 and < 1, got 1"),
        (lambda: HybridLinUCB(alpha=-1.0), "alpha must be >= 0, got -1"),
        (lambda: EXP4(gamma=1.5), "gamma must be > 0 and <= 1, got 1.5"),
        (lambda: EXP4(experts=[]), "experts must be a list of at least one, got []"),
        (lambda: EXP4(experts=[3]), "experts[0] must be an integer from 0 to 2, got 3"),
        (lambda: EXP4(experts=[0, -1]), "experts[1] must be an integer >= 0, got -1"),
        (lambda: EXP4(experts=[[[1.0, 2.0]]]), "experts[0] must have shape (3, 2), got shape (1, 2)"),
        (lambda: EXP4(reward_range=(1, 0)), "reward_range must be two numbers, the lower first, got (1, 0)"),
        (lambda: EXP4P(delta=0.0), "delta must be > 0, got 0"),
        (lambda: EXP4P(), "EXP4.P needs horizon >= 5 with 3 arms and 4 experts, got 3"),
        (lambda: KernelUCB(kernel="cosine"), "kernel must be one of linear, polynomial, rbf, matern-3/2, matern-5/2"),
        (lambda: KernelUCB(ridge=0.0), "ridge must be > 0, got 0"),
        (lambda: KernelUCB(gamma=-1.0), "gamma must be > 0, got -1"),
        (lambda: KernelUCB(budget=0), "budget must be an integer >= 1, got 0"),
        (lambda: KernelUCB(eta=-1.0), "eta must be >= 0, got -1"),
        (lambda: ILTCB(delta=1.0), "delta must be > 0 and < 1, got 1"),
        (lambda: ILTCB(policies=[5]), "policies[0] must be an integer from 0 to 2, got 5"),
        (lambda: ILTCB(policies=[lambda x: 7]), "policies[0] must return an arm from 0 to 2, got 7"),
        (lambda: RandomizedUCB(policies=np.array("ab").item()), "policies must be a list of at least one, got 'ab'"),
    ],
)
def test_bad_parameters(make: Any, sentence: str) -> None:
    with pytest.raises(ArmspanError) as error:
        simulate(CLICKS, make(), horizon=3, runs=1)
    assert sentence in str(error.value)


@pytest.mark.parametrize("kind", [EXP4, EXP4P])
def test_a_bare_agent_must_be_told_the_horizon(kind: Any) -> None:
    with pytest.raises(NotApplicable, match="needs horizon: give it to the policy"):
        kind().agent(3, 2)


@pytest.mark.parametrize("policy", [HybridLinUCB(), EXP4(experts=THETAS), KernelUCB(), ILTCB(policies=THETAS)])
def test_policies_are_frozen_descriptions(policy: Any) -> None:
    assert policy.within(9) == policy.within(9)
    assert hash(policy.within(9)) == hash(policy.within(9))


@pytest.mark.parametrize("kind", [EXP4, EXP4P, ILTCB, RandomizedUCB])
def test_mean_rewards_beyond_the_range_are_told(kind: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A simulation goes on, for noise leaves any range; an agent refuses such rewards."""
    theta = np.array([[3.0], [-0.5]])
    for reward_range, told in (((-0.5, 3.0), 0), ((0, 1), 1)):
        caplog.clear()
        env = FiniteContexts(np.ones((2, 1, 1)), theta, name=f"for {kind.__name__}")
        for seed in (0, 1):
            simulate(env, kind(reward_range=reward_range), horizon=300, runs=1, seed=seed)
        records = [one.getMessage() for one in caplog.records if "mean rewards of" in one.getMessage()]
        assert len(records) == told
        assert all("go from -0.5 to 3" in message for message in records)
