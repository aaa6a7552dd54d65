"""Environments with a finite table of contexts, and how contexts are drawn from it."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from armspan import _validate, diversity
from armspan._typing import FloatArray, IntArray
from armspan.environments.base import Environment
from armspan.environments.noise import as_noise
from armspan.errors import InvalidParameter

if TYPE_CHECKING:
    from armspan.kernels.block import Block


class TableEnvironment(Environment):
    """A finite set of contexts with a feature vector for each arm.

    Attributes
    ----------
    features : (K, n, d) array
        Feature vector of each arm in each context.
    theta : (K, d) array
        Parameter of each arm.
    reward_table : (K, n) array
        Mean reward of each arm in each context, the paper's r(a, c).
    best_arms : (n,) array
        The best arm of each context.
    probabilities : (n,) array
        How often each context arrives in the long run.
    """

    features: FloatArray
    theta: FloatArray
    probabilities: FloatArray
    n_contexts: int
    drawn_from: ClassVar[str | None] = "table"

    def __init__(self, features: Any, theta: Any, noise: Any) -> None:
        self._read(features, theta)
        self.theta = _validate.array("theta", theta, shape=(self.n_arms, self.n_features))
        self.noise = as_noise(noise)
        with np.errstate(over="ignore", invalid="ignore"):
            self.reward_table = np.einsum("knd,kd->kn", self.features, self.theta)
            self._find_truth()

    def _read(self, features: Any, by_arm: Any) -> None:
        """Take in the features; by_arm : what else is given, with one row per arm."""
        self.features = _validate.array("features", _for_each(features, by_arm), shape=("arms", "contexts", "features"))
        self.n_arms, self.n_contexts, self.n_features = self.features.shape
        if self.n_arms < 2:
            raise InvalidParameter(f"features must have at least 2 arms on their first axis, got {self.n_arms}")

    def _find_truth(self) -> None:
        self.best_arms: IntArray = np.argmax(self.reward_table, axis=0)
        self.parameter_bound = float(np.linalg.norm(self.theta, axis=1).max())
        longest = float(np.linalg.norm(self.features, axis=2).max())
        if not np.isfinite([longest**2, self.parameter_bound**2, np.abs(self.reward_table).max()]).all():
            raise InvalidParameter("features and theta must be small enough that their squares are finite numbers")
        self._leads = diversity.leads(self.reward_table.T)
        self.noise.check("mean rewards", float(self.reward_table.min()), float(self.reward_table.max()))

    def _set_probabilities(self, probabilities: FloatArray) -> None:
        """The long-run frequency of each context; what never arrives counts for nothing."""
        self.probabilities = probabilities
        arrive = probabilities > 0
        self.gap = diversity.reward_gap(self.reward_table.T[arrive])
        self.feature_bound = float(np.linalg.norm(self.features[:, arrive], axis=2).max())
        if self.feature_bound == 0:
            largest, where = np.abs(self.features[:, arrive]).max(), "in the contexts that arrive"
            if largest > 0:
                enough = "large enough that their squares are not 0"
                raise InvalidParameter(f"features must be {enough} {where}, got at most {largest:g}")
            raise InvalidParameter(f"features must not all be 0 {where}")
        self._alias = alias_tables(self.arrival_rows())

    def arrival_rows(self) -> FloatArray:
        """Distributions (S, n) of the next context: one row, or one for each present context and one for the start."""
        raise NotImplementedError

    def stream(self, seed: int, runs: IntArray) -> "TableStream":
        return TableStream(self, seed, runs)

    def tables(self) -> tuple[NDArray[np.uint64], IntArray, FloatArray, FloatArray, FloatArray]:
        """What kernels take: alias tables (S, n) twice, features (n, K, d), mean rewards and losses (n, K)."""
        means = self.reward_table.T.copy()
        losses = diversity.losses(means)
        return *self._alias, np.swapaxes(self.features, 0, 1).copy(), means, losses

    def mean_rewards(self, x: FloatArray) -> FloatArray:
        return np.einsum("kd,kd->k", x, self.theta)

    def mean_rewards_at(self, x: FloatArray, context: int, step: int) -> FloatArray:
        return self.reward_table[:, context]

    def optimal_contexts(self, arm: int) -> IntArray:
        """C_a: the numbers of the contexts that arrive and in which this arm alone is best.

        Parameters
        ----------
        arm : int
            The arm.
        """
        return np.flatnonzero((self.best_arms == arm) & (self._leads > 0) & (self.probabilities > 0))

    def optimal_features(self, arm: int) -> FloatArray:
        """The arm's features (m, d) in the contexts in which it alone is best.

        Parameters
        ----------
        arm : int
            The arm.
        """
        return self.features[arm, self.optimal_contexts(arm)]

    def lambda_0(self) -> float:
        """λ₀ of Section 4, the diversity of the contexts; 0 where some arm's optimal features do not span.

        Where there are too many contexts for an exact search, it is the best that was found.
        """
        return diversity.lambda_0([self.optimal_features(a) for a in range(self.n_arms)]).eigenvalue

    def context_table(self, samples: int) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
        arrive = self.probabilities > 0
        x = np.swapaxes(self.features, 0, 1)[arrive]
        return x, self.reward_table.T[arrive], self.probabilities[arrive], True

    def diversity_per_arm(self) -> tuple[FloatArray, FloatArray, int | None]:
        x = np.swapaxes(self.features, 0, 1)
        p, smallest = diversity.smallest_eigenvalues(x, self.reward_table.T, self.probabilities)
        return p, smallest, None

    def certain_spans(self) -> tuple[bool | None, ...]:
        return tuple(bool(smallest > 0) for smallest in self.diversity_per_arm()[1])


def _for_each(features: Any, by_arm: Any) -> Any:
    """Features (n, d) that all arms share, once for each arm; others as they are."""
    _validate.unmasked("features", features)
    try:
        return np.repeat(np.asarray(features)[None], len(by_arm), axis=0) if np.ndim(features) == 2 else features
    except (TypeError, ValueError):  # no array, or nothing with rows: whoever looks closer says what it is
        return features


class TableStream:
    """Draws contexts of a finite set, for some runs."""

    def __init__(self, env: TableEnvironment, seed: int, runs: IntArray) -> None:
        self._noise, self._seed, self._runs, self._unit = env.noise, np.uint64(seed), runs, env.reward_scale
        self._threshold, self._alias, self._x, self._means, self._losses = env.tables()
        self._row = np.full(runs.size, len(self._threshold) - 1, dtype=np.int64)  # the last row is the start's
        self._contexts, self._noise_of_block = np.empty((0, 0), dtype=np.int64), np.empty((0, 0))

    def draw(self, first: int, size: int) -> "Block":
        from armspan.kernels.block import Block
        from armspan.kernels.draws import draw_table

        lines = -(-size // 8) | 1  # an odd number: lines of runs side by side would shut each other out of the cache
        shape = self._runs.size, 8 * lines
        if shape != self._noise_of_block.shape:
            self._contexts, self._noise_of_block = np.empty(shape, dtype=np.int64), np.empty(shape)
        contexts, noise = self._contexts, self._noise_of_block
        draw_table(
            self._seed, self._runs, first, size, self._threshold, self._alias, self._row,
            self._noise.code, self._noise.scale, contexts, noise,
        )  # fmt: skip
        tables, told = (self._x, self._means, self._losses), (self._unit, self._noise.clicks)
        return Block(self._seed, first, self._runs, contexts, *tables, noise, *told)


def alias_tables(rows: FloatArray) -> tuple[NDArray[np.uint64], IntArray]:
    """Walker's alias method for each distribution in rows (S, n), with probabilities rounded to multiples of 2⁻³²/n.

    A uniform word picks a column; with probability threshold/2³² that column is kept, otherwise its alias is taken.
    """
    n = rows.shape[1]
    threshold, alias = np.empty(rows.shape, dtype=np.uint64), np.empty(rows.shape, dtype=np.int64)
    for row, shares in enumerate(rows * n):
        share: list[float] = shares.tolist()  # of each column's room; what is above 1 tops up what is below
        kept, other = [2**32] * n, list(range(n))
        poor = [c for c in other if share[c] < 1]
        rich = [c for c in other if share[c] > 1]
        while poor and rich:
            low, high = poor.pop(), rich[-1]
            kept[low], other[low] = round(share[low] * 2**32), high
            share[high] -= 1 - share[low]
            if share[high] <= 1:
                rich.pop()
                if share[high] < 1:
                    poor.append(high)
        threshold[row], alias[row] = kept, other
    return threshold, alias
