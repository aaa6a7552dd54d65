"""Optimism by confidence sets: OFUL and its kin, LinRel, and the stages of SupLinUCB and SupLinRel."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armspan import LinUCB, LinUCBd, simulate
from armspan.environments import FiniteContexts, paper_1a, paper_1c
from armspan.errors import ArmspanError, NotApplicable
from armspan.kernels._compile import kernel
from armspan.kernels.block import Tally
from armspan.kernels.eigen import eigen
from armspan.kernels.families import family
from armspan.policies.confidence_ball import ConfidenceBall
from armspan.policies.linrel import LinRel
from armspan.policies.oful import OFUL
from armspan.policies.sup_linrel import SupLinRel
from armspan.policies.sup_linucb import SupLinUCB
from armspan.policies.truncated_linucb import TruncatedLinUCB
from tests.strategies import environments

pytestmark = pytest.mark.slow
"""`make test` compares every policy with its reference, and its agent with the simulation; this goes on from there."""

OWN: list[Any] = [OFUL(), ConfidenceBall(), TruncatedLinUCB(), LinRel(), SupLinUCB(), SupLinRel()]
OWN += [SupLinUCB(width="proof", label="SupLinUCB, proof"), OFUL(ridge=0.1, delta=0.5, label="OFUL, other")]
ALL = OWN + [replace(policy, shared=True, label=f"{policy.name}, shared") for policy in OWN]
IDS = [f"{type(policy).__name__}, {policy.name}" for policy in ALL]
LOW = [replace(policy, noise_scale=0.02) for policy in ALL if hasattr(policy, "noise_scale")]
"""With these, all stages and parts of LinRel's split are met within a few steps."""


def parted(K: int, n: int, d: int, seed: int = 0, **options: Any) -> FiniteContexts:
    """A random problem with features and parameters of length 1."""
    rng = np.random.default_rng(seed)
    x, theta = rng.normal(size=(K, n, d)), rng.normal(size=(K, d))
    return FiniteContexts(
        x / np.linalg.norm(x, axis=2, keepdims=True), theta / np.linalg.norm(theta, axis=1)[:, None], **options
    )


def steps_of(policy: Any, env: Any, runs: int, horizon: int, seed: int = 0) -> Any:
    """The learner after each step."""
    numbers = np.arange(runs)
    learner, block = policy.learner(env, numbers), env.stream(seed, numbers).draw(0, horizon)
    curve, tally = np.empty((runs, 1)), Tally(np.zeros(1, np.int64), np.zeros((runs, 1, env.n_arms), np.uint32))
    for t in range(horizon):
        contexts, noise = (np.ascontiguousarray(rows[:, t : t + 1]) for rows in (block.contexts, block.noise))
        learner.advance(block._replace(first=t, contexts=contexts, noise=noise), np.array([1]), curve, tally)
        yield learner


def lived(policy: Any, env: Any, runs: int, horizon: int, seed: int = 0) -> Any:
    """What was learnt, as a state of many runs."""
    *_, last = steps_of(policy.within(horizon), env, runs, horizon, seed)
    return last.state


def whole(V: Any) -> Any:
    """Symmetric matrices from their lower triangles."""
    return np.tril(V) + np.swapaxes(np.tril(V, -1), -1, -2)


# Compiled, reference, agent ------------------------------------------------------------------------------------------


@given(environments(), st.integers(1, 60), st.integers(0, 2**64 - 1))
@settings(max_examples=15)
def test_the_compiled_form_equals_the_reference(env: Any, horizon: int, seed: int) -> None:
    policies = ALL + LOW
    cpu, python = (simulate(env, policies, horizon=horizon, runs=1, seed=seed, engine=e) for e in ("cpu", "python"))
    np.testing.assert_allclose(cpu.pseudo_regret, python.pseudo_regret, atol=1e-9)


def test_the_compiled_form_equals_the_reference_for_longer() -> None:
    env = parted(5, 3, 2, noise=0.1)
    cpu, python = (simulate(env, ALL + LOW, horizon=400, runs=1, engine=e) for e in ("cpu", "python"))
    np.testing.assert_allclose(cpu.pseudo_regret, python.pseudo_regret, atol=1e-9)


