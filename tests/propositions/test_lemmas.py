"""The lemmas of Appendix C and D on simulated runs. They hold in every run for certain, not only in the mean."""

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from armspan import theory
from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.diversity import audit, problem_numbers
from armspan.environments import BoxContexts, FiniteContexts, paper_1a, paper_1b
from armspan.events.events import Events
from armspan.policies import LinUCBd
from armspan.simulation import simulate

HORIZON = 2**17 - 1
EASY = FiniteContexts(
    [[[1.0, 0.2], [0.2, 1.0], [0.3, 0.1], [0.1, 0.2]], [[0.1, 0.3], [0.2, 0.1], [0.9, 0.4], [0.3, 1.0]]],
    [[0.8, 0.9], [0.7, 0.8]],
    noise=0.1,
    name="large gap",
)
"""Little noise and a large gap, so that the lemmas on 𝒟 say something before the horizon."""
BOX = BoxContexts([[1.0, -1.0], [-1.0, 1.0]], low=0.0, high=1.0, gap=0.9, noise=0.02)


def watched(env: FiniteContexts | BoxContexts, runs: int = 20, horizon: int = HORIZON) -> tuple[Events, IntArray]:
    """The events of LinUCB-d, and the checkpoints."""
    result = simulate(env, LinUCBd(), horizon=horizon, runs=runs, events=True)
    return result.events["LinUCB-d"], result.checkpoints


def good_frames(events: Events) -> BoolArray:
    """(R, F) the frames in which steps of 𝒟 can be: neither in 𝒜 nor in 𝒞."""
    return ~events.irregular & ~events.clouded


@pytest.mark.parametrize("env", [paper_1a(), paper_1b(), EASY], ids=lambda env: env.name)
def test_lemma_3_suboptimal_pulls_outside_bad_estimates(env: FiniteContexts) -> None:
    """N̄_t(a, c) ≤ 4α_t²/Δ² for c ∉ C_a."""
    events, _ = watched(env)
    bound = theory.suboptimal_pulls(np.array([HORIZON]), problem_numbers(env))[0]
    for a in range(env.n_arms):
        others = np.setdiff1d(np.arange(env.n_contexts), env.optimal_contexts(a))
        assert events.good_pulls[:, others, a].max() <= bound


@pytest.mark.parametrize("env", [paper_1a(), paper_1b(), EASY], ids=lambda env: env.name)
def test_lemma_4_optimal_pulls_on_the_last_event(env: FiniteContexts) -> None:
    """N_t(a, c) ≥ t/16n - 4Kα_t²/Δ² on 𝒟. Pulls only grow, so those before a good frame are held to all its steps."""
    events, _ = watched(env)
    says_something = False
    for a in range(env.n_arms):
        for c in env.optimal_contexts(a):
            for k in range(1, events.steps.shape[1]):
                before = events.pulls[good_frames(events)[:, k], k - 1, c, a]
                bound = theory.optimal_pulls(np.arange(2**k, 2 ** (k + 1)), problem_numbers(env), env.n_contexts).max()
                assert (before >= bound).all()
                says_something |= bool(before.size and bound > 0)
    assert says_something == (env is EASY)


@pytest.mark.parametrize("env", [paper_1a(), paper_1b(), EASY], ids=lambda env: env.name)
def test_lemma_6_width_on_the_last_event(env: FiniteContexts) -> None:
    """σ̂² ≤ δ²/(t/16n - 4Kα_t²/Δ²) for every x with ‖x‖ ≤ l, of which l²/λ_min(V) is the largest σ̂²."""
    events, checkpoints = watched(env)
    bound = theory.width_squared_bound(checkpoints, problem_numbers(env), env.n_contexts, env.lambda_0())
    good = good_frames(events)[:, np.frexp(checkpoints)[1] - 1]
    widest = env.feature_bound**2 / events.eigenvalues.min(axis=2)
    assert (widest <= bound)[good].all()
    assert np.isfinite(bound[good.any(axis=0)]).any() == (env is EASY)


def test_the_same_lemmas_where_contexts_do_not_recur() -> None:
    """Appendix D: pulls in a group that another arm is best in, in the meta-contexts, and the width, on a box."""
    env, problem = BOX, problem_numbers(BOX)
    events, checkpoints = watched(env, runs=4, horizon=2**21 - 1)
    report, K, d = audit(env), env.n_arms, env.n_features
    groups = events.good_pulls.reshape(-1, K, d, 2, K).sum(axis=3)  # run, best arm, vector, pulled arm
    bound = theory.group_suboptimal_pulls(checkpoints[-1:], problem)[0]
    for a in range(K):
        assert np.delete(groups[..., a], a, axis=1).max() <= bound
    balls = events.pulls.reshape(-1, events.steps.shape[1], K, d, 2, K)[..., 0, :]
    says_something = False
    for k in range(1, events.steps.shape[1]):
        least = theory.group_optimal_pulls(np.arange(2**k, 2 ** (k + 1)), problem, report.p).max()
        for a in range(K):
            before = balls[good_frames(events)[:, k], k - 1, a, :, a]
            assert (before >= least).all()
            says_something |= bool(before.size and least > 0)
    assert says_something
    width = theory.group_width_squared_bound(checkpoints, problem, report.p, report.lambda_0)
    good = good_frames(events)[:, np.frexp(checkpoints)[1] - 1]
    assert (env.feature_bound**2 / events.eigenvalues.min(axis=2) <= width)[good].all()
    assert np.isfinite(width[good.any(axis=0)]).any()


class Recorder:
    """LinUCB-d that keeps what it pulled, run after run."""

    pulled: ClassVar[list[list[list[FloatArray]]]] = []

    def __init__(self, n_arms: int, n_features: int, seed: int) -> None:
        setting = SimpleNamespace(n_arms=n_arms, n_features=n_features, name="recorder")
        policy: Any = LinUCBd(feature_bound=1.0, parameter_bound=1.0, noise_scale=0.1)
        self.reference, self.t = policy.reference(setting), 0
        self.pulled.append([[] for _ in range(n_arms)])

    def choose(self, x: FloatArray) -> int:
        self.t += 1
        return int(np.argmax(self.reference.index(x, self.t, self.t)))

    def update(self, arm: int, x: FloatArray, reward: float) -> None:
        self.reference.update(arm, x, self.t, reward)
        self.pulled[-1][arm].append(x[arm])


def test_the_span_and_potential_lemmas_on_a_run() -> None:
    """Lemma 5: what was pulled is a combination of the best basis with ‖β‖₁ ≤ δ. Lemma 8: Σ(1 ∧ σ̂²) is logarithmic."""
    Recorder.pulled.clear()
    simulate(EASY, Recorder, horizon=400, runs=2)
    l, d = EASY.feature_bound, EASY.n_features
    for arms in Recorder.pulled[-2:]:  # one more is made to see that it can be
        assert sum(len(rows) for rows in arms) == 400
        for a, rows in enumerate(arms):
            basis = audit(EASY).arms[a].basis_features
            V, potential = l**2 * np.eye(d), 0.0
            for x in rows:
                assert np.abs(np.linalg.solve(basis.T, x)).sum() <= theory.span_weight(l, basis) * (1 + 1e-9)
                potential += min(1.0, float(x @ np.linalg.solve(V, x)))
                V += np.outer(x, x)
            assert potential <= theory.elliptical_potential(d, l**2, l, len(rows))
            assert potential > 0.5
