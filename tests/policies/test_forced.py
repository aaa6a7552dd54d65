"""Policies that explore by forced pulls, or only if they must: each does what its paper says it does."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from armspan import Greedy, simulate
from armspan.agents import Agent, FamilyAgent
from armspan.environments import BoxContexts, FiniteContexts
from armspan.errors import ArmspanError, NotApplicable
from armspan.kernels.eigen import smallest_eigenvalue
from armspan.kernels.families.forced import ANY, FREE
from armspan.kernels.families.lasso import fit
from armspan.policies.base import Application
from armspan.policies.epoch_greedy import EpochGreedy
from armspan.policies.explore_then_commit import ExploreThenCommit
from armspan.policies.greedy_first import GreedyFirst
from armspan.policies.lasso_bandit import LassoBandit
from armspan.policies.ols_bandit import OLSBandit
from armspan.policies.pege import PEGE
from tests.strategies import environments

pytestmark = pytest.mark.slow
"""`make test` compares every policy with its reference, and its agent with the simulation; this goes on from there."""

POLICIES: list[Any] = [
    Greedy(pulls=2),
    ExploreThenCommit(pulls=3),
    PEGE(pulls=1),
    EpochGreedy(rate=3.0),
    EpochGreedy(at_least_one=True, ridge=0.5, label="at least one"),
    OLSBandit(h=0.5),
    OLSBandit(q=2, h=2.0, initial=0, label="OLS as printed"),
    GreedyFirst(h=1.0),
    GreedyFirst(t0=3, initial=1, label="greedy first, hasty"),
    LassoBandit(h=0.5),
    LassoBandit(q=2, h=2.0, lambda_1=0.3, lambda_2=1.0, label="LASSO, sparse"),
]
SHARED = [replace(policy, shared=True, label=f"{policy.name}, shared") for policy in POLICIES]
BOX = BoxContexts([[0.8, -0.3, 0.2], [-0.5, 0.4, 0.6], [0.1, 0.9, -0.7]], -1.0, 1.0, noise=0.3)
APPLICATION = Application(3, 3)


def lived(policy: Any, env: Any, steps: int, seed: int = 11) -> tuple[FamilyAgent, Any, Any, Any]:
    """An agent that has lived through run 0 of a simulation: the arms it has pulled, their features, and rewards."""
    block, told = env.stream(seed, np.array([0])).draw(0, steps), {"feature_bound": env.feature_bound}
    known = replace(policy, **{name: value for name, value in told.items() if hasattr(policy, name)})
    agent, arms, rows, rewards = known.agent(env.n_arms, env.n_features, seed=seed), [], [], []
    for i in range(steps):
        x = block.x[block.contexts[0, i]]
        arm = agent.choose(x)
        rewards.append(block.means[block.contexts[0, i], arm] + block.noise[0, i])
        agent.update(arm, x, rewards[-1])
        arms.append(arm)
        rows.append(x)
    return agent, np.array(arms), np.array(rows), np.array(rewards)


def least_squares(x: Any, y: Any, ridge: float) -> Any:
    """By NumPy: the ridge is d more rows with reward 0."""
    d = x.shape[1]
    return np.linalg.lstsq(np.vstack([x, np.sqrt(ridge) * np.eye(d)]), np.append(y, np.zeros(d)), rcond=None)[0]


@given(environments(), st.integers(1, 90), st.integers(0, 2**64 - 1))
@settings(max_examples=15)
def test_the_compiled_form_equals_the_reference(env: Any, horizon: int, seed: int) -> None:
    both: Any = {"horizon": horizon, "runs": 1, "seed": seed}
    cpu, python = (simulate(env, POLICIES + SHARED, engine=engine, **both) for engine in ("cpu", "python"))
    np.testing.assert_allclose(cpu.pseudo_regret, python.pseudo_regret, atol=1e-9)


@pytest.mark.parametrize("policy", POLICIES + SHARED, ids=lambda policy: policy.name)
def test_an_agent_makes_the_choices_of_a_simulation(policy: Any) -> None:
    steps = 250
    result = simulate(BOX, policy, horizon=steps, runs=1, seed=11, checkpoints=list(range(1, steps + 1)))
    agent, arms, x, _ = lived(policy, BOX, steps)
    means = np.einsum("nkd,kd->nk", x, BOX.theta)
    lost = means.max(axis=1) - means[np.arange(steps), arms]
    np.testing.assert_allclose(np.cumsum(lost), result.pseudo_regret[0, 0], atol=1e-9)
    assert (agent.decisions, agent.rewards) == (steps, steps)


@pytest.mark.parametrize("policy", POLICIES + SHARED, ids=lambda policy: policy.name)
def test_propensities_are_how_often_arms_are_chosen(policy: Any) -> None:
    """Of 40 decisions in a row, each has its arm's probability; random ones are counted below."""
    agent, _, x, _ = lived(policy, BOX, 60)
    for row in x[:40]:
        share = agent.propensities(row)
        assert share.sum() == pytest.approx(1)
        decision = agent.decide(row)
        assert decision.propensity == pytest.approx(share[decision.arm])
        if share.max() < 1:
            np.testing.assert_allclose(share, 1 / 3)
            assert isinstance(policy, EpochGreedy)


