"""Uniform choice: what every policy must beat, and what a log for other policies is best collected with."""

from dataclasses import dataclass
from typing import Any, ClassVar

from armspan.environments import Environment
from armspan.policies.base import Policy
from armspan.policies.references.fixed import UniformReference


@dataclass(frozen=True, kw_only=True)
class RandomChoice(Policy):
    """Pull any arm with probability 1/K, whatever was seen.

    Regret grows linearly. Its logs tell about all arms alike: use it for the first days of an application, or as the
    yardstick from below. Its agent keeps the mean reward of every arm.
    """

    title: ClassVar[str] = "random choice"
    family: ClassVar[str | None] = "uniform"

    def reference(self, env: Environment) -> Any:
        return UniformReference()
