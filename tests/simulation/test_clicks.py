"""Clicks: rewards of 0 and 1 whose probability is the mean, the same on every engine."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armspan import ContextUCB, Greedy, LinTS, LinUCBd, concatenate, load_result, simulate
from armspan.environments import Bernoulli, BoxContexts, FiniteContexts, MarkovContexts
from armspan.errors import InvalidParameter
from armspan.experiments.spec import parse_spec

POLICIES = [LinUCBd(), LinTS(), ContextUCB(), Greedy()]


def table(rng: np.random.Generator, K: int = 3, n: int = 4, d: int = 2) -> FiniteContexts:
    features = rng.random((K, n, d)) / d
    return FiniteContexts(features, rng.random((K, d)), noise=Bernoulli())


class Seen:
    """A user's own policy that keeps the rewards it was given: arms in turn."""

    log: list[tuple[int, float, float]]

    def __init__(self, n_arms: int, n_features: int, seed: int) -> None:
        self.n_arms, self.turn = n_arms, 0

    def choose(self, x: Any) -> int:
        self.turn += 1
        return self.turn % self.n_arms

    def update(self, arm: int, x: Any, reward: float) -> None:
        self.log.append((arm, float(x[arm, 0]), reward))


def test_rewards_are_0_or_1_with_the_mean_as_their_probability() -> None:
    """20,000 clicks of each arm: 4.5 standard errors, which chance exceeds once in 10⁵."""
    env = FiniteContexts([[[1.0]], [[1.0]], [[1.0]]], [[0.03], [0.4], [0.97]], noise=Bernoulli())
    Seen.log = []
    result = simulate(env, Seen, horizon=60_000, runs=1, seed=5)
    rewards = np.array([[reward for arm, _, reward in Seen.log if arm == a] for a in range(3)])
    assert set(np.unique(rewards)) == {0.0, 1.0}
    for mean, seen in zip((0.03, 0.4, 0.97), rewards, strict=True):
        assert abs(seen.mean() - mean) < 4.5 * np.sqrt(mean * (1 - mean) / seen.size)
    earned = float(rewards.sum())
    np.testing.assert_allclose(result.regret[0, 0, -1], 60_000 * 0.97 - earned, rtol=1e-9)


def test_means_of_0_and_1_are_certain() -> None:
    env = FiniteContexts([[[1.0]], [[1.0]]], [[0.0], [1.0]], noise=Bernoulli())
    Seen.log = []
    simulate(env, Seen, horizon=4000, runs=1)
    assert all(reward == float(arm) for arm, _, reward in Seen.log)


@pytest.mark.long
@given(st.integers(0, 10**6), st.integers(1, 80))
@settings(max_examples=12)
def test_engines_agree(seed: int, horizon: int) -> None:
    rng = np.random.default_rng(seed)
    env = table(rng, K=int(rng.integers(2, 6)), n=int(rng.integers(1, 6)), d=int(rng.integers(1, 7)))
    runs = int(rng.integers(1, 40))
    cpu = simulate(env, POLICIES, horizon=horizon, runs=runs, seed=seed, engine="cpu")
    python = simulate(env, POLICIES, horizon=horizon, runs=runs, seed=seed, engine="python")
    np.testing.assert_allclose(cpu.pseudo_regret, python.pseudo_regret, atol=1e-9)
    np.testing.assert_allclose(cpu.regret, python.regret, atol=1e-9)
    steps, best = cpu.checkpoints, env.reward_table.max()
    assert (cpu.regret <= steps * best + 1e-9).all()


def test_in_lanes_and_alone_alike() -> None:
    env = table(np.random.default_rng(3), K=2, n=5, d=3)
    whole = simulate(env, LinUCBd(), horizon=700, runs=70, seed=2)
    alone = concatenate([simulate(env, LinUCBd(), horizon=700, runs=[run], seed=2) for run in range(70)])
    np.testing.assert_array_equal(whole.pseudo_regret, alone.pseudo_regret)
    np.testing.assert_array_equal(whole.regret, alone.regret)


