"""Choices and their rewards apart, for families that learn a reward by what its choice was.

A mark says that: whether the pull was forced, which stage has decided, or how probable the arms were. Who keeps it
until the reward comes need not guess. Where a family has no `marks`, any reward is learnt alike, and its mark is 0.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from armspan.kernels.family import Family


class Marked(NamedTuple):
    """choose(block, knobs, state) : the arm and its mark. learn(block, state, a, y, mark) : learn its reward.

    whole(state) : the whole numbers that a mark may be; None where a mark is the probabilities (K,) of the arms.
    """

    choose: Callable[..., tuple[int, Any]]
    learn: Callable[..., None]
    whole: Callable[[Any], Sequence[int]] | None = None


def marked(family: Family) -> Marked:
    """How this family chooses and learns."""
    return (family.marks or unmarked)(family)


def unmarked(family: Family) -> Marked:
    """The mark is always 0."""
    return Marked(
        lambda block, knobs, state: (family.choose_once(block, knobs, state), 0),
        lambda block, state, a, y, mark: family.learn_once(block, state, a, y),
        lambda state: range(1),
    )


def forced_marks(family: Family) -> Marked:
    """The mark is 1 where the pull was forced, so that the family's field `due` has grown."""

    def choose(block: Any, knobs: Any, state: Any) -> tuple[int, int]:
        before = state.due[0].copy()
        a = int(family.choose_once(block, knobs, state))
        return a, int(state.due[0, a] - before[a])

    def learn(block: Any, state: Any, a: int, y: float, mark: int) -> None:
        due, state.due[0, a] = int(state.due[0, a]), mark
        family.learn_once(block, state, a, y)
        state.due[0, a] = max(due - mark, 0)

    return Marked(choose, learn, lambda state: range(2))
