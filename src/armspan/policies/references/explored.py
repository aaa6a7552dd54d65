"""Exploration by forced pulls: ridge regression for each arm, solved afresh at every step that is not forced."""

from copy import deepcopy
from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.base import Chance
from armspan.policies.references.ridge import RidgeReference


def only(arm: int, n_arms: int) -> FloatArray:
    """An index (K,) that this arm wins."""
    return np.where(np.arange(n_arms) == arm, np.inf, 0.0)


class FirstPulls(RidgeReference):
    """Every arm `pulls` times in turn, and then the largest estimate; everything is learnt."""

    def __init__(self, *, pulls: int, **regression: Any) -> None:
        super().__init__(**regression)
        self.pulls, self.n_arms = pulls, len(self.A)

    def forced(self, step: int) -> int | None:
        """The arm that this step must pull."""
        return (step - 1) % self.n_arms if step <= self.pulls * self.n_arms else None

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        arm = self.forced(step)
        if arm is not None:
            return only(arm, self.n_arms)
        return super().index(x, context, step) if self.alpha(step) else self.estimates(x)[0]


class CommitReference(FirstPulls):
    """The same, but what comes after the forced pulls is not learnt. mark : whether the latest pull was forced."""

    mark = False

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        self.mark = self.forced(step) is not None
        return super().index(x, context, step)

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        if self.mark:
            super().update(arm, x, context, reward)


class CycleReference(CommitReference):
    """Cycle c = 1, 2, … : every arm `pulls` times in turn, then c steps by what the forced pulls so far showed."""

    def forced(self, step: int) -> int | None:
        exploration, cycle = self.pulls * self.n_arms, 1
        while step > exploration + cycle:
            step, cycle = step - exploration - cycle, cycle + 1
        return (step - 1) % self.n_arms if step <= exploration else None


class EpochReference(CommitReference):
    """Epoch ℓ = 1, 2, … : an arm at random, then ⌊c√(ℓ/(Kd))⌋ steps by what the random pulls have shown."""

    chance = Chance(0, 0)

    def __init__(self, *, rate: float, at_least_one: bool, **regression: Any) -> None:
        super().__init__(pulls=0, **regression)
        self._rate, self._least, self._d = rate, int(at_least_one), len(self.b[0])

    def forced(self, step: int) -> int | None:
        random, epoch = 1, 1
        while random < step:
            greedy = int(self._rate * np.sqrt(epoch / (self.n_arms * self._d)))
            random, epoch = random + 1 + max(greedy, self._least), epoch + 1
        return int(self.chance.uniform(step) * self.n_arms) if random == step else None


class OracleReference(EpochReference):
    """The same with another regression for each arm, or one for all, fitted to random pulls; without any it says 0."""

    def __init__(self, *, oracle: Any, **told: Any) -> None:
        super().__init__(**told)
        shared = len({id(A) for A in self.A}) < self.n_arms
        self._model = [0 if shared else a for a in range(self.n_arms)]
        models = range(1 if shared else self.n_arms)
        self._oracles = [deepcopy(oracle) for _ in models]
        self._rows: list[list[FloatArray]] = [[] for _ in models]
        self._rewards: list[list[float]] = [[] for _ in models]
        self._fitted = [0 for _ in models]

    def estimates(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What every arm's regression predicts, fitted again where it has new rows; nobody knows how sure it is."""
        mean = np.zeros(self.n_arms)
        for m, (oracle, rows) in enumerate(zip(self._oracles, self._rows, strict=True)):
            if len(rows) > self._fitted[m]:
                oracle.fit(np.array(rows), np.array(self._rewards[m]))
                self._fitted[m] = len(rows)
        for a, m in enumerate(self._model):
            if self._rows[m]:
                mean[a] = float(np.asarray(self._oracles[m].predict(x[a : a + 1])).reshape(-1)[0])
        return mean, np.zeros(self.n_arms)

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        if self.mark:
            self._rows[self._model[arm]].append(x[arm].copy())
            self._rewards[self._model[arm]].append(reward)
