"""LinUCB with OFUL's radius, whose noise and parameters are estimated, by regressions solved afresh at every step."""

from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.policies.references.practical import PracticalReference

SURE = 1.645
"""The normal quantile of one in twenty, which an upper bound on the noise goes by."""


class EstimatedReference(PracticalReference):
    """The largest θ̂ᵀx + √β·√(xᵀA⁻¹x), √β = R̂√(2 log(√(det A / λᵈ) / δ)) + √λ·ŝ; the widest arm while R̂ is not known.

    R̂² = S/q, q the one-in-twenty quantile of χ² with as many degrees of freedom as rewards are left over;
    ŝ = max‖θ̂‖ + R̂√tr A⁻¹. delta : δ of one model. R : the noise, where it is told.
    """

    def __init__(self, *, delta: float, R: float | None, **regression: Any) -> None:
        super().__init__(**regression)
        self.delta, self.R = delta, R

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """Of every arm."""
        mean, width = self.estimates(x)
        R = self.noise_bound()
        return 1e9 * width if R is None else mean + self.radii(R) * width

    def noise_bound(self) -> float | None:
        """R̂, where the rewards left over say anything: χ² is about ν(1 - 2/(9ν) + z√(2/(9ν)))³, z normal."""
        if self.R is not None:
            return self.R
        nu = self.left()
        if nu <= 0:
            return None
        root = 1 - 2 / (9 * nu) - SURE * np.sqrt(2 / (9 * nu))
        return float(np.sqrt(self.errors / (nu * root**3))) if root > 0 else None

    def radii(self, R: float) -> FloatArray:
        """√β of every arm's model."""
        longest = max(np.linalg.norm(np.linalg.solve(A, b)) for A, b in zip(self.A, self.b, strict=True))
        found = []
        for A in self.A:
            s = longest + R * np.sqrt(np.trace(np.linalg.inv(A)))
            grown = np.linalg.slogdet(A / self.ridge)[1] - 2 * np.log(self.delta)
            found.append(R * np.sqrt(grown) + np.sqrt(self.ridge) * s)
        return np.array(found)
