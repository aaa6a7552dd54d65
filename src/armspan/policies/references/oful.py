"""OFUL as Abbasi-Yadkori et al. (2011) print it: ridge regression and its determinant, afresh at every step."""

from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.ridge import RidgeReference


class OfulReference(RidgeReference):
    """Ridge regression for each arm, with the radius of Theorem 2. alpha : how much of the radius a step uses."""

    def __init__(self, *, ridge: float, delta: float, R: float, s: float, **regression: Any) -> None:
        super().__init__(ridge=ridge, **regression)
        self._ridge, self._delta, self._R, self._s = ridge, delta, R, s

    def radius(self, V: FloatArray) -> float:
        """√β = R√(2 log(√(det V / λᵈ) / δ)) + √λ·s."""
        grown = np.linalg.slogdet(V / self._ridge)[1]
        return float(self._R * np.sqrt(grown - 2 * np.log(self._delta)) + np.sqrt(self._ridge) * self._s)

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """θ̂ᵀx + √β √(xᵀV⁻¹x) of every arm."""
        mean, width = self.estimates(x)
        return mean + self.alpha(step) * np.array([self.radius(V) for V in self.A]) * width
