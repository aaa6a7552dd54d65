"""GreedyFirst (Bastani, Bayati and Khosravi 2021): explore only if greedy is seen to need it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.environments import Environment
from armspan.policies.base import EVERY
from armspan.policies.ols_bandit import OLSBandit
from armspan.policies.references.ols import GreedyFirstReference
from armspan.theory import Schedule, as_schedule


@dataclass(frozen=True, kw_only=True)
class GreedyFirst(OLSBandit):
    """GreedyFirst: greedy while every arm's features keep spanning; if one's do not, OLSBandit, afresh and for good.

    After t₀ steps it measures how fast every arm's features span, and switches then if one's do not, or at any step t >
    2t₀ at which one has fallen behind. OLSBandit's clock starts at 1, and greedy's rows are dropped.

        λ̂₀ = min_a λ_min(Σxxᵀ of arm a)/(2t₀);   it switches if λ̂₀ = 0, or once min_a λ_min(Σxxᵀ of arm a) < λ̂₀t/4

    λ̂₀ counts as 0 up to 10⁻⁵ of the mean square of features, so that units do not matter; in their code, up to 10⁻⁵.
    `Result.switched_at` says when each run switched.

    Parameters
    ----------
    t0 : int, optional
        t₀, the steps after which it first measures. Theory: any. Practice: 4Kd, if left out, as in their code.

    Notes
    -----
    Use it where contexts are likely to be diverse, but nobody can promise it.

    References
    ----------
    Bastani, Bayati and Khosravi (2021): Mostly exploration-free algorithms for contextual bandits.
    """

    title: ClassVar[str] = "greedy first"
    promise: ClassVar[str] = "log T"
    assumes: ClassVar[str] = "what OLSBandit assumes"
    family: ClassVar[str | None] = "greedy_first"
    switches: ClassVar[bool] = True
    t0: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.t0 is not None:
            _validate.whole("t0", self.t0, at_least=1)

    def first_check(self, env: Any) -> int:
        """The steps t₀ after which it first measures, in an environment."""
        return 4 * env.n_arms * env.n_features if self.t0 is None else self.t0

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "first_check": EVERY}

    def sizes(self, env: Any) -> Mapping[str, int]:
        from armspan.kernels.families.greedy_first import SIZES

        return {**super().sizes(env), **SIZES}

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        numbers = {"ridge": self.sound_penalty(env), "t0": float(self.first_check(env))}
        constants = {"q": self.q, "initial": self.initial_in(env), "h": self.h}
        return {**numbers, "t": as_schedule(lambda t: t), **{k: as_schedule(v) for k, v in constants.items()}}

    def reference(self, env: Environment) -> GreedyFirstReference:
        options = {"q": self.q, "h": self.h, "initial": self.initial_in(env)} | self.regression(env)
        return GreedyFirstReference(t0=self.first_check(env), **options)
