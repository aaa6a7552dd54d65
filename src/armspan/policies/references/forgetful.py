"""LinUCB that forgets, by regressions solved afresh at every step."""

from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.practical import PracticalReference
from armspan.policies.references.ridge import RidgeReference
from armspan.theory.forgetting import forgetting


class ForgetfulReference(PracticalReference):
    """After every so many rewards, before the next one is learnt, all that was seen is multiplied by one factor.

    follows : whether the index is that of `PracticalReference`, or θ̂ᵀx + α_t √(xᵀA⁻¹x).
    """

    def __init__(self, *, half_life: float, follows: bool, **regression: Any) -> None:
        super().__init__(**regression)
        (self._every, self._factor), self._follows, self._learnt = forgetting(half_life), follows, 0

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """Of every arm."""
        return super().index(x, context, step) if self._follows else RidgeReference.index(self, x, context, step)

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        if self._learnt and self._learnt % self._every == 0:
            self._forget()
        self._learnt += 1
        super().update(arm, x, context, reward)

    def _forget(self) -> None:
        self.squares *= self._factor
        self.rewards *= self._factor
        explained = 0.0
        for A, b in {id(A): (A, b) for A, b in zip(self.A, self.b, strict=True)}.values():
            A += (self._factor - 1) * (A - self.ridge * np.eye(len(A)))
            b *= self._factor
            explained += float(b @ np.linalg.solve(A, b))
        self.errors = max(self.squares - explained, 0.0)