@pytest.mark.parametrize("policy", ALL + LOW, ids=lambda policy: policy.name)
def test_an_agent_makes_the_choices_of_a_simulation(policy: Any) -> None:
    env, seed, steps = parted(5, 4, 3), 11, 300
    bounds = {"feature_bound": 1.0, "parameter_bound": 1.0, "noise_scale": 1.0, "horizon": steps}
    missing = {name: value for name, value in bounds.items() if getattr(policy, name, "none") is None}
    policy = replace(policy, **missing)
    every = list(range(1, steps + 1))
    expected = simulate(env, policy, horizon=steps, runs=1, seed=seed, checkpoints=every).pseudo_regret[0, 0]
    block, agent, lost = env.stream(seed, np.array([0])).draw(0, steps), policy.agent(5, 3, seed=seed), 0.0
    for i in range(steps):
        x, c = block.x[block.contexts[0, i]], block.contexts[0, i]
        if i % 20 == 0:
            share = agent.propensities(x)
            index = agent.scores(x).index
            assert share.sum() == pytest.approx(1)
            assert share[index == index.max()].min() > 0
        arm = agent.choose(x)
        assert i % 20 or share[arm] > 0
        agent.update(arm, x, block.means[c, arm] + block.noise[0, i])
        lost += block.losses[c, arm]
        assert lost == pytest.approx(expected[i], abs=1e-9)


@pytest.mark.parametrize("policy", ALL, ids=IDS)
def test_arms_alike_share_the_first_choice(policy: Any) -> None:
    """300 fresh agents: each arm's part within 4.4 standard errors, but for a chance of 10⁻⁵."""
    given = {"feature_bound": 1.0, "parameter_bound": 1.0, "noise_scale": 1.0, "horizon": 50}
    given = {name: value for name, value in given.items() if getattr(policy, name, "none") is None}
    agents = [replace(policy, **given).agent(3, 2, seed=seed) for seed in range(300)]
    np.testing.assert_allclose(agents[0].propensities([0.6, 0.8]), 1 / 3)
    counts = np.bincount([agent.choose([0.6, 0.8]) for agent in agents], minlength=3)
    assert abs(counts - 100).max() < 4.4 * math.sqrt(300 * 2 / 9)


@pytest.mark.parametrize("policy", ALL + LOW, ids=lambda policy: policy.name)
def test_tidying_up_changes_nothing_but_rounding(policy: Any) -> None:
    state = lived(policy, parted(3, 4, 2), 3, 300)
    before = [array.copy() for array in state]
    family(policy.compiled).tidy(state)  # type: ignore[misc]
    for old, new in zip(before, state, strict=True):
        np.testing.assert_allclose(
            np.tril(new) if new.ndim > 3 else new, np.tril(old) if old.ndim > 3 else old, atol=1e-9
        )


# OFUL and its kin ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [False, True])
def test_oful_covers_all_parameters_at_all_steps(shared: bool) -> None:
    """Theorem 2: in at least 1 - δ of the runs no θ ever leaves its ellipsoid.

    1,000 runs with δ = 0.1, of which none fails: the theorem is generous. Without the part for noise the ellipsoid is
    left in most runs: the test can fail.
    """
    runs, delta, R, lam = 1000, 0.1, 0.5, 0.5
    env = parted(3, 4, 2, noise=R)
    if shared:
        env = FiniteContexts(env.features, np.tile(env.theta[:1], (3, 1)), noise=R)
    policy = OFUL(delta=delta, ridge=lam, parameter_bound=1.0, noise_scale=R, shared=shared)
    own = delta if shared else delta / 3
    left, left_bias = np.zeros(runs, bool), np.zeros(runs, bool)
    for learner in steps_of(policy, env, runs, 500):
        V, off = whole(learner.state.V), learner.state.theta_hat - env.theta[: learner.state.b.shape[1]]
        distance = np.sqrt(np.einsum("rai,raij,raj->ra", off, V, off))
        bias = math.sqrt(lam)
        radius = R * np.sqrt(2 * np.log(np.sqrt(np.linalg.det(V) / lam**2) / own)) + bias
        left |= (distance > radius).any(axis=1)
        left_bias |= (distance > bias).any(axis=1)
    assert left.mean() <= delta
    assert left_bias.mean() > 0.5
    np.testing.assert_allclose(learner.state.log_det, np.linalg.slogdet(V)[1], atol=1e-9)


