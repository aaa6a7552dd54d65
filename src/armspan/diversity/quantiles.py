"""Quantiles and exact limits of probabilities, which the core would otherwise need SciPy for."""

import math
from functools import lru_cache
from statistics import NormalDist


def binomial_limits(hits: int, n: int, alpha: float) -> tuple[float, float]:
    """Clopper and Pearson's limits of a probability from hits in n trials; each is wrong with probability alpha."""
    return lower_limit(hits, n, alpha), upper_limit(hits, n, alpha)


def lower_limit(hits: float, n: float, alpha: float) -> float:
    """Only the lower one."""
    return 0.0 if hits == 0 else beta_quantile(alpha, hits, n - hits + 1)


def upper_limit(hits: float, n: float, alpha: float) -> float:
    """Only the upper one."""
    return 1.0 if hits == n else beta_quantile(1 - alpha, hits + 1, n - hits)


@lru_cache(maxsize=4096)
def f_quantile(probability: float, d1: int, d2: int) -> float:
    """The quantile of Fisher's F distribution."""
    share = beta_quantile(probability, d1 / 2, d2 / 2)
    return d2 * share / (d1 * (1 - share)) if share < 1 else math.inf


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by Lentz's continued fraction; right to 1e-9."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = _front(x, a, b)
    return 1 - front * _fraction(1 - x, b, a) if x > (a + 1) / (a + b + 2) else front * _fraction(x, a, b)


def _front(x: float, a: float, b: float) -> float:
    """xᵃ(1 - x)ᵇ/B(a, b)."""
    return math.exp(a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))


def _fraction(x: float, a: float, b: float) -> float:
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
    return (value - 1) / a


def _near(probability: float, a: float, b: float) -> float:
    """About where I_x(a, b) reaches a probability (Abramowitz and Stegun, 26.5.22); the mean where that is unknown."""
    if a <= 1 or b <= 1 or not 0 < probability < 1:
        return a / (a + b)
    y, p, q = -NormalDist().inv_cdf(probability), 1 / (2 * a - 1), 1 / (2 * b - 1)
    h, bend = 2 / (p + q), (y * y - 3) / 6
    w = y * math.sqrt(h + bend) / h - (q - p) * (bend + 5 / 6 - 2 / (3 * h)) if h + bend > 0 else math.nan
    return a / (a + b * math.exp(2 * w)) if abs(w) < 300 else a / (a + b)


@lru_cache(maxsize=4096)
def beta_quantile(probability: float, a: float, b: float) -> float:
    """Where I_x(a, b) reaches a probability: by Newton's method, or half-way where that leaves what is still possible.

    It ends when the next error would be about the square of 1e-10, relative to x and to 1 - x.
    """
    if a == 1 and probability < 1:
        return -math.expm1(math.log1p(-probability) / b)
    low, high, x = 0.0, 1.0, _near(probability, a, b)
    for _ in range(1100):  # so often a number can be halved
        excess = beta_cdf(x, a, b) - probability
        low, high = (x, high) if excess < 0 else (low, x)
        density = _front(x, a, b) / (x * (1 - x))
        following = x - excess / density if density > 0 else math.nan
        last, x = x, following if low < following < high else (low + high) / 2
        if x in (low, high) or abs(x - last) <= max(1e-10 * min(x, 1 - x), 2 * math.ulp(x)):
            break
    return x
