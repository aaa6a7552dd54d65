"""LinUCB that forgets, by regressions solved afresh at every step."""

from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.practical import PracticalReference
from armspan.policies.references.ridge import RidgeReference
from armspan.theory.forgetting import forgetting, remembered


class ForgetfulReference(PracticalReference):
    """After every so many rewards, before the next one is learnt, all that was seen is multiplied by one factor.

    An arm that is not known any more is tried again now and then, whatever its index is, if `follows`.
    follows : whether the index is that of `PracticalReference`, or θ̂ᵀx + α_t √(xᵀA⁻¹x).
    """

    def __init__(self, *, half_life: float, follows: bool, **regression: Any) -> None:
        super().__init__(**regression)
        (self._every, self._factor), self._follows, self._learnt = forgetting(half_life), follows, 0
        self._memory, self._pulls = remembered(half_life), np.zeros(len(self.A))

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """Of every arm."""
        if not self._follows:
            return RidgeReference.index(self, x, context, step)
        again = self._lost(step - 1)
        return super().index(x, context, step) if again is None else np.eye(len(self.A))[again]

    def _lost(self, decisions: int) -> int | None:
        """The arm that is tried again now because less than half a reward of it still counts.

        Arm a has its turn after 2ⁿ + a decisions, where 2ⁿ is twice K or more; and when more decisions were made than
        rewards count, in every round of the last 2ⁿ decisions before that.
        """
        K = len(self.A)
        if len({id(A) for A in self.A}) < K or decisions < K:
            return None
        if decisions > self._memory:
            power = next(2**n for n in range(1, 64) if 2**n >= 2 * K and 2 ** (n + 1) > self._memory)
            decisions = power + decisions % power
        last = 2 ** (decisions.bit_length() - 1)
        again = decisions - last
        return again if last >= 2 * K and again < K and self._pulls[again] < 0.5 else None

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        if self._learnt and self._learnt % self._every == 0:
            self._forget()
        self._learnt += 1
        self._pulls[arm] += 1
        super().update(arm, x, context, reward)

    def _forget(self) -> None:
        self._pulls *= self._factor
        self.squares *= self._factor
        self.rewards *= self._factor
        explained = 0.0
        for A, b in {id(A): (A, b) for A, b in zip(self.A, self.b, strict=True)}.values():
            A += (self._factor - 1) * (A - self.ridge * np.eye(len(A)))
            b *= self._factor
            explained += float(b @ np.linalg.solve(A, b))
        self.errors = max(self.squares - explained, 0.0)