# Schedules


def schedule(policy: Any, steps: Any, name: str = "forced") -> Any:
    return policy.knobs(APPLICATION)[name](np.asarray(steps))


def enumerated(K: int, q: int, horizon: int) -> Any:
    """The sets T_a as printed, one arm's number or FREE for each step."""
    arms = np.full(horizon, FREE)
    for n in range(40):
        for a in range(1, K + 1):
            for j in range(q * (a - 1) + 1, q * a + 1):
                step = (2**n - 1) * K * q + j
                if step <= horizon:
                    arms[step - 1] = a - 1
    return arms


@pytest.mark.parametrize("q", [1, 2, 5])
@pytest.mark.parametrize("kind", [OLSBandit, LassoBandit])
def test_forced_steps_are_exactly_the_sets_of_the_paper(q: int, kind: Any) -> None:
    horizon = 20_000
    policy = kind(q=q) if kind is LassoBandit else kind(q=q, initial=0, ridge=1.0)
    np.testing.assert_array_equal(schedule(policy, np.arange(1, horizon + 1)), enumerated(3, q, horizon))
    late = (2**28 - 1) * 3 * q + np.arange(3 * q + 2)
    np.testing.assert_array_equal(schedule(policy, late), [FREE, *np.repeat([0, 1, 2], q), FREE])


def test_initial_pulls_come_before_the_sets_and_are_in_turn() -> None:
    wanted = enumerated(3, 1, 1000)
    wanted[:9] = np.tile([0, 1, 2], 3)
    np.testing.assert_array_equal(schedule(OLSBandit(ridge=1.0), np.arange(1, 1001)), wanted)


@pytest.mark.parametrize("pulls", [1, 4])
def test_cycle_c_of_pege_has_c_free_steps(pulls: int) -> None:
    wanted: list[int] = []
    for cycle in range(1, 120):
        wanted += [0, 1, 2] * pulls + [FREE] * cycle
    policy = PEGE(pulls=pulls, ridge=1.0)
    np.testing.assert_array_equal(schedule(policy, np.arange(1, len(wanted) + 1)), wanted)
    late = 90_000  # a cycle whose first step is near 2³²
    first = (late - 1) * 3 * pulls + late * (late - 1) // 2 + 1
    around = schedule(policy, np.arange(first - 2, first + 3 * pulls + 2))
    np.testing.assert_array_equal(around, [FREE, FREE, *[0, 1, 2] * pulls, FREE, FREE])
    defaults = (PEGE(ridge=1.0, shared=shared).knobs(Application(2, 3))["forced"] for shared in (False, True))
    per_cycle = [int(np.argmax(forced(np.arange(1, 50)) == FREE)) for forced in defaults]  # type: ignore[operator]
    assert per_cycle == [6, 3]


@given(st.floats(0.05, 50.0), st.booleans(), st.integers(1, 8), st.integers(2, 5))
@settings(max_examples=30)
def test_epochs_are_as_printed(rate: float, at_least_one: bool, d: int, K: int) -> None:
    wanted: list[int] = []
    epoch = 0
    while len(wanted) < 3000:
        epoch += 1
        greedy = int(np.floor(rate * np.sqrt(epoch / (K * d))))
        wanted += [ANY] + [FREE] * (max(greedy, 1) if at_least_one else greedy)
    policy = EpochGreedy(rate=rate, at_least_one=at_least_one, ridge=1.0)
    forced: Any = policy.knobs(Application(d, K))["forced"]
    parts = [forced(np.arange(first, first + 500)) for first in range(1, 3001, 500)]
    np.testing.assert_array_equal(np.concatenate(parts), wanted[:3000])


