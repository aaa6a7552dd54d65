"""The problems of the paper's Figure 1, with its numbers."""

import numpy as np

from armspan import _validate
from armspan.environments.box import BoxContexts
from armspan.environments.finite import FiniteContexts

THETA = ((0.8, 0.4), (0.5, 0.7))
FEATURES_1A = (
    ((0.9, 0.1), (0.75, 0.25), (0.25, 0.75), (0.1, 0.9)),
    ((0.8, 0.2), (0.7, 0.3), (0.3, 0.7), (0.2, 0.8)),
)
FEATURES_1B = (
    ((0.9, 0.1), (0.45, 0.65), (0.55, 0.35), (0.1, 0.9)),
    ((0.8, 0.2), (0.3, 0.5), (0.7, 0.5), (0.2, 0.8)),
)


def paper_1a() -> FiniteContexts:
    """Figure 1a: 2 arms, 4 contexts that arrive uniformly, λ₀ = 0.00799."""
    return FiniteContexts(FEATURES_1A, THETA, name="paper 1a")


def paper_1b() -> FiniteContexts:
    """Figure 1b: the same with more diverse contexts 2 and 3, λ₀ = 0.16917."""
    return FiniteContexts(FEATURES_1B, THETA, name="paper 1b")


def paper_1c(seed: int = 0) -> BoxContexts:
    """Figure 1c: 5 arms in R⁴, features uniform in [0, 1]⁴, gap 0.5, and θ on a sphere of radius 10.

    The paper does not give its draw of θ, and most draws have an arm that is hardly ever best.

    Parameters
    ----------
    seed : int, default 0
        Which draw of θ.
    """
    rng = np.random.default_rng(_validate.whole("seed", seed, at_least=0))
    theta = rng.standard_normal((5, 4))
    theta *= 10 / np.linalg.norm(theta, axis=1, keepdims=True)
    return BoxContexts(theta, 0.0, 1.0, gap=0.5, name=f"paper 1c, seed {seed}")
