"""What policies with an error probability have in common: checks of δ, ridge and horizon, and radii that hold."""

import math
from typing import Any

import numpy as np

from armspan import _validate
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies.base import Policy, bound
from armspan.policies.linear import LARGEST, SMALLEST
from armspan.theory import Schedule


def check_delta(delta: Any) -> None:
    """Refuse what is no probability of failing."""
    if not _validate.real("delta", delta, above=0) < 1:
        raise InvalidParameter(f"delta must be > 0 and < 1, got {delta:g}")


def check_ridge(ridge: Any) -> None:
    """Refuse what is no penalty of a regression, or has no inverse among the numbers."""
    value = _validate.real("ridge", ridge, above=0)
    if not SMALLEST**2 <= value <= LARGEST**2:
        raise InvalidParameter(f"ridge must be from {SMALLEST**2:g} to {LARGEST**2:g}, got {value:g}")


def check_radius(policy: Any) -> None:
    """Refuse δ, s or R of OFUL's radius; a bound that is None is the environment's."""
    check_delta(policy.delta)
    if policy.parameter_bound is not None:
        _validate.real("parameter_bound", policy.parameter_bound, above=0)
    if policy.noise_scale is not None:
        _validate.real("noise_scale", policy.noise_scale, at_least=0)


def radius(policy: Any, env: Any) -> dict[str, Any]:
    """What OFUL's radius √β = R√(2 log(√(det V / λᵈ) / δ)) + √λ·s is made of; separate arms share δ out."""
    R, s = bound(policy, "noise_scale", env), bound(policy, "parameter_bound", env)
    return {"delta": policy.delta if policy.shared else policy.delta / env.n_arms, "R": R, "s": s}


def radius_knobs(policy: Any, env: Any, used: Schedule) -> dict[str, Schedule]:
    """That radius as noise·√(doubt + log det V) + bias; used : how much of it step t uses."""
    ridge, parts = policy.sound_penalty(env), radius(policy, env)
    doubt = 2 * math.log(1 / parts["delta"]) - env.n_features * math.log(ridge)
    return {
        "noise": lambda t: parts["R"] * used(t),
        "doubt": lambda t: np.full(t.size, doubt),
        "bias": lambda t: math.sqrt(ridge) * parts["s"] * used(t),
    }


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
