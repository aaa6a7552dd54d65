"""Yardsticks: policies that are told the truth, so that others can be measured in a simulation."""

from dataclasses import dataclass
from typing import Any, ClassVar, Never

from armspan.errors import NotApplicable
from armspan.policies.base import Policy


@dataclass(frozen=True, kw_only=True)
class Yardstick(Policy):
    """A policy that reads the environment's truth, and can have no agent."""

    learns: ClassVar[bool] = False

    def agent(self, *args: Any, **options: Any) -> Never:
        """Refuse: the true mean rewards are known in simulations only.

        Parameters
        ----------
        options : any
            What other policies' agents take.
        """
        raise NotApplicable(f"{self.name} has no agent: it must know the true mean rewards, which only simulations do")
