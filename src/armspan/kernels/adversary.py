"""The adversary that starves a greedy policy: the contexts in which what it believes would cost it most."""

import math

import numpy as np

from armspan.kernels._compile import exact_kernel, inlined

WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0)
"""How much the search for such contexts minds what the victim believes."""


@inlined
def aim(theta, theta_hat, weight, sign, point):
    """The unit vector along sign·(θ - weight·θ̂), and what it is worth in truth and in belief. Changes point (d,)."""
    square = 0.0
    for i in range(theta.size):
        point[i] = sign * (theta[i] - weight * theta_hat[i])
        square += point[i] ** 2
    if square == 0.0:
        point[0], square = 1.0, 1.0
    true, believed = 0.0, 0.0
    for i in range(theta.size):
        point[i] /= math.sqrt(square)
        true += theta[i] * point[i]
        believed += theta_hat[i] * point[i]
    return true, believed


@exact_kernel
def starve(theta, theta_hat, points):
    """Where to put the features of each arm, given what each of R victims believes. Changes points (R, K, d).

    theta : (K, d). theta_hat : (R, K, d). Of all pairs of arms it takes the one with the largest θ_b·u - θ_a·v for
    which θ̂_a·v > θ̂_b·u, where u of arm b and v of arm a have length 1: these are u ∝ θ_b - wθ̂_b and v ∝ wθ̂_a - θ_a,
    of which it tries some weights w. All other arms are shown where they look worst.
    """
    R, K, d = theta_hat.shape
    high, low = np.empty((len(WEIGHTS), K, 2)), np.empty((len(WEIGHTS), K, 2))
    point, looks = np.empty(d), np.empty(K)
    for r in range(R):
        for w in range(len(WEIGHTS)):
            for k in range(K):
                high[w, k, 0], high[w, k, 1] = aim(theta[k], theta_hat[r, k], WEIGHTS[w], 1.0, point)
                low[w, k, 0], low[w, k, 1] = aim(theta[k], theta_hat[r, k], WEIGHTS[w], -1.0, point)
        for k in range(K):  # where they look worst
            _, looks[k] = aim(theta_hat[r, k], theta_hat[r, k], 0.0, -1.0, points[r, k])
        best, chosen, missed, weight = -math.inf, 0, 1, 0
        for w in range(len(WEIGHTS)):
            for a in range(K):
                for b in range(K):
                    lures = a != b and low[w, a, 1] > high[w, b, 1]
                    for k in range(K):
                        lures = lures and (k in (a, b) or low[w, a, 1] >= looks[k])
                    if lures and high[w, b, 0] - low[w, a, 0] > best:
                        best, chosen, missed, weight = high[w, b, 0] - low[w, a, 0], a, b, w
        aim(theta[missed], theta_hat[r, missed], WEIGHTS[weight], 1.0, points[r, missed])
        aim(theta[chosen], theta_hat[r, chosen], WEIGHTS[weight], -1.0, points[r, chosen])