@pytest.mark.parametrize("rate", [1e-9, 1e12])
def test_the_extremes_of_epochs(rate: float) -> None:
    """Random for ever, or once: neither takes long to find out."""
    forced = schedule(EpochGreedy(rate=rate, ridge=1.0), np.array([1, 2, 10**9, 2**32]))
    assert forced.tolist() == ([ANY] * 4 if rate < 1 else [ANY, FREE, FREE, FREE])


def test_random_pulls_are_uniform() -> None:
    """3,000 of them: each arm's share within 4.9 standard errors, once in 10⁵ by chance."""
    _, arms, _, _ = lived(EpochGreedy(rate=1e-9), BOX, 3000)
    assert np.abs(np.bincount(arms, minlength=3) / 3000 - 1 / 3).max() < 4.9 * np.sqrt(2 / 9 / 3000)


# What is learnt


@pytest.mark.parametrize("shared", [False, True])
def test_explore_then_commit_commits_to_the_least_squares_of_its_exploration(shared: bool) -> None:
    m, ridge = 4, 0.01
    _, arms, x, y = lived(ExploreThenCommit(pulls=m, ridge=ridge, shared=shared), BOX, 200)
    np.testing.assert_array_equal(arms[: 3 * m], np.tile([0, 1, 2], m))
    first, pulled = np.arange(3 * m), x[np.arange(200), arms]
    theta = [
        least_squares(pulled[rows], y[rows], ridge) for rows in (first if shared else first[a::3] for a in range(3))
    ]
    np.testing.assert_array_equal(arms[3 * m :], np.einsum("nkd,kd->nk", x[3 * m :], np.array(theta)).argmax(axis=1))


@pytest.mark.parametrize("policy", [PEGE(pulls=1), EpochGreedy(rate=2.0)], ids=["PEGE", "epoch-greedy"])
def test_what_comes_between_explorations_is_not_learnt(policy: Any) -> None:
    steps, ridge = 200, 0.05
    policy = replace(policy, ridge=ridge)
    agent, arms, x, y = lived(policy, BOX, steps)
    explored = schedule(policy, np.arange(1, steps + 1)) != FREE
    assert 0.1 < explored.mean() < 0.9
    for a in range(3):
        rows = np.flatnonzero(explored & (arms == a))
        theta = least_squares(x[rows, a], y[rows], ridge)
        assert agent.scores(x[0]).mean[a] == pytest.approx(theta @ x[0, a])


def test_rewards_of_forced_pulls_may_come_late() -> None:
    """All of 30 decisions before any reward: the first six were the exploration, and those rewards alone count."""
    rng = np.random.default_rng(2)
    agent = ExploreThenCommit(pulls=2, ridge=0.1).agent(3, 2)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    arms = [agent.choose(row) for row in x]
    agent.update(arms, x, y)
    for a in range(3):
        theta = least_squares(x[a:6:3], y[a:6:3], 0.1)
        assert agent.scores(x[9]).mean[a] == pytest.approx(theta @ x[9])


@pytest.mark.parametrize("shared", [False, True])
def test_ols_keeps_the_arms_within_half_h_by_forced_pulls_and_pulls_the_best_by_all(shared: bool) -> None:
    steps, ridge, h = 300, 0.004, 0.2
    policy = OLSBandit(h=h, ridge=ridge, shared=shared)
    _, arms, x, y = lived(policy, BOX, steps)
    forced, pulled, filtered = schedule(policy, np.arange(1, steps + 1)), x[np.arange(steps), arms], 0
    np.testing.assert_array_equal(arms[forced != FREE], forced[forced != FREE])
    for t in np.flatnonzero(forced == FREE):
        first, last = np.zeros(3), np.zeros(3)
        for a in range(3):
            own = (arms[:t] == a) | shared
            for estimate, rows in ((first, own & (forced[:t] != FREE)), (last, own)):
                estimate[a] = least_squares(pulled[:t][rows], y[:t][rows], ridge) @ x[t, a]
        contends = first >= first.max() - h / 2
        filtered += last.argmax() != np.where(contends, last, -np.inf).argmax()
        assert arms[t] == np.where(contends, last, -np.inf).argmax()
    assert filtered > 0


def test_greedy_with_first_pulls() -> None:
    _, arms, x, y = lived(Greedy(pulls=3), BOX, 150)
    ridge, pulled = BOX.feature_bound**2, x[np.arange(150), arms]
    np.testing.assert_array_equal(arms[:9], np.tile([0, 1, 2], 3))
    for t in (9, 50, 149):
        rows = [np.flatnonzero(arms[:t] == a) for a in range(3)]
        assert arms[t] == np.argmax([least_squares(pulled[own], y[own], ridge) @ x[t, a] for a, own in enumerate(rows)])