def test_oful_loses_less_than_linucb_d_with_the_papers_alpha() -> None:
    """Figure 1a, the same 30 runs: smaller by 5 standard errors of the difference."""
    theirs, ours = simulate(paper_1a(), [LinUCBd(), OFUL()], horizon=20_000, runs=30).pseudo_regret[:, :, -1]
    gain = theirs - ours
    assert gain.mean() > 5 * gain.std() / math.sqrt(gain.size)


def test_oful_in_the_shared_model_loses_less_where_it_holds() -> None:
    env = parted(5, 6, 3, seed=2)
    env = FiniteContexts(env.features, np.tile(env.theta[:1], (5, 1)))
    own, shared = simulate(env, [OFUL(), OFUL(shared=True, label="one")], horizon=5000, runs=20).pseudo_regret[:, :, -1]
    assert (own - shared).mean() > 5 * (own - shared).std() / math.sqrt(own.size)


def test_agents_of_oful_can_be_merged() -> None:
    policy = OFUL(ridge=0.7, parameter_bound=1.0, noise_scale=1.0)
    one, other, both = (policy.agent(3, 2) for _ in range(3))
    rng = np.random.default_rng(0)
    for i in range(60):
        arm, x, y = int(rng.integers(3)), rng.normal(size=2), float(rng.normal())
        (one if i % 3 else other).update(arm, x, y)
        both.update(arm, x, y)
    one.merge(other)
    np.testing.assert_allclose(one.scores([0.3, 0.4]).index, both.scores([0.3, 0.4]).index, atol=1e-12)


@pytest.mark.parametrize("shared", [False, True])
def test_confidence_ball_is_linucb_with_danis_radius(shared: bool) -> None:
    env, d, delta = paper_1a(), 2, 0.1 if shared else 0.05

    def radius(t: float) -> float:
        doubt = math.log(t**2 / delta)
        return math.sqrt(max(128 * d * math.log(t) * doubt, (8 / 3 * doubt) ** 2))

    policy = ConfidenceBall(delta=0.1, shared=shared)
    given = policy.schedule(env)(np.arange(1, 101))
    np.testing.assert_allclose(given, [radius(t) for t in range(1, 101)])
    assert given[0] == pytest.approx(8 / 3 * math.log(1 / delta))  # the second term rules at first
    same = LinUCB(ridge=1.0, alpha=given, shared=shared)
    ball, linucb = simulate(env, [policy, same], horizon=100, runs=3).pseudo_regret
    np.testing.assert_array_equal(ball, linucb)


def test_confidence_ball_explores_far_more_than_oful() -> None:
    """Its regret is still linear where OFUL has settled: at least 5 times OFUL's, in every one of 20 runs."""
    ball, oful = simulate(paper_1a(), [ConfidenceBall(), OFUL()], horizon=20_000, runs=20).pseudo_regret[:, :, -1]
    assert (ball > 5 * oful).all()


@pytest.mark.parametrize("shared", [False, True])
def test_truncated_linucb_is_oful_at_first_and_greedy_afterwards(shared: bool) -> None:
    env, T, every = parted(3, 4, 2), 500, list(range(1, 501))
    policy = TruncatedLinUCB(factor=3.0, power=1.5, shared=shared, horizon=T)
    S = math.ceil(3 * 2 * math.log(500) ** 1.5)
    assert 50 < S < 200
    same, oful = simulate(env, [policy, OFUL(shared=shared)], horizon=T, runs=3, checkpoints=every).pseudo_regret
    np.testing.assert_array_equal(same[:, :S], oful[:, :S])
    known = {"feature_bound": 1.0, "parameter_bound": 1.0, "noise_scale": 1.0}
    agent, other = replace(policy, **known).agent(3, 2), OFUL(shared=shared, **known).agent(3, 2)  # type: ignore[arg-type]
    rng = np.random.default_rng(3)
    for t in range(1, S + 40):
        x = rng.normal(size=(3, 2))
        x /= np.linalg.norm(x, axis=1)[:, None]
        mine, theirs = agent.scores(x), other.scores(x)
        np.testing.assert_allclose(mine.index, theirs.index if t <= S else mine.mean)
        arm, y = agent.choose(x), float(rng.normal())
        other.choose(x)
        agent.update(arm, x, y)
        other.update(arm, x, y)


