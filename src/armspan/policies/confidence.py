"""What policies with an error probability have in common: checks of δ, ridge and horizon, and a union bound."""

import math
from typing import Any

from armspan import _validate
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies.base import Policy
from armspan.policies.linear import LARGEST, SMALLEST


def check_delta(delta: Any) -> None:
    """Refuse what is no probability of failing."""
    if not _validate.real("delta", delta, above=0) < 1:
        raise InvalidParameter(f"delta must be > 0 and < 1, got {delta:g}")


def check_ridge(ridge: Any) -> None:
    """Refuse what is no penalty of a regression, or has no inverse among the numbers."""
    value = _validate.real("ridge", ridge, above=0)
    if not SMALLEST**2 <= value <= LARGEST**2:
        raise InvalidParameter(f"ridge must be from {SMALLEST**2:g} to {LARGEST**2:g}, got {value:g}")


def check_horizon(horizon: Any) -> None:
    """Refuse what is no number of steps; None is to be told later."""
    if horizon is not None:
        _validate.whole("horizon", horizon, at_least=1)


def known_horizon(policy: Policy) -> int:
    """T, of a policy that must know it."""
    horizon: int | None = getattr(policy, "horizon", None)
    if horizon is None:
        raise NotApplicable(f"{policy.name} needs horizon: give it to the policy")
    return horizon


def union_radius(policy: Any, env: Any) -> float:
    """R√(2 log(2TK/δ)): how far T sums of K arms' noise, of scale R, may all stray, but for a probability δ."""
    doubt = math.log(2 * known_horizon(policy) * env.n_arms / policy.delta)
    return float(policy.noise_scale * math.sqrt(2 * doubt))
