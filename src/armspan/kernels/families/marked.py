"""Choices and their rewards apart, for families that learn a reward by what its choice was.

A mark, a small integer, says that: whether the pull was forced, or which stage has decided. Who keeps it until the
reward comes need not guess. Where a family is not listed, any reward is learnt alike, and its mark is 0.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from armspan.kernels.family import Family

GREEDY = -1
"""The mark of a pull before GreedyFirst's switch."""


class Marked(NamedTuple):
    """choose(block, knobs, state) : the arm and its mark. learn(block, state, a, y, mark) : learn its reward."""

    choose: Callable[..., tuple[int, int]]
    learn: Callable[..., None]


def marked(family: Family) -> Marked:
    """How this family chooses and learns."""
    if family.name in LISTED:
        return LISTED[family.name](family)
    return Marked(
        lambda block, knobs, state: (family.choose_once(block, knobs, state), 0),
        lambda block, state, a, y, mark: family.learn_once(block, state, a, y),
    )


def _forced(family: Family) -> Marked:
    """The mark is 1 where the pull was forced."""

    def choose(block: Any, knobs: Any, state: Any) -> tuple[int, int]:
        a = int(family.choose_once(block, knobs, state))
        mark, state.due[0, a] = int(state.due[0, a]), 0
        return a, mark

    def learn(block: Any, state: Any, a: int, y: float, mark: int) -> None:
        state.due[0, a] = mark
        family.learn_once(block, state, a, y)

    return Marked(choose, learn)


def _explored(family: Family) -> Marked:
    """As of `_forced`; other rewards teach nothing."""
    forced = _forced(family)

    def choose(block: Any, knobs: Any, state: Any) -> tuple[int, int]:
        a, mark = forced.choose(block, knobs, state)
        state.asked[0, a] = 0
        return a, mark

    def learn(block: Any, state: Any, a: int, y: float, mark: int) -> None:
        if mark:
            forced.learn(block, state, a, y, mark)

    return Marked(choose, learn)


def _greedy_first(family: Family) -> Marked:
    """As of `_forced`, but GREEDY before the switch; what comes of that afterwards is dropped, as all before it was."""
    forced = _forced(family)

    def choose(block: Any, knobs: Any, state: Any) -> tuple[int, int]:
        a, mark = forced.choose(block, knobs, state)
        return a, mark if state.switched_at[0, 0] else GREEDY

    def learn(block: Any, state: Any, a: int, y: float, mark: int) -> None:
        if mark != GREEDY:
            forced.learn(block, state, a, y, mark)
        elif state.switched_at[0, 0] == 0:
            forced.learn(block, state, a, y, 0)

    return Marked(choose, learn)


def _staged(family: Family) -> Marked:
    """The mark is the stage, NOWHERE if nothing is learnt."""
    home = import_module(f"armspan.kernels.families.{family.name}")
    return Marked(home.choose_marked, home.learn_marked)


LISTED: dict[str, Callable[[Family], Marked]] = {
    "explored": _explored,
    "ols": _forced,
    "lasso": _forced,
    "greedy_first": _greedy_first,
    "staged": _staged,
    "staged_linrel": _staged,
}
"""The families whose marks say anything."""
