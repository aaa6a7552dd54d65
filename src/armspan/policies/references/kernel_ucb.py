"""KernelUCB in NumPy: kernel regression whose inverse grows with the points that are seen, up to a budget of them."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, Self

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.errors import InvalidParameter
from armspan.theory import Schedule

Similarity = Callable[[FloatArray, FloatArray], FloatArray]
"""From points (n, d) and (m, d) to k of each pair (n, m)."""
REBUILD = 1024
"""Rewards after which an inverse is computed afresh, so that rounding cannot build up."""
INDEFINITE = 1e-6
"""A variance below 0 by more than this, relative to k(x, x), is not rounding."""


def similarity(kernel: str, *, gamma: float, degree: int, coef0: float, length_scale: float) -> Similarity:
    """The kernel of this name, as scikit-learn defines it."""
    formulas: dict[str, Similarity] = {
        "linear": lambda x, z: x @ z.T,
        "polynomial": lambda x, z: (gamma * (x @ z.T) + coef0) ** degree,
        "rbf": lambda x, z: np.exp(-gamma * _distances(x, z) ** 2),
        "matern-3/2": lambda x, z: _matern(math.sqrt(3) * _distances(x, z) / length_scale, 0.0),
        "matern-5/2": lambda x, z: _matern(math.sqrt(5) * _distances(x, z) / length_scale, 1 / 3),
    }
    return formulas[kernel]


def _distances(x: FloatArray, z: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(x[:, None, :] - z[None, :, :], axis=2))


def _matern(r: FloatArray, square: float) -> FloatArray:
    return (1 + r + square * r**2) * np.exp(-r)


class KernelRegression:
    """One kernel regression: a number of points, each with how often it came and its sum of rewards.

    A point that comes again is not a new one: with n_i rewards of mean ȳ_i the estimate is kᵀ(K + ridge·N⁻¹)⁻¹ȳ, just
    what n_i equal rows give. The inverse grows by a Schur complement with every new point, up to `budget` points. Those
    are then the dictionary of a Nyström approximation: φ(x) = Λ^(-½)Uᵀk with K = UΛUᵀ, in which the regression is
    linear. Its variance keeps what the dictionary does not explain, k(x, x) - |φ|².
    """

    def __init__(self, k: Similarity, ridge: float, budget: int, n_features: int) -> None:
        self._k, self._ridge, self._budget, self._rewards = k, ridge, budget, 0
        self._place: dict[bytes, int] = {}
        self.points = np.empty((0, n_features))
        self.counts, self.sums = np.empty(0), np.empty(0)
        self.inverse: FloatArray = np.empty((0, 0))  # (K + ridge·N⁻¹)⁻¹, or (ridge·I + Σφφᵀ)⁻¹
        self._whiten: FloatArray | None = None  # UΛ^(-½), once the dictionary is full
        self._V, self._b = np.empty((0, 0)), np.empty(0)  # of the regression on φ

    def estimates(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance k(x, x) - kᵀ(K + ridge·I)⁻¹k, both (n,), for points x (n, d)."""
        prior, k = np.diagonal(self._k(x, x)), self._k(x, self.points)
        _check_finite(prior)
        if self._whiten is None:
            mean = k @ (self.inverse @ (self.sums / self.counts))
            variance = prior - (k @ self.inverse * k).sum(axis=1)
        else:
            phi = k @ self._whiten
            mean = phi @ (self.inverse @ self._b)
            variance = prior - (phi**2).sum(axis=1) + self._ridge * (phi @ self.inverse * phi).sum(axis=1)
        if (variance < -INDEFINITE * np.maximum(np.abs(prior), np.abs(k).max(initial=0.0))).any():
            raise InvalidParameter(f"kernel must be positive, got a variance of {variance.min():.3g} with these points")
        return mean, np.maximum(variance, 0.0)

    def learn(self, x: FloatArray, y: float) -> None:
        """Learn the reward of a point x (d,); where it raises, nothing has changed."""
        at = self._place.get((x + 0.0).tobytes())
        _check_finite(self._k(x[None], x[None]))
        if self._whiten is not None:
            self._learn_projected(x, y)
        elif at is None and len(self.points) == self._budget:
            self._project()
            self._learn_projected(x, y)
        elif at is None:
            self._grow(x, y)
        else:
            self._repeat(at, y)
        self._rewards += 1
        if self._rewards % REBUILD == 0:
            exact = self._whiten is None
            matrix = self._k(self.points, self.points) + np.diag(self._ridge / self.counts) if exact else self._V
            with suppress(np.linalg.LinAlgError):  # where it is singular, the inverse that has grown is all there is
                self.inverse = inverted(matrix)

    def _grow(self, x: FloatArray, y: float) -> None:
        """A new point, by the Schur complement of its row."""
        n, k = len(self.points), self._k(self.points, x[None])[:, 0]
        u = self.inverse @ k
        rest = self._k(x[None], x[None])[0, 0] + self._ridge - k @ u
        if not rest > 0:
            raise InvalidParameter(f"kernel must be positive, got a Schur complement of {rest:.3g} with these points")
        larger = np.empty((n + 1, n + 1))
        larger[:n, :n] = self.inverse + np.outer(u, u) / rest
        larger[n, :n] = larger[:n, n] = -u / rest
        larger[n, n] = 1 / rest
        self.inverse, self.points = larger, np.vstack([self.points, x])
        self.counts, self.sums = np.append(self.counts, 1.0), np.append(self.sums, y)
        self._place[(x + 0.0).tobytes()] = n

    def _repeat(self, at: int, y: float) -> None:
        """One more reward of a known point: ridge/n becomes ridge/(n + 1), by Sherman and Morrison."""
        n, column = self.counts[at], self.inverse[at].copy()
        change = self._ridge / (n + 1) - self._ridge / n
        self.inverse -= change / (1 + change * column[at]) * np.outer(column, column)
        self.counts[at] += 1
        self.sums[at] += y

    def _project(self) -> None:
        """The dictionary is full: go on in its features φ, where all that was learnt is kept exactly."""
        K = self._k(self.points, self.points)
        values, U = np.linalg.eigh(K)
        kept = values > len(K) * np.finfo(float).eps * values[-1]
        whiten = U[:, kept] / np.sqrt(values[kept])
        phi = K @ whiten
        V = self._ridge * np.eye(phi.shape[1]) + (phi.T * self.counts) @ phi
        self.inverse, self._whiten, self._V, self._b = inverted(V), whiten, V, phi.T @ self.sums

    def _learn_projected(self, x: FloatArray, y: float) -> None:
        assert self._whiten is not None
        phi = (self._k(x[None], self.points) @ self._whiten)[0]
        u = self.inverse @ phi
        self.inverse -= np.outer(u, u) / (1 + phi @ u)
        self._V += np.outer(phi, phi)
        self._b += y * phi


