"""Rewards that come late, and contexts that an adversary picks: against what they say they are."""

import itertools
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan import (
    EXP4,
    EXP4P,
    FALCON,
    ILTCB,
    OFUL,
    PEGE,
    UCB1,
    ContextUCB,
    EpochGreedy,
    EpsilonGreedy,
    ExploreThenCommit,
    Greedy,
    GreedyFirst,
    LassoBandit,
    LinTS,
    LinUCB,
    LinUCBd,
    OLSBandit,
    Oracle,
    RandomizedUCB,
    SupLinRel,
    SupLinUCB,
    audit,
    simulate,
)
from armspan.environments import (
    Bernoulli,
    BoxContexts,
    DelayedRewards,
    FiniteContexts,
    PerturbedContexts,
    paper_1a,
    paper_1b,
)
from armspan.environments.perturbed import History
from armspan.errors import InvalidParameter, NotApplicable
from armspan.experiments.competitors import entries
from armspan.kernels.adversary import starve
from armspan.kernels.block import Tally, per_step_block
from armspan.kernels.families import family
from armspan.kernels.families.forced import FREE
from armspan.policies.registry import POLICIES as POLICIES_BY_NAME
from armspan.simulation.engines.interpreted import ReferenceActor
from armspan.simulation.engines.late import waiting

POLICIES = [LinUCBd(), Greedy(), OFUL(), LinTS(), ContextUCB(), EpsilonGreedy(), UCB1(), Oracle()]
THETA = np.array([[0.8, 0.3], [0.2, 0.9]])
STARVING = FiniteContexts([[[1.0, 0.0], [0.9, 0.1]], [[0.5, 0.5], [0.1, 0.9]]], THETA, noise=0.3)
"""The first arm is best in one context alone, so greedy sees one direction of it."""


class Waiting:
    """A user's own agent that takes down when it hears of what."""

    heard: list[tuple[int, int]] = []  # noqa: RUF012
    """Pairs of steps: when a reward was earned, and how many choices had been made when it came."""

    def __init__(self, n_arms: int, n_features: int, seed: int) -> None:
        self.step = 0

    def choose(self, x: Any) -> int:
        self.step += 1
        return 0

    def update(self, arm: int, x: Any, reward: float) -> None:
        self.heard.append((round(reward), self.step))


class Counting:
    """A user's own environment whose reward is the number of the step."""

    n_arms, n_features, noise = 2, 1, 0.0

    def context(self, step: int, rng: Any) -> Any:
        return np.full((2, 1), float(step))

    def mean_rewards(self, x: Any) -> Any:
        return x[:, 0]


def heard(**delays: Any) -> list[tuple[int, int]]:
    Waiting.heard = []
    simulate(DelayedRewards(Counting(), **delays), Waiting, horizon=2000, runs=1)
    return Waiting.heard


@pytest.mark.parametrize("env", [paper_1a(), BoxContexts(THETA, -1, 1), DelayedRewards(paper_1a())], ids=str)
def test_without_a_delay_nothing_changes(env: Any) -> None:
    if isinstance(env, DelayedRewards):
        with pytest.raises(InvalidParameter, match="env must have rewards that come at once"):
            DelayedRewards(env)
        return
    policies = [policy for policy in POLICIES if env.n_contexts or not isinstance(policy, ContextUCB)]
    at_once, late = (simulate(e, policies, horizon=300, runs=3, engine="cpu") for e in (env, DelayedRewards(env)))
    np.testing.assert_allclose(late.pseudo_regret, at_once.pseudo_regret, atol=1e-9)
    np.testing.assert_array_equal(late.suboptimal_pulls, at_once.suboptimal_pulls)


def test_engines_agree_on_late_rewards() -> None:
    env = DelayedRewards(paper_1a(), steps=7, mean=5.0, lost=0.2)
    fast, slow = (simulate(env, POLICIES, horizon=250, runs=3, engine=engine) for engine in ("cpu", "python"))
    np.testing.assert_allclose(fast.pseudo_regret, slow.pseudo_regret, atol=1e-9)
    assert simulate(env, Greedy(), horizon=250, runs=3).engine == "cpu"