def test_greedy_without_first_pulls_is_as_it_was() -> None:
    policy = Greedy(feature_bound=1.0)
    assert (policy.compiled, replace(policy, pulls=1).compiled) == ("linear", "forced")
    assert (policy.explains, replace(policy, pulls=1).explains) == (True, False)
    assert type(policy.agent(2, 3)) is Agent
    assert type(replace(policy, pulls=1).agent(2, 3)) is FamilyAgent
    with pytest.raises(NotApplicable, match="epsilon must be left out"):
        replace(policy, pulls=1).agent(2, 3, epsilon=0.1)


# The LASSO


@given(st.integers(0, 10**9))
@settings(max_examples=40)
def test_the_lasso_equals_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, penalty = int(rng.integers(2, 60)), int(rng.integers(1, 30)), 10 ** rng.uniform(-2, 0.5)
    X = rng.normal(size=(n, d)) @ np.diag(10 ** rng.uniform(-0.5, 0.5, size=d))
    y = X @ (rng.normal(size=d) * (rng.random(d) < 0.3)) + 0.3 * rng.normal(size=n)
    oracle = Lasso(alpha=penalty / 2, fit_intercept=False, tol=1e-14, max_iter=10**6).fit(X, y)
    for beta in (np.zeros((1, d)), rng.normal(size=(1, d))):  # cold, and from elsewhere
        gram = X.T @ X
        for _ in range(20):  # each call may stop after its most sweeps, and the next goes on
            fit(gram[None], beta, (X.T @ y - gram @ beta[0])[None], 0, n * penalty / 2, d)
        np.testing.assert_allclose(beta[0], oracle.coef_, atol=1e-6)


def test_an_agents_lasso_equals_scikit_learns_with_the_papers_penalty() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 12)), rng.normal(size=80)
    arms = rng.integers(0, 2, size=80)
    agent, x = LassoBandit(lambda_2=0.8).agent(2, 12), rng.normal(size=12)
    agent.update(arms.tolist(), X, y)
    penalty = 0.8 * np.sqrt((np.log(81) + np.log(12)) / 81)
    for a in range(2):
        oracle = Lasso(alpha=penalty / 2, fit_intercept=False, tol=1e-14, max_iter=10**6).fit(
            X[arms == a], y[arms == a]
        )
        assert agent.scores(x).mean[a] == pytest.approx(oracle.coef_ @ x, abs=1e-6)


def test_lasso_beats_ols_where_few_of_many_features_matter() -> None:
    """100 features, of which 5 matter: less regret in every one of 8 runs, once in 256 if they were alike."""
    theta = np.zeros((2, 100))
    theta[0, :5] = 1.0
    theta[1, :5] = [1.0, -1.0, 1.0, -1.0, 0.5]
    env = BoxContexts(theta, -1.0, 1.0, noise=0.5)
    lasso, ols = simulate(env, [LassoBandit(), OLSBandit()], horizon=1000, runs=8).pseudo_regret[:, :, -1]
    assert (lasso < ols).all()
    assert lasso.mean() < ols.mean() / 2


# GreedyFirst


def switches(policy: Any, env: Any, horizon: int, runs: int) -> Any:
    """When each run has switched."""
    return simulate(env, policy, horizon=horizon, runs=runs, seed=3).switched_at["greedy first"]


def test_greedy_first_stays_greedy_where_contexts_are_diverse() -> None:
    """Two arms that differ in a box around 0: by symmetry each is best in half of all contexts, in all directions."""
    env = BoxContexts([[0.8, 0.3, -0.2], [-0.5, 0.4, 0.6]], -1.0, 1.0, noise=0.2)
    policy = GreedyFirst(ridge=0.003)
    assert (switches(policy, env, 4000, 30) == 0).all()
    greedy = replace(Greedy(), feature_bound=env.feature_bound)
    with_ridge = simulate(env, [policy, replace(policy, t0=10**6)], horizon=4000, runs=5).pseudo_regret
    np.testing.assert_array_equal(*with_ridge)
    assert with_ridge[0, :, -1].mean() < simulate(env, greedy, horizon=4000, runs=5).pseudo_regret[0, :, -1].mean() * 2


