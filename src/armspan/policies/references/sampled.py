"""Thompson sampling with ridge regression for each arm, solved afresh at every step."""

from armspan._typing import FloatArray
from armspan.policies.base import Chance
from armspan.policies.references.ridge import RidgeReference


class SampledReference(RidgeReference):
    """Ridge regression for each arm; indices are drawn as θ̃ᵀx is distributed."""

    chance = Chance(0, 0)

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """N(θ̂ᵀx, v_t² xᵀA⁻¹x) of every arm."""
        mean, width = self.estimates(x)
        return mean + self.alpha(step) * width * self.chance.normals(step, len(mean))