MARKED = [EpochGreedy(), PEGE(), ExploreThenCommit(pulls=4), OLSBandit(h=0.2), LassoBandit(h=0.2), FALCON()]
MARKED += [GreedyFirst(t0=20), SupLinUCB(noise_scale=0.05), SupLinRel(noise_scale=0.05), LinUCB(alpha="practical")]
"""Policies that learn a reward by what its choice was, or count rewards."""


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("policy", MARKED, ids=lambda policy: policy.name)
def test_engines_agree_on_late_rewards_of_forced_pulls_and_of_stages(policy: Any, shared: bool) -> None:
    env, policy = DelayedRewards(STARVING, steps=3, mean=5.0, lost=0.4), replace(policy, shared=shared)
    fast, slow = (simulate(env, policy, horizon=200, runs=4, engine=engine) for engine in ("cpu", "python"))
    np.testing.assert_array_equal(fast.suboptimal_pulls, slow.suboptimal_pulls)
    np.testing.assert_allclose(fast.pseudo_regret, slow.pseudo_regret, atol=1e-9)


EXPERTS = [EXP4(experts=[0, 1], gamma=0.3), EXP4P(experts=[0, 1], horizon=400)]


@pytest.mark.parametrize("policy", EXPERTS, ids=lambda policy: policy.name)
def test_engines_agree_on_late_rewards_that_are_weighted(policy: Any) -> None:
    env = DelayedRewards(FiniteContexts(STARVING.features, THETA, noise=Bernoulli()), steps=3, mean=5.0, lost=0.4)
    fast, slow = (simulate(env, policy, horizon=200, runs=4, engine=engine) for engine in ("cpu", "python"))
    np.testing.assert_array_equal(fast.suboptimal_pulls, slow.suboptimal_pulls)
    np.testing.assert_allclose(fast.pseudo_regret, slow.pseudo_regret, atol=1e-9)


def lived(policy: Any, env: Any, seed: int, x: Any, y: Any, cuts: Any = ()) -> tuple[Any, Any]:
    """Its compiled form after contexts x (T, K, d) and rewards y (T,) of all arms: what it knows, and its arms (T,).

    cuts : where the steps are cut into blocks.
    """
    (T, K, _), run, arms = x.shape, np.zeros(1, dtype=np.int64), []
    learner, pulls = policy.learner(env, run), np.zeros((1, 1, K), dtype=np.uint32)
    regret, losses = 0.0, np.tile(np.arange(K, dtype=np.float64), (1, T, 1))  # regret adds up the arms' numbers
    for first, last in itertools.pairwise([0, *cuts, T]):
        here, size = slice(first, last), last - first
        rewards = np.tile(y[None, here, None], (1, 1, K))
        told = np.zeros((1, size)), 1.0
        block = per_step_block(np.uint64(seed), first, run, x[None, here], rewards, losses[:, here], *told)
        curve = np.empty((1, size))
        learner.advance(block, np.arange(1, size + 1), curve, Tally(np.zeros(size, dtype=np.int64), pulls))
        arms.extend(np.diff(curve[0], prepend=regret))
        regret = curve[0, -1]
    return learner.state, np.rint(arms).astype(np.int64)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_late_reward_weighs_as_much_as_its_arm_was_improbable(compiled: bool) -> None:
    """EXP4 with one expert per arm: γy/(Kp) is added to the logarithm of its weight, with the p of the choice."""
    policy, seed, gamma, came, steps = EXPERTS[0], 3, 0.3, 0, 299
    env = DelayedRewards(FiniteContexts(STARVING.features, THETA, noise=Bernoulli()), steps=9, mean=6.0, lost=0.2)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(steps, 2, 2)), rng.integers(2, size=steps).astype(np.float64)
    if compiled:
        state, arms = lived(policy, env, seed, x, y)
        learnt = state.log_w[0]
    else:
        actor: Any = waiting(lambda run: ReferenceActor(policy.reference(env), 1.0, seed), env, seed)(0)
        arms = np.empty(steps, dtype=np.int64)
        for step in range(steps):
            arms[step] = actor.choose(x[step], 0, 0, step + 1)
            actor.update(int(arms[step]), x[step], 0, y[step])
        learnt = actor._actor._reference.log_w
    log_w, coming = np.zeros(3), list[Any]()
    for step in range(1, steps + 1):
        for told in sorted(one for one in coming if one[0] < step):
            coming.remove(told)
            log_w[[told[1], 2]] += gamma * told[2] / 2 / told[3] * np.array([1, 0.5])  # the last expert is uniform
            came += 1
        w = np.exp(log_w - log_w.max())
        p = (1 - gamma) * (w[:2] + w[2] / 2) / w.sum() + gamma / 2
        arm, delay = arms[step - 1], env.delay(seed, 0, step)
        if delay is not None:
            coming.append((step + delay, arm, y[step - 1], p[arm]))
    assert came > 200
    np.testing.assert_allclose(learnt, log_w)


