"""KernelUCB in NumPy: kernel regression whose inverse grows with the points that are seen, up to a budget of them."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from armspan._typing import FloatArray
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
        """Learn the reward of a point x (d,)."""
        at = self._place.get((x + 0.0).tobytes())
        self._rewards += 1
        if self._whiten is not None:
            self._learn_projected(x, y)
        elif at is None and len(self.points) == self._budget:
            self._project()
            self._learn_projected(x, y)
        elif at is None:
            self._grow(x, y)
        else:
            self._repeat(at, y)
        if self._rewards % REBUILD == 0:
            exact = self._whiten is None
            self._invert(self._k(self.points, self.points) + np.diag(self._ridge / self.counts) if exact else self._V)

    def _grow(self, x: FloatArray, y: float) -> None:
        """A new point, by the Schur complement of its row."""
        n, k = len(self.points), self._k(self.points, x[None])[:, 0]
        u = self.inverse @ k
        rest = self._k(x[None], x[None])[0, 0] + self._ridge - k @ u
        if rest <= 0:
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
        self._whiten = U[:, kept] / np.sqrt(values[kept])
        phi = K @ self._whiten
        self._V, self._b = self._ridge * np.eye(phi.shape[1]) + (phi.T * self.counts) @ phi, phi.T @ self.sums
        self._invert(self._V)

    def _learn_projected(self, x: FloatArray, y: float) -> None:
        assert self._whiten is not None
        phi = (self._k(x[None], self.points) @ self._whiten)[0]
        u = self.inverse @ phi
        self.inverse -= np.outer(u, u) / (1 + phi @ u)
        self._V += np.outer(phi, phi)
        self._b += y * phi

    def _invert(self, matrix: FloatArray) -> None:
        self.inverse = np.asarray(np.linalg.inv(matrix), dtype=np.float64)


class KernelReference:
    """A kernel regression for each arm, or one that all share: the form in which KernelUCB runs."""

    def __init__(
        self, *, n_arms: int, n_features: int, k: Similarity, ridge: float, eta: Schedule, budget: int, shared: bool
    ) -> None:
        self._eta, self._ridge, self._shared = eta, ridge, shared
        self.arms = [KernelRegression(k, ridge, budget, n_features) for _ in range(1 if shared else n_arms)]

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """kᵀ(K + ridge·I)⁻¹y + η/√ridge · √(k(x, x) - kᵀ(K + ridge·I)⁻¹k) of every arm."""
        parts: Any = (
            [self.arms[0].estimates(x)]
            if self._shared
            else [arm.estimates(row[None]) for arm, row in zip(self.arms, x, strict=True)]
        )
        mean, variance = (np.concatenate(part) for part in zip(*parts, strict=True))
        return np.asarray(mean + self._eta(np.array([step]))[0] * np.sqrt(variance / self._ridge))

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        self.arms[0 if self._shared else arm].learn(x[arm], reward)
