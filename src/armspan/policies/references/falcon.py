"""FALCON: inverse gaps with a regression on the rows of the last epoch, fitted when that ends."""

from typing import Any

from armspan._typing import FloatArray
from armspan.policies.references.mixed import MixedReference
from armspan.policies.references.ridge import RidgeReference


class FalconReference(MixedReference):
    """`MixedReference` with the last epoch's A and b; epoch m ends after reward 2^m, and `present` is of its rows."""

    def __init__(self, *, rule: int, low: float, high: float, unit: float, **regression: Any) -> None:
        super().__init__(rule=rule, low=low, high=high, unit=unit, **regression)
        self._regression, self._learnt, self._end = regression, 0, 2
        self.present = RidgeReference(**regression)

    def probabilities(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """With γ of the epoch, which late rewards prolong."""
        return super().probabilities(x, context, self._learnt + 1)

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        self.present.update(arm, x, context, reward)
        self._learnt += 1
        if self._learnt == self._end:
            self.A, self.b = self.present.A, self.present.b
            self.present, self._end = RidgeReference(**self._regression), 2 * self._end
