"""The oracle: the best arm of every context, against which regret is measured."""

from dataclasses import dataclass
from typing import ClassVar

from armspan.environments import Environment
from armspan.policies.references.fixed import OracleReference
from armspan.policies.yardstick import Yardstick


@dataclass(frozen=True, kw_only=True)
class Oracle(Yardstick):
    """Pull the arm with the largest true mean reward in every context: pseudo-regret is 0.

    It is told the true mean rewards. What it earns is the most that any policy can earn.

        a = argmax_a mean reward of arm a in this context

    Notes
    -----
    Use it as a yardstick, and to see how noisy rewards are.

    References
    ----------
    Lattimore and Szepesvári (2020): Bandit algorithms, Chapter 19.
    """

    title: ClassVar[str] = "oracle"
    promise: ClassVar[str] = "0"
    assumes: ClassVar[str] = "told the truth"
    family: ClassVar[str | None] = "oracle"

    def reference(self, env: Environment) -> OracleReference:
        return OracleReference(env.mean_rewards_at)
