"""OLSBandit (Goldenshluger and Zeevi 2013; K arms as in Bastani and Bayati 2020): forced pulls, ever more rarely."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment
from armspan.policies.base import EVERY, Bounds, Reference
from armspan.policies.least_squares import FORCED, LeastSquaresPolicy
from armspan.policies.references.ols import OLSReference
from armspan.theory import Schedule, as_schedule


@dataclass(frozen=True, kw_only=True)
class OLSBandit(LeastSquaresPolicy):
    """OLSBandit: arms that forced pulls put within h/2 of the best contend; the best of them by all pulls is pulled.

    Forced pulls do not depend on rewards, so their least squares is sound; that of all pulls is sharper. An arm is
    forced about q log₂ T times in T steps.

        arm a is forced in steps T_a = {(2ⁿ - 1)Kq + j : n ≥ 0, j = q(a - 1) + 1 … qa}

    The margin condition, which its promise needs, is that arms are seldom nearly equal.

    Without the mark of its decision, an agent takes the next rewards of an arm to be those of its forced pulls while
    such are due. So where rewards come late or are lost, it may take that of another pull.

    Parameters
    ----------
    q : int, default 1
        Forced pulls of an arm in a round. Theory: large enough. Practice: 1, as in Bastani and Bayati's experiments,
        with a large h. With a small one, forced pulls alone rule arms out, and q = 1 is too few: runs get stuck.
    h : float, default 5
        An arm contends if forced pulls put it within h/2 of the best. Theory: by how much each arm is best somewhere.
        Practice: 5 in their experiments, 1 where rewards are 0 or 1.
    initial : int, optional
        Pulls of each arm in turn at the start, which count as forced pulls. Theory: 0. Practice: d, if left out, as in
        their code. An estimate is 0 until it has d rows.

    Notes
    -----
    Use it where exploration must be planned beforehand and become ever rarer.

    References
    ----------
    Goldenshluger and Zeevi (2013): A linear response bandit problem.
    """

    title: ClassVar[str] = "OLS bandit"
    promise: ClassVar[str] = "log T"
    assumes: ClassVar[str] = "independent contexts, margin condition, each arm best by h somewhere"
    family: ClassVar[str | None] = "ols"
    q: int = 1
    h: float = 5.0
    initial: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.whole("q", self.q, at_least=1)
        _validate.real("h", self.h, above=0)
        if self.initial is not None:
            _validate.whole("initial", self.initial, at_least=0)

    @property
    def fixed_arms(self) -> str | None:
        return FORCED

    def initial_in(self, env: Bounds) -> int:
        """How often each arm is pulled at first."""
        return env.n_features if self.initial is None else self.initial

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "schedule": (), "initial_in": EVERY}

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        forced = forced_steps(env.n_arms, self.q, self.initial_in(env))
        return {"ridge": self.sound_penalty(env), "forced": forced, "h": as_schedule(self.h)}

    def reference(self, env: Environment) -> Reference:
        return OLSReference(q=self.q, h=self.h, initial=self.initial_in(env), **self.regression(env))


def forced_steps(n_arms: int, q: int, initial: int) -> Schedule:
    """The knob `forced`: T_a, and before it every arm `initial` times in turn."""

    def forced(t: IntArray) -> FloatArray:
        from armspan.kernels.families import ols

        arms: FloatArray = ols.forced_steps(t, n_arms, q, initial)
        return arms

    return forced
