"""What an engine is: something that executes the runs of a simulation."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from armspan.environments import Environment
from armspan.errors import NotApplicable
from armspan.simulation.job import Job


class Engine(ABC):
    """One way to run policies. Each makes the same choices with the same random numbers, or refuses.

    forms : which forms of policies it runs; engines that run the same ones give the same numbers in double precision.
    precisions : the kinds of numbers it knows. counts_events : whether it can count the events of the paper's proof.
    least_together : the least number of runs in a part that is sent elsewhere. alone : whether it should be given only
    one piece of work at a time.
    """

    name: ClassVar[str]
    forms: ClassVar[str] = "compiled"
    precisions: ClassVar[tuple[str, ...]] = ("float64",)
    counts_events: ClassVar[bool] = False
    least_together: ClassVar[int] = 1
    alone: ClassVar[bool] = False

    def why_not(self, env: Environment, policies: list[Any], *, here: bool) -> str | None:
        """A sentence on why it cannot run these, or None; here : whether this machine is to do it."""
        return None

    def refuse(self, env: Environment, policies: list[Any], *, here: bool) -> None:
        """Raise that sentence, if there is one."""
        reason = self.why_not(env, policies, here=here)
        if reason is not None:
            raise NotApplicable(f'engine "{self.name}" cannot be used here: {reason}; engine "cpu" uses all cores')

    def is_worth_it(self, env: Environment, policies: list[Any], steps: int) -> bool:
        """Whether to use it for this many steps of all runs and policies, if no engine was named."""
        return False

    @abstractmethod
    def step_seconds(self, env: Environment, policies: list[Any], n_runs: int) -> float:
        """How long a step of one run and policy takes on a worker, by a rough estimate."""

    @abstractmethod
    def check(self, env: Environment, policy: Any, seed: int, run: int) -> None:
        """Refuse what would fail at the start of a run."""

    @abstractmethod
    def run(self, job: Job, workers: int) -> None:
        """Do the job. Changes its results; Ctrl-C stops it soon, with whole runs kept."""
