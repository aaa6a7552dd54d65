"""The proof's frames and error events in a simulation, against a count by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from armspan.diversity import audit
from armspan.environments import (
    BoxContexts,
    DelayedRewards,
    DriftingContexts,
    Environment,
    FiniteContexts,
    PerturbedContexts,
    RewardTable,
    diversity_dial,
    paper_1a,
    paper_1b,
    paper_1c,
)
from armspan.errors import BadFile, InvalidParameter, NotApplicable
from armspan.policies import ContextUCB, Greedy, LinUCBd
from armspan.simulation import concatenate, load_result, simulate
from tests import naive
from tests.strategies import Array, tables

LOOSE = 1.1
"""The bound s is a little loose, so that no first estimate is off by exactly its width, where rounding would decide."""


def count_by_hand(env: FiniteContexts, horizon: int, seed: int) -> dict[str, Any]:
    """Algorithm 1 from the oracle on run 0's contexts and noise, with the definitions of Section 4 read aloud."""
    l, s, R = env.feature_bound, LOOSE * env.parameter_bound, env.noise_scale
    block = env.stream(seed, np.zeros(1, dtype=np.int64)).draw(0, horizon)
    policy = naive.NaiveLinUCBd(env.features, l, lambda t: naive.alpha(t, env.n_features, l, s, R))
    report = audit(env)
    p = report.p or 1 / env.n_contexts
    bases = {int(c) for row in report.arms for c in env.optimal_contexts(row.arm)[list(row.basis.rows)]}
    frames = horizon.bit_length()
    steps, regret, misses = np.zeros((frames, 4), int), np.zeros((frames, 4)), np.zeros(frames, int)
    bad_steps: list[set[int]] = [set() for _ in range(frames)]
    seen: list[list[int]] = [[] for _ in range(frames)]
    last = 0
    for t in range(1, horizon + 1):
        k, c = t.bit_length() - 1, int(block.contexts[0, t - 1])
        means, widths, _ = policy.estimates(c)
        alpha = naive.alpha(t, env.n_features, l, s, R)
        off = np.abs(means - block.means[c]) > alpha * widths
        a = int(np.argmax(means + alpha * widths))
        loss = float(block.losses[c, a])
        in_A = k > 0 and any(seen[k - 1].count(basis) <= p / 2 * 2 ** (k - 1) for basis in bases)
        in_C = k > 0 and len(bad_steps[k - 1]) >= p / 4 * 2 ** (k - 1)
        event = 0 if in_A else 1 if off.any() else 2 if in_C else 3
        if event < 3 or loss > 0:
            steps[k, event] += 1
            regret[k, event] += loss
        misses[k] += off.sum()
        if off.any():
            bad_steps[k].add(t)
        seen[k].append(c)
        last = t if loss > 0 else last
        policy.update(a, c, float(block.means[c, a] + block.noise[0, t - 1]))
    irregular = [
        k > 0 and any(seen[k - 1].count(basis) <= p / 2 * 2 ** (k - 1) for basis in bases) for k in range(frames)
    ]
    clouded = [k > 0 and len(bad_steps[k - 1]) >= p / 4 * 2 ** (k - 1) for k in range(frames)]
    counted = {"irregular": irregular, "clouded": clouded}
    return counted | {"steps": steps, "regret": regret, "misses": misses, "last_suboptimal": last}


@given(tables(), st.integers(1, 150), st.integers(0, 1000))
@settings(max_examples=25)
def test_events_are_those_counted_by_hand(table: tuple[Array, Array], horizon: int, seed: int) -> None:
    """On problems without ties, where the oracle's choice is the simulation's."""
    features, theta = table
    rng = np.random.default_rng(seed)
    env = FiniteContexts(features + rng.normal(0, 0.05, features.shape), theta, noise=2.0)
    assume(env.parameter_bound > 0)  # a policy needs one, and all-zero parameters have none
    policy = LinUCBd(parameter_bound=LOOSE * env.parameter_bound)
    found = simulate(env, policy, horizon=horizon, runs=1, seed=seed, events=True).events["LinUCB-d"]
    for name, expected in count_by_hand(env, horizon, seed).items():
        np.testing.assert_allclose(getattr(found, name)[0], expected, atol=1e-9, err_msg=name)


def test_watching_changes_nothing_and_the_parts_add_up() -> None:
    policies = [LinUCBd(), Greedy(), ContextUCB()]
    plain = simulate(paper_1a(), policies, horizon=20_001, runs=6)
    watched = simulate(paper_1a(), policies, horizon=20_001, runs=6, events=True)
    np.testing.assert_allclose(watched.pseudo_regret, plain.pseudo_regret, rtol=1e-12)
    assert set(watched.events) == {"LinUCB-d", "greedy"}
    assert plain.events == {}
    for name, events in watched.events.items():
        np.testing.assert_allclose(events.regret.sum(axis=(1, 2)), watched.curves(name)[:, -1])
        np.testing.assert_array_equal(events.pulls[:, -1].sum(axis=(1, 2)), 20_001)
        assert (events.good_pulls <= events.pulls[:, -1]).all()
        np.testing.assert_array_equal(watched.checkpoints[-1], 20_001)


def test_lambda_min_grows_linearly_with_diversity_and_hardly_without() -> None:
    diverse = simulate(paper_1b(), LinUCBd(), horizon=40_000, runs=10, events=True, checkpoints=[10_000, 40_000])
    flat = simulate(diversity_dial(0.0), LinUCBd(), horizon=40_000, runs=10, events=True, checkpoints=[10_000, 40_000])
    growth = [
        (entry[:, 1] / entry[:, 0]).mean()
        for entry in (diverse.events["LinUCB-d"].eigenvalues, flat.events["LinUCB-d"].eigenvalues)
    ]
    assert growth[0] == pytest.approx(4.0, rel=0.05)
    assert growth[1] < 2.5  # what is explored on purpose