def test_greedy_first_switches_where_an_arm_sees_one_direction_only() -> None:
    """Arm 1 has features (u, u): Σxxᵀ has rank 1, so it switches after t₀ = 4Kd = 16 steps."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(2, 30, 2))
    features[1] = features[1, :, :1]
    env = FiniteContexts(features, [[0.3, -0.4], [0.5, 0.2]], noise=0.2)
    assert (switches(GreedyFirst(), env, 500, 20) == 16).all()
    assert (switches(GreedyFirst(t0=5), env, 500, 20) == 5).all()
    constant = features.copy()
    constant[1] = 1.0
    assert (switches(GreedyFirst(), FiniteContexts(constant, [[0.3, -0.4], [0.5, 0.2]]), 500, 20) == 16).all()


@pytest.mark.parametrize("shared", [False, True])
def test_greedy_first_switches_as_soon_as_an_arm_starves(shared: bool) -> None:
    """Features of all directions at first, then of one: λ_min stands still, and by NumPy it is below λ̂₀t/4 at once."""
    t0, rng = 12, np.random.default_rng(3)
    agent = GreedyFirst(t0=t0, initial=2, ridge=0.01, shared=shared).agent(2, 2)
    grams, lambda_0, wanted, arms = np.zeros((2, 2, 2)), 0.0, 0, []
    for t in range(1, 600):
        x = rng.normal(size=(2, 2)) if t <= 14 else np.array([[1.0, 0.0], [rng.normal(), 0.0]])
        arms.append(agent.choose(x))
        agent.update(arms[-1], x, float(rng.normal()))
        grams[0 if shared else arms[-1]] += np.outer(x[arms[-1]], x[arms[-1]])
        least = min(np.linalg.eigvalsh(gram)[0] for gram in (grams[:1] if shared else grams))
        lambda_0 = least / (2 * t0) if t == t0 else lambda_0
        if t > 2 * t0 and least < lambda_0 * t / 4 and not wanted:
            wanted = t
        assert agent._state.switched_at[0, 0] == wanted
    assert 2 * t0 < wanted < 550
    assert arms[wanted : wanted + 4] == [0, 1, 0, 1]  # OLS afresh: each arm twice in turn, then as printed
    after = np.array(arms[wanted:])
    forced = enumerated(2, 1, after.size)
    late = (forced != FREE) & (np.arange(after.size) >= 4)
    np.testing.assert_array_equal(after[late], forced[late])


@given(st.integers(0, 10**9))
@settings(max_examples=40)
def test_the_smallest_eigenvalue_equals_numpys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 12))
    X = rng.normal(size=(int(rng.integers(1, 20)), d)) @ np.diag(10 ** rng.uniform(-3, 3, size=d))
    V = X.T @ X
    wanted = np.linalg.eigvalsh(V)
    got = smallest_eigenvalue(np.tril(V)[None], 0, np.empty((d, d)), np.empty((d, d)), d)
    assert abs(got - wanted[0]) <= 100 * 2.0**-52 * wanted[-1]


# Bad input


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Greedy(pulls=-1), "pulls must be an integer >= 0, got -1"),
        (lambda: ExploreThenCommit(pulls=0), "pulls must be an integer >= 1, got 0"),
        (lambda: ExploreThenCommit(ridge=0.0), "ridge must be > 0, got 0.0"),
        (lambda: PEGE(pulls=1.5), "pulls must be an integer >= 1, got 1.5"),  # type: ignore[arg-type]
        (lambda: EpochGreedy(rate=0.0), "rate must be > 0, got 0.0"),
        (lambda: EpochGreedy(at_least_one=1), "at_least_one must be True or False, got 1"),  # type: ignore[arg-type]
        (lambda: OLSBandit(q=0), "q must be an integer >= 1, got 0"),
        (lambda: OLSBandit(h=-1.0), "h must be > 0, got -1.0"),
        (lambda: OLSBandit(initial=-1), "initial must be an integer >= 0, got -1"),
        (lambda: GreedyFirst(t0=0), "t0 must be an integer >= 1, got 0"),
        (lambda: LassoBandit(lambda_1=0.0), "lambda_1 must be > 0, got 0.0"),
        (lambda: LassoBandit(lambda_2=-0.1), "lambda_2 must be > 0, got -0.1"),
        (lambda: LassoBandit(shared=2), "shared must be True or False, got 2"),  # type: ignore[arg-type]
        (lambda: OLSBandit().agent(2, 3), "OLS bandit needs feature_bound: give it to the policy"),
    ],
)
def test_bad_parameters(make: Any, sentence: str) -> None:
    with pytest.raises(ArmspanError) as error:
        make()
    assert str(error.value) == sentence
