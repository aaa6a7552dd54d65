"""Whether features have about one size, which exploration that follows the residuals needs."""

import numpy as np

from armspan._typing import FloatArray

UNEQUAL = 5.0
"""How many times larger than another a feature may be before somebody is warned."""


def sizes_apart(x: FloatArray, probabilities: FloatArray | None = None) -> float:
    """How many times larger the largest feature of contexts (n, K, d) is than the smallest that is not always 0.

    By the largest values and by the root mean squares, whichever are closer: a rare flag is small only in the mean, and
    one that was standardised is large only where it is set. Contexts are equally likely if probabilities are left out.
    """
    if probabilities is None:
        probabilities = np.full(len(x), 1 / len(x))
    return apart(np.abs(x).max(axis=(0, 1)), np.tensordot(probabilities, (x**2).mean(axis=1), axes=1))


def apart(largest: FloatArray, square: FloatArray) -> float:
    """The same from the largest size (d,) and the mean square (d,) of each feature."""
    sizes = largest[square > 0], np.sqrt(square[square > 0])
    return min(float(size.max() / size.min()) for size in sizes) if sizes[0].size else 1.0
