"""How far a log is from the nearest problem in which an arm's contexts are not diverse.

An arm's contexts are *thin* if they are too rare or too flat to call the arm diverse. Somewhere near the estimates are
coefficients with which the arm leads thin contexts only: all other contexts that it seems to lead must be taken from
it, each by a rival. For given contexts and rivals, those coefficients form a polyhedron. If the truth lies in it, the
squared distance of the estimates, in units of their errors, is no larger than that of chi-squared with as many degrees
of freedom as contexts hold the nearest point in place, whichever these are (the conditional test of inequalities). So
the arm is diverse, at a level, if the estimates are too far from all such polyhedra.

There are too many of them to try all. Which contexts the arm may keep is guessed by directions: along one of them, what
it keeps must hardly vary, so those contexts are kept that lie across it, and those that would be the most expensive to
take. The directions are the weakest ones of the contexts that the arm leads by so many errors or more.
"""

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import BoolArray, FloatArray, IntArray

REACHES = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0)
"""Directions are those that are weakest among contexts that an arm leads by so many errors."""
REPEATS = 6
"""How often a direction is changed to what it has led to."""
MOST_STEPS = 300
"""Contexts that are taken from an arm or given back to it on the way to one nearest point."""
ROUNDING = 1e-9
TINY = 1e-300


class Point(NamedTuple):
    """The nearest coefficients with which an arm leads none of some contexts by the margin.

    far : the squared distance. held : how many contexts hold it in place. leads : (m, ) by how much the arm leads each
    context there. rivals : (m,) its closest ones. cost : (m,) what each context adds to the distance.
    """

    far: float
    held: int
    leads: FloatArray
    rivals: IntArray
    cost: FloatArray


class Estimates(NamedTuple):
    """theta : (K, r) coefficients. roots : (K, r, r) of the covariance of their errors, which is root·rootᵀ."""

    theta: FloatArray
    roots: FloatArray


