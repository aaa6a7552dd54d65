"""How each package is asked for a step, in its best documented online use: LinUCB, ridge 1 and α = 1, or its nearest.

Each adapter imports its package when called, in the environment that has it.
"""

import random
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.peers.task import ALPHA, RIDGE, Agent, Array, Maker


def row(x: Array) -> Array:
    """A context (1, d), as scikit-learn's habits want it."""
    return x[None]


def mabwiser(n_arms: int, n_features: int) -> Agent:
    from mabwiser.mab import MAB, LearningPolicy  # type: ignore[import-not-found]

    bandit = MAB(list(range(n_arms)), LearningPolicy.LinUCB(alpha=ALPHA, l2_lambda=RIDGE))
    bandit.fit([0], [0.0], np.zeros((1, n_features)))  # partial_fit needs a fit before it; zeros teach nothing

    def update(arm: int, x: Array, reward: float) -> None:
        bandit.partial_fit(np.array([arm]), np.array([reward]), x)

    return Agent(bandit.predict, update, row)


def contextualbandits(n_arms: int, n_features: int) -> Agent:
    from contextualbandits.online import LinUCB  # type: ignore[import-not-found]

    policy = LinUCB(n_arms, alpha=ALPHA, lambda_=RIDGE, fit_intercept=False, method="sm", njobs=1, random_state=1)
    policy.partial_fit(np.zeros((1, n_features)), np.array([0]), np.array([0.0]))  # predict needs to know d

    def update(arm: int, x: Array, reward: float) -> None:
        policy.partial_fit(x, np.array([arm]), np.array([reward]))

    return Agent(lambda x: int(policy.predict(x)[0]), update, row)


def river(n_arms: int, n_features: int) -> Agent:
    from river.bandit import LinUCBDisjoint  # type: ignore[import-not-found]

    policy, arms = LinUCBDisjoint(alpha=RIDGE, beta=1.0, seed=0), list(range(n_arms))
    return Agent(lambda x: policy.pull(arms, x), policy.update, lambda x: dict(enumerate(x.tolist())))


def pymab(n_arms: int, n_features: int) -> Agent:
    from pymab.policies import LinUCBPolicy  # type: ignore[import-not-found]

    policy, rng = LinUCBPolicy(n_arms=n_arms, n_features=n_features, alpha=ALPHA, l2=RIDGE), np.random.default_rng(0)

    def update(arm: int, x: Array, reward: float) -> None:
        policy.update(action=arm, reward=reward, context=x)

    return Agent(lambda x: policy.select_action(rng=rng, context=x), update, lambda x: np.tile(x, (n_arms, 1)))


def obp(n_arms: int, n_features: int) -> Agent:
    LinUCB = obp_linucb()
    policy = LinUCB(dim=n_features, n_actions=n_arms, epsilon=ALPHA)  # its ridge is 1, its α is named epsilon

    def update(arm: int, x: Array, reward: float) -> None:
        policy.update_params(arm, reward, x)

    return Agent(lambda x: int(policy.select_action(x)[0]), update, row)


def obp_linucb() -> Any:
    """OBP's LinUCB without the rest of OBP, which would bring PyTorch; LinUCB only names a type of it."""
    if "obp" not in sys.modules:
        spec = find_spec("obp")
        assert spec is not None
        (folder,) = spec.submodule_search_locations or [""]
        for name, path in (("obp", folder), ("obp.policy", f"{folder}/policy"), ("torch", "")):
            sys.modules[name] = ModuleType(name)
            sys.modules[name].__path__ = [path]
        vars(sys.modules["torch"]).update(Tensor=type("Tensor", (), {}), tensor=None)
    from obp.policy.linear import LinUCB  # type: ignore[import-not-found]

    return LinUCB


def coba(n_arms: int, n_features: int) -> Agent:
    from coba.learners import LinUCBLearner  # type: ignore[import-not-found]

    learner, rng = LinUCBLearner(alpha=ALPHA, features=["a"]), np.random.default_rng(0)
    probability = 1.0

    def prepare(x: Array) -> list[tuple[float, ...]]:
        """Features of the actions: one θ serves all, so each arm needs its own."""
        return [tuple(action) for action in (x * rng.choice([-1.0, 1.0], size=(n_arms, n_features))).tolist()]

    def choose(actions: list[tuple[float, ...]]) -> int:
        nonlocal probability
        action, probability = learner.predict(None, actions)
        return actions.index(action)

    def update(arm: int, actions: list[tuple[float, ...]], reward: float) -> None:
        learner.learn(None, actions[arm], reward, probability)

    return Agent(choose, update, prepare)


def bayesianbandits(n_arms: int, n_features: int) -> Agent:
    from bayesianbandits import (  # type: ignore[import-not-found]
        Arm,
        ContextualAgent,
        NormalRegressor,
        UpperConfidenceBound,
    )

    arms = [Arm(k, learner=NormalRegressor(alpha=RIDGE, beta=1.0)) for k in range(n_arms)]
    agent = ContextualAgent(arms, UpperConfidenceBound(alpha=0.8413), random_seed=0)  # Φ(1): mean + 1 width

    def update(arm: int, x: Array, reward: float) -> None:
        if agent.arm_to_update.action_token != arm:
            agent.select_for_update(arm)
        agent.update(x, np.array([reward]))

    return Agent(lambda x: agent.pull(x)[0], update, row)


def vowpalwabbit(n_arms: int, n_features: int) -> Agent:
    from vowpalwabbit import Workspace  # type: ignore[import-not-found]

    workspace, rng = Workspace("--cb_explore_adf --squarecb -q xa --quiet"), random.Random(0)
    names, arms = [f"|a {k}" for k in range(n_arms)], range(n_arms)
    examples: list[Any] = []
    probabilities: list[float] = []

    def choose(shared: str) -> int:
        examples[:] = workspace.parse([shared, *names])
        probabilities[:] = workspace.predict(examples)
        return rng.choices(arms, probabilities)[0]

    def update(arm: int, shared: str, reward: float) -> None:
        """Learn from the examples as they were parsed to choose: half the work of parsing them again."""
        examples[arm + 1].set_label_string(f"0:{-reward}:{probabilities[arm]}")
        workspace.learn(examples)
        workspace.finish_example(examples)

    return Agent(choose, update, lambda x: "shared |x " + " ".join(f"{i}:{v:.6g}" for i, v in enumerate(x.tolist())))


MAKERS: dict[str, Maker] = {
    make.__name__: make
    for make in (mabwiser, contextualbandits, river, pymab, obp, coba, bayesianbandits, vowpalwabbit)
}