@pytest.mark.parametrize("policy", [ILTCB(policies=[0, 1]), RandomizedUCB(policies=[0, 1])], ids=lambda one: one.name)
def test_late_rewards_of_enumerated_policies_are_weighted_by_the_probability_of_the_choice(policy: Any) -> None:
    """What each of two policies, which always take one arm, would have earned: Σ y/p of its arm."""
    env, seed = DelayedRewards(FiniteContexts(STARVING.features, THETA, noise=Bernoulli()), steps=9), 3
    reference, earned, rng = policy.reference(env), np.zeros(2), np.random.default_rng(0)
    actor: Any = waiting(lambda run: ReferenceActor(reference, 1.0, seed), env, seed)(0)
    waits: list[Any] = []
    for step in range(1, 120):
        x, y = rng.normal(size=(2, 2)), float(rng.integers(2))
        arm = actor.choose(x, 0, 0, step)
        waits.append((arm, y / actor._actor.mark[arm]))
        p = reference.probabilities(x, 0, step)
        assert actor._actor.mark[arm] == p[arm]
        actor.update(arm, x, 0, y)
    for arm, weighted in waits[:-10]:
        earned[arm] += weighted
    np.testing.assert_allclose(reference.history.earned, earned)


@pytest.mark.parametrize("policy", [PEGE(ridge=0.1), EpochGreedy(ridge=0.1), ExploreThenCommit(pulls=9, ridge=0.1)])
def test_late_rewards_of_forced_pulls_are_learnt_and_no_others(policy: Any) -> None:
    """Some are lost, and some overtake others: θ̂ is the least squares of forced pulls whose reward has come."""
    env, seed, steps = DelayedRewards(BoxContexts(THETA, -1, 1), steps=2, mean=6.0, lost=0.2), 7, 150
    forced, rng = policy.knobs(env)["forced"](np.arange(1, steps + 1)) != FREE, np.random.default_rng(3)
    x, y = rng.normal(size=(steps, 2, 2)), rng.normal(size=steps)
    state, arms = lived(policy, env, seed, x, y)
    V, b, there = np.tile(0.1 * np.eye(2), (2, 1, 1)), np.zeros((2, 2)), 0
    for step, arm in enumerate(arms, 1):
        delay, row = env.delay(seed, 0, step), x[step - 1, arm]
        if forced[step - 1] and delay is not None and step + delay < steps:
            V[arm] += np.outer(row, row)
            b[arm] += y[step - 1] * row
            there += 1
    assert 5 < there < forced.sum()
    theta = [np.linalg.solve(*one) for one in zip(V, b, strict=True)]
    np.testing.assert_allclose(state.theta_hat[0], theta, atol=1e-9)


