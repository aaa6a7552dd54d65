"""Quantiles and exact limits of probabilities, which the core would otherwise need SciPy for."""

import math
from collections.abc import Callable
from functools import lru_cache


def binomial_limits(hits: int, n: int, alpha: float) -> tuple[float, float]:
    """Clopper and Pearson's limits of a probability from hits in n trials; each is wrong with probability alpha."""
    low = 0.0 if hits == 0 else _solve(lambda p: beta_cdf(p, hits, n - hits + 1), alpha)
    high = 1.0 if hits == n else _solve(lambda p: beta_cdf(p, hits + 1, n - hits), 1 - alpha)
    return low, high


@lru_cache(maxsize=4096)
def f_quantile(probability: float, d1: int, d2: int) -> float:
    """The quantile of Fisher's F distribution."""
    share = _solve(lambda x: beta_cdf(x, d1 / 2, d2 / 2), probability)
    return d2 * share / (d1 * (1 - share)) if share < 1 else math.inf


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by Lentz's continued fraction; right to 1e-9."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    tiny, c, d = 1e-300, 1.0, 0.0
    value = 1.0
    for i in range(2000):
        m = i // 2
        if i == 0:
            term = 1.0
        elif i % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + term * d or tiny)
        c = 1 + term / c or tiny
        value *= c * d
        if i and abs(c * d - 1) < 1e-15:
            break
    return math.exp(front) * (value - 1) / a


def _solve(cdf: Callable[[float], float], probability: float) -> float:
    """Where a distribution function on [0, 1] reaches a probability."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if cdf(middle) < probability else (low, middle)
    return (low + high) / 2
