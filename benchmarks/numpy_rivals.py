"""LinUCB-d in NumPy, as a competent user would write it: one run at a time, and all runs together.

Both take any number of arms, contexts and features. The third is unrolled by hand for two features, which nobody would
write twice; it shows how far NumPy goes.
"""

from typing import Any

import numpy as np

from armspan._typing import FloatArray as Array
from armspan.environments import FiniteContexts
from armspan.theory import paper_alpha

DRAWN_TOGETHER = 1024
"""Random numbers are drawn for this many steps at a time."""


def setting(env: FiniteContexts, horizon: int) -> tuple[Array, Array, Array, float]:
    """Features (n, K, d), mean rewards (n, K), α (T,) and the ridge l²."""
    l, s = env.feature_bound, env.parameter_bound
    alpha = paper_alpha(np.arange(1, horizon + 1), n_features=env.n_features, bias=l * s)
    return np.swapaxes(env.features, 0, 1).copy(), env.reward_table.T.copy(), alpha, l**2


def one_run(env: FiniteContexts, horizon: int, seed: int = 0) -> float:
    """A loop over single steps; all arms in one product, Sherman–Morrison updates. Returns the pseudo-regret."""
    features, means, alpha, ridge = setting(env, horizon)
    n, K, d = features.shape
    best = means.max(axis=1)
    rng = np.random.default_rng(seed)
    contexts, noise = rng.integers(n, size=horizon), rng.standard_normal(horizon)
    V_inv, theta_hat = np.tile(np.eye(d) / ridge, (K, 1, 1)), np.zeros((K, d))
    regret = 0.0
    for t in range(horizon):
        c = contexts[t]
        x = features[c]
        u = (V_inv @ x[:, :, None])[:, :, 0]
        variance, mean = (u * x).sum(axis=1), (theta_hat * x).sum(axis=1)
        a = int(np.argmax(mean + alpha[t] * np.sqrt(variance)))
        gain = 1 / (1 + variance[a])
        V_inv[a] -= gain * u[a][:, None] * u[a]
        theta_hat[a] += gain * (means[c, a] + noise[t] - mean[a]) * u[a]
        regret += best[c] - means[c, a]
    return float(regret)


def all_runs(env: FiniteContexts, horizon: int, runs: int, seed: int = 0) -> Array:
    """All runs advance together, a step at a time. Returns the pseudo-regret (R,)."""
    features, means, alpha, ridge = setting(env, horizon)
    n, K, d = features.shape
    best = means.max(axis=1)
    rng = np.random.default_rng(seed)
    V_inv, theta_hat = np.tile(np.eye(d) / ridge, (runs, K, 1, 1)), np.zeros((runs, K, d))
    regret, row = np.zeros(runs), np.arange(runs)
    for first in range(0, horizon, DRAWN_TOGETHER):
        size = min(DRAWN_TOGETHER, horizon - first)
        contexts, noise = rng.integers(n, size=(size, runs)), rng.standard_normal((size, runs))
        for i in range(size):
            c = contexts[i]
            x = features[c]
            u = (V_inv @ x[..., None])[..., 0]
            variance, mean = np.einsum("rkd,rkd->rk", u, x), np.einsum("rkd,rkd->rk", theta_hat, x)
            a = np.argmax(mean + alpha[first + i] * np.sqrt(variance), axis=1)
            reward = means[c, a]
            u_a, gain = u[row, a], 1 / (1 + variance[row, a])
            V_inv[row, a] -= (gain[:, None] * u_a)[:, :, None] * u_a[:, None, :]
            theta_hat[row, a] += (gain * (reward + noise[i] - mean[row, a]))[:, None] * u_a
            regret += best[c] - reward
    return regret


def all_runs_unrolled(env: FiniteContexts, horizon: int, runs: int, seed: int = 0) -> Array:
    """The same with every entry of V⁻¹ and θ̂ in an array of its own: for two features alone."""
    features, means, alpha, ridge = setting(env, horizon)
    n, K, _ = features.shape
    best = means.max(axis=1)
    rng = np.random.default_rng(seed)
    v00, v01, v11 = np.full(runs * K, 1 / ridge), np.zeros(runs * K), np.full(runs * K, 1 / ridge)
    theta0, theta1 = np.zeros(runs * K), np.zeros(runs * K)
    first_feature, second_feature = features[:, :, 0].copy(), features[:, :, 1].copy()
    regret, base = np.zeros(runs), np.arange(runs) * K
    for first in range(0, horizon, DRAWN_TOGETHER):
        size = min(DRAWN_TOGETHER, horizon - first)
        contexts, noise = rng.integers(n, size=(size, runs)), rng.standard_normal((size, runs))
        for i in range(size):
            c = contexts[i]
            x0, x1 = first_feature[c].ravel(), second_feature[c].ravel()
            u0, u1 = v00 * x0 + v01 * x1, v01 * x0 + v11 * x1
            variance, mean = u0 * x0 + u1 * x1, theta0 * x0 + theta1 * x1
            a = np.argmax((mean + alpha[first + i] * np.sqrt(variance)).reshape(runs, K), axis=1)
            reward, k = means[c, a], base + a
            a0, a1, gain = u0[k], u1[k], 1 / (1 + variance[k])
            step = gain * (reward + noise[i] - mean[k])
            theta0[k] += step * a0
            theta1[k] += step * a1
            v00[k] -= gain * a0 * a0
            v01[k] -= gain * a0 * a1
            v11[k] -= gain * a1 * a1
            regret += best[c] - reward
    return regret


class NumPyAgent:
    """LinUCB as one would write it with care: all arms in one batched product, Sherman–Morrison for the one pulled."""

    def __init__(self, n_arms: int, n_features: int, *, ridge: float, alpha: float) -> None:
        self.alpha, self.ridge = alpha, ridge
        self.V_inv = np.tile(np.eye(n_features) / ridge, (n_arms, 1, 1))
        self.b, self.theta_hat = np.zeros((n_arms, n_features)), np.zeros((n_arms, n_features))

    def choose(self, x: Array) -> int:
        """Choose for features x (d,), shared by the arms, or (K, d)."""
        if x.ndim == 1:
            mean, variance = self.theta_hat @ x, (self.V_inv @ x) @ x
        else:
            mean = np.einsum("kd,kd->k", self.theta_hat, x)
            variance = np.einsum("kd,kd->k", np.matmul(self.V_inv, x[:, :, None])[:, :, 0], x)
        return int(np.argmax(mean + self.alpha * np.sqrt(variance)))

    def update(self, arm: int, x: Array, reward: float) -> None:
        """Learn one reward."""
        own = x if x.ndim == 1 else x[arm]
        V_inv = self.V_inv[arm]
        u = V_inv @ own
        gain = 1.0 / (1.0 + own @ u)
        self.theta_hat[arm] += gain * (reward - self.theta_hat[arm] @ own) * u
        V_inv -= np.multiply.outer(u, gain * u)
        self.b[arm] += reward * own

    def fit(self, arms: Any, X: Array, rewards: Array) -> None:
        """Learn a log, from scratch."""
        for k in range(len(self.b)):
            own = X[arms == k]
            self.V_inv[k] = np.linalg.inv(self.ridge * np.eye(X.shape[1]) + own.T @ own)
            self.b[k] = rewards[arms == k] @ own
            self.theta_hat[k] = self.V_inv[k] @ self.b[k]
