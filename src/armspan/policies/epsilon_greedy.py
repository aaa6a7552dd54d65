"""ε-greedy: believe the estimates, except in a share of the steps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment
from armspan.errors import InvalidParameter
from armspan.policies.base import Bounds, Reference
from armspan.policies.confidence import check_radius, radius, radius_knobs
from armspan.policies.mixed import MixedPolicy
from armspan.policies.references.mixed import EPSILON_GREEDY
from armspan.policies.references.sure import SureReference
from armspan.theory import Alpha, Schedule, as_schedule, freeze


@dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(MixedPolicy):
    """Pull any arm with probability ε_t, else the one with the largest estimate: p_a = (1 - ε_t)·1[a = a*] + ε_t/K.

    A constant ε costs regret for ever, but every log of it can be evaluated. With min(1, c/t) exploration and its cost
    fade, and with until_sure they end in each context whose best arm is certain.

        a* = argmax_a θ̂ᵀx_a,   θ̂ = V⁻¹Σyx,   V = ridge·I + Σxxᵀ

    With min(1, c/t) regret is logarithmic without contexts, for a c large enough for the problem's gap, which nobody
    knows. With until_sure a likelihood ratio says when the leading arm is certain: with probability 1 - δ, every arm
    that it is ever sure of is the best. On the paper's Figure 1b, diverse and with a gap, regret then stops growing
    after some 40,000 steps.

    Parameters
    ----------
    epsilon : float, array or function, default 0.05
        ε_t from 0 to 1, as a constant, an array over t, or a function of t. Theory: min(1, c/t). Practice: 0.05, as in
        Vowpal Wabbit.
    until_sure : bool, default False
        Pull the leading arm â for certain where min_{a≠â} Δ̂_a²/(2‖x_â - x_a‖²_{V⁻¹}) > β; Δ̂_a is its lead over arm a,
        and √β is OFUL's radius. Where arms have their own θ, ‖x_â - x_a‖² is w_â² + w_a² with w² = xᵀV⁻¹x, and the
        larger β counts. Theory: constant regret under HLS, for policies whose own is o(T), not for a constant ε.
        Practice: True where exploring is expensive, False where logs must have all arms in every context.
    delta : float, default 0.05
        δ, the probability with which OFUL's radius may fail, for until_sure; arms that each have a θ share it. Theory:
        any in (0, 1). Practice: 0.05.
    parameter_bound : float, optional
        s, a bound on the length of parameters, needed only for until_sure. Theory: one that holds. Practice: 1.5 times
        the largest ‖θ̂‖ of a ridge regression on a log. Taken from the environment if left out.
    noise_scale : float, optional
        R, for which the noise is R-subgaussian, needed only for until_sure. Theory: one that holds. Practice: ½ for
        rewards from 0 to 1, as clicks are, else the standard deviation of a regression's residuals. Taken from the
        environment if left out.

    Notes
    -----
    Use it where the log must be simple to evaluate and the rule simple to explain.

    References
    ----------
    Auer, Cesa-Bianchi and Fischer (2002): Finite-time analysis of the multiarmed bandit problem. Tirinzoni, Papini,
    Touati, Lazaric and Pirotta (2022): Scalable representation learning in linear contextual bandits with constant
    regret guarantees.
    """

    title: ClassVar[str] = "ε-greedy"
    family: ClassVar[str | None] = "mixed"
    promise: ClassVar[str] = "T; log T with ε_t = c/t"
    assumes: ClassVar[str] = "for log T: no contexts, c large enough"
    rule: ClassVar[int] = EPSILON_GREEDY
    epsilon: Alpha = 0.05
    until_sure: bool = False
    delta: float = 0.05
    parameter_bound: float | None = None
    noise_scale: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "epsilon", freeze(self.epsilon, name="epsilon"))
        if isinstance(self.epsilon, float | int) and self.epsilon > 1:
            raise InvalidParameter(f"epsilon must be from 0 to 1, got {self.epsilon:g}")
        if not isinstance(self.until_sure, bool):
            raise InvalidParameter(f"until_sure must be True or False, got {self.until_sure!r:.60}")
        check_radius(self)

    @property
    def name(self) -> str:
        return self.label or (f"{self.title} until sure" if self.until_sure else self.title)

    @property
    def compiled(self) -> str | None:
        own = super().compiled
        return "sure" if own == "mixed" and self.until_sure else own

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        usual = super().knobs(env)
        return {**usual, **radius_knobs(self, env, as_schedule(1.0))} if self.until_sure else usual

    def reference(self, env: Environment) -> Reference:
        if self.until_sure:
            return SureReference(**self.regression(env), **radius(self, env))
        return super().reference(env)

    def schedule(self, env: Bounds) -> Schedule:
        """ε_t as a function of t."""
        given = as_schedule(self.epsilon, name="epsilon")

        def checked(t: IntArray) -> FloatArray:
            epsilon = given(t)
            if epsilon.max() > 1:
                raise InvalidParameter(
                    f"epsilon must be from 0 to 1, got {epsilon.max():g} at step {t[epsilon.argmax()]}"
                )
            return epsilon

        return checked
