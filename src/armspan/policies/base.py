"""What a policy is: a frozen description of how to choose, and the two ways in which a simulation runs it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment
from armspan.errors import InvalidParameter, NotApplicable
from armspan.theory import Schedule

if TYPE_CHECKING:
    from armspan.kernels.block import Block, Tally


class Bounds(Protocol):
    """What a policy must be told of a problem; it may have feature_bound, parameter_bound and noise_scale too."""

    @property
    def name(self) -> str:
        """For messages."""
        ...

    @property
    def n_features(self) -> int:
        """D."""
        ...


class Learner(Protocol):
    """The compiled form of a policy: all runs of a chunk at once, a block of steps at a time."""

    def advance(self, block: "Block", marks: IntArray, curve: FloatArray, tally: "Tally") -> None:
        """Live through the block; write the pseudo-regret after marks (M,) steps to curve (R, M); count in tally."""
        ...


class Reference(Protocol):
    """The naive, readable form of a policy: one run, one step at a time, to check the compiled form against."""

    def index(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """The number (K,) of which the largest wins, for features x (K, d)."""
        ...

    def update(self, arm: int, x: FloatArray, context: int, reward: float) -> None:
        """Learn the reward of the arm that was pulled; x (K, d) as given to index."""
        ...


@dataclass(frozen=True, kw_only=True)
class Policy(ABC):
    """A frozen description of how to choose an arm; what is learnt lives elsewhere.

    label : the name in results and figures, where the policy's own is not enough.
    """

    title: ClassVar[str]
    label: str | None = None

    def __post_init__(self) -> None:
        if self.label is not None and not isinstance(self.label, str):
            raise InvalidParameter(f"label must be a text, got {self.label!r:.60}")

    @property
    def name(self) -> str:
        """What results and figures call it."""
        return self.label or self.title

    def agent(self, *_: Any, **__: Any) -> Any:
        """An agent for an application; linear policies have one."""
        raise NotApplicable(f"{self.name} has no agent; LinUCBd, LinUCB and Greedy have")

    @abstractmethod
    def schedule(self, env: Bounds) -> Schedule:
        """α_t as a function of t."""

    @abstractmethod
    def learner(self, env: Environment, runs: IntArray) -> Learner:
        """The compiled form, for these runs."""

    @abstractmethod
    def reference(self, env: Environment) -> Reference:
        """The naive form, for one run."""


def bound(policy: Policy, name: str, env: Bounds) -> float:
    """A bound (l, s or R) from the policy, or else from the environment."""
    own = getattr(policy, name)
    value = getattr(env, name, None) if own is None else own
    if value is None:
        elsewhere = getattr(env, "elsewhere", f", or to {env.name}")
        raise NotApplicable(f"{policy.name} needs {name}: give it to the policy{elsewhere}")
    return float(value)
