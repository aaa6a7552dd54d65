"""Policies that choose by chance, and yardsticks: each against its definition, written out, and its own claim."""

import math
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy.linalg import block_diag

from armspan import LinUCB, simulate
from armspan.environments import Bernoulli, BoxContexts, DriftingContexts, FiniteContexts, RewardTable, paper_1b
from armspan.errors import ArmspanError, NotApplicable
from armspan.policies.best_fixed_arm import BestFixedArm
from armspan.policies.epsilon_greedy import EpsilonGreedy
from armspan.policies.falcon import FALCON
from armspan.policies.lin_med import LinMED
from armspan.policies.oracle import Oracle
from armspan.policies.random_choice import RandomChoice
from armspan.policies.softmax import Softmax
from armspan.policies.square_cb import SquareCB
from armspan.policies.ucb1 import UCB1
from tests.strategies import environments

pytestmark = pytest.mark.slow
"""`make test` compares every policy with its reference, and its agent with the simulation; this goes on from there."""

MED: Any = {"noise_scale": 0.5, "parameter_bound": 1.0}
LEARNING: list[Any] = [
    RandomChoice(),
    UCB1(noise_scale=0.5),
    EpsilonGreedy(epsilon=lambda t: min(1, 5 / t)),
    EpsilonGreedy(shared=True, epsilon=0.2),
    EpsilonGreedy(until_sure=True, epsilon=0.3, noise_scale=0.02, parameter_bound=0.1),
    EpsilonGreedy(until_sure=True, epsilon=0.3, noise_scale=0.02, parameter_bound=0.1, shared=True),
    Softmax(temperature=lambda t: 1 / np.sqrt(t)),
    Softmax(shared=True),
    SquareCB(low=-1.0),
    SquareCB(shared=True, gamma=lambda t: 10 * np.sqrt(t - 1)),
    FALCON(scale=3.0),
    FALCON(shared=True, low=-2.0, high=2.0),
    LinMED(**MED),
    LinMED(**MED, shared=True),
    LinMED(**MED, c1=0.25, c2=0.5, ridge=0.7, shared=True),
]
IDS = [f"{type(policy).__name__}, {policy.name}{', shared' * getattr(policy, 'shared', False)}" for policy in LEARNING]


def problem(seed: int = 0, K: int = 4, n: int = 8, d: int = 3, noise: Any = 0.2) -> FiniteContexts:
    """Mean rewards in [0, 1]."""
    rng = np.random.default_rng(seed)
    return FiniteContexts(rng.uniform(size=(K, n, d)), rng.uniform(size=(K, d)) / d, noise=noise)


def shared_problem(seed: int = 0, K: int = 4, n: int = 8, d: int = 3) -> FiniteContexts:
    """The same θ for all arms."""
    rng = np.random.default_rng(seed)
    return FiniteContexts(rng.uniform(-1, 1, size=(K, n, d)), np.repeat(rng.uniform(size=(1, d)), K, axis=0), noise=0.5)


def grown(policy: Any, n_arms: int = 4, n_features: int = 3, rewards: int = 100, seed: int = 0) -> Any:
    """An agent after some rewards of random contexts, and what it was told: arms, contexts and rewards."""
    rng, agent, told = np.random.default_rng(seed), policy.agent(n_arms, n_features, seed=seed), []
    for _ in range(rewards):
        x = rng.uniform(size=(n_arms, n_features))
        told.append((agent.choose(x), x, float(rng.uniform())))
        agent.update(*told[-1])
    return agent, told


@given(environments(), st.integers(1, 60), st.integers(0, 2**64 - 1))
@settings(max_examples=15, deadline=None)
def test_the_compiled_form_equals_the_reference(env: Any, horizon: int, seed: int) -> None:
    policies = [*LEARNING, LinMED(), LinMED(c1=0.1, shared=True), BestFixedArm(), Oracle()]
    cpu, python = (simulate(env, policies, horizon=horizon, runs=2, seed=seed, engine=e) for e in ("cpu", "python"))
    np.testing.assert_allclose(cpu.pseudo_regret, python.pseudo_regret, atol=1e-9)
    np.testing.assert_allclose(cpu.regret, python.regret, atol=1e-9)


