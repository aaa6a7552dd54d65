"""Covariate diversity (Bastani, Bayati and Khosravi 2017): does every half-space hold features that span?

The greedy policy is covered by their theory where min over directions u of λ_min(E[xxᵀ 1{uᵀx ≥ 0}]) is above 0.
"""

from dataclasses import dataclass

import numpy as np

from armspan._typing import FloatArray
from armspan.diversity.arrangement import worst_of_all
from armspan.diversity.moments import smallest_of, weakest

_STARTS, _TURNS = 200, 20
"""Random directions to begin with, and small turns that are tried at once."""


@dataclass(frozen=True)
class HalfSpace:
    """The half-space {x : uᵀx ≥ 0} whose features are least diverse.

    Attributes
    ----------
    direction : (d,) array
        u.
    eigenvalue : float
        λ_min(E[xxᵀ 1{uᵀx ≥ 0}]) there.
    certain : bool
        Whether no other half-space is worse, up to rounding: in one and two dimensions, where the eigenvalue is 0, and
        where all half-spaces could be looked at.
    """

    direction: FloatArray
    eigenvalue: float
    certain: bool


def least_diverse_half_space(X: FloatArray, weights: FloatArray, *, most: int = 5_000) -> HalfSpace:
    """The half-space whose features are least diverse.

    The moment changes with u only where uᵀx = 0 for some x. In two dimensions all cells between those angles are looked
    at. In more, many directions are tried and improved by single steps into neighbouring cells; then all cells are
    looked at, if they are not too many.

    Parameters
    ----------
    X : (m, d) array
        Features.
    weights : (m,) array
        Their probabilities.
    most : int, default 5000
        How many rows are used to compare half-spaces, if there are more; the chosen one is measured with all rows.
    """
    d = X.shape[1]
    if d == 1:
        directions = np.array([[1.0], [-1.0]])
    elif d == 2:
        directions = _worst_cells(X, weights)
    else:
        directions = _descend(X[:most], weights[:most])
    values = np.array([_eigenvalue(X, weights, u) for u in directions])
    worst = int(np.argmin(values))
    found = HalfSpace(directions[worst], float(values[worst]), bool(d <= 2 or values[worst] == 0.0))
    return found if found.certain else _among_all(X, weights, found)


def _among_all(X: FloatArray, weights: FloatArray, found: HalfSpace) -> HalfSpace:
    """The worst of all half-spaces, where they can be looked at; otherwise what was found."""
    worst = worst_of_all(X, weights, found.eigenvalue)
    if worst.direction is None:
        return HalfSpace(found.direction, found.eigenvalue, worst.complete)
    value = _eigenvalue(X, weights, worst.direction)
    if value > found.eigenvalue:  # they differ by rounding, or a cell is too narrow for a direction in numbers
        return HalfSpace(found.direction, found.eigenvalue, worst.complete and value <= worst.eigenvalue * (1 + 1e-9))
    return HalfSpace(worst.direction, value, value == 0 or (worst.complete and value <= worst.eigenvalue * (1 + 1e-9)))


def _eigenvalue(X: FloatArray, weights: FloatArray, u: FloatArray) -> float:
    """λ_min(E[xxᵀ 1{uᵀx ≥ 0}])."""
    inside = X @ u >= 0
    return weakest((X[inside] * weights[inside, None]).T @ X[inside])[0]


def _eigenvalues(X: FloatArray, weights: FloatArray, directions: FloatArray) -> FloatArray:
    """The same for several directions (s, d), up to rounding."""
    inside = directions @ X.T >= 0
    return smallest_of((X.T * (weights * inside)[:, None, :]) @ X)


def _worst_cells(X: FloatArray, weights: FloatArray, most: int = 64) -> FloatArray:
    """Of all cells of angles, one direction within each of the worst, up to rounding.

    On the borders a half-space holds more features, never fewer. Features are sorted by angle, so that a half-space is
    a stretch of them, and its moment the difference of two running sums.
    """
    angles = np.arctan2(X[:, 1], X[:, 0])
    borders = np.unique(np.concatenate([angles + np.pi / 2, angles - np.pi / 2]) % (2 * np.pi))
    ends = np.append(borders[1:], borders[0] + 2 * np.pi)
    real = ends - borders > 1e-13  # narrower ones are the rounding of one border that was met twice
    middle = (borders[real] + ends[real]) / 2
    order = np.argsort(angles)
    around = np.concatenate([angles[order] + turn * 2 * np.pi for turn in (-1, 0, 1)])
    first, second = np.tile(X[order].T, 3)
    sums = np.zeros((3, around.size + 1))
    np.cumsum(np.tile(weights[order], 3) * (first**2, first * second, second**2), axis=1, out=sums[:, 1:])
    centre = (middle + np.pi) % (2 * np.pi) - np.pi
    low, high = np.searchsorted(around, [centre - np.pi / 2, centre + np.pi / 2])
    a, b, c = sums[:, high] - sums[:, low]
    smallest = (a + c) / 2 - np.sqrt(((a - c) / 2) ** 2 + b**2)
    worst = middle[np.argsort(smallest)[:most]]
    return np.column_stack([np.cos(worst), np.sin(worst)])


def _descend(X: FloatArray, weights: FloatArray) -> FloatArray:
    """Directions that no small turn makes worse, from the mean's opposite, the axes and random starts."""
    rng = np.random.default_rng(0)
    d = X.shape[1]
    starts = np.vstack([-X.mean(axis=0), np.eye(d), -np.eye(d), rng.normal(size=(_STARTS, d))])
    lengths = np.linalg.norm(starts, axis=1)
    starts = starts[lengths > 0] / lengths[lengths > 0, None]
    parts = np.array_split(starts, -(-len(starts) // _TURNS))
    values = np.concatenate([_eigenvalues(X, weights, part) for part in parts])
    order = np.argsort(values)[:10]
    result = []
    for start, value in zip(starts[order], values[order], strict=True):
        u, turn = start, 0.5
        while turn > 1e-3 and value > 0:
            trials = u + turn * rng.normal(size=(_TURNS, d))
            trials /= np.linalg.norm(trials, axis=1, keepdims=True)
            found = _eigenvalues(X, weights, trials)
            if found.min() < value:
                u, value = trials[int(np.argmin(found))], found.min()
            else:
                turn /= 2
        result.append(u)
    return np.array(result)
