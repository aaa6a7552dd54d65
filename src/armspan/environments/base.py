"""What every environment is: K arms, d features, a context process with a known truth, and noise."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.environments.assumptions import Assumption, Assumptions
from armspan.environments.noise import Noise
from armspan.errors import NotApplicable

if TYPE_CHECKING:
    from armspan.kernels.block import Block


class Stream(Protocol):
    """The decisions of some runs, handed out in consecutive blocks."""

    def draw(self, first: int, size: int) -> "Block":
        """Steps first + 1, …, first + size; first is even, and the block before it has been drawn."""
        ...


class Environment(ABC):
    """K arms, d features, a context process and noise.

    n_contexts is None where contexts do not recur. independent_arrivals is whether each comes regardless of the others.
    feature_bound and parameter_bound are the paper's l and s, gap is its Δ. compiled is whether contexts come without
    Python code, drawn_from what kernels draw them from by themselves: a table, a box, or None. answers is whether
    contexts answer to what is done, late whether rewards come later than the choice.
    """

    independent_arrivals = True
    compiled: ClassVar[bool] = True
    drawn_from: ClassVar[str | None] = None
    answers: ClassVar[bool] = False
    late: ClassVar[bool] = False
    name: str
    n_arms: int
    n_features: int
    n_contexts: int | None
    noise: Noise
    feature_bound: float
    parameter_bound: float
    gap: float

    @property
    def noise_scale(self) -> float:
        """R, for which the noise is R-subgaussian."""
        return self.noise.scale

    @property
    def reward_scale(self) -> float:
        """How large rewards are, roughly: what differs by rounding is seen relative to it."""
        return float(max(self.feature_bound * self.parameter_bound, self.noise_scale))

    @property
    def outside_theory(self) -> str | None:
        """Why the paper's theory does not speak of this environment, if it does not."""
        return None

    def facing(self, learner: Any, runs: IntArray) -> Any:
        """What advances a learner here: itself, unless contexts answer to what it does."""
        return learner

    @abstractmethod
    def stream(self, seed: int, runs: IntArray) -> Stream:
        """The decisions of the given runs; a draw is a function of (seed, run, step) alone."""

    @abstractmethod
    def mean_rewards(self, x: FloatArray) -> FloatArray:
        """Mean reward (K,) of each arm for features x (K, d)."""

    def best_arm(self, x: FloatArray) -> int:
        """The arm with the largest mean reward for features x (K, d)."""
        return int(np.argmax(self.mean_rewards(x)))

    def context_table(self, samples: int) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
        """Contexts with probabilities, for an audit: features (n, K, d), mean rewards (n, K), (n,), and if that is all.

        Where contexts are not a finite set, a sample of them.
        """
        x, means = self.sample(samples)
        return x, means, np.full(samples, 1 / samples), False

    @abstractmethod
    def diversity_per_arm(self) -> tuple[FloatArray, FloatArray, int | None]:
        """Per arm P[c ∈ C_a] and λ_min(E[xxᵀ | c ∈ C_a]), and from how many draws; None where from all contexts."""

    def certain_spans(self) -> tuple[bool | None, ...]:
        """Per arm whether P[c ∈ C_a] > 0 and its features there span, for certain; None where only a sample can tell.

        An arm with False is one that is never best alone, or whose features there do not span, for certain too.
        """
        return (None,) * self.n_arms

    @abstractmethod
    def arrivals(self) -> Assumption:
        """Assumption 1.4 here."""

    def sample(self, size: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
        """The first `size` contexts of run 0: features (size, K, d) and mean rewards (size, K)."""
        block = self.stream(seed, np.zeros(1, dtype=np.int64)).draw(0, size)
        rows = block.contexts[0, :size]
        return block.x[rows], block.means[rows]

    def assumptions(self) -> Assumptions:
        """Which of the paper's Assumptions 1.1 to 1.5 hold here, each in a sentence."""
        if self.outside_theory is not None:
            raise NotApplicable(f"{self.outside_theory}; the paper's assumptions do not cover that")
        return Assumptions.of(self)

    def __repr__(self) -> str:
        contexts = "" if self.n_contexts is None else f", n_contexts={self.n_contexts}"
        return f"<{self.name}: n_arms={self.n_arms}, n_features={self.n_features}{contexts}, gap={self.gap:.4g}>"