def test_bad_estimates_are_as_rare_as_the_proof_says() -> None:
    """P[|r̂ - r| > α_t σ̂] ≤ 1/f(t) for t > 2, so at most K Σ 1/f(t) misses a run from frame 2 on are expected.

    500 runs; the count is at most its bound plus 4.5 standard deviations of a Poisson count with that mean.
    """
    events = simulate(paper_1b(), LinUCBd(), horizon=5000, runs=500, events=True).events["LinUCB-d"]
    expected = 500 * 2 * sum(1 / naive.f(t) for t in range(4, 5001))
    assert events.misses[:, 2:].sum() <= expected + 4.5 * np.sqrt(expected)


def test_pulls_grow_by_frames() -> None:
    """At the end of each frame every step so far has been pulled once, and nothing is ever taken back."""
    events = simulate(paper_1a(), LinUCBd(), horizon=1000, runs=4, events=True).events["LinUCB-d"]
    ends = np.minimum(2 ** np.arange(1, 11) - 1, 1000)
    np.testing.assert_array_equal(events.pulls.sum(axis=(2, 3)), np.tile(ends, (4, 1)))
    assert (np.diff(events.pulls, axis=1) >= 0).all()


def test_meta_contexts_are_counted_where_contexts_do_not_recur() -> None:
    """Against the definitions of Section 5, step by step: the same regions, with the paper's words for closeness."""
    env = BoxContexts([[1.0, -1.0], [-1.0, 1.0]], gap=0.2, noise=0.3)
    result = simulate(env, LinUCBd(), horizon=500, runs=3, events=True)
    events, meta = result.events["LinUCB-d"], audit(env).meta
    assert meta is not None
    block = env.stream(0, np.arange(3)).draw(0, 500)
    arrivals = np.zeros((3, 8), int)
    for run in range(3):
        for row in block.contexts[run]:
            a = int(np.argmax(block.means[row]))
            x = block.x[row, a]
            unit = meta.bases[a] / np.linalg.norm(meta.bases[a], axis=1, keepdims=True)
            i = int(np.argmax(unit @ x))
            outside = np.linalg.norm(x - meta.bases[a, i]) > meta.radius
            arrivals[run, 2 * (2 * a + i) + outside] += 1
    np.testing.assert_array_equal(events.pulls[:, -1].sum(axis=2), arrivals)
    np.testing.assert_allclose(events.regret.sum(axis=(1, 2)), result.curves("LinUCB-d")[:, -1])


def test_without_diversity_frames_are_still_judged() -> None:
    events = simulate(paper_1c(0), LinUCBd(), horizon=300, runs=2, events=True).events["LinUCB-d"]
    assert not events.irregular.any()
    assert (events.basis_pulls == -1).all()
    assert events.pulls[:, -1].sum() == 600


def test_events_are_refused_where_they_are_not_counted() -> None:
    with pytest.raises(NotApplicable, match="events need the engine"):
        simulate(paper_1a(), LinUCBd(), horizon=10, runs=1, events=True, engine="python")

    class Own:
        n_arms, n_features, feature_bound, parameter_bound = 2, 2, 1.0, 1.0

        def context(self, step: int, rng: np.random.Generator) -> Array:
            return np.eye(2)

        def mean_rewards(self, x: Array) -> Array:
            return x[:, 0]

    with pytest.raises(NotApplicable, match="events need an environment that knows its truth, but Own is"):
        simulate(Own(), LinUCBd(), horizon=10, runs=1, events=True)


@pytest.mark.parametrize(
    ("env", "reason"),
    [
        (DriftingContexts([np.eye(2), -np.eye(2)], 10), "the parameters of drifting contexts change with time"),
        (RewardTable([[1.0], [2.0]], [[1.0, 3.0], [2.0, 1.0]]), "rewards of reward table are not linear in the feat"),
        (DelayedRewards(paper_1a(), steps=1), "the rewards of paper 1a, delayed come late"),
        (PerturbedContexts(np.eye(2), 0.1), "the contexts of perturbed contexts depend on what the policy does"),
    ],
    ids=repr,
)
def test_events_are_refused_where_the_proof_says_nothing(env: Environment, reason: str) -> None:
    with pytest.raises(NotApplicable, match=f"events are those of the paper's proof, but {reason}"):
        simulate(env, LinUCBd(), horizon=10, runs=1, events=True)


def test_events_are_saved_and_joined(tmp_path: Path) -> None:
    halves = [simulate(paper_1a(), LinUCBd(), horizon=200, runs=runs, events=True) for runs in (range(3), range(3, 5))]
    whole = simulate(paper_1a(), LinUCBd(), horizon=200, runs=5, events=True)
    for number, half in enumerate(halves):
        half.save(tmp_path / f"{number}.npz")
    joined = concatenate([load_result(tmp_path / f"{number}.npz") for number in range(2)])
    for name, array in whole.events["LinUCB-d"].arrays().items():
        np.testing.assert_array_equal(getattr(joined.events["LinUCB-d"], name), array, err_msg=name)
    plain = simulate(paper_1a(), LinUCBd(), horizon=200, runs=range(5, 6))
    with pytest.raises(InvalidParameter, match="events of the same policies, got LinUCB-d and none"):
        concatenate([joined, plain])
    with np.load(tmp_path / "0.npz") as archive:
        parts = dict(archive)
    parts["events 0 steps"] = parts["events 0 steps"][:, :-1]
    np.savez(tmp_path / "torn.npz", **parts)
    with pytest.raises(BadFile, match="its parts do not fit together"):
        load_result(tmp_path / "torn.npz")
