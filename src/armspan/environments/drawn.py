"""Random problems that are not in the paper: many features of which only a few count, one shared θ, and a bend."""

from typing import Any

import numpy as np

from armspan import _validate
from armspan.environments.box import BoxContexts
from armspan.environments.rewards import RewardTable


def sparse_problem(
    n_arms: int = 3,
    n_features: int = 60,
    non_zeros: int = 4,
    *,
    noise: Any = 1.0,
    seed: int = 0,
    name: str = "sparse",
) -> BoxContexts:
    """Many features, of which only a few count: every arm's θ has `non_zeros` entries that are not 0, each N(0, 1).

    Parameters
    ----------
    n_arms : int, default 3
        K.
    n_features : int, default 60
        d. Features are uniform on [-1, 1].
    non_zeros : int, default 4
        How many features count, drawn for each arm.
    noise : float or noise, default 1
        The standard deviation of Gaussian noise, or `Gaussian(scale)`, `Rademacher(scale)` or `Bernoulli()`.
    seed : int, default 0
        Seed of all that is drawn.
    name : str
        Shown in tables and figures.

    Returns
    -------
    BoxContexts
        The environment.
    """
    K, d, rng = _checked(n_arms, n_features, seed)
    few, theta = _validate.whole("non_zeros", non_zeros, at_least=1, at_most=d), np.zeros((K, d))
    for arm in theta:
        arm[rng.choice(d, size=few, replace=False)] = rng.normal(size=few)
    return BoxContexts(theta, -1.0, 1.0, noise=noise, name=name)


def shared_problem(
    n_arms: int = 40,
    n_features: int = 8,
    *,
    noise: Any = 0.5,
    seed: int = 0,
    name: str = "many arms, one θ",
) -> BoxContexts:
    """Many arms that share one θ and differ only in their features, for policies with `shared=True`.

    Parameters
    ----------
    n_arms : int, default 40
        K.
    n_features : int, default 8
        d. Features are uniform on [-1, 1], drawn for each arm; θ has entries N(0, 1/d).
    noise : float or noise, default 0.5
        The standard deviation of Gaussian noise, or `Gaussian(scale)`, `Rademacher(scale)` or `Bernoulli()`.
    seed : int, default 0
        Seed of all that is drawn.
    name : str
        Shown in tables and figures.

    Returns
    -------
    BoxContexts
        The environment.
    """
    K, d, rng = _checked(n_arms, n_features, seed)
    theta = rng.normal(size=d) / np.sqrt(d)
    return BoxContexts(np.tile(theta, (K, 1)), -1.0, 1.0, noise=noise, name=name)


def bent_problem(
    n_arms: int = 4,
    n_features: int = 4,
    size: float = 0.3,
    *,
    n_contexts: int = 400,
    noise: Any = 0.5,
    seed: int = 0,
    name: str = "a bent table",
) -> RewardTable:
    """Rewards that are linear in the features, plus a smooth part of stated size: size·sin(2wᵀx), with a w per arm.

    Parameters
    ----------
    n_arms : int, default 4
        K. All arms share the features.
    n_features : int, default 4
        d. Features and every arm's θ have entries N(0, 1/d), and w has entries N(0, 1).
    size : float, default 0.3
        The most by which the mean reward differs from θᵀx. With 0 it is linear.
    n_contexts : int, default 400
        Contexts that are drawn; they arrive equally often.
    noise : float or noise, default 0.5
        The standard deviation of Gaussian noise, or `Gaussian(scale)`, `Rademacher(scale)` or `Bernoulli()`.
    seed : int, default 0
        Seed of all that is drawn.
    name : str
        Shown in tables and figures.

    Returns
    -------
    RewardTable
        The environment.
    """
    K, d, rng = _checked(n_arms, n_features, seed)
    n = _validate.whole("n_contexts", n_contexts, at_least=1)
    x, theta = rng.normal(size=(n, d)) / np.sqrt(d), rng.normal(size=(K, d)) / np.sqrt(d)
    bend = _validate.real("size", size, at_least=0) * np.sin(2 * rng.normal(size=(K, d)) @ x.T)
    return RewardTable(np.broadcast_to(x, (K, n, d)), theta @ x.T + bend, noise=noise, name=name)


def _checked(n_arms: int, n_features: int, seed: int) -> tuple[int, int, np.random.Generator]:
    """K and d, and the numbers that a seed gives."""
    K, d = _validate.whole("n_arms", n_arms, at_least=1), _validate.whole("n_features", n_features, at_least=1)
    return K, d, np.random.default_rng(_validate.whole("seed", seed, at_least=0))