def test_truncation_pays_where_contexts_are_diverse() -> None:
    """Figure 1c, 30 runs: greedy needs no more exploring, OFUL goes on; 5 standard errors of the difference."""
    cut, oful = simulate(paper_1c(), [TruncatedLinUCB(), OFUL()], horizon=20_000, runs=30).pseudo_regret[:, :, -1]
    assert (oful - cut).mean() > 5 * (oful - cut).std() / math.sqrt(cut.size)


# LinRel --------------------------------------------------------------------------------------------------------------


@kernel
def decomposed(G: Any, W: Any, U: Any) -> None:
    eigen(G, 0, W, U, G.shape[1])


@given(st.integers(1, 7), st.integers(0, 12), st.booleans(), st.integers(0, 2**32))
def test_jacobi_equals_lapack(d: int, n: int, rounded: bool, seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(n, d)) * 3
    G = (X.round() if rounded else X).T @ (X.round() if rounded else X)
    W, U, unit = np.empty((d, d)), np.empty((d, d)), 1e-13 * (1 + np.trace(G))
    decomposed(np.tril(G)[None], W, U)
    np.testing.assert_allclose(np.sort(np.diag(W)), np.linalg.eigvalsh(G), atol=unit)
    np.testing.assert_allclose(U.T @ U, np.eye(d), atol=1e-13)
    np.testing.assert_allclose((U * np.diag(W)) @ U.T, G, atol=unit)


@given(st.integers(1, 5), st.integers(0, 40), st.sampled_from(["any", "whole numbers", "of rank 2"]), st.booleans())
@settings(max_examples=40)
def test_linrel_splits_as_defined(d: int, n: int, kind: str, shared: bool) -> None:
    """Auer 2003 with numpy's eigh on the whole history; arms of their own, and one model for all."""
    rng = np.random.default_rng(97 * n + d)
    X, y, arms = rng.normal(size=(n, 2, d)) * rng.choice([0.2, 1.0]), rng.normal(size=n), rng.integers(2, size=n)
    if kind == "of rank 2":
        X = X @ rng.normal(size=(d, 2)) @ rng.normal(size=(2, d))
    X = X.round() if kind == "whole numbers" else X
    T, delta, R = 100, 0.05, 0.3
    agent = LinRel(delta=delta, noise_scale=R, horizon=T, shared=shared).agent(2, d)
    for row, arm, reward in zip(X, arms, y, strict=True):
        agent.update(int(arm), row, float(reward))
    x = rng.normal(size=(2, d))
    scores = agent.scores(x)
    for k in range(2):
        mine = np.full(n, True) if shared else arms == k
        rows = X[np.arange(n), arms][mine]
        values, U = np.linalg.eigh(rows.T @ rows)
        good = values >= 1 - 1e-9
        turned = U.T @ x[k]
        a = (turned[good] / values[good]) @ (rows @ U[:, good]).T
        width = np.linalg.norm(a) * R * math.sqrt(2 * math.log(2 * T * 2 / delta)) + np.linalg.norm(turned[~good])
        assert scores.mean[k] == pytest.approx(a @ y[mine], abs=1e-9)
        assert scores.width[k] == pytest.approx(width, abs=1e-9)


def test_the_papers_constant_is_root_log() -> None:
    env = paper_1a()
    (given,) = LinRel(horizon=1000, delta=0.1).schedule(env)(np.array([7]))
    assert given == pytest.approx(math.sqrt(math.log(2 * 1000 * 2 / 0.1)))
    assert SupLinRel(horizon=1000, delta=0.1).confidence(env) == pytest.approx(given)
    assert SupLinUCB(horizon=1000, delta=0.1).confidence(env) == pytest.approx(given / math.sqrt(2))
    assert SupLinUCB(horizon=1000, delta=0.1, width="proof").confidence(env) == pytest.approx(1 + given / math.sqrt(2))


# Stages --------------------------------------------------------------------------------------------------------------

