"""How each package is asked for a step in the arena, with the settings that its own documentation recommends.

Packages that know only one context for all arms get the features of all arms side by side, where these differ. Each
entrant imports its package when called, in the environment that has it.
"""

import random
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers.race import Course, Entrant
from benchmarks.peers.task import Agent, Array


def flat(course: Course) -> Any:
    """What makes one context of features (K, d): (d,) where arms have the same, else (K·d,)."""
    return (lambda x: x[0]) if course.shared else np.ravel


def mabwiser(course: Course, seed: int) -> Agent:
    from mabwiser.mab import MAB, LearningPolicy  # type: ignore[import-not-found]

    bandit, one = MAB(list(range(course.n_arms)), LearningPolicy.LinUCB(alpha=1.25), seed=seed), flat(course)
    bandit.fit(
        [0], [0.0], np.zeros((1, one(course.x[0]).size))
    )  # partial_fit needs a fit before it; zeros teach nothing

    def update(arm: int, x: Array, reward: float) -> None:
        bandit.partial_fit(np.array([arm]), np.array([reward]), x)

    return Agent(bandit.predict, update, lambda x: one(x)[None])


def contextualbandits(course: Course, seed: int) -> Agent:
    from contextualbandits.online import LinUCB  # type: ignore[import-not-found]

    one = flat(course)
    policy = LinUCB(course.n_arms, alpha=0.1, beta_prior="auto", ucb_from_empty=False, random_state=seed + 1)  # > 0
    policy.partial_fit(
        np.zeros((1, one(course.x[0]).size)), np.array([0]), np.array([0.0])
    )  # it must know d to predict

    def update(arm: int, x: Array, reward: float) -> None:
        policy.partial_fit(x, np.array([arm]), np.array([reward]))

    return Agent(lambda x: int(policy.predict(x)[0]), update, lambda x: np.ascontiguousarray(one(x)[None]))


def river(course: Course, seed: int) -> Agent:
    from river.bandit import LinUCBDisjoint  # type: ignore[import-not-found]

    policy, arms, one = LinUCBDisjoint(seed=seed), list(range(course.n_arms)), flat(course)
    return Agent(lambda x: policy.pull(arms, x), policy.update, lambda x: dict(enumerate(one(x).tolist())))


def vowpalwabbit(course: Course, seed: int) -> Agent:
    """Every arm has a namespace of its own, so that it has its own weights; costs lie in [0, 1], up to the noise."""
    from vowpalwabbit import Workspace  # type: ignore[import-not-found]

    workspace, rng, arms = Workspace("--cb_explore_adf --squarecb --quiet"), random.Random(seed), range(course.n_arms)
    low, high = course.reward_range
    examples: list[Any] = []
    probabilities: list[float] = []

    def prepare(x: Array) -> list[str]:
        return [
            f"|arm{k} " + " ".join(f"{i}:{value:.6g}" for i, value in enumerate(row))
            for k, row in enumerate(x.tolist())
        ]

    def choose(lines: list[str]) -> int:
        examples[:] = workspace.parse(lines)
        probabilities[:] = workspace.predict(examples)
        return rng.choices(arms, probabilities)[0]

    def update(arm: int, lines: list[str], reward: float) -> None:
        examples[arm].set_label_string(f"0:{(high - reward) / (high - low)}:{probabilities[arm]}")
        workspace.learn(examples)
        workspace.finish_example(examples)

    return Agent(choose, update, prepare)


class Recommended(NamedTuple):
    """An entrant, and its settings in words."""

    enter: Entrant
    settings: str


ENTRANTS = {
    "mabwiser": Recommended(mabwiser, "LinUCB(alpha=1.25)"),
    "contextualbandits": Recommended(contextualbandits, 'LinUCB(alpha=0.1, beta_prior="auto")'),
    "vowpalwabbit": Recommended(vowpalwabbit, "--cb_explore_adf --squarecb"),
    "river": Recommended(river, "LinUCBDisjoint()"),
}
"""By the names of the packages; which settings: the example in MABWiser's docstring, the advice in contextualbandits',
the usage on VW's page about SquareCB, and river's defaults, for it recommends none."""
