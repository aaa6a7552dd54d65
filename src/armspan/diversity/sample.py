"""What a sample of contexts shows of all: limits of how often something happens, and of how far contexts spread there.

Shares have exact limits. For a spread, λ_min(E[zzᵀ 1{…}]) in whitened coordinates z, a sample's λ_min is too small on
average, so that minus its error is a lower limit; the upper limit takes the direction from one half of the contexts and
the spread along it from the other.
"""

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from armspan._typing import BoolArray, FloatArray
from armspan.diversity.groups import Groups
from armspan.diversity.quantiles import lower_limit, upper_limit

FOURTH = 6.0
"""E[z⁴], in a direction in which E[z²] = 1, up to which enough contexts vary there: a normal feature has 3, an
exponential one 6, before its mean is taken off, and a flag that is set in a share p of the contexts 1/p."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Contexts z (n, r), or (n, K, r) where arms have features of their own.

    groups : which of them belong together. times : how many independent contexts each stands for.
    """

    z: FloatArray
    groups: Groups
    times: float

    @classmethod
    def of(cls, z: FloatArray, groups: Groups | None = None) -> "Sample":
        """Contexts, each worth what its group leaves of it."""
        groups = Groups(len(z)) if groups is None else groups
        return cls(z, groups, groups.worth)

    def arm(self, a: int) -> "Sample":
        """The contexts of one arm."""
        return replace(self, z=self.z[:, a]) if self.z.ndim == 3 else self

    def more(self, times: float, step: int = 1) -> "Sample":
        """As if there were so many times as many; kept as every so many-th of those that there are."""
        kept = self.z[::step]
        return Sample(kept, self.groups.some(slice(None, None, step)), self.times * times * len(self.z) / len(kept))

    def low(self, hits: BoolArray, alpha: float) -> float:
        """A lower limit of how often something happens; hits : (n,) whether it did. It is wrong at rate alpha."""
        return lower_limit(int(hits.sum()) * self.times, hits.size * self.times, alpha)

    def high(self, hits: BoolArray, alpha: float) -> float:
        """An upper limit."""
        return upper_limit(int(hits.sum()) * self.times, hits.size * self.times, alpha)

    def least_spread(self, mine: BoolArray, alpha: float) -> float:
        """A lower limit of λ_min(E[zzᵀ 1{mine}])."""
        z = self.z
        if mine.sum() < z.shape[1]:
            return 0.0
        values, vectors = np.linalg.eigh(z[mine].T @ z[mine] / len(z))
        squares = (z @ vectors[:, 0]) ** 2
        low = float(values[0]) + NormalDist().inv_cdf(alpha) * self._error(squares, mine)
        return min(max(low, 0.0), max(1 - self._rare(squares, alpha), 0.0))

    def most_spread(self, mine: BoolArray, alpha: float) -> tuple[float, FloatArray]:
        """An upper limit of λ_min(E[zzᵀ 1{mine}]), and the direction in which these contexts spread least."""
        z, squares = self.z, np.empty(len(self.z))
        two = self.groups.halves
        for here, there in (two, two[::-1]):
            part, chosen = z[there], mine[there]
            _, vectors = np.linalg.eigh(part[chosen].T @ part[chosen])
            squares[here] = (z[here] @ vectors[:, 0]) ** 2
        error = -NormalDist().inv_cdf(alpha) * self._error(squares, mine)
        _, vectors = np.linalg.eigh(z[mine].T @ z[mine])
        return float((squares * mine).mean()) + max(error, self._rare(squares, alpha)), vectors[:, 0]

    def _rare(self, squares: FloatArray, alpha: float) -> float:
        """What contexts of a kind that was not seen may add to a spread, from the squares (n,) along its direction.

        So often they may happen; their squares are 1 on average, and more where few contexts vary in this direction.
        """
        return -math.log(alpha) / (len(squares) * self.times) * max(float((squares**2).mean()) / FOURTH, 1.0)

    def _error(self, squares: FloatArray, mine: BoolArray) -> float:
        """The standard error of E[s 1{mine}]/E[s], for squares s (n,) along a direction; E[s] = 1 by whitening."""
        share = float((squares * mine).mean())
        return float((squares * (mine - share)).std()) / math.sqrt(len(squares) * self.times)
