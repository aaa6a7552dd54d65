"""The least diverse of all half-spaces, found by looking at every one that holds different features.

Half-spaces {x : uᵀx ≥ 0} differ only where u crosses a hyperplane {u : xᵀu = 0}, so u matters only by its cell of that
arrangement. Features that span make every cell a pointed cone, with an edge: a ray v that is orthogonal to d - 1
independent features. Seen from an edge, a cell is v turned a little, to one side or the other of the features that are
orthogonal to v; this is the same problem in one dimension less. If there are d - 1 such features, each may be put on
either side, and the worst cell has the lighter side of each. If there are more, not all sides are compatible, and the
same search is made among them, unless even the lighter side of each would not be worse than what is already known.
"""

from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np

from armspan._typing import BoolArray, FloatArray, IntArray

MOST_EIGENVALUES = 200_000
"""With more matrices than this to look at, the search is not made."""
_CHUNK = 4096
_ORTHOGONAL = 1e-10
"""Cosines up to this are 0 up to rounding."""
_DEPENDENT = 1e-9


@dataclass(frozen=True)
class _Lines:
    """Lines through the origin on which features lie.

    E : (m, k) unit vectors along them. outer : (m, D²) their second moments in all dimensions, of which k are left.
    ahead, behind : (m,) weights of the features on the line, in the direction of E and against it.
    """

    E: FloatArray
    outer: FloatArray
    ahead: FloatArray
    behind: FloatArray


class _Search:
    """Keeps the smallest eigenvalue found so far, and counts the matrices that may still be looked at."""

    def __init__(self, best: float, zero: float) -> None:
        self.best, self.zero, self.left = best, zero, MOST_EIGENVALUES

    def run(self, lines: _Lines, base: FloatArray) -> FloatArray | None:
        """A direction (k,) in a cell with a smaller eigenvalue than any before; None where there is none, or no time.

        base : (D²,) the moment of what is in the half-space whatever the direction is.
        """
        E, k = lines.E, lines.E.shape[1]
        if k == 1:
            return self._ends(lines, base)
        lighter, sides = np.minimum(lines.ahead, lines.behind), np.where(lines.ahead <= lines.behind, 1.0, -1.0)
        result, crowded, seen = None, [], set[bytes]()
        subsets = combinations(range(len(E)), k - 1)
        while chunk := list(islice(subsets, _CHUNK)):
            v, zero, alone = _edges(E, np.array(chunk, dtype=np.int64), seen)
            for toward in (v, -v):
                inside = np.where(zero, lighter, np.where(toward @ E.T > 0, lines.ahead, lines.behind))
                values = self._eigenvalues(base, inside, lines.outer)
                if self.left < 0:
                    return None
                i = int(np.argmin(np.where(alone, values, np.inf))) if alone.any() else -1
                if i >= 0 and values[i] < self.best:
                    self.best = float(values[i])
                    turn = np.linalg.lstsq(E[zero[i]], sides[zero[i]], rcond=None)[0]
                    result = _turned(E, toward[i], zero[i], turn)
                crowded += [(float(values[i]), toward[i], zero[i]) for i in np.flatnonzero(~alone)]
        for bound, edge, flat in sorted(crowded, key=lambda entry: entry[0]):
            if bound >= self.best * (1 - 1e-12) or self.best <= self.zero:
                break
            plane = np.linalg.svd(edge[None])[2][1:]  # orthonormal rows, orthogonal to the edge
            inside = np.where(flat, 0.0, np.where(E @ edge > 0, lines.ahead, lines.behind))
            among = _Lines(E[flat] @ plane.T, lines.outer[flat], lines.ahead[flat], lines.behind[flat])
            inner = self.run(among, base + inside @ lines.outer)
            if self.left < 0:
                return None
            if inner is not None:
                result = _turned(E, edge, flat, inner @ plane)
        return result

    def _eigenvalues(self, base: FloatArray, inside: FloatArray, outer: FloatArray) -> FloatArray:
        """λ_min of base + Σ inside·outer for each row of inside (c, m); nothing where that is too much."""
        self.left -= len(inside)
        D = round(np.sqrt(base.size))
        moments = base + inside @ outer if self.left >= 0 else np.empty((0, D * D))
        return np.asarray(np.linalg.eigvalsh(moments.reshape(-1, D, D))[:, 0], dtype=np.float64)

    def _ends(self, lines: _Lines, base: FloatArray) -> FloatArray | None:
        """In one dimension there are two half-spaces."""
        ahead = lines.E[:, 0] > 0
        inside = np.array([np.where(ahead == side, lines.ahead, lines.behind) for side in (True, False)])
        values = self._eigenvalues(base, inside, lines.outer)
        i = int(np.argmin(values)) if len(values) else -1
        if i < 0 or values[i] >= self.best:
            return None
        self.best = float(values[i])
        return np.array([1.0 - 2.0 * i])