def inverted(matrix: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _check_finite(k: FloatArray) -> None:
    """Refuse points whose kernel with themselves, and so with others, is too large for a number."""
    if not np.isfinite(k).all():
        raise InvalidParameter("x must be small enough that its kernel is a finite number")


class KernelReference:
    """A kernel regression for each arm, or one that all share: the form in which KernelUCB runs."""

    learns_late: ClassVar[bool] = True

    def __init__(
        self, *, n_arms: int, n_features: int, k: Similarity, ridge: float, eta: Schedule, budget: int, shared: bool
    ) -> None:
        self._eta, self._ridge, self._shared = eta, ridge, shared
        self.arms = [KernelRegression(k, ridge, budget, n_features) for _ in range(1 if shared else n_arms)]

    def estimates(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """kᵀ(K + ridge·I)⁻¹y and √((k(x, x) - kᵀ(K + ridge·I)⁻¹k)/ridge) of every arm."""
        parts: Any = (
            [self.arms[0].estimates(x)]
            if self._shared
            else [arm.estimates(row[None]) for arm, row in zip(self.arms, x, strict=True)]
        )
        mean, variance = (np.concatenate(part) for part in zip(*parts, strict=True))
        return mean, np.sqrt(variance / self._ridge)

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """kᵀ(K + ridge·I)⁻¹y + η/√ridge · √(k(x, x) - kᵀ(K + ridge·I)⁻¹k) of every arm."""
        mean, width = self.estimates(x)
        return np.asarray(mean + self._eta(np.array([step]))[0] * width)

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        self.arms[0 if self._shared else arm].learn(x[arm], reward)

    def take_over(self, other: Self, rows: IntArray) -> None:
        """Go on with what another one knows: rows (K,) tells which arm there each arm here was, -1 for none."""
        if self._shared:
            self.arms = other.arms
        else:
            self.arms = [mine if row < 0 else other.arms[row] for mine, row in zip(self.arms, rows, strict=True)]
