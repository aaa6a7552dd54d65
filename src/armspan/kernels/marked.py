"""Choices and their rewards apart, for families that learn a reward by what its choice was.

A mark says that: whether the pull was forced, which stage has decided, or how probable the arms were. Who keeps it
until the reward comes need not guess. Where a family has no `marks`, any reward is learnt alike, and its mark is 0.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from armspan.kernels.family import Family


class Marked(NamedTuple):
    """choose(block, knobs, state) : the arm and its mark. learn(block, state, a, y, mark) : learn its reward."""

    choose: Callable[..., tuple[int, Any]]
    learn: Callable[..., None]


def marked(family: Family) -> Marked:
    """How this family chooses and learns."""
    return (family.marks or unmarked)(family)


def unmarked(family: Family) -> Marked:
    """The mark is always 0."""
    return Marked(
        lambda block, knobs, state: (family.choose_once(block, knobs, state), 0),
        lambda block, state, a, y, mark: family.learn_once(block, state, a, y),
    )


def forced_marks(family: Family) -> Marked:
    """The mark is 1 where the pull was forced, which the family's field `due` says."""

    def choose(block: Any, knobs: Any, state: Any) -> tuple[int, int]:
        a = int(family.choose_once(block, knobs, state))
        mark, state.due[0, a] = int(state.due[0, a]), 0
        return a, mark

    def learn(block: Any, state: Any, a: int, y: float, mark: int) -> None:
        state.due[0, a] = mark
        family.learn_once(block, state, a, y)

    return Marked(choose, learn)