class Nearest:
    """Some contexts of a log, and what is needed to look for the nearest point of each arm.

    z : (m, r) contexts that differ from each other. rows : (m,) how often each occurs. margin : what a lead is.
    critical : from degrees of freedom to the largest squared distance that chance explains.
    thin : whether some contexts (m,) are too rare or too flat.
    """

    def __init__(
        self,
        z: FloatArray,
        rows: IntArray,
        estimates: Estimates,
        margin: float,
        critical: Callable[[int], float],
        thin: Callable[[BoolArray], bool],
    ) -> None:
        self.z, self.rows, self.margin, self.critical, self.thin = z, rows, margin, critical, thin
        self.theta, self.roots = estimates

    def seems_thin(self, arm: int) -> bool:
        """Whether an arm does not even seem diverse."""
        return self.thin(self._leads(arm, self.theta) > self.margin)

    def too_far(self, arm: int) -> bool:
        """Whether chance does not explain that an arm seems diverse."""
        return self.ratio(arm) > 1

    def ratio(self, arm: int) -> float:
        """The squared distance beside its critical value, where the ratio is least; or any ratio of 1 or less."""
        if self.seems_thin(arm):
            return 0.0
        leads = self._leads(arm, self.theta)
        rivals = self._rivals(arm, self.theta)
        variances = self._variances[arm] + self._variances[rivals, np.arange(len(rivals))]
        errors = np.maximum(leads - self.margin, 0.0) / np.sqrt(variances + TINY)
        first = self.point(arm, np.zeros(len(self.z), dtype=bool), rivals)
        least, tried = self._ratio(first), set()
        for start in self._directions(errors, first.cost):
            direction, cost, against, before = start, errors**2, first.rivals, np.inf
            for _ in range(REPEATS):
                kept = self._kept(direction, cost)
                if least <= 1 or kept.tobytes() in tried:
                    break
                tried.add(kept.tobytes())
                points = [self.point(arm, kept, rivals) for rivals in (against, None)]
                now, found = min(((self._ratio(point), point) for point in points), key=lambda both: both[0])
                least = min(least, now)
                if now >= before:
                    break
                direction, cost = _weakest(self.z[kept], self.rows[kept])[:, 0], found.cost
                against, before = found.rivals, now
        return least if math.isfinite(least) else 0.0  # no point was found at all

    def point(self, arm: int, kept: BoolArray, against: IntArray | None = None) -> Point:
        """The nearest point at which an arm leads no contexts but those that it may keep.

        against : (m,) the rivals that contexts are taken by; if left out, those that are closest on the way.

        By the method of active sets: of the contexts that it still leads, the one by most errors is taken from it,
        until there is none; what was taken and need not be is given back.
        """
        normals, wanted = np.empty((0, self.theta.size)), np.empty(0)  # shifts with normals·shift >= wanted
        force, taken, theta = np.empty(0), np.empty((0, 2), dtype=np.int64), self.theta
        weights = np.where(kept, 0.0, 1 / np.sqrt(self._variances[arm] + TINY))
        for _ in range(MOST_STEPS):
            over = (self._leads(arm, theta) - self.margin) * weights
            worst = int(np.argmax(over))
            rival = self._rivals(arm, theta, worst) if against is None else against[worst]
            pair = np.array([worst, rival])
            if not over[worst] > ROUNDING or (taken == pair).all(axis=1).any():
                break
            normals, wanted = np.vstack([normals, self._normal(arm, *pair)]), np.append(wanted, self._lead(arm, *pair))
            force, taken = np.append(force, 0.0), np.vstack([taken, pair])
            force, stays = _balanced(normals, wanted, force)
            normals, wanted, force, taken = normals[stays], wanted[stays], force[stays], taken[stays]
            shift = (force @ normals).reshape(self.theta.shape)
            theta = self.theta + np.einsum("kij,kj->ki", self.roots, shift)
        cost = np.zeros(len(self.z))
        np.add.at(cost, taken[:, 0], force * wanted)
        return Point(float(force @ wanted), len(force), self._leads(arm, theta), self._rivals(arm, theta), cost)

    def _ratio(self, found: Point) -> float:
        """Of a point where the arm leads thin contexts only; infinite where it does not."""
        if not self.thin(found.leads > self.margin * (1 + 1e-6)):
            return float("inf")
        return found.far / self.critical(max(found.held, 1))

    def _directions(self, errors: FloatArray, cost: FloatArray) -> Iterator[FloatArray]:
        for reach in REACHES:
            if (errors > reach).any():
                yield from _weakest(self.z[errors > reach], self.rows[errors > reach]).T[:2]
        yield from _weakest(self.z, cost).T

    def _kept(self, direction: FloatArray, cost: FloatArray) -> BoolArray:
        """The most contexts that are thin: first those that hardly vary along the direction for what they cost."""
        squares = (self.z @ direction) ** 2 * self.rows
        order = np.argsort(-(cost + ROUNDING * cost.max()) / (squares + ROUNDING**2), kind="stable")
        kept, few, many = np.zeros(len(order), dtype=bool), 0, len(order)
        while few < many:
            middle = (few + many + 1) // 2
            kept[order[:middle]], kept[order[middle:]] = True, False
            few, many = (middle, many) if self.thin(kept) else (few, middle - 1)
        kept[order[:few]], kept[order[few:]] = True, False
        return kept

    def _leads(self, arm: int, theta: FloatArray) -> FloatArray:
        """By how much the arm leads each context (m,)."""
        means = theta @ self._across
        own = means[arm].copy()
        means[arm] = -np.inf
        return np.asarray(own - means.max(axis=0))

    def _rivals(self, arm: int, theta: FloatArray, contexts: int | slice = slice(None)) -> Any:
        """The arm's closest rival in a context, or in each of them (m,)."""
        means = theta @ self._across[:, contexts]
        means[arm] = -np.inf
        return np.argmax(means, axis=0)

    @cached_property
    def _across(self) -> FloatArray:
        return np.ascontiguousarray(self.z.T)

    @cached_property
    def _variances(self) -> FloatArray:
        """(K, m) of each arm's mean in each context."""
        return np.stack([((self.z @ root) ** 2).sum(axis=1) for root in self.roots])

    def _normal(self, arm: int, context: int, rival: int) -> FloatArray:
        """What the shift, in units of errors, must point along to take a context from the arm for a rival."""
        normal = np.zeros(self.theta.shape)
        normal[arm], normal[rival] = -self.z[context] @ self.roots[arm], self.z[context] @ self.roots[rival]
        return normal.reshape(-1)

    def _lead(self, arm: int, context: int, rival: int) -> float:
        """By how much the arm leads a rival in a context, beyond the margin."""
        return float(self.z[context] @ (self.theta[arm] - self.theta[rival])) - self.margin


def distinct(z: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """The rows of z (n, r) that differ, how often each occurs, and which of them each row of z is."""
    _, first, which, rows = np.unique(
        np.round(z, 9), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return z[first], rows, which.reshape(-1)


def _weakest(z: FloatArray, weights: FloatArray | IntArray) -> FloatArray:
    """Directions (r, r), the one along which weighted contexts spread least first."""
    return np.asarray(np.linalg.eigh((z * weights[:, None]).T @ z)[1])


def _balanced(normals: FloatArray, wanted: FloatArray, force: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Forces on constraints of which the last is new, and which constraints stay: those with a force above 0."""
    gram, stays = normals @ normals.T, np.ones(len(force), dtype=bool)
    gram.flat[:: len(gram) + 1] *= 1 + 1e-12
    while stays.any():
        aim = np.zeros_like(force)
        aim[stays] = np.linalg.solve(gram[stays][:, stays], wanted[stays])
        if (aim[stays] > 0).all():
            return aim, stays
        falls = stays & (aim <= 0)
        step = float((force[falls] / (force[falls] - aim[falls])).min(initial=1.0)) if falls.any() else 1.0
        force = force + step * (aim - force)
        stays &= force > 1e-14 * np.abs(force).max()
        force = np.where(stays, force, 0.0)
    return force, stays
