"""What every environment is: K arms, d features, a context process with a known truth, and noise."""

import copy
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray, IntArray
from armspan.environments.assumptions import Assumption, Assumptions
from armspan.environments.noise import Gaussian, Noise
from armspan.errors import NotApplicable

if TYPE_CHECKING:
    from armspan.kernels.block import Block


class Stream(Protocol):
    """The decisions of some runs, handed out in consecutive blocks."""

    def draw(self, first: int, size: int) -> "Block":
        """Steps first + 1, …, first + size; first is even, and the block before it has been drawn."""
        ...


class Environment(ABC):
    """What every environment is: K arms, d features, a context process and noise, with a known truth.

    Attributes
    ----------
    name : str
        Its name in reports.
    n_arms, n_features : int
        K and d.
    n_contexts : int or None
        How many contexts there are; None if they do not recur.
    noise : noise
        How rewards scatter around their means.
    feature_bound, parameter_bound : float
        The paper's l and s: features and parameters are at most this long.
    gap : float
        The paper's Δ: the least by which an arm that is not best falls behind.
    independent_arrivals : bool
        Whether contexts arrive independently of each other.
    compiled : bool
        Whether contexts are drawn without Python code.
    drawn_from : str or None
        What kernels draw contexts from by themselves: a "table", a "box", or None.
    answers : bool
        Whether contexts depend on what the policy has done.
    late : bool
        Whether rewards come later than the choice.
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
        """Roughly how large rewards are, so that differences can be told from rounding."""
        return float(max(self.feature_bound * self.parameter_bound, self.noise_scale))

    @property
    def outside_theory(self) -> str | None:
        """Why the paper's theory does not cover this environment; None if it does."""
        return None

    @property
    def changes_within(self) -> int | None:
        """Within how many steps the arms' parameters change; None if they never do."""
        return None

    def without_noise(self) -> "Environment":
        """The same environment without noise: its rewards are their means."""
        quiet = copy.copy(self)
        quiet.noise = Gaussian(0.0)
        return quiet

    def facing(self, learner: Any, runs: IntArray) -> Any:
        """What advances a learner here: the learner itself, unless contexts depend on what it does.

        Parameters
        ----------
        learner : Learner
            The compiled form of a policy.
        runs : (R,) array
            Numbers of its runs.
        """
        return learner

    @abstractmethod
    def stream(self, seed: int, runs: IntArray) -> Stream:
        """The decisions of some runs. A draw is a function of (seed, run, step) alone.

        Parameters
        ----------
        seed : int
            Seed of the simulation.
        runs : (R,) array
            Numbers of the runs.
        """

    @abstractmethod
    def mean_rewards(self, x: FloatArray) -> FloatArray:
        """Mean reward (K,) of each arm for the features of one context.

        Parameters
        ----------
        x : (K, d) array
            Features of each arm.
        """

    def mean_rewards_at(self, x: FloatArray, context: int, step: int) -> FloatArray:
        """Mean reward (K,) of each arm at one step, even where features alone do not determine it.

        Parameters
        ----------
        x : (K, d) array
            Features of each arm.
        context : int
            The number of the context, if there is a finite set of them.
        step : int
            The step 1, 2, ….
        """
        return self.mean_rewards(x)

    def best_arm(self, x: FloatArray) -> int:
        """The number of the arm with the largest mean reward.

        Parameters
        ----------
        x : (K, d) array
            Features of each arm.
        """
        return int(np.argmax(self.mean_rewards(x)))

    def context_table(self, samples: int) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
        """Contexts with their probabilities, as an audit needs them; a sample if they are not a finite set.

        Parameters
        ----------
        samples : int
            How many to draw if they are not a finite set.

        Returns
        -------
        x : (n, K, d) array
            Features.
        means : (n, K) array
            Mean rewards.
        probabilities : (n,) array
            How often each context arrives.
        complete : bool
            Whether these are all the contexts.
        """
        x, means = self.sample(samples)
        return x, means, np.full(samples, 1 / samples), False

    @abstractmethod
    def diversity_per_arm(self) -> tuple[FloatArray, FloatArray, int | None]:
        """How often each arm is best, and how diverse the contexts are in which it is.

        Returns
        -------
        p : (K,) array
            P[c ∈ C_a], how often arm a alone is best.
        smallest : (K,) array
            λ_min(E[xxᵀ | c ∈ C_a]), the smallest eigenvalue of its features' second moment then.
        samples : int or None
            The number of draws; None if all contexts were looked at.
        """

    def certain_spans(self) -> tuple[bool | None, ...]:
        """Whether each arm is best in contexts that span, as far as that is certain.

        Returns
        -------
        tuple of bool or None
            True: the arm alone is best with positive probability, and its features then span. False: it never is, or
            they do not. None: only a sample can tell.
        """
        return (None,) * self.n_arms

    def certain_half_space(self) -> FloatArray | None:
        """A direction u for which certainly no features with uᵀx ≥ 0 span, if the environment knows one.

        Returns
        -------
        (d,) array or None
            None where only a sample can tell.
        """
        return None

    @abstractmethod
    def arrivals(self) -> Assumption:
        """Whether Assumption 1.4 (stochastic arrivals) holds here."""

    def sample(self, size: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
        """The first contexts of run 0, with their mean rewards.

        Parameters
        ----------
        size : int
            How many.
        seed : int, default 0
            Seed of the simulation.

        Returns
        -------
        x : (size, K, d) array
            Features.
        means : (size, K) array
            Mean rewards.
        """
        size = _validate.whole("size", size, at_least=1)
        seed = _validate.whole("seed", seed, at_least=0, at_most=2**64 - 1)
        block = self.stream(seed, np.zeros(1, dtype=np.int64)).draw(0, size)
        rows = block.contexts[0, :size]
        return block.x[rows], block.means[rows]

    def assumptions(self) -> Assumptions:
        """Which of the paper's Assumptions 1.1 to 1.5 hold here, each with a reason.

        Returns
        -------
        Assumptions
            The five assumptions; they print one per line.
        """
        if self.outside_theory is not None:
            raise NotApplicable(f"{self.outside_theory}; the paper's assumptions do not cover that")
        return Assumptions.of(self)

    def __repr__(self) -> str:
        contexts = "" if self.n_contexts is None else f", n_contexts={self.n_contexts}"
        return f"<{self.name}: n_arms={self.n_arms}, n_features={self.n_features}{contexts}, gap={self.gap:.4g}>"
