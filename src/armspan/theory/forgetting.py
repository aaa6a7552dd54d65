"""How old rewards lose their weight, for agents and simulations alike: by half in a half-life, in small steps."""

import math

STEPS = 32
"""Steps of forgetting in a half-life, where it has so many rewards."""


def forgetting(half_life: float) -> tuple[int, float]:
    """Rewards between two steps of forgetting, and the factor by which everything seen is then multiplied.

    Parameters
    ----------
    half_life : float
        The number of rewards after which an old one counts half.
    """
    every = max(int(half_life / STEPS), 1)
    return every, float(0.5 ** (every / half_life))


def remembered(half_life: float) -> float:
    """How many rewards count in the end, all together; 1 or more.

    Parameters
    ----------
    half_life : float
        The number of rewards after which an old one counts half.
    """
    return max(half_life / math.log(2.0), 1.0)
