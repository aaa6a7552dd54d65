"""What an agent has learnt, as the arrays that kernels work on; `armspan.kernels.agent_layout` says what is where."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.agents.settings import Settings
from armspan.agents.window import Window
from armspan.errors import InvalidParameter
from armspan.kernels import agent_layout as layout
from armspan.kernels import agent_learning, triangles
from armspan.kernels import agent_memory as memory
from armspan.kernels.choice import ROUNDING, SINGLE_ROUNDING
from armspan.kernels.sketch import SMALLEST_RIDGE, sketch_size

SMALLEST_PAIRED = 8
"""With fewer features than this an arm has V⁻¹ from the start."""
PRUNE_FROM = 8, 16
"""Arms and features from which on skipping arms pays for the bounds that it needs."""
SKETCHED_FROM, WIDE_FROM = 24, 65
"""Features from which on sketches pay where arms have rows of their own, and where they share a context."""
DRIFT = 0.1
"""How far V⁻¹ may be off in a direction that was seen, relatively, in units of the root of the rounding unit."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """What an arm has seen, without the ridge.

    Attributes
    ----------
    gram : (d, d) array
        Σxxᵀ over the pulls of the arm.
    moment : (d,) array
        Σyx over the same pulls.
    pulls : float
        How many pulls there were.
    squares : float
        Σy²; NaN where it is not known. An agent that learns the size of the noise needs it.
    """

    gram: FloatArray
    moment: FloatArray
    pulls: float
    squares: float = math.nan

    def weighed(self, weight: float) -> "Statistics":
        """The same statistics, counting this many times as much.

        Parameters
        ----------
        weight : float
            How many times.
        """
        return Statistics(weight * self.gram, weight * self.moment, weight * self.pulls, weight * self.squares)


def _zeros(size: int) -> FloatArray:
    """So many zeros that begin with a line of the cache."""
    room = np.zeros(size + 7)
    begin = -(room.ctypes.data // 8) % 8
    return room[begin : begin + size]


class State:
    """The arrays of one agent, and the arms' names in the order of their rows.

    lineage : whose rewards it holds; see `armspan.agents.lineage`.
    window : the last rewards, if nothing else is known. forgotten : how often all that was seen has lost weight.

    A state whose head is closed is never used again by a call that did not close it: calls that come too late start
    over with the next one.
    """

    lineage: Any = None

    def __init__(self, settings: Settings, names: Sequence[Hashable]) -> None:
        self.settings = settings
        self.window = None if settings.window is None else Window(settings.window, settings.width)
        self.forgotten = 0
        self._make_store(names)
        self.memory[:, layout.ARM] = layout.EMPTY
        self.head[layout.RIDGE], self.head[layout.BIAS] = settings.ridge, settings.bias
        self.head[layout.SCALE], self.head[layout.LONGEST] = settings.scale, settings.longest
        self.head[layout.SEED_HIGH], self.head[layout.SEED_LOW] = divmod(settings.seed, 2**32)
        self.head[layout.INTERCEPT] = settings.intercept
        self.head[layout.FIRST_OF_TIES] = settings.ties == "first"
        self.head[layout.EPSILON] = settings.epsilon
        self.head[layout.LEARNT] = settings.learnt
        self.head[layout.TIED_WITHIN] = ROUNDING if settings.dtype == "float64" else SINGLE_ROUNDING
        self.clear(slice(None))

    def _make_store(self, names: Sequence[Hashable]) -> None:
        """One array for all, and its parts."""
        d, K = self.settings.width, len(names)
        most = self.settings.memory if self.settings.window is None else 0
        self.names = tuple(names)
        self.place = {name: k for k, name in enumerate(self.names)}
        slots = 2 << max(most - 1, 0).bit_length() if most else 0
        shapes = [(1, layout.HEAD + layout.scratch_size(d)), (K, layout.THETA + d), (slots, layout.FEATURES + d)]
        single = self.settings.dtype == "float32"
        sketched = not single and d >= SKETCHED_FROM and self.settings.ridge >= SMALLEST_RIDGE
        sketch = sketch_size(d) if sketched else 0
        shapes += [] if single else [(K, d + d * (d + 1))]
        self.whole = _zeros(sum(layout.in_lines(math.prod(shape)) for shape in shapes) + K * sketch // 2)
        parts, begin = [], 0
        for shape in shapes:
            parts.append(self.whole[begin : begin + math.prod(shape)].reshape(shape))
            begin += layout.in_lines(math.prod(shape))
        if single:
            parts.append(np.zeros((K, d + d * (d + 1)), dtype=np.float32))
        (self.head,), self.arms, self.memory, self.store = parts
        self.head[layout.WIDTH], self.head[layout.SLOTS], self.head[layout.SKETCH] = d, slots, sketch
        self.head[layout.LARGEST_REWARD] = self.settings.largest
        self.allow(self.settings.squared_bound)
        self.sizes_changed()

    def allow(self, squared_length: float) -> None:
        """Look at V⁻¹ as often as contexts so long need it, and let them through."""
        self.head[layout.OFTEN] = max(self.head[layout.OFTEN], self.settings.often(squared_length))
        self.head[layout.LARGEST] = self.settings.longest_context(float(self.head[layout.OFTEN]))

    @property
    def parts(self) -> tuple[Any, Any, Any, Any]:
        """What kernels take."""
        return self.head, self.arms, self.store, self.memory

    def sizes_changed(self) -> None:
        """Note in the head how many arms there are."""
        K, d = len(self.names), self.settings.width
        self.head[layout.N_ARMS] = K
        self.head[layout.PRUNE] = PRUNE_FROM[0] <= K and d >= PRUNE_FROM[1] and not self.settings.forgets

    def clear(self, k: int | slice) -> None:
        """Arm k, or each of several, knows nothing."""
        d, ridge = self.settings.width, self.settings.ridge
        self.arms[k] = 0.0
        self.arms[k, layout.LAMBDA] = ridge
        if d < SMALLEST_PAIRED or self.settings.forgets or self.settings.dtype != "float64":
            self.store[k] = 0.0
            self._write(k, ridge * np.eye(d), np.eye(d) / ridge)

    def gram(self, k: int) -> FloatArray:
        """V (d, d) of arm k."""
        d, mode = self.settings.width, int(self.arms[k, layout.MODE])
        if mode >= 0:
            X = self.store[k, d : d + 2 * mode * d].reshape(mode, 2, d)[:, 0]
            return self.settings.ridge * np.eye(d) + X.T @ X
        return triangles.unpacked(self.store[k, d + d * (d + 1) // 2 :], d)

    def inverse(self, k: int) -> FloatArray:
        """V⁻¹ (d, d) of arm k."""
        d, mode = self.settings.width, int(self.arms[k, layout.MODE])
        if mode >= 0:
            W = self.store[k, d : d + 2 * mode * d].reshape(mode, 2, d)[:, 1]
            return (np.eye(d) - W.T @ W) / self.settings.ridge
        return triangles.unpacked(self.store[k, d : d + d * (d + 1) // 2], d)

    def statistics(self, k: int) -> Statistics:
        """What arm k has seen."""
        d = self.settings.width
        gram = self.gram(k) - self.settings.ridge * np.eye(d)
        squares = float(self.arms[k, layout.SQUARES])
        return Statistics(gram, self.store[k, :d].astype(np.float64), self.pulls(k), squares)

    def pulls(self, k: int) -> float:
        """How many rewards of arm k have come and still count."""
        pulls = float(self.arms[k, layout.PULLS])
        return pulls if pulls > layout.ASKED else 0.0

    def add(self, k: int, seen: Statistics) -> None:
        """Arm k learns what was seen elsewhere."""
        d = self.settings.width
        V = self.gram(k) + seen.gram
        if not max(np.abs(V).max(), np.abs(seen.moment).max()) < self.settings.largest**2:
            raise InvalidParameter(f"sums of squares must be below {self.settings.largest**2:g}")
        if self.settings.learnt and not seen.squares >= 0:
            raise InvalidParameter(
                "squares must be the sum of squared rewards: an agent that learns its noise needs it"
            )
        self.store[k, :d] += seen.moment
        self.arms[k, layout.PULLS] += seen.pulls
        self.arms[k, layout.SQUARES] += seen.squares
        self.rebuild(k, V)

    def relearn(self, k: int, X: FloatArray, rewards: FloatArray) -> None:
        """Arm k has seen rows X (n, d) and nothing else."""
        self.store[k, : self.settings.width] = rewards @ X
        self.arms[k, layout.PULLS], self.arms[k, layout.SQUARES] = len(X), rewards @ rewards
        self.rebuild(k, self.settings.ridge * np.eye(self.settings.width) + X.T @ X)

    def check(self, k: int) -> None:
        """See whether V⁻¹ has drifted from V, and mend it in those directions in which V is known better.

        In the others Sherman–Morrison has lost less than the rounding of V's sums: there V⁻¹ is kept. An arm in the
        mode of few pulls changes to the other.
        """
        V, epsilon = self.gram(k), float(np.finfo(self.store.dtype).eps)
        if self.arms[k, layout.MODE] >= 0:
            self.rebuild(k, V)
            return
        scale = np.sqrt(np.diag(V))
        values, vectors = np.linalg.eigh(V / np.outer(scale, scale))
        inverse = vectors.T @ (self.inverse(k) * np.outer(scale, scale)) @ vectors
        rounding = epsilon * (len(V) + self.arms[k, layout.PULLS] / 2) / np.maximum(values, epsilon)  # of V's sums
        drift = np.abs(np.diag(inverse) * values - 1)
        if (drift > np.maximum(DRIFT * math.sqrt(epsilon), 4 * rounding)).any():
            better = drift > rounding
            inverse[better] = inverse[:, better] = 0.0
            inverse[better, better] = 1 / values[better]
            if np.linalg.eigvalsh(inverse)[0] <= 0:
                self.rebuild(k, V)
                return
            self._write(k, V, vectors @ inverse @ vectors.T / np.outer(scale, scale))
            self.arms[k, layout.THETA :] = self.inverse(k) @ self.store[k, : len(V)]
        if self.head[layout.PRUNE]:
            self._bound(k, scale, float(values[0]))

    def rebuild(self, k: int, V: FloatArray) -> None:
        """V⁻¹, θ̂ and the bound of λ_min(V) afresh from V and b.

        Features are brought to one scale first. V ⪰ ridge·I whatever rounding says, so V⁻¹ stays positive definite.
        """
        d, scale = len(V), np.sqrt(np.diag(V))
        values, vectors = np.linalg.eigh(V / np.outer(scale, scale))
        values = np.maximum(values, max(self.settings.ridge / scale.max() ** 2, d * np.finfo(np.float64).eps))
        V_inv = (vectors / values) @ vectors.T / np.outer(scale, scale)
        self._write(k, V, V_inv)
        self.arms[k, layout.THETA :] = V_inv @ self.store[k, :d]
        self._bound(k, scale, float(values[0]))

    def _bound(self, k: int, scale: FloatArray, smallest: float) -> None:
        """Note what λ_min(V) is at least, from the smallest eigenvalue at one scale."""
        if not self.settings.forgets and smallest > 1e-6:  # below, rounding might make the bound wrong
            least = smallest * float(scale.min()) ** 2 * (1 - 1e-9)
            self.arms[k, layout.LAMBDA] = max(self.arms[k, layout.LAMBDA], least)

    def _write(self, k: int | slice, V: FloatArray, V_inv: FloatArray) -> None:
        d, half = len(V), len(V) * (len(V) + 1) // 2
        lower = np.tri(d, dtype=np.bool_)
        self.store[k, d : d + half], self.store[k, d + half :] = V_inv[lower], V[lower]
        self.arms[k, layout.MODE] = layout.FULL

    def forget(self, factor: float) -> None:
        """Make everything that was seen count factor times as much."""
        d = self.settings.width
        for k in range(len(self.names)):
            ridge = self.settings.ridge * np.eye(d)
            self.store[k, :d] *= factor
            self.arms[k, [layout.PULLS, layout.SQUARES]] *= factor
            self.rebuild(k, ridge + factor * (self.gram(k) - ridge))
        self.memory[:, layout.SEEN] *= factor
        self.memory[:, layout.SUM] *= factor

    def recount(self) -> None:
        """What σ̂ and ȳ are made of, afresh from what every arm holds; needed after anything but `learn`.

        Arms whose Σy² is not known, because their sums came from elsewhere without it, are left out of ȳ.
        """
        squares, pulls = self.arms[:, layout.SQUARES], self.arms[:, layout.PULLS]
        known = squares >= 0
        squared, counted = float(squares.sum(where=known)), float(pulls.sum(where=known))
        self.head[[layout.SQUARED, layout.COUNTED]] = squared, counted
        self.head[layout.UNIT] = math.sqrt(squared / counted) if counted > 0 else 0.0
        if self.settings.learnt:
            agent_learning.recount(self.head, self.arms, self.store)

    def entries(self, k: int | None = None) -> FloatArray:
        """What is remembered (m, 4 + d), of arm k or of all; in the order in which it was last pulled."""
        rows = self.memory[self.memory[:, layout.ARM] != layout.EMPTY]
        if k is not None:
            rows = rows[rows[:, layout.ARM] == k]
        return rows[np.argsort(rows[:, layout.STAMP], kind="stable")]

    def remember_only(self, entries: FloatArray) -> None:
        """Make entries (m, 4 + d) all that is remembered."""
        memory.refill(self.head, self.memory, np.ascontiguousarray(entries), len(entries))

    def copy(self) -> "State":
        """A copy that is open to calls."""
        new = State.__new__(State)
        new.settings, new.forgotten, new.lineage = self.settings, self.forgotten, self.lineage
        new.window = None if self.window is None else self.window.copy(set(self.names))
        new._make_store(self.names)
        new.whole[:], new.store[:] = self.whole, self.store
        new.head[layout.CLOSED] = 0.0
        return new

    def with_more(self, names: Iterable[Hashable]) -> "State":
        """A state with these arms too, at the end where they are new."""
        more = [name for name in names if name not in self.place]
        rows = [*range(len(self.names)), *[-1] * len(more)]
        return self.with_names([*self.names, *more], np.array(rows, dtype=np.int64))

    def with_names(self, names: Sequence[Hashable], rows: IntArray) -> "State":
        """A state for these arms; rows (K,) tells which row of this one each continues, -1 for none."""
        new = State.__new__(State)
        new.settings, new.forgotten, new.lineage = self.settings, self.forgotten, self.lineage
        new.window = None if self.window is None else self.window.copy(set(names))
        new._make_store(names)
        new.head[: layout.HEAD] = self.head[: layout.HEAD]
        new.head[layout.FORCED] = np.count_nonzero((rows >= 0) & (rows < self.head[layout.FORCED]))
        new.sizes_changed()
        for k, row in enumerate(rows):
            if row >= 0:
                new.arms[k], new.store[k] = self.arms[row], self.store[row]
                new.arms[k, layout.MODE] = max(new.arms[k, layout.MODE], layout.FULL)  # its sketch stays behind
            else:
                new.clear(k)
        entries, moved = self.entries(), {row: k for k, row in enumerate(rows) if row >= 0}
        entries = entries[[arm in moved for arm in entries[:, layout.ARM]]]
        entries[:, layout.ARM] = [moved[arm] for arm in entries[:, layout.ARM]]
        if len(self.memory):
            new.remember_only(entries)
        return new
