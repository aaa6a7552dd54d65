"""Uniform choice: what every policy must beat, and the best way to collect a log for other policies."""

from dataclasses import dataclass
from typing import Any, ClassVar

from armspan.environments import Environment
from armspan.policies.base import Policy
from armspan.policies.references.fixed import UniformReference


@dataclass(frozen=True, kw_only=True)
class RandomChoice(Policy):
    """Pull any arm with probability 1/K, whatever was seen.

    Its logs say as much about one arm as about another. Its agent keeps the mean reward of every arm.

        p_a = 1/K

    Notes
    -----
    Use it for the first days of an application, or as the least that any policy must beat.

    References
    ----------
    Li, Chu, Langford and Wang (2011): Unbiased offline evaluation of contextual-bandit-based news article
    recommendation algorithms.
    """

    title: ClassVar[str] = "random choice"
    promise: ClassVar[str] = "T"
    assumes: ClassVar[str] = ""
    family: ClassVar[str | None] = "uniform"

    def reference(self, env: Environment) -> Any:
        return UniformReference()
