"""The best fixed arm: the most that a policy without contexts can learn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from armspan.environments import Environment
from armspan.policies.references.fixed import FixedReference
from armspan.policies.yardstick import Yardstick
from armspan.theory import Schedule, as_schedule

SAMPLES = 100_000
"""Contexts that means are taken over, where they are not a finite set."""
_known: WeakKeyDictionary[Environment, int] = WeakKeyDictionary()


def best_fixed_arm(env: Environment) -> int:
    """The arm with the largest mean reward over the contexts; the lowest of those that are tied."""
    if env not in _known:
        _, means, probabilities, _ = env.context_table(SAMPLES)
        _known[env] = int((probabilities @ means).argmax())
    return _known[env]


@dataclass(frozen=True, kw_only=True)
class BestFixedArm(Yardstick):
    """Pull the arm that is best on average over the contexts, always.

    It is told the true mean rewards. Where contexts are not a finite set, it averages over 100,000 of them: of two arms
    whose means differ by less than 1/100 of their spread, it may take the wrong one.

        a = argmax_a E[mean reward of arm a]

    Notes
    -----
    Use it as a yardstick: a policy with less regret makes use of contexts.

    References
    ----------
    Lattimore and Szepesvári (2020): Bandit algorithms, Chapter 18.
    """

    title: ClassVar[str] = "best fixed arm"
    promise: ClassVar[str] = "T"
    assumes: ClassVar[str] = "told the truth"
    family: ClassVar[str | None] = "fixed"

    def knobs(self, env: Any) -> Mapping[str, float | Schedule]:
        return {"arm": as_schedule(float(best_fixed_arm(env)))}

    def reference(self, env: Environment) -> FixedReference:
        return FixedReference(best_fixed_arm(env))
