"""ε-greedy: believe the estimates, but for a share of the steps."""

from dataclasses import dataclass
from typing import ClassVar

from armspan._typing import FloatArray, IntArray
from armspan.errors import InvalidParameter
from armspan.policies.base import Bounds
from armspan.policies.mixed import MixedPolicy
from armspan.policies.references.mixed import EPSILON_GREEDY
from armspan.theory import Alpha, Schedule, as_schedule, freeze


@dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(MixedPolicy):
    """Pull any arm with probability ε_t, else the one with the largest estimate: p_a = (1 - ε_t)·1[a = a*] + ε_t/K.

    epsilon : ε_t from 0 to 1, as a constant, an array over t, or a function of t. A constant, 0.05 as in Vowpal Wabbit,
    costs regret for ever, and every log of it can be evaluated; with min(1, c/t) that ends, and so does exploration:
    for a c large enough for the problem's gap, which nobody knows, regret is logarithmic without contexts.
    ridge : penalty of the regression. shared : whether all arms share one θ.

    P. Auer, N. Cesa-Bianchi, P. Fischer: Finite-time analysis of the multiarmed bandit problem. Machine Learning 47.
    """

    title: ClassVar[str] = "ε-greedy"
    rule: ClassVar[int] = EPSILON_GREEDY
    epsilon: Alpha = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "epsilon", freeze(self.epsilon, name="epsilon"))
        if isinstance(self.epsilon, float | int) and self.epsilon > 1:
            raise InvalidParameter(f"epsilon must be from 0 to 1, got {self.epsilon:g}")

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