@pytest.mark.parametrize("policy", LEARNING, ids=IDS)
class TestAgents:
    def test_an_agent_makes_the_choices_of_a_simulation(self, policy: Any) -> None:
        env, seed, steps = problem(1), 5, 300
        expected = simulate(env, policy, horizon=steps, runs=1, seed=seed, checkpoints=list(range(1, steps + 1)))
        block, agent = env.stream(seed, np.array([0])).draw(0, steps), policy.agent(4, 3, seed=seed)
        losses = []
        for i in range(steps):
            c = block.contexts[0, i]
            arm = agent.choose(block.x[c])
            agent.update(arm, block.x[c], block.means[c, arm] + block.noise[0, i])
            losses.append(block.losses[c, arm])
        np.testing.assert_allclose(np.cumsum(losses), expected.pseudo_regret[0, 0], atol=1e-9)

    def test_propensities_are_how_often_arms_are_chosen(self, policy: Any) -> None:
        """4,000 choices with what is known now: each share within 4.9 standard errors, once in 10⁵ by chance."""
        agent, _ = grown(policy)
        x, n = np.random.default_rng(7).uniform(size=(4, 3)), 4000
        for only in (None, [0, 2, 3]):
            share, knobs = agent.propensities(x, only=only), agent._knobs()
            assert share.sum() == pytest.approx(1, abs=1e-12)
            agent._knobs = lambda knobs=knobs: knobs
            chosen = np.bincount([agent.choose(x, only=only) for _ in range(n)], minlength=4) / n
            assert (abs(chosen - share) <= 4.9 * np.sqrt(share * (1 - share) / n) + 1e-9).all()

    def test_one_arm_has_probability_1(self, policy: Any) -> None:
        agent, _ = grown(policy, n_arms=1, rewards=10)
        assert agent.decide([1.0, 2.0, 0.5]).propensity == pytest.approx(1)

    def test_arms_come_and_go(self, policy: Any) -> None:
        agent, _ = grown(policy)
        x = np.random.default_rng(7).uniform(size=3)
        before = agent.scores(x)
        agent.add_arm("new")
        agent.remove_arm(1)
        after, fresh = agent.scores(x), policy.agent(1, 3).scores(x)
        for old, new, first in ((before.mean, after.mean, fresh.mean), (before.width, after.width, fresh.width)):
            np.testing.assert_array_equal(new[:3], old[[0, 2, 3]])
            assert new[3] == (old[0] if getattr(policy, "shared", False) else first[0])
        assert agent.propensities(x).sum() == pytest.approx(1)


# Rules