@pytest.mark.parametrize("engine", ["cpu", "python"])
def test_boxes_chains_and_the_users_own(engine: str) -> None:
    class Own:
        n_arms, n_features, noise = 2, 2, Bernoulli()
        feature_bound, parameter_bound = 2.0, 2.0

        def context(self, step: int, rng: np.random.Generator) -> Any:
            return rng.random((2, 2))

        def mean_rewards(self, x: Any) -> Any:
            return x[:, 0] * 0.7

    theta, chain = np.array([[0.5, 0.2], [0.2, 0.5]]), [[0.5, 0.5], [0.2, 0.8]]
    box = BoxContexts(theta, 0.0, 1.0, gap=0.05, noise=Bernoulli())
    markov = MarkovContexts([[[0.5, 0.1], [0.1, 0.5]], [[0.2, 0.4], [0.4, 0.1]]], theta, chain, noise=Bernoulli())
    for env in (box, markov, Own()):
        result = simulate(env, [LinUCBd(), Greedy()], horizon=90, runs=2, engine=engine)
        wins = np.arange(1, 91)[None, None, result.checkpoints - 1] - result.regret  # each run's rewards, up to means
        assert np.isfinite(wins).all()
        assert result.noise.shape == result.pseudo_regret.shape


def test_events_are_counted_and_the_choices_stay() -> None:
    env = table(np.random.default_rng(8), K=2)
    plain, counted = (simulate(env, LinUCBd(), horizon=300, runs=3, events=events) for events in (False, True))
    np.testing.assert_allclose(plain.pseudo_regret, counted.pseudo_regret, atol=1e-9)
    np.testing.assert_allclose(plain.regret, counted.regret, atol=1e-9)


def test_results_are_saved_loaded_and_joined(tmp_path: Any) -> None:
    env = table(np.random.default_rng(1))
    parts = [simulate(env, POLICIES, horizon=50, runs=runs) for runs in (range(2), range(2, 5))]
    whole = concatenate(parts)
    np.testing.assert_array_equal(whole.regret, simulate(env, POLICIES, horizon=50, runs=5).regret)
    whole.save(tmp_path / "clicks.npz")
    np.testing.assert_array_equal(load_result(tmp_path / "clicks.npz").regret, whole.regret)


def test_means_outside_0_and_1_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"clicks, got 1\.2"):
        FiniteContexts([[[1.0]], [[1.0]]], [[0.5], [1.2]], noise=Bernoulli())
    with pytest.raises(InvalidParameter, match=r"mean rewards in the box must be from 0 to 1 .* got -0\.5"):
        BoxContexts([[0.5], [-0.5]], 0.0, 1.0, noise=Bernoulli())

    class Own:
        n_arms, n_features, noise, feature_bound, parameter_bound = 2, 1, Bernoulli(), 1.0, 1.0

        def context(self, step: int, rng: np.random.Generator) -> Any:
            return np.ones((2, 1))

        def mean_rewards(self, x: Any) -> Any:
            return np.array([0.5, 2.0])

    with pytest.raises(InvalidParameter, match="mean_rewards of step 1 must be from 0 to 1"):
        simulate(Own(), LinUCBd(), horizon=3, runs=1)


def test_a_spec_names_them() -> None:
    content = {
        "horizon": 5,
        "policies": [{"kind": "LinUCBd"}],
        "environment": {
            "kind": "finite",
            "features": [[[1.0]], [[0.5]]],
            "theta": [[0.2], [0.9]],
            "noise": {"kind": "bernoulli"},
        },
    }
    env = parse_spec(content).env
    assert env.noise.clicks
    assert env.noise_scale == 0.5
    content["environment"]["noise"]["scale"] = 2.0  # type: ignore[index]
    with pytest.raises(InvalidParameter, match="noise has an unknown key 'scale'"):
        parse_spec(content)
