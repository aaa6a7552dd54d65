"""Thompson sampling with ridge regression for each arm, solved afresh at every step."""

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.base import Chance
from armspan.policies.references.ridge import RidgeReference


class SampledReference(RidgeReference):
    """Ridge regression for each arm; indices are drawn as θ̃ᵀx is distributed."""

    chance = Chance(0, 0)

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """N(θ̂ᵀx, v_t² xᵀA⁻¹x) of every arm; where all share one θ̃ = θ̂ + v_t L⁻ᵀz with A = LLᵀ, θ̃ᵀx."""
        if self.A[0] is self.A[-1] and len(self.A) > 1:
            L = np.linalg.cholesky(self.A[0])
            z = self.chance.normals(step, x.shape[1])
            return np.asarray(x @ (np.linalg.solve(self.A[0], self.b[0]) + self.alpha(step) * np.linalg.solve(L.T, z)))
        mean, width = self.estimates(x)
        return mean + self.alpha(step) * width * self.chance.normals(step, len(mean))
