"""The paper's Assumptions 1.1 to 1.5, checked for an environment and said in a sentence each."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from armspan.environments.base import Environment


@dataclass(frozen=True)
class Assumption:
    """One assumption: its number in the paper, its title, whether it holds, and why."""

    number: str
    title: str
    holds: bool
    reason: str

    def __str__(self) -> str:
        return f"{self.number} {self.title}: {'holds' if self.holds else 'FAILS'}. {self.reason}"


class Assumptions(tuple[Assumption, ...]):
    """The five assumptions in order; printed, one line each."""

    @property
    def hold(self) -> bool:
        """Whether all of them hold."""
        return all(assumption.holds for assumption in self)

    def __str__(self) -> str:
        return "\n".join(str(assumption) for assumption in self)

    @classmethod
    def of(cls, env: "Environment") -> "Assumptions":
        """Check an environment."""
        return cls([_bounded(env), _gap(env), _noise(env), env.arrivals(), _diverse(env)])


def _bounded(env: "Environment") -> Assumption:
    reason = f"Features are at most l = {env.feature_bound:.4g} long, parameters s = {env.parameter_bound:.4g}."
    return Assumption("1.1", "Bounded parameters", True, reason)


def _gap(env: "Environment") -> Assumption:
    reason = (
        f"In every context an arm that is not best falls behind by at least Δ = {env.gap:.4g}."
        if env.gap > 0
        else "An arm can fall behind the best by as little as one likes, or none ever does: there is no gap."
    )
    return Assumption("1.2", "Minimum reward gap", env.gap > 0, reason)


def _noise(env: "Environment") -> Assumption:
    R = env.noise_scale
    kind = type(env.noise).__name__
    reason = f"{kind} noise with scale {R:.4g} is {R:.4g}-subgaussian" + (
        "." if R <= 1 else f"; the paper asks for 1, and noise_scale R = {R:.4g} in α_t makes up for it."
    )
    return Assumption("1.3", "Subgaussian noise", True, reason)


def _diverse(env: "Environment") -> Assumption:
    p, smallest, how = env.diversity_per_arm()
    never, flat = np.flatnonzero(p == 0), np.flatnonzero((p > 0) & (smallest == 0))
    if never.size:
        reason = f"{_arms(never).capitalize()} never best{how}, so regret must grow like log T to keep them apart."
    elif flat.size:
        reason = f"The contexts in which {_arms(flat)} best do not span the feature space{how}."
    else:
        a = int(np.argmin(smallest))
        reason = (
            f"Every arm is best in contexts that span the feature space; the weakest is arm {a} with "
            f"λ_min = {smallest[a]:.3g}, and the rarest is best with probability {p.min():.3g}{how}."
        )
    return Assumption("1.5", "Diverse contexts", bool((smallest > 0).all()), reason)


def _arms(which: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> str:
    names = ", ".join(str(a) for a in which)
    return f"arm {names} is" if which.size == 1 else f"arms {names} are"
