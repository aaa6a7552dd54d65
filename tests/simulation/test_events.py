"""The proof's frames and error events in a simulation, against a count by hand; and the lemmas on real runs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armspan import theory
from armspan.diversity import audit, problem_numbers
from armspan.environments import FiniteContexts, diversity_dial, paper_1a, paper_1b, paper_1c
from armspan.errors import NotApplicable
from armspan.policies import ContextUCB, Greedy, LinUCBd
from armspan.simulation import simulate
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
    return {"steps": steps, "regret": regret, "misses": misses, "last_suboptimal": last}


@given(tables(), st.integers(1, 150), st.integers(0, 1000))
@settings(max_examples=25)
def test_events_are_those_counted_by_hand(table: tuple[Array, Array], horizon: int, seed: int) -> None:
    """On problems without ties, where the oracle's choice is the simulation's."""
    features, theta = table
    rng = np.random.default_rng(seed)
    env = FiniteContexts(features + rng.normal(0, 0.05, features.shape), theta, noise=2.0)
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
        np.testing.assert_array_equal(events.pulls.sum(axis=(1, 2)), 20_001)
        assert (events.good_pulls <= events.pulls).all()
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


@pytest.mark.parametrize("env", [paper_1a(), paper_1b()], ids=lambda env: env.name)
def test_lemma_3_suboptimal_pulls_outside_bad_estimates(env: FiniteContexts) -> None:
    """N̄_t(a, c) ≤ 4α_t²/Δ² for c ∉ C_a: in every run, for certain."""
    horizon = 100_000
    events = simulate(env, LinUCBd(), horizon=horizon, runs=20, events=True).events["LinUCB-d"]
    bound = theory.suboptimal_pulls(np.array([horizon]), problem_numbers(env))[0]
    for a in range(env.n_arms):
        others = np.setdiff1d(np.arange(env.n_contexts), env.optimal_contexts(a))
        assert events.good_pulls[:, others, a].max() <= bound


def test_bad_estimates_are_as_rare_as_the_proof_says() -> None:
    """P[|r̂ - r| > α_t σ̂] ≤ 1/f(t) for t > 2, so at most K Σ 1/f(t) misses a run from frame 2 on are expected.

    500 runs; the count is at most its bound plus 4.5 standard deviations of a Poisson count with that mean.
    """
    events = simulate(paper_1b(), LinUCBd(), horizon=5000, runs=500, events=True).events["LinUCB-d"]
    expected = 500 * 2 * sum(1 / naive.f(t) for t in range(4, 5001))
    assert events.misses[:, 2:].sum() <= expected + 4.5 * np.sqrt(expected)


def test_events_are_refused_where_they_are_not_counted() -> None:
    for env, engine in ((paper_1c(0), "cpu"), (paper_1a(), "python")):
        with pytest.raises(NotApplicable, match="events need a finite set of contexts and the engine cpu"):
            simulate(env, LinUCBd(), horizon=10, runs=1, events=True, engine=engine)
