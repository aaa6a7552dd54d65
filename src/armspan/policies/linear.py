"""What linear policies have in common: a ridge and a schedule α_t, and with them the compiled form."""

from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.environments import Environment
from armspan.errors import InvalidParameter
from armspan.policies.base import EVERY, Bounds, Policy, Reference, bound
from armspan.policies.references.ridge import RidgeReference
from armspan.theory import Schedule

LEAST_RIDGE = 1e-6
"""In units of l², for simulations: with this and 10⁵ steps of one context, widths are right to 0.1 %."""
SMALLEST, LARGEST = 1e-50, 1e50
"""Of bounds and ridges, so that squares, inverses and squares of inverses are all numbers."""


def _in_range(name: str, value: float) -> float:
    """A length whose square and inverse are numbers."""
    if not SMALLEST <= value <= LARGEST:
        raise InvalidParameter(f"{name} must be from {SMALLEST:g} to {LARGEST:g}, got {value:g}")
    return value


@dataclass(frozen=True, kw_only=True)
class LinearPolicy(Policy):
    """Pulls the arm with the largest θ̂ᵀx + α_t √(xᵀV⁻¹x), where V = ridge·I + Σxxᵀ.

    Parameters
    ----------
    feature_bound : float, optional
        l, a bound on the length of features. Theory: one that holds, 1 in many papers. Practice: the length of your
        longest past context, and a little more. A simulation takes the environment's if left out.
    shared : bool, default False
        Whether all arms share one θ, and differ only in their features. Theory: most papers share it, but not those of
        LinUCB-d, TruncatedLinUCB, OLSBandit and greedy. Practice: share it where arms are many, or come and go.
    """

    family: ClassVar[str | None] = "linear"
    feature_bound: float | None = None
    shared: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feature_bound is not None:
            _in_range("feature_bound", _validate.real("feature_bound", self.feature_bound, above=0))
        if not isinstance(self.shared, bool):
            raise InvalidParameter(f"shared must be True or False, got {self.shared!r:.60}")

    def penalty(self, env: Bounds) -> float:
        """The ridge in force: l², as if d dummy contexts l·e_j had been seen with reward 0."""
        return _in_range("feature_bound", bound(self, "feature_bound", env)) ** 2

    def sound_penalty(self, env: Environment) -> float:
        """The ridge in force, if it is large enough: with less, rounding would make the choices.

        Where contexts do not span, V is ridge·I in some direction and n·l² in others, and V⁻¹ must hold both.
        """
        ridge, l = self.penalty(env), getattr(env, "feature_bound", None)
        if l is not None and ridge < LEAST_RIDGE * _in_range("feature_bound", l) ** 2:
            least = f"{LEAST_RIDGE:g}·l² = {LEAST_RIDGE * l**2:.3g}, where features are as long as l = {l:.3g}"
            raise InvalidParameter(f"ridge must be at least {least}, got {ridge:g}")
        return ridge

    def reference(self, env: Environment) -> Reference:
        return RidgeReference(**self.regression(env))

    def regression(self, env: Environment) -> dict[str, Any]:
        """What a `RidgeReference` is made with."""
        sizes = {"n_arms": env.n_arms, "n_features": env.n_features, "shared": self.shared}
        return sizes | {"ridge": self.sound_penalty(env), "alpha": self.schedule(env)}

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        every = dict.fromkeys(("schedule", "penalty", "sound_penalty"), EVERY)
        return {**super().heeds, **every, "regression": ["reference"]}

    @property
    def explains(self) -> bool:
        return super().explains and not self.shared

    def sizes(self, env: Any) -> Mapping[str, int]:
        return {"A": 1} if self.shared else {}

    @abstractmethod
    def schedule(self, env: Bounds) -> Schedule:
        """α_t as a function of t."""

    def knobs(self, env: Environment) -> Mapping[str, float | Schedule]:
        return {"ridge": self.sound_penalty(env), "alpha": self.schedule(env)}