X = np.random.default_rng(3).uniform(size=(4, 3))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", range(5))
class TestRules:
    """On the estimates of 100 random rewards, against each formula written out."""

    def test_epsilon_greedy(self, seed: int, shared: bool) -> None:
        agent, _ = grown(EpsilonGreedy(epsilon=0.3, shared=shared), seed=seed)
        best = agent.scores(X).mean == agent.scores(X).mean.max()
        np.testing.assert_allclose(agent.propensities(X), 0.7 * best + 0.3 / 4, atol=1e-12)

    def test_softmax(self, seed: int, shared: bool) -> None:
        agent, _ = grown(Softmax(temperature=0.2, shared=shared), seed=seed)
        np.testing.assert_allclose(agent.propensities(X), special.softmax(agent.scores(X).mean / 0.2), atol=1e-12)

    def test_square_cb(self, seed: int, shared: bool) -> None:
        low, high, gamma = 0.4, 0.55, 30.0
        agent, _ = grown(SquareCB(gamma=gamma, shared=shared, low=low, high=high), seed=seed)
        y = (np.clip(agent.scores(X).mean, low, high) - low) / (high - low)
        p = agent.propensities(X)
        behind = y < y.max()
        np.testing.assert_allclose(p[behind], 1 / (4 + gamma * (y.max() - y[behind])), atol=1e-12)
        assert (p[~behind] >= 1 / 4).all()
        assert p.sum() == pytest.approx(1, abs=1e-12)
        assert (p * (y.max() - y) <= 1 / gamma).all()

    def test_square_cb_left_out(self, seed: int, shared: bool) -> None:
        """γ_t = √(Kt/(D log(1 + t) + log(2/δ))) at t = 101."""
        agent, _ = grown(SquareCB(shared=shared, delta=0.1), seed=seed)
        gamma = np.sqrt(4 * 101 / ((3 if shared else 12) * np.log(102) + np.log(20)))
        y = np.clip(agent.scores(X).mean, 0, 1)
        behind = y < y.max()
        np.testing.assert_allclose(agent.propensities(X)[behind], 1 / (4 + gamma * (y.max() - y[behind])), atol=1e-12)

    def test_lin_med(self, seed: int, shared: bool) -> None:
        """With V from the rewards told, and arms' own parameters as one vector of K·d, whose design is uniform."""
        c1, c2 = (0.0, 0.9) if shared else (0.25, 0.5)
        R, s, ridge, delta = 0.4, 1.3, 0.6, 0.1
        policy = LinMED(noise_scale=R, parameter_bound=s, ridge=ridge, delta=delta, c1=c1, c2=c2, shared=shared)
        agent, told = grown(policy, seed=seed)
        place = np.eye(4) if not shared else np.ones((4, 1))  # which block an arm's features stand in
        rows = np.array([np.kron(place[arm], x[arm]) for arm, x, _ in told])
        V = ridge * np.eye(rows.shape[1]) + rows.T @ rows
        theta = np.linalg.solve(V, rows.T @ [y for _, _, y in told])
        S = s if shared else s * np.sqrt(4)
        det = np.linalg.det(V) / ridge ** len(V)
        beta = (R * np.sqrt(2 * np.log(np.sqrt(det) / delta)) + np.sqrt(ridge) * S) ** 2
        features = np.array([np.kron(place[a], X[a]) for a in range(4)])
        gap = (features @ theta).max() - features @ theta
        lead = int(gap.argmin())
        apart = features - features[lead]
        norm = np.einsum("ai,ij,aj->a", apart, np.linalg.inv(V), apart)
        norm[lead] = 1.0  # its gap is 0
        p = np.exp(-(gap**2) / (beta * norm)) * (c2 * (np.arange(4) == lead) + (1 - c2) / 4)
        np.testing.assert_allclose(agent.propensities(X), p / p.sum(), atol=1e-9)


def test_tied_arms_share_what_one_would_have() -> None:
    for policy in (EpsilonGreedy(epsilon=0.3), Softmax(), SquareCB(gamma=50.0), FALCON()):
        agent = policy.agent(4, 3)
        np.testing.assert_allclose(agent.propensities(X), np.full(4, 1 / 4))
    agent = EpsilonGreedy(epsilon=0.2).agent(3, 1)
    agent.update([0, 1, 2], np.ones((3, 1)), [0.5, 0.5, 0.1])
    np.testing.assert_allclose(agent.propensities([1.0]), [0.4 + 0.2 / 3, 0.4 + 0.2 / 3, 0.2 / 3])


def test_the_limits_of_the_rules() -> None:
    """Uniform: ε = 1, T = ∞, γ = 0 and RandomChoice. Greedy: ε = 0, T = 0, γ = ∞, and LinUCB without a width."""
    env = problem(2)
    uniform = [RandomChoice(), EpsilonGreedy(epsilon=1.0), Softmax(temperature=1e15), SquareCB(gamma=0.0)]
    first, *others = simulate(env, uniform, horizon=500, runs=5).pseudo_regret
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-9)
    greedy = [EpsilonGreedy(epsilon=0.0), Softmax(temperature=0.0), SquareCB(gamma=1e15, low=-10.0, high=10.0)]
    first, *others = simulate(env, greedy, horizon=500, runs=5).pseudo_regret
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-9)
    agent, told = grown(EpsilonGreedy(epsilon=0.0))
    twin = LinUCB(ridge=1.0, alpha=0.0).agent(4, 3)
    for arm, x, y in told:
        twin.update(arm, x, y)
    for _, x, _ in told:
        np.testing.assert_allclose(agent.propensities(x), twin.propensities(x), atol=1e-12)


