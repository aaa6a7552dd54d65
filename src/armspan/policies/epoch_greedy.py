"""EpochGreedy (Langford and Zhang 2008): one random pull, then as many greedy ones as it is worth."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armspan import _validate
from armspan._typing import IntArray
from armspan.environments import Environment
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies.least_squares import LeastSquaresPolicy
from armspan.policies.references.explored import EpochReference, OracleReference
from armspan.theory import Schedule


@dataclass(frozen=True, kw_only=True)
class EpochGreedy(LeastSquaresPolicy):
    """EpochGreedy: epoch ℓ = 1, 2, … pulls one arm at random, then ⌊c√(ℓ/(Kd))⌋ times the one with the largest θ̂ᵀx.

    θ̂ is fitted only to the random pulls. They are a fair sample, so any regression may take its place.

        θ̂ = V⁻¹Σyx,   V = ridge·I + Σxxᵀ,   sums over the random pulls

    The paper has log N for N hypotheses where we have d. Rewards may have any range, since c is ours to choose.

    Without the mark of its decision, an agent takes an arm's rewards to be those of its random pulls while such are
    due. Otherwise a reward that it was waiting for teaches nothing; one that it has not asked for, as from a log, is
    learnt like a random pull's.

    Parameters
    ----------
    rate : float, default 1
        c, which sets how long the greedy part of an epoch lasts. Theory: 1. Practice: larger is greedier, to be tuned.
    at_least_one : bool, default False
        Whether every epoch has a greedy pull. Theory: False, so that the first ones have none. Practice: either.
    ridge : float, optional
        Penalty of the regression. Theory: says nothing about it. Practice: l², if left out.
    oracle : regression, optional
        A regression in place of ours, with fit(X, y) and predict(X), such as scikit-learn's; every arm of a run gets a
        copy. Then it runs in Python, and has no agent. Theory: any. Practice: ours, if left out.

    Notes
    -----
    Use it as a baseline that assumes little, or where a fair sample must be kept anyway.

    References
    ----------
    Langford and Zhang (2008): The epoch-greedy algorithm for multi-armed bandits with side information.
    """

    title: ClassVar[str] = "epoch-greedy"
    promise: ClassVar[str] = "T^⅔"
    assumes: ClassVar[str] = "independent contexts"
    family: ClassVar[str | None] = "explored"
    usual_ridge: ClassVar[float] = 1.0
    rate: float = 1.0
    at_least_one: bool = False
    oracle: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.real("rate", self.rate, above=0)
        if not isinstance(self.at_least_one, bool):
            raise InvalidParameter(f"at_least_one must be True or False, got {self.at_least_one!r:.60}")
        if self.oracle is not None and isinstance(self.oracle, type):
            raise InvalidParameter(f"oracle must be an object, got the class; write {self.oracle.__name__}()")
        for method in ("fit", "predict") if self.oracle is not None else ():
            if not callable(getattr(self.oracle, method, None)):
                raise InvalidParameter(f"oracle must have fit and predict, got {self.oracle!r:.60} without {method}")

    @property
    def compiled(self) -> str | None:
        return super().compiled if self.oracle is None else None

    def late_reference(self, application: Any) -> Any:
        if self.oracle is not None:
            raise NotApplicable(f"{self.name} has no agent with an oracle of its own; leave oracle out, or simulate it")
        return super().late_reference(application)

    @property
    def needs_all_arms(self) -> str | None:
        return "what it learns from are random pulls of any arm"

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "schedule": ["reference"]}

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        epochs = Epochs(self.rate, env.n_arms * env.n_features, int(self.at_least_one))
        return {"ridge": self.sound_penalty(env), "forced": epochs}

    def reference(self, env: Environment) -> EpochReference:
        told: Any = {"rate": self.rate, "at_least_one": self.at_least_one, **self.regression(env)}
        return EpochReference(**told) if self.oracle is None else OracleReference(oracle=self.oracle, **told)


class Epochs:
    """The knob `forced`: epochs of equal length follow each other, so that those of 10⁹ steps are a table of 1,000."""

    def __init__(self, rate: float, size: int, least: int) -> None:
        self._rate, self._size, self._least = rate, size, least
        self._epoch, self._starts, self._lengths = 1, [1], [self._length(1)]

    def __call__(self, t: IntArray) -> np.ndarray:
        from armspan.kernels.families.forced import ANY, FREE

        while self._starts[-1] <= t[-1]:
            self._extend()
        group = np.searchsorted(self._starts, t, side="right") - 1
        within = (t - np.array(self._starts)[group]) % np.array(self._lengths)[group]
        return np.where(within == 0, ANY, FREE).astype(np.float64)

    def _length(self, epoch: int) -> int:
        """Its steps: the random one and the greedy ones, fewer than 2⁵⁰."""
        greedy = int(min(self._rate * np.sqrt(epoch / self._size), 2.0**50))
        return 1 + max(greedy, self._least)

    def _extend(self) -> None:
        """Add the next group of epochs of equal length."""
        first, length = self._epoch, self._lengths[-1]
        guess = last = max(first, int(min((length / self._rate) ** 2 * self._size, 2.0**50)))
        while self._length(last + 1) == length and last < guess + 2:  # rounding
            last += 1
        while last > first and self._length(last) > length:
            last -= 1
        self._epoch = last + 1
        self._starts.append(self._starts[-1] + (last - first + 1) * length)
        self._lengths.append(self._length(self._epoch))
