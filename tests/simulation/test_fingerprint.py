"""The fingerprint tells simulations apart, by numbers and by a user's own code, and is the same for the same ones."""

import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armspan import Greedy, LinUCB, concatenate, simulate
from armspan.environments import DelayedRewards, FiniteContexts, PerturbedContexts, as_environment, paper_1a
from armspan.errors import InvalidParameter
from armspan.simulation.fingerprint import fingerprint


class World:
    """A user's environment."""

    n_arms, n_features, feature_bound, parameter_bound, noise, name = 2, 2, 1.5, 1.0, 0.5, "world"

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def context(self, step: int, rng: np.random.Generator) -> Any:
        return rng.random((2, 2))

    def mean_rewards(self, x: Any) -> Any:
        return x[:, 0] * self.weight


class Other(World):
    def mean_rewards(self, x: Any) -> Any:
        return x[:, 1] * self.weight


class Fixed:
    """A user's policy."""

    def __init__(self, n_arms: int, n_features: int, seed: int, arm: int = 0) -> None:
        self.arm = arm

    def choose(self, x: Any) -> int:
        return self.arm

    def update(self, arm: int, x: Any, reward: float) -> None: ...


class Bent(FiniteContexts):
    """A user's kind of environment, whose numbers are private."""

    def __init__(self, weight: float) -> None:
        super().__init__(np.ones((2, 1, 1)), [[1.0], [2.0]])
        self._weight = weight


def made(seen: float) -> Callable[[Any], Any]:
    return lambda t: seen + 0 * t


def starved(at: float) -> PerturbedContexts:
    return PerturbedContexts(np.eye(2), 0.1, adversary=lambda history: at * np.ones((len(history.pulls), 2, 2)))


def of(env: Any, policy: Any) -> str:
    return fingerprint(as_environment(env), [policy])


PAIRS = {
    "what an environment holds": lambda one: of(World(1.0 if one else 100.0), Greedy()),
    "what it does": lambda one: of(World(1.0) if one else Other(1.0), Greedy()),
    "what is delayed": lambda one: of(DelayedRewards(World(1.0 if one else 2.0), steps=1), Greedy()),
    "what a subclass of ours holds": lambda one: of(Bent(1.0 if one else 2.0), Greedy()),
    "what a policy is given": lambda one: of(paper_1a(), partial(Fixed, arm=int(one))),
    "what a schedule encloses": lambda one: of(paper_1a(), LinUCB(alpha=made(0.1 if one else 5.0))),
    "what an adversary encloses": lambda one: of(starved(0.1 if one else 0.2), Greedy()),
}


@pytest.mark.parametrize("digits", PAIRS.values(), ids=PAIRS.keys())
def test_a_users_own_code_and_content_count(digits: Callable[[bool], str]) -> None:
    assert digits(True) == digits(True)
    assert digits(True) != digits(False)


def test_different_simulations_are_not_joined() -> None:
    parts = [simulate(World(1.0), Greedy(), horizon=20, runs=[run]) for run in (0, 1)]
    assert concatenate(parts).runs.tolist() == [0, 1]
    with pytest.raises(InvalidParameter, match="results must have the same fingerprint"):
        concatenate([parts[0], simulate(World(100.0), Greedy(), horizon=20, runs=[1])])


def test_what_cannot_be_compared_counts_by_its_class_and_by_its_owners_word() -> None:
    first, second = World(1.0), World(1.0)
    for env in (first, second):
        env.lock = threading.Lock()  # type: ignore[attr-defined]
    assert of(first, Greedy()) == of(second, Greedy()) != of(World(1.0), Greedy())
    second.fingerprint = "2"  # type: ignore[attr-defined]
    assert of(first, Greedy()) != of(second, Greedy())


class Hidden(World):
    """It cannot be taken apart."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, (), None, iter(lambda: 1 / 0, 1)


def test_what_raises_when_it_is_taken_apart_is_simulated_all_the_same() -> None:
    assert simulate(Hidden(1.0), Greedy(), horizon=5, runs=1).fingerprint


SCRIPT = """
import armspan
policy = armspan.LinUCB(alpha=lambda t: ALPHA + 0 * t)
print(armspan.simulate(armspan.environments.paper_1a(), policy, horizon=5, runs=1).fingerprint)
"""


@pytest.mark.long
def test_processes_agree(tmp_path: Path) -> None:
    path, found = tmp_path / "script.py", []
    for alpha in ("0.1", "0.1", "0.2"):
        path.write_text(SCRIPT.replace("ALPHA", alpha))
        found.append(subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout)
    assert found[0] == found[1] != found[2]
