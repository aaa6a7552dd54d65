"""The greedy policy: believe the estimates and never explore (Bastani, Bayati and Khosravi 2017)."""

from dataclasses import dataclass
from typing import ClassVar

from armspan.policies.base import Bounds
from armspan.policies.optimistic import IndexPolicy
from armspan.theory import Schedule, as_schedule


@dataclass(frozen=True, kw_only=True)
class Greedy(IndexPolicy):
    """LinUCB with α_t = 0: pull the arm with the largest estimated reward."""

    title: ClassVar[str] = "greedy"

    def schedule(self, env: Bounds) -> Schedule:
        return as_schedule(0.0)
