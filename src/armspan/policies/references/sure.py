"""A rule of `mixed`, but where a likelihood ratio is sure of the leading arm: then that arm (Tirinzoni et al. 2022)."""

from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.mixed import MixedReference, leaders
from armspan.policies.references.oful import OfulReference


class SureReference(MixedReference, OfulReference):
    """Ridge regression for each arm, with the radius of OFUL for the test."""

    def __init__(self, *, shared: bool, unit: float, **told: Any) -> None:
        super().__init__(shared=shared, unit=unit, **told)
        self._shared, self._unit = shared, unit

    def probabilities(self, x: FloatArray, context: int, step: int) -> FloatArray:
        if self.sure(x):
            return np.asarray(np.eye(len(x))[np.argmax(self.estimates(x)[0])])
        return super().probabilities(x, context, step)

    def sure(self, x: FloatArray) -> bool:
        """Whether min_{a≠â} Δ̂_a²/(2‖x_â - x_a‖²_{V⁻¹}) > β by more than rounding, where â leads alone."""
        from armspan.kernels.choice import ROUNDING

        (mean, width), radius = self.estimates(x), [self.radius(V) for V in self.A]
        best = int(np.argmax(mean))
        if leaders(mean, self._unit).sum() > 1:
            return False
        for a in range(len(mean)):
            if a != best:
                apart = x[best] - x[a]
                in_blocks = width[best] ** 2 + width[a] ** 2
                distance = apart @ np.linalg.solve(self.A[a], apart) if self._shared else in_blocks
                beta = max(radius[best], radius[a]) ** 2
                if not (1 - ROUNDING) * (mean[best] - mean[a]) ** 2 / (2 * distance) > beta:
                    return False
        return True
