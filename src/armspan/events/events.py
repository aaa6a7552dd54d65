"""What the proof looks at, counted in real runs: frames, error events, widths that miss, the growth of V."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from armspan._typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from armspan.kernels.events import EventCounts

NAMES = ("irregular", "bad_estimates", "bad_frames", "suboptimal")
"""The proof's 𝒜, ℬ, 𝒞 and 𝒟, under the names that `regret_bound` has for them."""


@dataclass(frozen=True, eq=False)
class Events:
    """The proof's error events of one policy in R runs over F frames.

    Frame k (from 0) holds the steps 2^k, …, 2^(k+1) - 1. A step counts for the first of 𝒜, ℬ, 𝒞, 𝒟 that it is in, so
    the parts add up. Where contexts do not recur, c is one of n = 2Kd meta-contexts: 2(a·d + i) within the ball of the
    i-th vector of arm a's basis, the next one outside of it.

    Attributes
    ----------
    steps, regret : (R, F, 4) arrays
        Steps and pseudo-regret in 𝒜, ℬ, 𝒞, 𝒟.
    misses : (R, F) array
        How many estimates were off by more than α_t σ̂, over all arms.
    irregular, clouded : (R, F) arrays
        Whether a frame is in 𝒜, in 𝒞.
    last_suboptimal : (R,) array
        The last step at which a suboptimal arm was pulled; 0 if none was.
    pulls : (R, F, n, K) array
        N_t(a, c) at the end of each frame.
    good_pulls : (R, n, K) array
        The same at the end, without the steps in ℬ.
    eigenvalues : (R, C, K) array
        λ_min(V_t(a)) at the checkpoints.
    basis_pulls : (R, C, K) array
        Pulls of the least pulled context of each arm's basis; -1 for an arm without one.
    """

    steps: IntArray
    regret: FloatArray
    misses: IntArray
    irregular: BoolArray
    clouded: BoolArray
    last_suboptimal: IntArray
    pulls: IntArray
    good_pulls: IntArray
    eigenvalues: FloatArray
    basis_pulls: IntArray

    @classmethod
    def empty(cls, runs: int, horizon: int, n_contexts: int, n_arms: int, checkpoints: int) -> "Events":
        """Room for what is to be counted.

        Parameters
        ----------
        runs, horizon, n_contexts, n_arms, checkpoints : int
            Sizes of the simulation.
        """
        frames = horizon.bit_length()
        return cls(
            steps=np.zeros((runs, frames, 4), dtype=np.int64),
            regret=np.zeros((runs, frames, 4)),
            misses=np.zeros((runs, frames), dtype=np.int64),
            irregular=np.zeros((runs, frames), dtype=np.bool_),
            clouded=np.zeros((runs, frames), dtype=np.bool_),
            last_suboptimal=np.zeros(runs, dtype=np.int64),
            pulls=np.zeros((runs, frames, n_contexts, n_arms), dtype=np.int64),
            good_pulls=np.zeros((runs, n_contexts, n_arms), dtype=np.int64),
            eigenvalues=np.zeros((runs, checkpoints, n_arms)),
            basis_pulls=np.zeros((runs, checkpoints, n_arms), dtype=np.int64),
        )

    @classmethod
    def parts(cls) -> tuple[str, ...]:
        """Names of the arrays."""
        return tuple(field.name for field in fields(cls))

    def fits(self, runs: int, checkpoints: int, horizon: object) -> bool:
        """Whether the arrays belong to one simulation of this size.

        Parameters
        ----------
        runs, checkpoints, horizon : int
            Sizes of the simulation.
        """
        if not isinstance(horizon, int) or self.pulls.ndim != 4:
            return False
        n_contexts, n_arms = self.pulls.shape[2:]
        wanted = Events.empty(0, horizon, n_contexts, n_arms, checkpoints).arrays()
        return all(
            array.dtype == wanted[name].dtype and array.shape == (runs, *wanted[name].shape[1:])
            for name, array in self.arrays().items()
        )

    def mark(self, chunk: slice, columns: slice, learner: Any) -> None:
        """Put down what a `CountingLearner` of some runs knows at some checkpoints.

        Parameters
        ----------
        chunk : slice
            The runs.
        columns : slice
            The checkpoints.
        learner : CountingLearner
            What has counted.
        """
        width = columns.stop - columns.start
        self.eigenvalues[chunk, columns] = learner.eigenvalues[:, :width]
        self.basis_pulls[chunk, columns] = learner.rarest[:, :width]

    def take(self, chunk: slice, counted: "EventCounts") -> None:
        """Put down what was counted in some runs.

        Parameters
        ----------
        chunk : slice
            The runs.
        counted : EventCounts
            The counts.
        """
        self.steps[chunk], self.regret[chunk], self.misses[chunk] = counted.steps, counted.regret, counted.misses
        self.irregular[chunk], self.clouded[chunk] = counted.irregular, counted.clouded
        self.last_suboptimal[chunk] = counted.last
        self.pulls[chunk], self.good_pulls[chunk] = counted.pulls, counted.good_pulls

    def arrays(self) -> dict[str, Any]:
        """All arrays by name; the first axis of each is the runs."""
        return {name: getattr(self, name) for name in self.parts()}

    def rows(self, which: IntArray | slice) -> "Events":
        """The events of some of the runs.

        Parameters
        ----------
        which : array or slice
            The runs.
        """
        return Events(**{name: array[which] for name, array in self.arrays().items()})

    @classmethod
    def joined(cls, parts: Sequence["Events"]) -> "Events":
        """The events of the same policy in several sets of runs, as one.

        Parameters
        ----------
        parts : list of Events
            The sets, in order.
        """
        named = [part.arrays() for part in parts]
        return cls(**{name: np.concatenate([part[name] for part in named]) for name in named[0]})
