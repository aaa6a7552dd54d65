"""A half-life: old rewards lose their weight, alike in simulations, references and agents."""

from typing import Any

import numpy as np
import pytest

from armspan import LinUCB, LinUCBd, load_agent, simulate
from armspan.environments import DriftingContexts, FiniteContexts
from armspan.errors import ArmspanError
from armspan.theory.forgetting import forgetting
from tests.lived import lived_through

TOLD: dict[str, Any] = {"feature_bound": 3.0, "parameter_bound": 2.0, "noise_scale": 0.3}
FORGETFUL = [
    LinUCB(alpha="practical", half_life=50.0, **TOLD),
    LinUCB(alpha="practical", half_life=3.0, shared=True, **TOLD),
    LinUCB(alpha="practical", half_life=5.0, **TOLD),
    LinUCB(alpha=0.7, ridge=0.5, half_life=7.5, label="LinUCB, α = 0.7"),
    LinUCB(alpha=lambda t: 1 / np.sqrt(t), ridge=0.5, half_life=20, label="LinUCB, α = 1/√t"),
    LinUCBd(half_life=90.0, **TOLD),
]


def problem() -> FiniteContexts:
    """One arm of six is far better, so that others are forgotten, and must be tried again."""
    rng = np.random.default_rng(5)
    return FiniteContexts(rng.normal(size=(6, 4, 3)), [[2.0, 3.0, 2.5], *rng.normal(size=(5, 3))], noise=0.3)


@pytest.mark.long
@pytest.mark.parametrize("policy", FORGETFUL, ids=lambda policy: policy.name)
def test_an_agent_forgets_as_a_simulation_does(policy: Any) -> None:
    env, seed, steps = problem(), 11, 700
    told: Any = {"horizon": steps, "runs": 1, "seed": seed, "checkpoints": list(range(1, steps + 1))}
    expected, naive = (simulate(env, policy, **told, engine=engine) for engine in ("cpu", "python"))
    np.testing.assert_allclose(naive.pseudo_regret, expected.pseudo_regret, atol=1e-9)
    curve = lived_through(policy.agent(6, 3, seed=seed), env, seed, steps)
    np.testing.assert_allclose(curve, expected.pseudo_regret[0, 0], atol=1e-9)


@pytest.mark.parametrize("half_life", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("shared", [False, True])
def test_estimates_are_those_of_a_weighted_regression(half_life: float, shared: bool) -> None:
    """θ̂ and widths by weights that are written down one by one; σ̂ by what is left over of the weighted squares."""
    rng, ridge, n = np.random.default_rng(1), 0.3, 150
    policy = LinUCB(alpha="practical", ridge=ridge, half_life=half_life, shared=shared, **TOLD)
    agent, (every, factor) = policy.agent(2, 3), forgetting(half_life)
    x, arms, y = rng.normal(size=(n, 3)), rng.integers(2, size=n), rng.normal(size=n)
    for row, arm, reward in zip(x, arms, y, strict=True):
        agent.update(int(arm), np.stack([row, row]), float(reward))
    weight = factor ** ((n - 1) // every - np.arange(n) // every)
    assert weight[-1] == 1
    assert every > half_life / 2 or weight[n - 1 - int(half_life)] == pytest.approx(0.5, rel=0.05)
    models = [np.ones(n, dtype=bool)] * 2 if shared else [arms == 0, arms == 1]
    query, mean, width = rng.normal(size=3), [], []
    for own in models:
        V = ridge * np.eye(3) + (x[own] * weight[own, None]).T @ x[own]
        mean.append(query @ np.linalg.solve(V, x[own].T @ (weight * y)[own]))
        width.append(np.sqrt(query @ np.linalg.solve(V, query)))
    seen = agent.scores(query)
    np.testing.assert_allclose(seen.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(seen.width, width, rtol=1e-9)
    left, used = float(weight @ y**2), 0.0
    for own in models[:1] if shared else models:
        V = ridge * np.eye(3) + (x[own] * weight[own, None]).T @ x[own]
        b = x[own].T @ (weight * y)[own]
        left, used = left - float(b @ np.linalg.solve(V, b)), used + 3 - ridge * float(np.trace(np.linalg.inv(V)))
    sigma = np.sqrt(max(left, 0) / (weight.sum() - used)) if weight.sum() > used else 0.0
    size = np.sqrt(weight @ y**2 / weight.sum())
    alpha = np.sqrt(np.log(min(n + 1, max(half_life / np.log(2), 1)) + 1))
    expected = seen.mean + alpha * sigma * seen.width + size * seen.width**2 / 3
    np.testing.assert_allclose(seen.index, expected, rtol=1e-7)


def test_forgetting_pays_where_parameters_jump() -> None:
    """Regret of 10 runs after the arms have changed places three times."""
    theta = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    env = DriftingContexts(theta, 1000, abrupt=True, low=-1.0, noise=0.5)
    policies = [LinUCB(alpha="practical"), LinUCB(alpha="practical", half_life=100)]
    always, lately = simulate(env, policies, horizon=4000, runs=10).mean()[:, -1]
    assert lately < always / 4


def test_it_is_saved_and_loaded(tmp_path: Any) -> None:
    for i, policy in enumerate(FORGETFUL[:4]):
        agent = policy.agent(2, 3)
        rng = np.random.default_rng(i)
        for _ in range(40):
            agent.update(int(rng.integers(2)), rng.normal(size=(2, 3)), float(rng.normal()))
        agent.save(tmp_path / "agent")
        again = load_agent(tmp_path / "agent")
        for one in (agent, again):
            one.update(0, np.ones((2, 3)), 2.0)
        assert again.policy == policy
        np.testing.assert_array_equal(again.scores([0.3, 0.2, 0.1]).index, agent.scores([0.3, 0.2, 0.1]).index)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LinUCB(half_life=0.0), "half_life must be > 0, got 0"),
        (lambda: LinUCB(half_life=float("nan")), "half_life must be"),
        (lambda: LinUCB(alpha="estimated", half_life=9.0), 'half_life must be left out with alpha="estimated"'),
        (lambda: FORGETFUL[0].agent(2, 2, half_life=9.0), "half_life must be that of the policy, 50, got 9.0"),
        (lambda: FORGETFUL[0].agent(2, 2, window=9), "half_life and window must not both be given"),
        (lambda: FORGETFUL[1].agent(2, 2).merge(FORGETFUL[1].agent(2, 2)), "cannot be merged"),
        (lambda: FORGETFUL[0].agent(2, 2).merge(FORGETFUL[0].agent(2, 2)), "cannot be merged"),
    ],
)
def test_bad_input(make: Any, sentence: str) -> None:
    with pytest.raises(ArmspanError) as error:
        make()
    assert sentence in str(error.value)


def test_events_are_not_counted_where_things_are_forgotten() -> None:
    policies = [LinUCB(), LinUCB(half_life=50.0)]
    assert list(simulate(problem(), policies, horizon=20, runs=1, events=True).events or ()) == ["LinUCB"]