def test_epsilon_greedy_logs_exact_propensities() -> None:
    """Of 3,000 decisions, as they were made: the closed form, and Σ 1[a]/p near n for every arm, by 4.9 deviations."""
    rng, agent = np.random.default_rng(0), EpsilonGreedy(epsilon=0.2).agent(3, 2)
    weights, variance, n = np.zeros(3), np.zeros(3), 3000
    for _ in range(n):
        x = rng.uniform(size=2)
        mean = agent.scores(x).mean
        p = 0.8 * (mean == mean.max()) / np.count_nonzero(mean == mean.max()) + 0.2 / 3
        decision = agent.decide(x)
        assert decision.propensity == pytest.approx(p[decision.arm], abs=1e-12)
        weights[decision.arm] += 1 / decision.propensity
        variance += 1 / p - 1
        agent.update(decision.arm, x, float(rng.uniform() < x[0] * (decision.arm + 1) / 3))
    assert (abs(weights - n) <= 4.9 * np.sqrt(variance)).all()


# ε-greedy until sure


def naively_sure(V: Any, theta_hat: Any, x: Any, radii: Any) -> bool:
    """Whether min_{a≠â} Δ̂_a²/(2‖x_â - x_a‖²_{V⁻¹}) > β; V (A, d, d), theta_hat (A, d), x (K, d), radii (A,).

    Separate arms are one model in blocks: V has theirs on its diagonal, and an arm's features stand in its block.
    """
    place = np.eye(len(x)) if len(V) > 1 else np.ones((len(x), 1))  # which block an arm's features stand in
    rows = np.array([np.kron(place[a], x[a]) for a in range(len(x))])
    V_inv, mean = np.linalg.inv(block_diag(*V)), rows @ theta_hat.ravel()
    best = int(np.argmax(mean))
    ratios = []
    for a in range(len(x)):
        if a != best:
            apart = rows[best] - rows[a]
            beta = max(radii[best % len(V)], radii[a % len(V)]) ** 2
            ratios.append((mean[best] - mean[a]) ** 2 / (2 * apart @ V_inv @ apart) / beta)
    return min(ratios) > 1


