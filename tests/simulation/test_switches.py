"""What a result says of policies that switch from one rule to another."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from armspan import Greedy, GreedyFirst, concatenate, load_result, simulate
from armspan.environments import BoxContexts, DelayedRewards, PerturbedContexts


def test_a_result_says_when_each_run_switched(tmp_path: Path) -> None:
    """On either engine, with late rewards and an adversary; kept in files, joined and cut down with the rest."""
    arms = [[0.3, -0.4], [0.5, 0.2]]
    env = BoxContexts(arms, [-1.0, -0.2], [1.0, 0.2], noise=1.0)
    policies: Any = [GreedyFirst(t0=4), Greedy()]
    result = simulate(env, policies, horizon=300, runs=12)
    steps = result.switched_at["greedy first"]
    assert result.switched_at.keys() == {"greedy first"}
    assert steps.shape == (12,)
    assert 0 < (steps > 0).sum() < 12  # some do and some do not, or this would show little
    for other in (env, DelayedRewards(env, steps=3), PerturbedContexts(arms, sigma=0.1)):
        fast, naive = (simulate(other, policies, horizon=60, runs=4, engine=engine) for engine in ("cpu", "python"))
        np.testing.assert_array_equal(fast.switched_at["greedy first"], naive.switched_at["greedy first"])
    result.save(tmp_path / "result.npz")
    np.testing.assert_array_equal(load_result(tmp_path / "result.npz").switched_at["greedy first"], steps)
    assert result.only(["greedy"]).switched_at == {}
    halves = [simulate(env, policies, horizon=300, runs=part) for part in (range(5), range(5, 12))]
    np.testing.assert_array_equal(concatenate(halves).switched_at["greedy first"], steps)
    median = round(float(np.median(steps[steps > 0])))
    sentence = f"greedy first switched in {(steps > 0).sum()} of 12 runs, after {median} rewards in the median."
    assert str(result.summary()).splitlines()[-1] == sentence
    assert sentence in result._repr_html_()
    assert result.summary()[0].as_dict()["switched_at"] == steps.tolist()
    assert "switched_at" not in result.summary()[1].as_dict()
    never = simulate(env, replace(policies[0], t0=10**6), horizon=50, runs=2)
    assert "greedy first never switched in 2 runs." in str(never.summary())


def test_a_policy_with_another_form_says_nothing_of_switches() -> None:
    class Other(GreedyFirst):
        def reference(self, env: Any) -> Any:
            return Greedy().reference(env)

    result = simulate(BoxContexts([[0.3], [0.5]], -1.0, 1.0), Other(), horizon=20, runs=2)
    assert result.switched_at == {}
