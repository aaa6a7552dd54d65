"""A panel of experts, or of policies to choose among: fixed arms, given θ's that act greedily, classifiers, functions.

A classifier is anything with `predict_proba`, `classes_` and `n_features_in_`, as scikit-learn's are once fitted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armspan import _validate
from armspan._told import warn_once
from armspan._typing import FloatArray
from armspan.environments import Environment
from armspan.errors import InvalidParameter

Member = int | Sequence[Sequence[float]] | FloatArray | Callable[[FloatArray], Any] | Any
"""A fixed arm, a θ (K, d) that acts greedily, a function of the features x (K, d), or a fitted classifier."""


@dataclass(frozen=True)
class Classified:
    """The advice of a classifier whose classes are arms: how probable it holds each to be right."""

    classifier: Any
    name: str

    def check(self, K: int, d: int) -> None:
        """Refuse one that was fitted to other arms or features."""
        wanted, arms = self.classifier.n_features_in_, list(self.classifier.classes_)
        if wanted not in (d, K * d):
            raise InvalidParameter(f"{self.name} must be fitted to {d} or {K * d} features, got one of {wanted}")
        if not np.isin(arms, np.arange(K)).all():
            raise InvalidParameter(f"{self.name} must have classes that are arms, 0 to {K - 1}, got {arms!r:.60}")

    def __call__(self, x: FloatArray) -> FloatArray:
        """From x (K, d); it sees the row that arms share or, if it was fitted to K·d features, all of them."""
        row, advice = x.reshape(1, -1)[:, : self.classifier.n_features_in_], np.zeros(len(x))
        advice[np.asarray(self.classifier.classes_, dtype=np.int64)] = self.classifier.predict_proba(row)[0]
        return advice


def frozen(name: str, panel: Any, *, classifiers: bool = False) -> tuple[Any, ...] | None:
    """A panel in a form that can no longer change and can be compared: an array becomes tuples.

    classifiers : whether there may be some, which give distributions.
    """
    if panel is None:
        return None
    if isinstance(panel, str) or not hasattr(panel, "__len__") or len(panel) == 0:
        raise InvalidParameter(f"{name} must be a list of at least one, got {panel!r:.60}")
    return tuple(_member(f"{name}[{j}]", member, classifiers) for j, member in enumerate(panel))


def _member(name: str, member: Any, classifiers: bool) -> Any:
    if callable(member):
        return member
    if classifiers and callable(getattr(member, "predict_proba", None)):
        if not hasattr(member, "classes_") or not hasattr(member, "n_features_in_"):
            raise InvalidParameter(f"{name} must be a classifier that has been fitted, got {member!r:.60}")
        return Classified(member, name)
    if hasattr(member, "agent"):
        raise InvalidParameter(
            f"{name} must be an arm, parameters or a function, not a policy, which learns: {member!r:.60}"
        )
    if np.ndim(member) == 0:
        return _validate.whole(name, member, at_least=0)
    theta = _validate.array(name, member, shape=("K", "d"))
    return tuple(tuple(row) for row in theta.tolist())


def members(name: str, panel: Sequence[Member] | None, env: Any) -> list[Any]:
    """The panel for an environment: arms, θ's as arrays (K, d), functions; left out, one fixed arm each."""
    if panel is None:
        return list(range(env.n_arms))
    result: list[Any] = []
    for j, member in enumerate(panel):
        if isinstance(member, int):
            result.append(_validate.whole(f"{name}[{j}]", member, at_least=0, at_most=env.n_arms - 1))
        elif callable(member):
            if isinstance(member, Classified):
                member.check(env.n_arms, env.n_features)
            result.append(member)
        else:
            result.append(_validate.array(f"{name}[{j}]", member, shape=(env.n_arms, env.n_features)))
    return result


def check_rewards(low: float, high: float, rewards: Sequence[float]) -> None:
    """Refuse rewards outside their bounds."""
    for reward in rewards:
        if not low <= reward <= high:
            raise InvalidParameter(f"reward must be from {low:g} to {high:g}, as reward_range says, got {reward:g}")


def check_means(name: str, low: float, high: float, env: Environment) -> None:
    """Warn where mean rewards are outside their bounds, as far as an environment knows them all."""
    means = getattr(env, "reward_table", None)
    if means is not None and (means.min() < low or means.max() > high):
        warn_once(
            f"{name} expects rewards from {low:g} to {high:g}, and mean rewards of {env.name} go from "
            f"{means.min():.3g} to {means.max():.3g}: nothing is promised for them; give reward_range"
        )


def reward_range(given: Any) -> tuple[float, float]:
    """Bounds (low, high) of rewards, which are taken to [0, 1]."""
    try:
        low, high = (_validate.real("reward_range", end) for end in given)
    except (TypeError, ValueError):
        low, high = 0.0, 0.0
    if not low < high:
        raise InvalidParameter(f"reward_range must be two numbers, the lower first, got {given!r:.60}")
    return low, high
