"""Policies whose rewards come late: one run at a time, which chooses now and learns when a reward arrives."""

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.agents.ahead import Ahead
from armspan.environments import Environment
from armspan.kernels.block import Block
from armspan.kernels.families import family
from armspan.kernels.family import usual_sizes
from armspan.kernels.marked import marked
from armspan.policies import Policy
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


class FamilyActor:
    """One run of a compiled policy, one step at a time, with the kernels that agents have."""

    def __init__(self, policy: Policy, env: Environment, seed: int, run: int) -> None:
        assert policy.compiled is not None
        self._family, knobs = family(policy.compiled), policy.knobs(env)
        self._marked, self.mark = marked(self._family), 0
        sizes = usual_sizes(env.n_arms, env.n_features, env.n_contexts or 0, policy.sizes(env))
        self._state = self._family.empty(1, **sizes)
        self._family.fresh(self._state, {name: knob for name, knob in knobs.items() if not callable(knob)})
        schedules: list[Any] = [knobs[name] for name in self._family.knobs]
        self._ahead = Ahead(schedules)
        self._zeros = np.zeros((1, env.n_arms))
        self._told = np.uint64(seed), np.array([run], dtype=np.int64), env.reward_scale
        self._by_context, self._step = any("n" in field.shape for field in self._family.fields), 0

    @property
    def switched_at(self) -> int:
        return int(self._state.switched_at[0, 0]) if hasattr(self._state, "switched_at") else 0

    def choose(self, x: FloatArray, context: int, run: int, step: int) -> int:
        if self._family.tidy is not None and step > 1 and (step - 1) % self._family.every == 0:
            self._family.tidy(self._state)
        self._step = step - 1
        arm, self.mark = self._marked.choose(self._block(x, context), self._ahead.at(step), self._state)
        return int(arm)

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        self._marked.learn(self._block(x, context), self._state, arm, reward, self.mark)

    def _block(self, x: FloatArray, context: int) -> Block:
        seed, run, unit = self._told
        contexts = np.array([[context if self._by_context else 0]])
        return Block(seed, self._step, run, contexts, x[None], self._zeros, self._zeros, self._zeros, unit)