STAGED = [SupLinUCB(), SupLinUCB(width="proof"), SupLinRel()]
FAIR = FiniteContexts([[[1.0]], [[1.0]]], [[0.5], [0.5]], noise=1.0)
FAIR_SHARED = FiniteContexts([[[1.0, 0.0]], [[0.0, 1.0]]], [[0.5, 0.5], [0.5, 0.5]], noise=1.0)


def noise_sums(state: Any, at_first: float) -> tuple[Any, Any]:
    """Of each entry of b the pulls that it is made of, and their noise in standard errors; unit features, θ = ½."""
    V = state.V if hasattr(state, "V") else state.G
    n = np.diagonal(V, axis1=-2, axis2=-1) - at_first
    return n, (state.b - 0.5 * n) / np.sqrt(np.maximum(n, 1))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("policy", [SupLinUCB(noise_scale=0.1), SupLinRel(noise_scale=0.1)], ids=["UCB", "Rel"])
def test_stages_hold_independent_samples(policy: Any, shared: bool) -> None:
    """Lemma 14 of Auer: given which arms a stage pulled and how often, its noise is as if nobody had looked.

    So noise sums are N(0, 1) in every stage and uncorrelated with the pulls, each bound failing by chance in one of
    10⁵; those of LinUCB, which pulls an arm less often after bad luck, are far from it.
    """
    env, runs, seen = FAIR_SHARED if shared else FAIR, 2000, 0
    state = lived(replace(policy, shared=shared), env, runs, 200)
    n, z = noise_sums(state, 1.0 if hasattr(state, "V") else 0.0)
    for s in range(n.shape[1]):
        pulls, sums = n[:, s][n[:, s] > 0], z[:, s][n[:, s] > 0]
        if sums.size >= 1000:
            seen += 1
            assert abs(sums.mean()) < 4.5 / math.sqrt(sums.size)
            assert abs((sums**2).mean() - 1) < 4.5 * math.sqrt(2 / sums.size)
            if pulls.std() > 0:
                assert abs(np.mean(sums * (pulls - pulls.mean()) / pulls.std())) < 4.5 / math.sqrt(sums.size)
    assert seen >= 3
    assert n.std(axis=0).max() > 0  # what was pulled did depend on chance
    pulls, sums = noise_sums(lived(LinUCB(ridge=1.0, alpha=0.5, shared=shared), env, runs, 200), 1.0)
    assert sums[pulls > 0].mean() < -10 / math.sqrt(np.count_nonzero(pulls))


@pytest.mark.parametrize("policy", STAGED, ids=["paper", "proof", "LinRel"])
@pytest.mark.parametrize("shared", [False, True])
def test_a_stage_decides_and_none_beyond_the_last(policy: Any, shared: bool) -> None:
    """Every case of a step is as stated, at every step; widths of SupLinUCB never grow."""
    T, env = 1500, parted(3, 3, 2, noise=0.1)
    policy = replace(policy, shared=shared, noise_scale=0.05, horizon=T)
    reference, S, met, before = policy.reference(env), math.ceil(math.log(T)), set(), np.array(np.inf)
    block = env.stream(0, np.array([0])).draw(0, T)
    for i in range(T):
        c = block.contexts[0, i]
        x = block.x[c]
        index = reference.index(x, int(c), i + 1)
        arm, s = int(np.argmax(index)), reference.stage
        width = reference.stages[s - 1].interval(x)[1]
        assert 1 <= s <= S
        assert width[arm] > 2.0**-s if reference.explores else width[np.isfinite(index)].max() <= 1 / math.sqrt(T)
        met.add((s, reference.explores))
        reference.update(arm, x, int(c), float(block.means[c, arm] + block.noise[0, i]))
        if i % 50 == 0 and isinstance(policy, SupLinUCB):
            now = np.array([stage.interval(block.x[0])[1] for stage in reference.stages])
            assert (now <= before + 1e-12).all()
            before = now
    assert len({s for s, explores in met if explores}) >= 3


def test_the_last_stage_always_decides() -> None:
    for T in [*range(1, 3000), 10**6, 10**9]:
        assert 2.0 ** -SupLinUCB(horizon=T).stages() <= 1 / math.sqrt(T)


