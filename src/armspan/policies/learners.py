"""The compiled form of a policy: what it has learnt in many runs at once, and the kernels of its family."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment
from armspan.kernels.block import Block, Tally
from armspan.kernels.family import Family, usual_sizes
from armspan.kernels.late import Post
from armspan.theory import Schedule

MOST_KEPT = 8
"""Blocks of steps whose numbers are kept: threads that begin together stay close to each other."""


class StepNumbers:
    """What a policy's knobs are in a block of steps: computed by one thread, and kept for the others.

    They are the same for all runs. If every thread computed its own, threads would mostly wait for each other.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int], tuple[FloatArray, ...]] = {}
        self._lock = threading.Lock()

    def of(self, block: tuple[int, int], compute: Callable[[int, int], tuple[FloatArray, ...]]) -> Any:
        """The numbers of a block, given by its first step and its last."""
        with self._lock:
            found = self._kept.pop(block, None) or compute(*block)
            self._kept[block] = found  # the last one used is the last one dropped
            if len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            return found


class FamilyLearner:
    """A policy of any family, by what its knobs are. numbers : shared by the learners of one policy, if they like."""

    numbers: StepNumbers | None = None

    def __init__(
        self,
        family: Family,
        env: Environment,
        runs: IntArray,
        knobs: Mapping[str, float | Schedule],
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self._family, self._kernel = family, family.advance(env.n_arms, env.n_features)
        self._schedules: list[Any] = [knobs[name] for name in family.knobs]
        self.state = family.empty(runs.size, **usual_sizes(env.n_arms, env.n_features, env.n_contexts or 0, sizes))
        self.regret = np.zeros(runs.size)
        family.fresh(self.state, {name: knob for name, knob in knobs.items() if not callable(knob)})

    def advance(self, block: Block, marks: IntArray, curve: FloatArray, tally: Tally) -> None:
        """Live through a block of steps.

        Parameters
        ----------
        block : Block
            The decisions of these runs.
        marks : (M,) array
            Steps within the block at which regret is recorded.
        curve : (R, M) array
            Where to write the pseudo-regret at the marks.
        tally : Tally
            Where to count suboptimal pulls.
        """
        last = int(block.first + marks[-1])
        steps = int(block.first), last
        knobs = self._knobs(*steps) if self.numbers is None else self.numbers.of(steps, self._knobs)
        self._live(block, knobs, marks, curve, tally)
        if self._family.tidy is not None and last % self._family.every == 0:
            self._family.tidy(self.state)

    @property
    def switched_at(self) -> IntArray:
        """Of a policy that switches, after how many rewards each run has (R,); 0 where it has not."""
        return np.asarray(self.state.switched_at[:, 0])

    def _live(
        self, block: Block, knobs: tuple[FloatArray, ...], marks: IntArray, curve: FloatArray, tally: Tally
    ) -> None:
        self._kernel(block, knobs, marks, self.state, self.regret, curve, tally)

    def _knobs(self, first: int, last: int) -> tuple[FloatArray, ...]:
        steps = np.arange(first + 1, last + 1)
        return tuple(schedule(steps) for schedule in self._schedules)


class LateLearner(FamilyLearner):
    """A policy whose rewards come late, in an environment that says how late."""

    late = True

    def __init__(
        self,
        family: Family,
        env: Any,
        runs: IntArray,
        knobs: Mapping[str, float | Schedule],
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(family, env, runs, knobs, sizes)
        assert family.late is not None
        self._kernel = family.late
        self._recurring = env.n_contexts is not None
        delays = env.steps, env.mean, env.lost
        self._post = Post(*delays, np.zeros(runs.size, dtype=np.int64), *self._places(env.n_arms, env.n_features, 0))

    def _places(self, K: int, d: int, size: int) -> tuple[Any, ...]:
        """So many empty places for the rewards of each run, as `Post` has them."""
        R = len(self.regret)
        order = np.tile(np.arange(size), (R, 1))
        due, made, arm, context = (np.zeros((R, size), dtype=np.int64) for _ in range(4))
        x = np.zeros((R, 0 if self._recurring else size, K, d))
        return order, due, made, arm, context, np.zeros((R, size)), np.zeros((R, size, K)), x

    def _make_room(self, more: int) -> None:
        """Let so many more rewards wait."""
        old, places = self._post, self._post.order.shape[1]
        if (need := int(old.waiting.max()) + more) > places:
            K, d = old.x.shape[2:]
            new = Post(*old[:4], *self._places(K, d, max(need, 2 * places)))
            for before, after in zip(old[4:], new[4:], strict=True):
                after[:, : before.shape[1]] = before
            self._post = new

    def _live(
        self, block: Block, knobs: tuple[FloatArray, ...], marks: IntArray, curve: FloatArray, tally: Tally
    ) -> None:
        self._make_room(int(marks[-1]))
        self._kernel(block, knobs, marks, self.state, self.regret, curve, tally, self._post)
