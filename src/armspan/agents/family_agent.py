"""The agent of every family: a policy plus what it has learnt in one run, by the same functions as a simulation."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from armspan._interrupts import Uninterrupted
from armspan._typing import FloatArray, IntArray
from armspan.agents import container
from armspan.agents.ahead import Ahead
from armspan.agents.answers import Scores
from armspan.agents.past import Contexts
from armspan.agents.policy_agent import FamilySettings, PolicyAgent, Reward
from armspan.agents.settings import SAFE_RIDGE
from armspan.errors import InvalidParameter
from armspan.kernels.block import Block
from armspan.kernels.family import Family, Field, usual_sizes
from armspan.kernels.marked import marked
from armspan.theory import Schedule

Told = tuple[Mapping[str, float | Schedule], Mapping[str, int]]
"""What a policy tells its family: knobs, and sizes of fields that are not the usual ones."""
FEWEST_CONTEXTS = 16
"""Contexts that there is room for at first, where each is learnt on its own."""
ONE_RUN = np.zeros(1, dtype=np.int64)


class FamilyAgent(PolicyAgent):
    """The agent of a policy that has a compiled family. It is used like `PolicyAgent`.

    Parameters
    ----------
    settings : FamilySettings
        How the agent learns.
    arms : list
        Names of the arms.
    policy : Policy
        The policy that made it.
    family : Family
        The compiled functions that choose and learn.
    tell : function
        From a number of arms to what the family needs: its knobs, which are numbers and functions of the step, and the
        sizes of those of its fields that are not the usual ones.
    feature_names : list, optional
        Names of the features, in order.
    """

    def __init__(
        self,
        settings: FamilySettings,
        arms: Sequence[Hashable],
        *,
        policy: Any,
        family: Family,
        tell: Callable[[int], Told],
        feature_names: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(settings, arms, policy=policy, feature_names=feature_names)
        self._family, self._tell, self._marked = family, tell, marked(family)
        self._listen(tell(len(self._place)))
        self._contexts = Contexts()
        try:
            self._state = self._fresh(len(self._place), FEWEST_CONTEXTS if self._by_context else 0)
        except (MemoryError, ValueError):
            raise InvalidParameter(
                f"arms and n_features must fit into memory, got {settings.n_features:,} features"
            ) from None

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._state)

    # Inside

    @cached_property
    def _by_context(self) -> bool:
        """Whether each context is learnt on its own."""
        return any("n" in field.shape for field in self._family.fields)

    def _listen(self, told: Told) -> None:
        """Go by what the policy says for the present number of arms."""
        schedules: list[Any] = [told[0][name] for name in self._family.knobs]
        self._told, self._ahead = told, Ahead(schedules)
        ridge: Any = told[0].get("ridge")
        if ridge is not None:
            self._reach = math.sqrt(ridge / SAFE_RIDGE)  # V⁻¹ is computed afresh as often as in a simulation

    def _fresh(self, n_arms: int, n_contexts: int, told: Told | None = None) -> Any:
        """What is known before anything is seen. told : what the policy says, if not what it says now."""
        knobs, sizes = told or self._told
        state = self._family.empty(1, **usual_sizes(n_arms, self.settings.width, n_contexts, sizes))
        self._family.fresh(state, {name: knob for name, knob in knobs.items() if not callable(knob)})
        return state

    def _knobs(self) -> list[float]:
        """The knobs of the next decision."""
        return [float(value[0]) for value in self._ahead.at(self._step)]

    def _block(self, features: FloatArray, *, remember: bool = False) -> Block:
        """One step of one run with this context; remember : make room for it, where contexts are learnt one by one."""
        K = len(self._place)
        number = self._number(features, remember=remember) if self._by_context else 0
        return Block(
            np.uint64(self.settings.seed),
            self.decisions,
            ONE_RUN,
            np.array([[number]]),
            features[None],
            np.zeros((1, K)),
            np.zeros((1, K)),
            np.zeros((1, 1)),
            self._unit,
        )

    def _number(self, rows: FloatArray, *, remember: bool) -> int:
        """Which of the known contexts this is; a new one has the first free number."""
        number, room = self._contexts.number(rows, remember=remember), self._state[0].shape[1]
        if number >= room:
            larger = self._fresh(len(self._place), 2 * room)
            for new, old in zip(larger, self._state, strict=True):
                new[:, :room] = old
            self._state = larger
        return number

    def _scores(self, features: FloatArray) -> Scores:
        seen = self._family.seen(self._state, self._block(features), self._knobs())
        return Scores(self.arms, seen.mean, seen.width, seen.index)

    def _chosen(self, features: FloatArray, only: Sequence[Hashable] | None) -> tuple[int, Any]:
        block, knobs = self._block(features), tuple(np.array([knob]) for knob in self._knobs())
        rows = None if only is None else np.flatnonzero(self._eligible(only))
        if rows is None or rows.size == len(self._place):  # not by a copy: some families take down what they choose
            k, mark = self._marked.choose(block, knobs, self._state)
        else:
            k, mark = self._marked.choose(_with_arms(block, rows), knobs, self._part(rows))
            k = rows[k]
        if self._family.marks is None:
            return int(k), None
        return int(k), int(mark) if np.ndim(mark) == 0 else tuple(mark.tolist())

    @property
    def _marks(self) -> Sequence[int] | None:
        if self._family.marks is None:
            return ()
        return None if self._marked.whole is None else self._marked.whole(self._state)

    def _shares(self, features: FloatArray, only: Sequence[Hashable] | None) -> FloatArray:
        block, rows = self._block(features), np.flatnonzero(self._eligible(only))
        result = np.zeros(len(self._place))
        result[rows] = self._family.seen(self._part(rows), _with_arms(block, rows), self._knobs()).share
        return result

    def _learn(self, todo: list[Reward], hold: Uninterrupted) -> None:
        blocks = [self._block(one.features, remember=True) for one in todo]
        for one, block in zip(todo, blocks, strict=True):
            if one.mark is None:
                self._family.learn_once(block, self._state, one.arm, one.value)
            else:
                self._marked.learn(block, self._state, one.arm, one.value, one.mark)
            self._count(one.value)
            if self._family.tidy is not None and self.rewards % self._family.every == 0:
                self._family.tidy(self._state)

    def _axis(self, field: Field) -> int:
        """Which axis of a field goes over the arms, -1 if none does."""
        each = "KA" if "A" not in self._told[1] else "K"
        return max(field.shape.find(letter) for letter in each)

    def _part(self, rows: IntArray) -> Any:
        """What is known of some of the arms."""
        parts = []
        for field, array in zip(self._family.fields, self._state, strict=True):
            axis = self._axis(field)
            parts.append(array if axis < 0 else np.ascontiguousarray(np.take(array, rows, axis=axis + 1)))
        return type(self._state)(*parts)

    def _take_over(self, names: list[Hashable], rows: IntArray) -> None:
        told, before = self._tell(len(names)), self._fresh(1, 0)
        room = self._state[0].shape[1] if self._by_context else 0
        state, known = self._fresh(len(names), room, told), np.flatnonzero(rows >= 0)
        for field, new, old, first in zip(self._family.fields, state, self._state, before, strict=True):
            axis = self._axis(field) + 1
            if axis == 0:  # where it begins with another number, that is the policy's for these arms, not learnt
                new[:] = np.where(new == first, old, new)
            else:
                np.moveaxis(new, axis, 0)[known] = np.moveaxis(old, axis, 0)[rows[known]]
        self._listen(told)
        self._state, self._place = state, {name: k for k, name in enumerate(names)}

    @property
    def _can_merge(self) -> bool:
        return self._family.merges and not self._by_context and any(field.sums for field in self._family.fields)

    def _join(self, other: "FamilyAgent") -> None:
        before = self._fresh(len(self._place), 0)
        for field, mine, theirs, at_first in zip(self._family.fields, self._state, other._state, before, strict=True):
            if field.sums:
                mine += theirs - at_first
        if self._family.tidy is not None:
            self._family.tidy(self._state)

    def _arrays(self) -> dict[str, Any]:
        known = zip((field.name for field in self._family.fields), self._state, strict=True)
        return {**dict(known), **self._contexts.arrays()}

    def _restore(self, arrays: dict[str, Any]) -> None:
        contexts = Contexts.from_arrays(arrays)
        container.demand(self._by_context or not len(contexts))
        if self._by_context:
            n = arrays[self._family.fields[0].name].shape[1]
            container.demand(len(contexts) <= n)
            self._state = self._fresh(len(self._place), n)
        for field, array in zip(self._family.fields, self._state, strict=True):
            stored = arrays[field.name]
            container.demand(stored.shape == array.shape and stored.dtype == array.dtype)
            container.demand(bool(np.isfinite(stored).all()))
        for field, array in zip(self._family.fields, self._state, strict=True):
            array[:] = arrays[field.name]
        self._contexts = contexts


def _with_arms(block: Block, rows: IntArray) -> Block:
    """The block for some of the arms alone."""
    zeros = np.zeros((1, rows.size))
    return block._replace(x=np.ascontiguousarray(block.x[:, rows]), means=zeros, losses=zeros)