def test_independence_has_its_price() -> None:
    """An easy problem with the same α: SupLinUCB, SupLinRel and the proof's width all lose more than LinUCB.

    20 runs, 5 standard errors of the difference; in the shared model too.
    """
    env, T = parted(3, 4, 2, seed=1, noise=0.5), 5000
    for shared in (False, True):
        world = FiniteContexts(env.features, np.tile(env.theta[:1], (3, 1)), noise=0.5) if shared else env
        sup = [replace(policy, shared=shared, horizon=T) for policy in STAGED]
        plain = LinUCB(ridge=1.0, alpha=sup[0].confidence(world), shared=shared)
        linucb, *others = simulate(world, [plain, *sup], horizon=T, runs=20).pseudo_regret[:, :, -1]
        for regret in others:
            cost = regret - linucb
            assert cost.mean() > 5 * cost.std() / math.sqrt(cost.size)


@pytest.mark.parametrize("policy", [SupLinUCB(horizon=300), SupLinRel(horizon=300)], ids=["UCB", "Rel"])
def test_late_rewards_are_learnt_in_one_stage_at_most(policy: Any) -> None:
    agent, rng, waiting = policy.agent(3, 2), np.random.default_rng(0), []
    for _ in range(200):
        x = rng.normal(size=(3, 2)) / 3
        waiting.append((agent.choose(x), x))
        if len(waiting) > 7:
            before = agent._state.b.copy()
            agent.update(*waiting.pop(int(rng.integers(7))), float(rng.normal()))
            assert np.count_nonzero((agent._state.b != before).any(axis=(2, 3))) <= 1
    agent.add_arm("new")
    assert agent.scores(np.zeros((4, 2))).mean.tolist() == [0.0] * 4


# Borders -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: OFUL(delta=0.0), "delta must be > 0, got 0"),
        (lambda: OFUL(delta=1.5), "delta must be > 0 and < 1, got 1.5"),
        (lambda: OFUL(ridge=-1.0), "ridge must be > 0, got -1"),
        (lambda: OFUL(ridge=1e300), "ridge must be from 1e-100 to 1e+100, got 1e+300"),
        (lambda: OFUL(noise_scale=-1.0), "noise_scale must be >= 0, got -1"),
        (lambda: OFUL(parameter_bound=0.0), "parameter_bound must be > 0, got 0"),
        (lambda: OFUL(shared=1), "shared must be True or False, got 1"),  # type: ignore[arg-type]
        (lambda: ConfidenceBall(delta="x"), "delta must be > 0, got 'x'"),  # type: ignore[arg-type]
        (lambda: ConfidenceBall(ridge=0.0), "ridge must be > 0, got 0"),
        (lambda: TruncatedLinUCB(factor=0.0), "factor must be > 0, got 0"),
        (lambda: TruncatedLinUCB(power=0.5), "power must be >= 1, got 0.5"),
        (lambda: TruncatedLinUCB(horizon=0), "horizon must be an integer >= 1, got 0"),
        (lambda: LinRel(delta=1.0), "delta must be > 0 and < 1, got 1"),
        (lambda: LinRel(noise_scale=-0.5), "noise_scale must be >= 0, got -0.5"),
        (lambda: LinRel(horizon=2.5), "horizon must be an integer >= 1, got 2.5"),  # type: ignore[arg-type]
        (lambda: SupLinUCB(width="wide"), "width must be one of paper, proof, got 'wide'"),
        (lambda: SupLinUCB(delta=-1), "delta must be > 0, got -1"),
        (lambda: SupLinRel(horizon=-3), "horizon must be an integer >= 1, got -3"),
    ],
)
def test_bad_parameters(make: Any, sentence: str) -> None:
    with pytest.raises(ArmspanError) as error:
        make()
    assert sentence in str(error.value)


@pytest.mark.parametrize("policy", [TruncatedLinUCB(), LinRel(), SupLinUCB(), SupLinRel()], ids=lambda p: p.name)
def test_an_agent_must_be_told_the_horizon(policy: Any) -> None:
    given = {"feature_bound": 1.0, "parameter_bound": 1.0, "noise_scale": 1.0}
    told = replace(policy, **{name: value for name, value in given.items() if hasattr(policy, name)})
    with pytest.raises(NotApplicable) as error:
        told.agent(2, 2)
    assert str(error.value) == f"{policy.name} needs horizon: give it to the policy"
    assert replace(told, horizon=10).agent(1, 2).choose([0.5, 0.5]) == 0
