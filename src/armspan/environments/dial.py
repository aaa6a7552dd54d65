"""One family of problems, from not diverse at all to as diverse as possible, with the same rewards throughout."""

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray
from armspan.environments.figure_1 import FEATURES_1A, THETA
from armspan.environments.finite import FiniteContexts
from armspan.errors import InvalidParameter

PAPER_1A_LEVEL = 0.1
"""The level at which the dial shows the paper's problem (a)."""


def diversity_dial(level: float) -> FiniteContexts:
    """The paper's problem (a) with its diversity turned to a level from 0 to 1.

    At 0 each arm's two optimal features are parallel (λ₀ = 0), at PAPER_1A_LEVEL = 0.1 they are the paper's (λ₀ =
    0.00799), at 1 they are orthogonal. Every mean reward, and so the gap, is that of (a) at all levels: an arm's
    optimal features move only at right angles to its θ, which does not change the reward.

    Parameters
    ----------
    level : float
        The diversity, from 0 to 1.
    """
    level = _validate.real("level", level, at_least=0)
    if level > 1:
        raise InvalidParameter(f"level must be from 0 to 1, got {level:g}")
    features = np.array(FEATURES_1A)
    for arm, pair in ((0, slice(0, 2)), (1, slice(2, 4))):
        features[arm, pair] = _spread(features[arm, pair], np.array(THETA[arm]), level)
    return FiniteContexts(features, THETA, name=f"diversity dial at {level:g}")


def _spread(pair: FloatArray, theta: FloatArray, level: float) -> FloatArray:
    """Turn the two features in pair (2, 2) apart or together, keeping θᵀx of both.

    In the basis (θ/‖θ‖, its normal) they are (u, w) with u fixed. Writing w = κu ± δ, parallel means δ = 0, and
    orthogonal means u₁u₂ + w₁w₂ = 0. δ follows a power of the level that passes through the paper's δ.
    """
    along = theta / np.linalg.norm(theta)
    across = np.array([-along[1], along[0]])
    u, w = pair @ along, pair @ across
    kappa = w.sum() / u.sum()
    paper = w[0] - kappa * u[0]
    sign = np.sign(paper)
    # (κu₁ + δ)(κu₂ - δ) = -u₁u₂, a quadratic in δ; the root on the paper's side
    b, c = kappa * (u[0] - u[1]), -(1 + kappa**2) * u[0] * u[1]
    orthogonal = (-b + sign * np.sqrt(b * b - 4 * c)) / 2
    power = np.log(paper / orthogonal) / np.log(PAPER_1A_LEVEL)
    delta = orthogonal * level**power
    w = kappa * u + delta * np.array([1.0, -1.0])
    return u[:, None] * along + w[:, None] * across