@given(
    st.integers(0, 10**6), st.lists(st.integers(1, 399), max_size=6, unique=True), st.sampled_from([0.0, 3.0, 200.0])
)
def test_blocks_do_not_matter_to_rewards_that_wait(seed: int, cuts: list[int], mean: float) -> None:
    env = DelayedRewards(BoxContexts(THETA, -1, 1), steps=2, mean=mean, lost=0.2)
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(400, 2, 2)), rng.normal(size=400)
    (whole, arms), (cut, same) = (lived(LinUCBd(), env, seed, x, y, where) for where in ((), sorted(cuts)))
    np.testing.assert_array_equal(arms, same)
    for one, other in zip(whole, cut, strict=True):
        np.testing.assert_array_equal(one, other)


COMPILED = {policy.compiled: policy for policy in entries(DelayedRewards(paper_1a()), 300) if policy.compiled}
"""One policy of every family that takes part in the arena."""
MET_ABOVE = {policy.compiled for policy in (*POLICIES, *MARKED, *EXPERTS)}
"""Families whose kernels for late rewards other tests use as well."""


def test_every_family_that_learns_has_a_kernel_of_its_own_for_late_rewards() -> None:
    names = {policy.family for policy in POLICIES_BY_NAME.values() if policy.family and policy.learns} | set(COMPILED)
    kernels = [family(name).late for name in names if COMPILED.get(name, Greedy()).learns]
    assert None not in kernels
    assert len(set(kernels)) == len(kernels) > 20


def _if_quick(name: str) -> Any:
    """Without numba, as `tests.plain` runs it, all are quick; a kernel takes five seconds to compile."""
    quick = numba.config.DISABLE_JIT or name in MET_ABOVE  # type: ignore[attr-defined]
    return pytest.param(name, marks=[] if quick else [pytest.mark.slow])


@pytest.mark.parametrize("name", [_if_quick(name) for name in sorted(COMPILED)])
def test_engines_agree_on_late_rewards_in_every_family(name: str) -> None:
    policy = COMPILED[name].within(150)
    env = DelayedRewards(BoxContexts(THETA, -1, 1) if name != "counts" else paper_1a(), steps=5, mean=9.0, lost=0.1)
    fast, slow = (simulate(env, policy, horizon=150, runs=2, engine=engine) for engine in ("cpu", "python"))
    np.testing.assert_array_equal(fast.suboptimal_pulls, slow.suboptimal_pulls)
    np.testing.assert_allclose(fast.pseudo_regret, slow.pseudo_regret, atol=1e-9)


@pytest.mark.long
def test_engines_agree_on_late_rewards_of_a_lasso_that_takes_long_to_fit() -> None:
    rng = np.random.default_rng(0)
    env = FiniteContexts(rng.normal(size=(6, 9, 6)), rng.normal(size=(6, 6)), noise=0.5)
    env = DelayedRewards(env, steps=125, mean=5.0, lost=0.1)  # type: ignore[assignment]
    fast, slow = (simulate(env, LassoBandit(), horizon=250, runs=2, engine=engine) for engine in ("cpu", "python"))
    np.testing.assert_array_equal(fast.suboptimal_pulls, slow.suboptimal_pulls)


def test_delays_longer_than_any_simulation_are_like_lost_rewards() -> None:
    policies, options = [LinUCBd(), Greedy()], {"horizon": 60, "runs": 3, "engine": "cpu"}
    never, late, later = (
        simulate(DelayedRewards(paper_1b(), **how), policies, **options).pseudo_regret  # type: ignore[arg-type]
        for how in ({"lost": 1.0}, {"steps": 2**32}, {"mean": 2.0**32, "steps": 60})
    )
    np.testing.assert_array_equal(late, never)
    np.testing.assert_array_equal(later, never)


def test_a_fixed_delay_is_that_long() -> None:
    assert heard() == [(step, step) for step in range(1, 2000)]  # learnt before the next choice
    assert heard(steps=10) == [(step, step + 10) for step in range(1, 1990)]


