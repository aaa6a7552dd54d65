"""Intervals for probabilities that were counted."""

import math


def wilson(hits: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a probability, from hits in n trials, or from the sum of n probabilities."""
    z, share = 1.96, hits / n
    centre, half = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
