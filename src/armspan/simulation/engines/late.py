"""Policies in Python whose rewards come late: a run chooses now and learns when a reward arrives."""

import heapq
from collections.abc import Callable
from typing import Any

from armspan._typing import FloatArray
from armspan.simulation.engines.interpreted import Actor


class LateActor:
    """An actor that hears of its rewards when they come, and learns each as what it was when it was chosen."""

    mark: Any = None

    def __init__(self, actor: Actor, env: Any, seed: int, run: int) -> None:
        self._actor, self._env, self._seed, self._run = actor, env, seed, run
        self._coming: list[tuple[int, int, Any, tuple[Any, ...]]] = []
        self._now = 0

    @property
    def switched_at(self) -> int:
        return self._actor.switched_at

    def choose(self, x: FloatArray, context: int, run: int, step: int) -> int:
        """Learn the rewards that have come since, in the order of their arrival; then return the arm to pull."""
        self._now = step
        while self._coming and self._coming[0][0] < step:
            _, _, self._actor.mark, told = heapq.heappop(self._coming)
            self._actor.update(*told)
        return self._actor.choose(x, context, run, step)

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        """The reward of the present step, which will come."""
        delay = self._env.delay(self._seed, self._run, self._now)
        if delay is not None:
            told = arm, x.copy(), context, reward
            heapq.heappush(self._coming, (self._now + delay, self._now, self._actor.mark, told))


def waiting(fresh: Callable[[int], Actor], env: Any, seed: int) -> Callable[[int], Actor]:
    """The actors of a factory, with rewards that come late."""
    return lambda run: LateActor(fresh(run), env, seed, run)