def test_random_delays_are_geometric_and_some_rewards_are_lost() -> None:
    """Means of 2,000 draws, within five standard errors."""
    env = DelayedRewards(paper_1a(), steps=3, mean=4.0, lost=0.25)
    drawn = [env.delay(5, 0, step) for step in range(1, 2001)]
    there = np.array([delay for delay in drawn if delay is not None])
    assert abs(len(there) / 2000 - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 2000)
    assert there.min() == 3
    assert abs(there.mean() - 7.0) < 5 * np.sqrt(4 * 5 / len(there))
    assert abs(np.mean(there == 3) - 1 / 5) < 5 * np.sqrt(0.16 / len(there))
    assert len(heard(lost=1.0)) == 0
    assert sorted(heard(mean=3.0)) != heard(mean=3.0)  # some overtake others


def test_policies_that_hear_nothing_do_not_learn() -> None:
    env = DelayedRewards(paper_1b(), lost=1.0)
    result = simulate(env, [LinUCBd(), Oracle()], horizon=400, runs=20, checkpoints=[200, 400], engine="cpu")
    deaf, oracle = result.mean()
    assert (oracle == 0).all()
    assert deaf[1] == pytest.approx(2 * deaf[0], rel=0.2)
    assert deaf[1] > 2 * simulate(paper_1b(), LinUCBd(), horizon=400, runs=20, engine="cpu").mean()[0, -1]


@pytest.mark.parametrize("sigma", [0.0, 0.3])
@pytest.mark.parametrize("late", [False, True])
def test_engines_agree_against_an_adversary(sigma: float, late: bool) -> None:
    env: Any = PerturbedContexts(THETA, sigma, noise=0.5)
    env = DelayedRewards(env, steps=3) if late else env
    policies = [policy for policy in POLICIES if not isinstance(policy, ContextUCB)]
    fast, slow = (simulate(env, policies, horizon=120, runs=3, engine=engine) for engine in ("cpu", "python"))
    np.testing.assert_allclose(fast.pseudo_regret, slow.pseudo_regret, atol=1e-9)
    np.testing.assert_array_equal(fast.suboptimal_pulls, slow.suboptimal_pulls)
    assert (fast.mean()[-1] == 0).all()  # the oracle


def test_features_around_fixed_points_are_those_of_a_finite_problem() -> None:
    """Without perturbation, the adversary of one context is that context."""
    points = np.array([[0.6, 0.0], [0.0, 0.7]])
    fixed = PerturbedContexts(THETA, 0.0, adversary=points)
    finite = FiniteContexts(points[:, None], THETA)
    policy = LinUCB(feature_bound=1.0, parameter_bound=1.0)
    results = [simulate(env, policy, horizon=400, runs=4, engine="cpu") for env in (fixed, finite)]
    gap = 0.7 * 0.9 - 0.6 * 0.8
    pulls = [result.pseudo_regret[0, :, -1] / gap for result in results]
    for counts in pulls:
        np.testing.assert_allclose(counts, np.rint(counts), atol=1e-6)
    assert abs(pulls[0].mean() - pulls[1].mean()) < 40  # other noise, the same problem


def test_perturbations_are_normal_with_the_stated_size() -> None:
    """Moments of 8,000 draws, within five standard errors."""
    env = PerturbedContexts(np.ones((2, 3)), 0.5)
    moved = env.stream(3, np.arange(2)).draw(0, 700).x
    moved = moved.reshape(-1)
    assert abs(moved.mean()) < 5 * 0.5 / np.sqrt(moved.size)
    assert abs(moved.var() - 0.25) < 5 * 0.25 * np.sqrt(2 / moved.size)
    assert abs(np.mean(np.abs(moved) < 0.5) - 0.6827) < 5 * np.sqrt(0.22 / moved.size)


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 3))
def test_the_adversary_makes_greedy_lose(seed: int, K: int, d: int) -> None:
    """What a greedy policy pulls at the adversary's points costs at least as much as at a hundred random ones."""
    rng = np.random.default_rng(seed)
    theta, theta_hat = rng.normal(size=(K, d)), rng.normal(size=(1, K, d))
    points = np.empty((1, K, d))
    starve(theta, theta_hat, points)
    np.testing.assert_allclose(np.linalg.norm(points, axis=2), 1)

    def loss(x: Any) -> float:
        believed, true = (x * theta_hat[0]).sum(axis=1), (x * theta).sum(axis=1)
        return float(true.max() - true[believed.argmax()])

    tried = rng.normal(size=(100, K, d))
    tried /= np.linalg.norm(tried, axis=2, keepdims=True)
    assert loss(points[0]) >= 0.9 * np.mean([loss(x) for x in tried])