@dataclass(frozen=True)
class Worst:
    """The outcome of the search: `complete` if it was made; the smallest λ_min, and its direction if that was new."""

    complete: bool
    eigenvalue: float
    direction: FloatArray | None


def worst_of_all(X: FloatArray, weights: FloatArray, best: float) -> Worst:
    """Look at all half-spaces for features X (m, d), d ≥ 2, with probabilities weights (m,), if they are not too many.

    best : the smallest λ_min known so far; X spans, so that it is above 0.
    """
    scale = np.sqrt(weights @ X**2)
    if not scale.max() < 1e4 * scale.min():  # rounding would decide
        return Worst(False, best, None)
    lines = _lines(X, weights)
    m, d = lines.E.shape
    if 2 * comb(m, d - 1) > MOST_EIGENVALUES:
        return Worst(False, best, None)
    search = _Search(best, 4 * d * float(np.finfo(np.float64).eps) * float(scale.max()) ** 2)
    direction = search.run(lines, np.zeros(d * d))
    return Worst(search.left >= 0, max(search.best, 0.0), direction)


def _lines(X: FloatArray, weights: FloatArray) -> _Lines:
    """The lines of features X (m, d); several features may lie on one."""
    length = np.linalg.norm(X, axis=1)
    there = length > 0
    d = X.shape[1]
    E = X[there] / length[there, None]
    side = np.where(E @ np.cos(np.arange(1.0, d + 1)) > 0, 1.0, -1.0)  # of a hyperplane on which no feature lies
    _, firsts, which = np.unique((E * side[:, None]).round(12) + 0.0, axis=0, return_index=True, return_inverse=True)
    mass, places = (weights * length**2)[there], which.ravel()
    ahead = np.bincount(places, np.where(side > 0, mass, 0.0)).astype(np.float64)
    behind = np.bincount(places, np.where(side > 0, 0.0, mass)).astype(np.float64)
    E = (E * side[:, None])[firsts]
    return _Lines(E, (E[:, :, None] * E[:, None, :]).reshape(len(E), -1), ahead, behind)


def _edges(E: FloatArray, subsets: IntArray, seen: set[bytes]) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Unit vectors v (c, k) orthogonal to a subset of k - 1 independent rows of E (m, k).

    Also, to which rows (c, m), and whether to these k - 1 alone (c,). Where there are more, the same v comes from many
    subsets, and only the first is kept. Changes seen.
    """
    _, singular, vectors = np.linalg.svd(E[subsets])
    independent = singular[:, -1] > _DEPENDENT
    v = vectors[independent, -1]
    rounding = np.maximum(_ORTHOGONAL, 1e-14 / singular[independent, -1])
    zero = np.abs(v @ E.T) <= rounding[:, None]
    zero[np.arange(len(v))[:, None], subsets[independent]] = True
    alone = np.count_nonzero(zero, axis=1) == E.shape[1] - 1
    keep = alone.copy()
    for i in np.flatnonzero(~alone):
        key = np.packbits(zero[i]).tobytes()
        keep[i] = key not in seen
        seen.add(key)
    return v[keep], zero[keep], alone[keep]


def _turned(E: FloatArray, v: FloatArray, zero: BoolArray, turn: FloatArray) -> FloatArray:
    """The direction v, turned so little that only the rows of E that are orthogonal to it change sides."""
    rest, moved = np.abs(E[~zero] @ v), np.abs(E[~zero] @ turn)
    most = float((rest / np.maximum(moved, 1e-300)).min(initial=1.0 / float(np.linalg.norm(turn))))
    u = v + most / 2 * turn
    return u / np.linalg.norm(u)
