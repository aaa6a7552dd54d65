"""What every registered policy keeps, on every engine that it claims."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from armspan import Greedy, LinTS, LinUCB, simulate
from armspan.environments import FiniteContexts, paper_1a
from armspan.errors import ArmspanError, NotApplicable
from armspan.policies import POLICIES
from armspan.policies.base import Chance
from armspan.policies.epsilon_greedy import EpsilonGreedy
from armspan.policies.yardstick import Yardstick
from armspan.simulation import concatenate
from tests.strategies import environments

ALL: list[Any] = [*(kind() for kind in POLICIES.values()), EpsilonGreedy(until_sure=True, noise_scale=0.05)]
ALL += [LinUCB(alpha="practical"), LinUCB(alpha="estimated"), LinUCB(alpha="practical", half_life=5.0)]
ALL += [replace(policy, shared=True, label=f"{policy.name}, shared") for policy in ALL if hasattr(policy, "shared")]
IDS = [f"{type(policy).__name__}, {policy.name}" for policy in ALL]
"""With the class, so that `pytest -k LinUCBd` finds a policy by it."""


def fits(policy: Any, env: Any, horizon: int) -> bool:
    try:
        policy.within(horizon).check(env, horizon)
    except NotApplicable:
        return False
    return True


@pytest.mark.long
@given(environments(), st.integers(1, 40), st.integers(0, 2**64 - 1))
@settings(max_examples=6)
def test_the_compiled_form_equals_the_reference(env: Any, horizon: int, seed: int) -> None:
    """With noise: without any, arms tie in theory, and where V is nearly singular rounding decides."""
    assume(env.noise_scale > 0)
    able = [policy for policy in ALL if fits(policy, env, horizon)]
    cpu, python = (simulate(env, able, horizon=horizon, runs=2, seed=seed, engine=e) for e in ("cpu", "python"))
    np.testing.assert_allclose(cpu.pseudo_regret, python.pseudo_regret, atol=1e-9)
    np.testing.assert_allclose(cpu.regret, python.regret, atol=1e-9)


@pytest.mark.parametrize("policy", ALL, ids=IDS)
class TestEach:
    def test_the_same_seed_gives_the_same(self, policy: Any) -> None:
        results = [simulate(paper_1a(), policy, horizon=120, runs=3, seed=seed) for seed in (4, 4, 5)]
        first, again, other = (result.pseudo_regret for result in results)
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other) or not first.any()

    def test_runs_may_be_split(self, policy: Any) -> None:
        parts = [simulate(paper_1a(), policy, horizon=120, runs=runs) for runs in (range(2), [2], range(3, 6))]
        whole = simulate(paper_1a(), policy, horizon=120, runs=6)
        np.testing.assert_array_equal(concatenate(parts).pseudo_regret, whole.pseudo_regret)

    @pytest.mark.parametrize("engine", ["cpu", "python"])
    def test_one_feature_and_features_of_zero(self, policy: Any, engine: str) -> None:
        one = FiniteContexts([[[1.0]], [[0.5]]], [[0.2], [0.9]])
        nothing = FiniteContexts([[[0.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]], [[0.2, 0.1], [0.9, 0.3]])
        for env in (one, nothing):
            regret = simulate(env, policy, horizon=40, runs=2, engine=engine).pseudo_regret
            assert np.isfinite(regret).all()
            assert (np.diff(regret, axis=-1) >= 0).all()

    def test_it_is_a_frozen_description(self, policy: Any) -> None:
        assert policy == replace(policy)
        assert hash(policy) == hash(replace(policy))
        with pytest.raises(AttributeError):
            policy.label = "other"

    def test_one_arm_is_chosen_whatever_comes(self, policy: Any) -> None:
        """K = 1, which environments do not have, in an agent."""
        given: dict[str, Any] = {"feature_bound": 3.0, "parameter_bound": 1.0, "noise_scale": 1.0, "alpha": 1.0}
        given |= {"horizon": 1000, "reward_range": (-5.0, 5.0)}
        told = replace(policy, **{k: v for k, v in given.items() if not isinstance(getattr(policy, k, ""), str)})
        if isinstance(policy, Yardstick):
            with pytest.raises(NotApplicable, match="no agent"):
                told.agent(n_arms=1, n_features=2)
            return
        agent = told.agent(n_arms=1, n_features=2)
        for y in (0.5, -1.0, 2.0):
            assert agent.decide([1.0, 2.0]).propensity == 1
            assert agent.exploration([1.0, 2.0]).probability == 0
            agent.update(0, [1.0, 2.0], y)


def test_thompson_samples_indices_of_the_right_law() -> None:
    """Mean, spread and independence of 40,000 normal numbers; each bound fails by chance in one of 10⁵."""
    draws = np.array([Chance(3, run).normals(step, 4) for run in range(100) for step in range(1, 101)])
    assert np.abs(draws.mean(axis=0)).max() < 4.6 / np.sqrt(len(draws))
    assert np.abs(draws.std(axis=0) - 1).max() < 4.6 / np.sqrt(2 * len(draws))
    assert np.abs(np.corrcoef(draws.T) - np.eye(4)).max() < 4.8 / np.sqrt(len(draws))


def test_thompson_with_scale_0_is_greedy_and_explores_with_more() -> None:
    env = paper_1a()
    still, greedy = simulate(env, [LinTS(scale=0.0), LinUCB(ridge=1.0, alpha=0.0)], horizon=400, runs=4).pseudo_regret
    np.testing.assert_allclose(still, greedy)
    theory, practice = simulate(env, [LinTS(), LinTS(scale=1.0)], horizon=20_000, runs=20).pseudo_regret[:, :, -1]
    assert practice.mean() < theory.mean()
    assert practice.mean() < simulate(env, Greedy(), horizon=20_000, runs=20).pseudo_regret[0, :, -1].mean() / 4


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LinTS(scale=-1.0), "scale must be >= 0, got -1"),
        (lambda: LinTS(delta=1.0), "delta must be > 0 and < 1, got 1"),
        (lambda: LinTS(ridge=0.0), "ridge must be > 0, got 0"),
        (lambda: LinTS(noise_scale=-2.0), "noise_scale must be >= 0, got -2"),
    ],
)
def test_bad_parameters(make: Any, sentence: str) -> None:
    with pytest.raises(ArmspanError) as error:
        simulate(paper_1a(), make(), horizon=3, runs=1)
    assert sentence in str(error.value)