@pytest.mark.slow
def test_greedy_starves_without_perturbation_and_lives_with_it() -> None:
    """Kannan et al. (2018): regret per step of greedy vanishes as σ grows; LinUCB-d needs no luck."""
    regret = {
        sigma: simulate(
            PerturbedContexts(THETA, sigma, noise=0.5), [Greedy(), LinUCBd()], horizon=3000, runs=40, engine="cpu"
        ).mean()[:, -1]
        for sigma in (0.0, 1.0)
    }
    assert regret[0.0][0] > 20 * regret[0.0][1]
    assert regret[1.0][0] < regret[0.0][0] / 10


def test_a_function_may_be_the_adversary() -> None:
    seen: list[History] = []

    def adversary(history: History) -> Any:
        seen.append(History(history.pulls.copy(), history.gram.copy(), history.moments.copy()))
        return np.broadcast_to(np.eye(2), (len(history.pulls), 2, 2))

    simulate(PerturbedContexts(THETA, 0.1, adversary=adversary), Greedy(), horizon=20, runs=3, engine="cpu")
    assert [int(history.pulls.sum()) for history in seen] == [3 * step for step in range(20)]
    np.testing.assert_allclose(seen[-1].gram, np.swapaxes(seen[-1].gram, 2, 3))
    with pytest.raises(InvalidParameter, match="the adversary's points must be at most 1 long, got 2"):
        simulate(
            PerturbedContexts(THETA, 0.1, adversary=lambda history: np.full((1, 2, 2), np.sqrt(2))),
            Greedy(),
            horizon=3,
            runs=1,
            engine="cpu",
        )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: DelayedRewards(paper_1a(), steps=-1), "steps must be an integer"),
        (lambda: DelayedRewards(paper_1a(), mean=-1.0), "mean must be"),
        (lambda: DelayedRewards(paper_1a(), steps=2**33), "steps must be an integer from 0 to 4294967296"),
        (lambda: DelayedRewards(paper_1a(), mean=1e17), "mean must be at most 4294967296, got 1e"),
        (lambda: DelayedRewards(paper_1a(), lost=1.5), "lost must be from 0 to 1, got 1.5"),
        (lambda: PerturbedContexts([[1.0, 0.0]], 0.1), "theta must have at least 2 arms, one per row, got 1"),
        (lambda: PerturbedContexts(THETA, -0.1), "sigma must be"),
        (lambda: PerturbedContexts(THETA, 0.1, adversary="kind"), 'adversary must be "starve", an array'),
        (lambda: PerturbedContexts(THETA, 0.1, adversary=2 * np.eye(2)), "points must be at most 1 long, got 2"),
        (lambda: PerturbedContexts(THETA, 0.1, noise=Bernoulli()), "noise must not be clicks"),
    ],
)
def test_bad_input_is_one_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        make()


@pytest.mark.parametrize("env", [DelayedRewards(paper_1a(), steps=5), PerturbedContexts(THETA, 0.1)], ids=str)
def test_what_the_theory_does_not_speak_of_is_refused(env: Any) -> None:
    for ask in (env.assumptions, lambda: audit(env)):
        with pytest.raises(NotApplicable, match=r"come late|depend on what the policy does|knows its truth"):
            ask()
    with pytest.raises(NotApplicable):
        simulate(env, Greedy(), horizon=10, runs=2, engine="cuda")
    with pytest.raises(NotApplicable):
        simulate(env, LinUCBd(), horizon=10, runs=2, events=True)
