"""The oracle: the best arm of every context, against which regret is measured."""

from dataclasses import dataclass
from typing import ClassVar

from armspan.environments import Environment
from armspan.policies.references.fixed import OracleReference
from armspan.policies.yardstick import Yardstick


@dataclass(frozen=True, kw_only=True)
class Oracle(Yardstick):
    """Pull the arm with the largest true mean reward in every context: pseudo-regret is 0.

    Its rewards are the most that can be had; use it to see how noisy they are.
    """

    title: ClassVar[str] = "oracle"
    family: ClassVar[str | None] = "oracle"

    def reference(self, env: Environment) -> OracleReference:
        return OracleReference(env.mean_rewards)
