"""The agent of a policy without a family: its naive form learns, and its file holds the rewards that it has learnt."""

import copy
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from armspan._interrupts import Uninterrupted
from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.agents import container
from armspan.agents.answers import Scores
from armspan.agents.naive_choice import OneStep, comparable, drawn_arm, largest_arm
from armspan.agents.past import Past
from armspan.agents.policy_agent import FamilySettings, PolicyAgent, Reward
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels.choice import winners

RUN = 0
"""An agent is run 0 of its seed."""


class ReferenceAgent(PolicyAgent):
    """The agent of a policy without a family: KernelUCB, ILTCB, RandomizedUCB, and experts that are functions.

    It runs in Python, with the policy's reference. If the policy can be written to a file, all rewards are kept: the
    file holds them, and loading learns them again. Functions of a policy (experts, say) are called while the agent is
    locked, and Ctrl-C waits for them.

    Parameters
    ----------
    settings : FamilySettings
        How the agent learns.
    arms : list
        Names of the arms.
    policy : Policy
        The policy that made it.
    make : function
        From a number of arms to a fresh reference that `learns_late` (see `armspan.policies.base.Reference`).
    feature_names : list, optional
        Names of the features, in order.
    """

    def __init__(
        self,
        settings: FamilySettings,
        arms: Sequence[Hashable],
        *,
        policy: Any,
        make: Callable[[int], Any],
        feature_names: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(settings, arms, policy=policy, feature_names=feature_names)
        self._make, self._reference = make, make(len(self._place))
        self._past = None if container.why_not_saved(policy) else Past()

    @property
    def nbytes(self) -> int:
        return _array_bytes(self._reference, set()) + (0 if self._past is None else self._past.nbytes)

    # Choosing

    @property
    def _draws(self) -> bool:
        """Whether it chooses by probabilities."""
        return hasattr(self._reference, "probabilities")

    def _asked(self, features: FloatArray) -> FloatArray:
        """The index or the probability (K,) of every arm, in the next decision."""
        reference = self._reference
        if hasattr(reference, "chance"):
            reference.chance = OneStep(self.settings.seed, RUN, self.decisions)
        features.flags.writeable = False  # a user's function must not change it
        ask = reference.probabilities if self._draws else reference.index
        with np.errstate(over="ignore", invalid="ignore"):
            answer = np.asarray(ask(features, 0, self._step))
        if np.isnan(answer).any():
            raise InvalidParameter(f"x must be small enough for {self.policy.name} to compute with, got {features[0]}")
        return answer if self._draws else comparable(answer)

    def _scores(self, features: FloatArray) -> Scores:
        index = self._asked(features)
        estimates = getattr(self._reference, "estimates", None)
        mean, width = (index, np.zeros(index.size)) if estimates is None else estimates(features)
        return Scores(self.arms, mean, width, index)

    def _chosen(self, features: FloatArray, only: Sequence[Hashable] | None) -> tuple[int, Any]:
        answer = self._asked(features)
        return self._picked(answer, self._eligible(only)), self._mark_of(answer)

    def _shares(self, features: FloatArray, only: Sequence[Hashable] | None) -> FloatArray:
        allowed = self._eligible(only)
        self._check_known()
        return self._parts(self._asked(features), allowed)

    def _decided(self, features: FloatArray, only: Sequence[Hashable] | None) -> tuple[int, Any, FloatArray]:
        allowed = self._eligible(only)
        self._check_known()
        answer = self._asked(features)  # once: a function may answer differently the next time
        return self._picked(answer, allowed), self._mark_of(answer), self._parts(answer, allowed)

    @property
    def _marks(self) -> Sequence[int] | None:
        return None if hasattr(self._reference, "mark") else ()

    def _mark_of(self, answer: FloatArray) -> Any:
        return tuple(answer.tolist()) if self._marks is None else None

    def _picked(self, answer: FloatArray, allowed: BoolArray) -> int:
        """The row of the arm that is chosen among those that are allowed, both (K,)."""
        rows, place = np.flatnonzero(allowed), (self.settings.seed, RUN, self.decisions)
        if not self._draws:
            return int(rows[largest_arm(answer[rows], self._unit, *place)])
        return drawn_arm(answer if allowed.all() else self._parts(answer, allowed), *place)

    def _parts(self, answer: FloatArray, allowed: BoolArray) -> FloatArray:
        """The probabilities (K,) that follow from an answer, where some arms are allowed: in proportion, sum 1."""
        result = np.zeros(allowed.size)
        if not self._draws:
            result[allowed] = winners(answer[allowed], self._unit)
            return result
        result[allowed] = answer[allowed]
        result = np.where(allowed, 1.0, 0.0) if result.sum() <= 0 else result
        return np.asarray(result / result.sum())

    def _check_known(self) -> None:
        if not self._draws and hasattr(self._reference, "chance"):
            raise NotApplicable(f"{self.policy.name} draws its index by chance, so no probability is known")

    # Learning

    def _learn(self, todo: list[Reward], hold: Uninterrupted) -> None:
        reference = self._reference if len(todo) == 1 else self._twin()
        for one in todo:
            if hold.pending and len(todo) > 1:  # a long batch: Ctrl-C ends it, and nothing of it is learnt
                hold.abandoned = True
                return
            _learn_one(reference, one)
        self._reference = reference
        self._count(*(one.value for one in todo))
        self._keep(todo)

    def _keep(self, todo: list[Reward]) -> None:
        """Keep rewards that were learnt, for a file."""
        if self._past is not None:
            for one in todo:
                rows = one.features[[one.arm]] if self._arm_by_arm else one.features
                self._past.add(one.arm, rows, one.value, one.mark)

    @property
    def _arm_by_arm(self) -> bool:
        """Whether rewards are learnt one by one from the features of their arm alone: arms may come and go then."""
        return hasattr(self._reference, "take_over")

    def _twin(self) -> Any:
        """The reference once more; functions that the policy was given are not copied."""
        values = [getattr(self.policy, field.name) for field in fields(self.policy)]
        parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
        return copy.deepcopy(self._reference, {id(part): part for part in parts if callable(part)})

    def _again(self, past: Past) -> list[Reward]:
        """The rewards of a past, as they came."""
        entries = past.entries(self.settings.width)
        shape = (len(self._place), self.settings.width)
        return [Reward(arm, np.broadcast_to(rows, shape), value, mark) for arm, rows, value, mark in entries]

    # Arms and other agents

    def _take_over(self, names: list[Hashable], rows: IntArray) -> None:
        if not self._arm_by_arm:
            name = self.policy.name
            raise NotApplicable(
                f"arms of {name} can be neither added nor removed: what it learns about one concerns all of them"
            )
        fresh, shared = self._make(len(names)), bool(getattr(self.policy, "shared", False))
        past = None if self._past is None else self._past.continued(self.settings.width, rows, shared=shared)
        fresh.take_over(self._reference, rows)
        self._reference, self._past = fresh, past
        self._place = {name: k for k, name in enumerate(names)}

    @property
    def _can_merge(self) -> bool:
        return self._arm_by_arm and self._past is not None

    def _join(self, other: "ReferenceAgent") -> None:
        todo, twin = self._again(other._past or Past()), self._twin()
        for one in todo:
            _learn_one(twin, one)
        self._reference = twin
        self._keep(todo)

    # Keeping

    def copy(self) -> "ReferenceAgent":
        """Copy the agent. From now on the copy learns separately; functions of its policy are not copied."""
        with self._lock:
            twin = ReferenceAgent(
                self.settings, self.arms, policy=self.policy, make=self._make, feature_names=self.feature_names
            )
            twin._reference, twin._past = self._twin(), copy.deepcopy(self._past)
            twin.decisions, twin.rewards, twin._origins = self.decisions, self.rewards, set(self._origins)
            twin._squares = self._squares
            return twin

    __copy__ = copy

    def __deepcopy__(self, _: Any) -> "ReferenceAgent":
        return self.copy()

    def _arrays(self) -> dict[str, Any]:
        return (self._past or Past()).arrays()

    def _restore(self, arrays: dict[str, Any]) -> None:
        past = Past.from_arrays(arrays, len(self._place), self.settings.width)
        todo = self._again(past)
        self.policy.check_rewards([one.value for one in todo])
        for one in todo:
            _learn_one(self._reference, one)
        self._past = past


def _learn_one(reference: Any, reward: Reward) -> None:
    """Teach one reward to a reference, which changes nothing where it raises."""
    features = reward.features + 0.0  # which makes -0.0 0.0, as it will be in a file
    features.flags.writeable = False
    if hasattr(reference, "mark"):
        reference.mark = reward.mark
    with np.errstate(over="ignore", invalid="ignore"):
        reference.update(reward.arm, features, 0, reward.value)


def _array_bytes(thing: Any, seen: set[int]) -> int:
    """Bytes of all arrays that can be reached from a reference."""
    if id(thing) in seen or callable(thing):
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    parts = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list | tuple) else ()
    parts = [*parts, *getattr(thing, "__dict__", {}).values()]
    return sum(_array_bytes(part, seen) for part in parts)
