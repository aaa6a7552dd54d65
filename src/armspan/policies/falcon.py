"""FALCON (Simchi-Levi and Xu 2022): inverse gaps with a regression at the ends of epochs only."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment
from armspan.policies.mixed import InverseGapPolicy, steady
from armspan.policies.references.falcon import FalconReference
from armspan.theory import Schedule


@dataclass(frozen=True, kw_only=True)
class FALCON(InverseGapPolicy):
    """SquareCB's p_a = 1/(K + γ_m(m̂ - ŷ_a)), with ŷ fitted on the rows of the last epoch, when that ended.

    Epoch m ends after 2^m rewards, so that T steps need log₂T regressions: they may be costly, or run overnight. Its
    promise is SquareCB's; in practice it loses more, because half of the rows are forgotten.

        γ_m = c√(Kτ/(D log τ + log(m²/δ))),   τ = 2^(m-1),   D the parameters that are fitted, d or K·d

    The first epoch is uniform. An agent counts epochs in rewards, so it waits for late ones; such agents cannot be
    merged.

    Notes
    -----
    Use it where a regression cannot be updated at every step.

    References
    ----------
    Simchi-Levi and Xu (2022): Bypassing the monster: a faster and simpler optimal algorithm for contextual bandits
    under realizability.
    """

    title: ClassVar[str] = "FALCON"
    promise: ClassVar[str] = "√(KT·regret of the regression)"
    assumes: ClassVar[str] = "independent contexts, rewards from low to high"
    family: ClassVar[str | None] = "epochs"

    def sizes(self, env: Any) -> Mapping[str, int]:
        return {**super().sizes(env), "e": 3, "o": 1}

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "schedule": ["reference"]}

    def schedule(self, env: Any) -> Schedule:
        """γ_m as a function of t, in units of the rewards."""
        low, high = self.kept_within
        c, K, D, delta = self.scale / (high - low), env.n_arms, self.parameters(env), self.delta

        def gamma(t: IntArray) -> FloatArray:
            epoch = np.ceil(np.log2(np.maximum(t, 2)))  # step t is in epoch m if 2^(m-1) < t ≤ 2^m
            tau = 2 ** (epoch - 1)
            return c * np.sqrt(K * tau / (D * np.log(tau) + np.log(epoch**2 / delta)))

        return gamma

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        low, high = self.kept_within
        numbers = {"scale": self.scale / (high - low), "parameters": self.parameters(env), "delta": self.delta}
        steady_ones = {name: steady(value) for name, value in (numbers | {"low": low, "high": high}).items()}
        return {"ridge": self.sound_penalty(env), **steady_ones}

    def reference(self, env: Environment) -> FalconReference:
        return FalconReference(**self.regression(env))