@pytest.mark.parametrize("shared", [False, True])
def test_exploration_ends_where_the_likelihood_ratio_says_so(shared: bool) -> None:
    """Random knowledge, from little to much: agent and reference have the probabilities of the definition.

    The arm is also the best one wherever all θ are in their ellipsoids, which Theorem 2 of OFUL promises.
    """
    R, s, lam, delta, epsilon, sure, inside = 0.3, 1.0, 0.5, 0.1, 0.2, [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        K, d = int(rng.integers(2, 5)), int(rng.integers(1, 5))
        A = 1 if shared else K
        policy = EpsilonGreedy(
            epsilon=epsilon, until_sure=True, delta=delta, ridge=lam, parameter_bound=s, noise_scale=R, shared=shared
        )
        agent, reference = policy.agent(K, d), cast(Any, policy.reference(problem(K=K, n=1, d=d)))
        theta = rng.normal(size=(A, d))
        V, b = np.tile(lam * np.eye(d), (A, 1, 1)), np.zeros((A, d))
        for i in range(K + int(10 ** rng.uniform(0, 3))):
            arm, x = i if i < K else int(rng.integers(K)), rng.normal(size=(K, d))  # all are known, so none are tied
            y = float(theta[arm % A] @ x[arm] + R * rng.normal())
            agent.update(arm, x, y)
            reference.update(arm, x, 0, y)
            V[arm % A] += np.outer(x[arm], x[arm])
            b[arm % A] += y * x[arm]
        own, theta_hat = delta / A, np.array([np.linalg.solve(*one) for one in zip(V, b, strict=True)])
        radii = [R * math.sqrt(2 * math.log(math.sqrt(np.linalg.det(W / lam)) / own)) + math.sqrt(lam) * s for W in V]
        off = theta_hat - theta
        inside.append(bool((np.sqrt(np.einsum("ai,aij,aj->a", off, V, off)) <= radii).all()))
        for _ in range(5):
            x = rng.normal(size=(K, d))
            sure.append(naively_sure(V, theta_hat, x, radii))
            means = [[model[a % A] @ x[a] for a in range(K)] for model in (theta_hat, theta)]
            leading, best = np.argmax(means, axis=1)
            p = (1 - epsilon) * np.eye(K)[leading] + epsilon / K
            expected = np.eye(K)[leading] if sure[-1] else p
            np.testing.assert_allclose(agent.propensities(x), expected, atol=1e-12)
            np.testing.assert_allclose(reference.probabilities(x, 0, 1), expected, atol=1e-12)
            decision = agent.decide(x)
            assert decision.propensity == pytest.approx(expected[decision.arm], abs=1e-12)
            assert not (sure[-1] and inside[-1]) or leading == best
    assert 0.2 < np.mean(sure) < 0.8
    assert np.mean(inside) > 0.5


def test_arms_that_are_tied_are_never_told_apart() -> None:
    agent = EpsilonGreedy(epsilon=0.2, until_sure=True, noise_scale=0.0, parameter_bound=1e-3).agent(3, 1)
    agent.update([0, 1, 2], np.ones((3, 1)), [0.5, 0.5, 0.1])
    np.testing.assert_allclose(agent.propensities([1.0]), [0.4 + 0.2 / 3, 0.4 + 0.2 / 3, 0.2 / 3])
    np.testing.assert_allclose(agent.propensities([1.0], only=[1, 2]), [0, 1, 0])


def test_epsilon_greedy_until_sure_stops_losing() -> None:
    """Figure 1b: diverse, with a gap of 0.12 and noise of 1, so that it takes 20,000 to 40,000 steps to be sure.

    In the last half of 80,000 steps it loses less than a hundredth of what ε-greedy loses, in 50 runs.
    """
    policies = [EpsilonGreedy(epsilon=0.1), EpsilonGreedy(epsilon=0.1, until_sure=True)]
    regret = simulate(paper_1b(), policies, horizon=80_000, runs=50, checkpoints=[40_000, 80_000]).pseudo_regret
    plain, tested = (regret[:, :, 1] - regret[:, :, 0]).mean(axis=1)
    assert tested < plain / 100


# FALCON


@pytest.mark.parametrize("shared", [False, True])
def test_falcon_refits_at_the_ends_of_epochs_on_their_rows(shared: bool) -> None:
    """The fit changes after 2, 4, 8, … rewards and at no other time, to the ridge regression on the last half."""
    agent, rng, told = FALCON(shared=shared, ridge=0.3).agent(3, 2), np.random.default_rng(0), []
    fit = agent._state.theta_hat.copy()
    for n in range(1, 300):
        x = rng.uniform(size=(3, 2))
        told.append((agent.choose(x), x, float(rng.uniform())))
        agent.update(*told[-1])
        if n < 2 or n & (n - 1):
            np.testing.assert_array_equal(agent._state.theta_hat, fit)
            continue
        fit = agent._state.theta_hat.copy()
        for m in range(1 if shared else 3):
            rows = [(x[arm], y) for arm, x, y in told[n // 2 if n > 2 else 0 :] if shared or arm == m]
            x_m = np.array([x for x, _ in rows]).reshape(-1, 2)
            y_m = np.array([y for _, y in rows])
            expected = np.linalg.solve(0.3 * np.eye(2) + x_m.T @ x_m, x_m.T @ y_m)
            np.testing.assert_allclose(fit[0, m], expected, atol=1e-12)


def test_falcon_has_gamma_of_its_epoch() -> None:
    """After 100 rewards it is in epoch 7, with τ = 64."""
    agent, _ = grown(FALCON(scale=2.0, delta=0.1))
    y = np.clip(agent.scores(X).mean, 0, 1)
    gamma = 2 * np.sqrt(4 * 64 / (12 * np.log(64) + np.log(49 / 0.1)))
    behind = y < y.max()
    np.testing.assert_allclose(agent.propensities(X)[behind], 1 / (4 + gamma * (y.max() - y[behind])), atol=1e-12)
    with pytest.raises(NotApplicable, match="agents of FALCON cannot be merged"):
        agent.merge(FALCON(scale=2.0, delta=0.1).agent(4, 3))


# LinMED


@pytest.mark.parametrize(("K", "d"), [(3, 3), (8, 3), (40, 2), (200, 5), (2, 4)])
def test_lin_med_has_a_design_within_twice_the_best(K: int, d: int) -> None:
    """Nothing is known at first: all exponentials are 1, and with c₁ = 1 the design is p. The best has rank(x)."""
    x = np.random.default_rng(K).normal(size=(K, d)) * np.random.default_rng(d).exponential(size=(K, 1))
    p = LinMED(c1=1.0, c2=0.0, shared=True, **MED).agent(K, d).propensities(x)
    leverage = np.einsum("ai,ij,aj->a", x, np.linalg.pinv((x.T * p) @ x, rcond=1e-12), x)
    assert leverage.max() <= 2 * min(K, d)


@pytest.mark.parametrize("shared", [False, True])
def test_lin_med_keeps_the_determinant(shared: bool) -> None:
    agent, _ = grown(LinMED(**MED, shared=shared), rewards=300)

    def exact() -> Any:
        V = np.tril(agent._state.V[0]) + np.swapaxes(np.tril(agent._state.V[0], -1), 1, 2)
        return np.linalg.slogdet(V)[1]

    np.testing.assert_allclose(agent._state.log_det[0], exact(), rtol=1e-9)
    other, _ = grown(LinMED(**MED, shared=shared), seed=1)
    agent.merge(other)
    np.testing.assert_allclose(agent._state.log_det[0], exact(), rtol=1e-9)


# Regret


def mean_regret(env: Any, policy: Any, marks: list[int], runs: int = 20) -> Any:
    return simulate(env, policy, horizon=marks[-1], runs=runs, checkpoints=marks).pseudo_regret[0].mean(axis=0)


@pytest.mark.parametrize(
    ("policy", "env"),
    [
        (LinMED(), problem(3)),
        (LinMED(shared=True), shared_problem(3)),
        (LinMED(shared=True, c1=0.05), shared_problem(3)),
        (SquareCB(scale=10.0), problem(3)),
        (FALCON(scale=10.0), problem(3)),
        (EpsilonGreedy(epsilon=lambda t: np.minimum(1, 200 / t)), problem(3)),
    ],
)
def test_regret_grows_more_slowly_than_linearly_and_is_far_below_that_of_chance(policy: Any, env: Any) -> None:
    """Four times the steps cost less than 3 times: 4 if it were linear, 2 for √T. Means of 20 runs."""
    early, late = mean_regret(env, policy, [8000, 32_000])
    assert late < 3 * early
    assert late < mean_regret(env, RandomChoice(), [32_000], runs=4)[0] / 3


def test_ucb1_finds_the_best_fixed_arm() -> None:
    """Auer et al., Theorem 1, with clicks and one context: regret ≤ Σ 8 log T/Δ + (1 + π²/3)Σ Δ in the mean."""
    means, T = np.array([0.2, 0.5, 0.8]), 20_000
    alone = FiniteContexts(np.ones((3, 1, 1)), means[:, None], noise=Bernoulli())
    gaps = 0.8 - means[:2]
    bound = (8 * np.log(T) / gaps + (1 + np.pi**2 / 3) * gaps).sum()
    assert mean_regret(alone, UCB1(noise_scale=0.5), [T])[0] < bound
    rng = np.random.default_rng(0)  # contexts move all means, by what averages to 0
    shift = rng.uniform(-0.2, 0.2, size=6)
    table = np.clip(means[:, None] + (shift - shift.mean()) * np.array([[1], [-1], [0]]), 0, 1)
    env = FiniteContexts(np.broadcast_to(np.eye(6), (3, 6, 6)), table, noise=Bernoulli())
    fixed, ucb = (mean_regret(env, policy, [T])[0] for policy in (BestFixedArm(), UCB1(noise_scale=0.5)))
    assert abs(ucb - fixed) < bound


def test_the_best_fixed_arm_has_the_least_regret_of_fixed_arms() -> None:
    for seed in range(5):
        env = problem(seed)
        losses = env.reward_table.max(axis=0) - env.reward_table
        cost = losses @ env.probabilities
        got = mean_regret(env, BestFixedArm(), [4000], runs=10)[0] / 4000
        assert abs(got - cost.min()) < 4.9 * losses.max() / np.sqrt(40_000)  # by Hoeffding once in 10²⁰
        assert mean_regret(env, RandomChoice(), [4000], runs=10)[0] / 4000 > cost.min()
    box = BoxContexts([[1.0, 0.0], [0.3, 0.3], [0.0, 0.8]], 0.0, 1.0, gap=0.0)  # with means 0.5, 0.3 and 0.4
    _, means = box.sample(1000)
    stay = (means.max(axis=1) - means[:, 0]).sum()
    np.testing.assert_allclose(simulate(box, BestFixedArm(), horizon=1000, runs=1).pseudo_regret[0, 0, -1], stay)


def test_the_oracle_has_no_regret() -> None:
    rng = np.random.default_rng(0)
    box = BoxContexts(rng.normal(size=(3, 2)), -1.0, 1.0, gap=0.0)
    drift = DriftingContexts(rng.normal(size=(2, 3, 2)), 50)
    table = RewardTable(rng.normal(size=(3, 5, 2)), rng.uniform(size=(3, 5)))
    for env in (problem(), box, drift, table):
        assert not simulate(env, Oracle(), horizon=400, runs=3).pseudo_regret.any()


# What is refused


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: EpsilonGreedy(epsilon=1.5), "epsilon must be from 0 to 1, got 1.5"),
        (lambda: EpsilonGreedy(epsilon=-0.1), "epsilon must be >= 0, got -0.1"),
        (lambda: EpsilonGreedy(epsilon=lambda t: 2 / t), "epsilon must be from 0 to 1, got 2 at step 1"),
        (lambda: EpsilonGreedy(epsilon=[0.1]), "epsilon must have one entry per step, got 1 entries for step 3"),
        (lambda: EpsilonGreedy(ridge=0.0), "ridge must be > 0, got 0"),
        (lambda: EpsilonGreedy(until_sure=cast(Any, 1)), "until_sure must be True or False, got 1"),
        (lambda: EpsilonGreedy(delta=0.0), "delta must be > 0, got 0"),
        (lambda: EpsilonGreedy(noise_scale=-1.0), "noise_scale must be >= 0, got -1"),
        (lambda: EpsilonGreedy(parameter_bound=0.0), "parameter_bound must be > 0, got 0"),
        (lambda: Softmax(temperature=-1.0), "temperature must be >= 0, got -1"),
        (lambda: Softmax(ridge=1e200), "ridge must be from"),
        (lambda: SquareCB(gamma=cast(Any, "much")), "gamma must be >= 0, got 'much'"),
        (lambda: SquareCB(delta=1.0), "delta must be > 0 and < 1, got 1"),
        (lambda: SquareCB(low=1.0), "high must be above low = 1, got 1"),
        (lambda: SquareCB(shared=cast(Any, 1)), "shared must be True or False, got 1"),
        (lambda: FALCON(scale=-1.0), "scale must be >= 0, got -1"),
        (lambda: LinMED(c1=0.5, c2=0.6), "c1 + c2 must be at most 1, got 0.5 + 0.6"),
        (lambda: LinMED(c1=-0.1), "c1 must be >= 0, got -0.1"),
        (lambda: LinMED(parameter_bound=0.0), "parameter_bound must be > 0, got 0"),
        (lambda: UCB1(noise_scale=-1.0), "noise_scale must be >= 0, got -1"),
    ],
)
def test_bad_parameters(make: Any, sentence: str) -> None:
    with pytest.raises(ArmspanError) as error:
        simulate(problem(), make(), horizon=3, runs=1)
    assert sentence in str(error.value)


def test_what_has_no_agent_says_so() -> None:
    for policy in (Oracle(), BestFixedArm()):
        with pytest.raises(NotApplicable, match=f"{policy.name} has no agent: it must know the true mean rewards"):
            policy.agent(2, 2)
    with pytest.raises(NotApplicable, match="LinMED needs parameter_bound: give it to the policy"):
        LinMED().agent(2, 2)
    with pytest.raises(NotApplicable, match="ε-greedy until sure needs parameter_bound: give it to the policy"):
        EpsilonGreedy(until_sure=True).agent(2, 2)
    with pytest.raises(ArmspanError, match="noise_scale must be > 0 where ridge is left out, got 0"):
        LinMED(noise_scale=0.0, parameter_bound=1.0).agent(2, 2)
