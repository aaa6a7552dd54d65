"""LinUCB-d in NumPy, as a competent user would write it: one run at a time, and all runs together.

Both take any number of arms, contexts and features. The third is unrolled by hand for two features, which nobody would
write twice; it shows how far NumPy goes.
"""

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
