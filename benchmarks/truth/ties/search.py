"""How a problem is found whose weak arms fail while all others are clearly diverse: by drawing again, or by tuning."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..loggers import Array
from .problems import MARGIN, Problem, Reference

MOST = 0.97
"""What weak arms have, at most, of what they need."""


class Room(NamedTuple):
    """What arms have, as multiples of what they need: the least of the weak ones and of the others; P, E of the weak.

    The weak ones are judged at the margin aimed at; the others at that of uniform logs or of the best arms, whichever
    is larger.
    """

    weak: float
    others: float
    P: Array
    E: Array

    @classmethod
    def of(cls, problem: Problem, reference: Reference) -> Room:
        """What the arms of a problem have."""
        margin, largest = problem.margin, MARGIN * max(problem.reward_sds)
        P, E = reference.room(margin)
        P_largest, E_largest = reference.room(largest) if largest > margin * 1.0001 else (P, E)
        weak = np.isin(np.arange(problem.n_arms), problem.weak)
        others = np.minimum(P_largest, E_largest[:, 0])[~weak]
        least = np.minimum(P, E[:, 0])[weak]
        return cls(float(least.min(initial=np.inf)), float(others.min(initial=np.inf)), P[weak], E[weak])


def often(room: Room) -> bool:
    """Whether the weak arms lead often enough, so that they fail for want of spread."""
    return bool(room.P.min() > 3)


def search(
    make: Callable[[], Problem | None],
    *,
    tries: int = 150,
    good: float = 3.0,
    least: float = 1.3,
    weak: float = 0.0,
    also: Callable[[Room], bool] | None = None,
) -> Problem | None:
    """Draw until the problem is as intended, and the others have `good` times what they need.

    If none has, the best of those whose others have more than `least`; weak : the least that the weak arms must have.
    """
    best, most = None, least
    for t in range(tries):
        problem = make()
        others = 0.0 if problem is None else _others(problem, least, weak, also)
        if others >= good:
            return problem
        if others > most:
            best, most = problem, others
        if others and best is not None and t > tries // 2:
            break
    return best


def _others(problem: Problem, least: float, weak: float, also: Callable[[Room], bool] | None) -> float:
    """What the others have; 0 if the problem is not as intended."""
    others = 0.0
    for reference in problem.references():
        room = Room.of(problem, reference)
        as_intended = room.others >= least and (not problem.weak or weak <= room.weak <= MOST)
        if not as_intended or (also is not None and not also(room)):
            return 0.0
        others = room.others
    return others


def tuned(
    make: Callable[[float], Problem], low: float, high: float, target: float, *, log: bool = True
) -> Problem | None:
    """The problem whose weak arms have `target` times what they need, which rises with make's argument; by halving."""

    def has(value: float) -> float:
        problem = make(value)
        return Room.of(problem, problem.full).weak

    if has(high) < target or has(low) > target:
        return None
    for _ in range(22):
        middle = np.sqrt(low * high) if log else (low + high) / 2
        if has(middle) < target:
            low = middle
        else:
            high = middle
    return make(low)
