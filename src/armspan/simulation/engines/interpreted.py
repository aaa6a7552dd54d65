"""Policies in plain Python, step by step: the naive form of the built-in ones, and those that a user has written."""

from collections.abc import Callable
from inspect import signature
from typing import Any, Protocol

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.agents.naive_choice import comparable, drawn_arm, largest_arm
from armspan.environments import Environment
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels.block import Block, Tally
from armspan.kernels.draws import click
from armspan.kernels.philox import AGENTS, words
from armspan.policies import Policy, Reference
from armspan.policies.base import Chance


class Actor(Protocol):
    """One run of a policy. mark : what the latest choice was; whose reward comes late must have it set again.

    switched_at : of a policy that switches, after how many rewards it has; 0 if it has not.
    """

    mark: Any

    @property
    def switched_at(self) -> int: ...

    def choose(self, x: FloatArray, context: int, run: int, step: int) -> int:
        """The arm to pull, for features x (K, d)."""
        ...

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        """Learn its reward."""
        ...


class ReferenceActor:
    """The naive form of a built-in policy; ties are broken as the compiled form breaks them."""

    def __init__(self, reference: Reference, unit: float, seed: int) -> None:
        self._reference, self._unit, self._seed = reference, unit, seed
        self.update = reference.update
        self._probabilities = getattr(reference, "probabilities", None)
        self._weighs = getattr(reference, "learns_late", False)  # a reward is weighted by how probable its arm was

    @property
    def mark(self) -> Any:
        return getattr(self._reference, "mark", None)

    @mark.setter
    def mark(self, mark: Any) -> None:
        if hasattr(self._reference, "mark"):
            self._reference.mark = mark

    @property
    def switched_at(self) -> int:
        return int(getattr(self._reference, "switched_at", 0))

    def choose(self, x: FloatArray, context: int, run: int, step: int) -> int:
        if self._probabilities is not None:
            p = self._probabilities(x, context, step)
            if self._weighs:
                self.mark = p
            return drawn_arm(p, self._seed, run, step - 1)
        index = comparable(self._reference.index(x, context, step))
        return largest_arm(index, self._unit, self._seed, run, step - 1)


class UserActor:
    """A user's own agent: choose(x) and update(arm, x, reward)."""

    mark: Any = None
    switched_at = 0

    def __init__(self, agent: Any, name: str, n_arms: int) -> None:
        self._agent, self._name, self._n_arms = agent, name, n_arms

    def choose(self, x: FloatArray, context: int, run: int, step: int) -> int:
        arm = self._agent.choose(x)
        if not (isinstance(arm, int | np.integer) and 0 <= arm < self._n_arms):
            raise InvalidParameter(f"{self._name}.choose must return an arm from 0 to {self._n_arms - 1}, got {arm!r}")
        return int(arm)

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        self._agent.update(arm, x, reward)


class InterpretedLearner:
    """Advances actors, one per run, through blocks of steps."""

    def __init__(self, actors: list[Actor], *, recurring: bool) -> None:
        self._actors, self._recurring = actors, recurring
        self._regret = np.zeros(len(actors))

    @property
    def switched_at(self) -> IntArray:
        """Of each actor (R,)."""
        return np.array([actor.switched_at for actor in self._actors])

    def advance(self, block: Block, marks: IntArray, curve: FloatArray, tally: Tally) -> None:
        """Live through the block; see `Learner`."""
        table = block.x.view() if self._recurring else block.x.copy()  # which a user's code may keep
        table.flags.writeable = False  # and must not change, as others will meet it
        for r, actor in enumerate(self._actors):
            i = 0
            for m, mark in enumerate(marks):
                while i < mark:
                    c = int(block.contexts[r, i])
                    context = c if self._recurring else block.first + i  # rows of a block are not contexts then
                    x = table[c]
                    arm = actor.choose(x, context, int(block.runs[r]), block.first + i + 1)
                    if block.clicks:
                        block.noise[r, i] = click(block.noise[r, i], block.means[c, arm])
                    actor.update(arm, x, context, float(block.means[c, arm] + block.noise[r, i]))
                    self._regret[r] += block.losses[c, arm]
                    tally.pulls[r, tally.bins[i], arm] += block.losses[c, arm] > 0
                    i += 1
                curve[r, m] = self._regret[r]


def _in_run(reference: Any, seed: int, run: int) -> Reference:
    """The reference, with what it draws in this run if it draws anything."""
    if hasattr(reference, "chance"):
        reference.chance = Chance(seed, run)
    found: Reference = reference
    return found


def actor_factory(policy: Any, env: Environment, seed: int) -> Callable[[int], Actor]:
    """A function from a run's number to a fresh actor."""
    if isinstance(policy, Policy):
        return lambda run: ReferenceActor(_in_run(policy.sound_reference(env), seed, run), env.reward_scale, seed)
    make, name = _maker(policy), policy_name(policy)

    def fresh(run: int) -> Actor:
        high, low, _, _ = words(np.uint64(seed), run, 0, 0, AGENTS)
        own_seed = (int(high) << 32) + int(low)
        agent = make(n_arms=env.n_arms, n_features=env.n_features, seed=own_seed)
        for method in ("choose", "update"):
            if not callable(getattr(agent, method, None)):
                raise NotApplicable(
                    f"what {name} makes must have the methods choose(x) and update(arm, x, reward), and lacks {method}"
                )
        return UserActor(agent, name, env.n_arms)

    return fresh


def _maker(policy: Any) -> Callable[..., Any]:
    """What makes the agents of a user's policy, if it can be called with n_arms, n_features and seed."""
    make, kind = getattr(policy, "agent", policy), type(policy).__name__
    if not callable(make):
        if hasattr(policy, "choose") and hasattr(policy, "update"):
            own = hasattr(policy, "policy")  # an agent of armspan's
            wanted, given = ("policy", "its agent") if own else ("class", "an object")
            how = "" if own else f": write {kind}, not {kind}(...)"
            raise NotApplicable(f"give the {wanted}, not {given}, so that every run can start afresh{how}")
        raise NotApplicable(
            f"a policy must be one of armspan's, a class with choose and update, or have a method agent, got {policy!r}"
        )
    try:
        parameters = signature(make)
    except (TypeError, ValueError):  # nobody knows what it takes
        return make
    try:
        parameters.bind(n_arms=2, n_features=1, seed=0)
    except TypeError as error:
        where = "a method agent" if hasattr(policy, "agent") else "an __init__"
        raise NotApplicable(
            f"{policy_name(policy)} must have {where} that takes n_arms, n_features and seed: {error}"
        ) from None
    return make


def policy_name(policy: Any) -> str:
    """The name of a policy in results."""
    name = getattr(policy, "name", None) or getattr(policy, "__name__", None) or type(policy).__name__
    return str(name)
