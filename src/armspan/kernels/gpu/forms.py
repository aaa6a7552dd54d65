"""The forms in which a GPU runs a family: what each run carries from launch to launch, and which threads live it.

All that is known of a form's layout is here. The kernels are in files of their own, for numba's CUDA takes its time to
import.
"""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels.family import Family, Field, usual_sizes
from armspan.kernels.gpu.steps import BOX

FAST = {"linear": False, "sampled": True}
"""The families that have fast forms, and whether they draw their indices."""
THREADS, WARP, FULL = 128, 32, 1 << 14
"""Threads of a block, the fewest that it has, and runs from which on there are enough for all parts of a GPU."""
MOST_ALONE = 200
"""Numbers that a run learns up to which a thread lives through it alone; beyond, a team of threads does."""
MOST_LOCAL = 400_000
"""Bytes that a thread may have to itself; CUDA allows some more."""
TEAM, MOST_SHARED = 32, 48_000
"""Threads of a team, and bytes that they may share."""
DRAWN = (Field("x", "1Kd"), Field("means", "1K"), Field("losses", "1K"), Field("u", "4"))
"""What a run's own context in a box needs; 4 : numbers in (0, 1), drawn four at a time."""


class Problem(NamedTuple):
    """What a kernel is made for.

    K, d, n : arms, features, contexts. source : of contexts, see `steps`. noise : its kind, see `draws`. single : in
    single precision. watching : whether the events of the proof are counted. unusual : letters of the family's shapes
    that are not as `usual_sizes` says, and what they stand for.
    """

    family: Family
    K: int
    d: int
    n: int
    source: int
    noise: int
    single: bool = False
    watching: bool = False
    unusual: tuple[tuple[str, int], ...] = ()

    @property
    def sizes(self) -> dict[str, int]:
        """What the letters of shapes stand for."""
        return usual_sizes(self.K, self.d, self.n, dict(self.unusual))

    @property
    def real(self) -> Any:
        """The kind of its real numbers; long sums are always doubles."""
        return np.float32 if self.single else np.float64

    @property
    def per_arm(self) -> int:
        """Numbers of linear knowledge of an arm: the lower triangle of V, and b; as many of V⁻¹ and θ̂."""
        return self.d * (self.d + 3) // 2

    @property
    def units(self) -> int:
        """Numbers in (0, 1) that are drawn for the features of a context, four at a time."""
        return (self.K * self.d + 3) // 4 * 4


class Part(NamedTuple):
    """An array that each run has."""

    shape: tuple[int, ...]
    dtype: Any


class Form(ABC):
    """One way to run a family.

    groups : tuples of arrays that each run carries; the first has what it learns. runs_first : whether the run is the
    first axis of those, not the last. flat : whether the features of a table lie in one row.
    """

    groups: tuple[tuple[Part, ...], ...]
    runs_first: ClassVar[bool] = False
    flat: ClassVar[bool] = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @abstractmethod
    def start(self, state: Any) -> tuple[Any, ...]:
        """What a run carries in the first group at first; state : of one run."""

    @abstractmethod
    def kernel(self, R: int) -> Any:
        """The kernel for so many runs; see `arguments` for what it takes."""

    def grid(self, R: int) -> tuple[int, int]:
        """Blocks, and threads of each; few runs: a warp for each part of the GPU."""
        threads = THREADS if R >= FULL else WARP
        return -(-R // threads), threads

    def among(self, part: Part, R: int) -> tuple[int, ...]:
        """The shape of such an array for R runs."""
        return (R, *part.shape) if self.runs_first else (*part.shape, R)

    @property
    def bytes_per_run(self) -> int:
        """What a run needs of the GPU's memory, beside its results."""
        return sum(math.prod(part.shape) * np.dtype(part.dtype).itemsize for group in self.groups for part in group)


class Generic(Form):
    """A thread per run, by any family's own functions; all it knows is in the GPU's main memory."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        family, drawn = problem.family, DRAWN if problem.source == BOX else ()
        self.groups = tuple(tuple(map(self._part, fields)) for fields in (family.fields, family.scratch, drawn))

    def _part(self, field: Field) -> Part:
        shape = field.size(**self.problem.sizes, **{"1": 1, "4": self.problem.units})
        rounded = field.dtype is np.float64 and not field.sums
        return Part(shape, self.problem.real if rounded else field.dtype)

    def start(self, state: Any) -> tuple[Any, ...]:
        return tuple(array[0] for array in state)

    def kernel(self, R: int) -> Any:
        from armspan.kernels.gpu.generic import kernel

        return kernel(self.problem)


class Registers(Form):
    """A thread per run, for linear knowledge: of V and V⁻¹ the lower triangle, kept in registers where they are few.

    Of each run there are totals, V and b, in doubles; and V⁻¹ and θ̂, then what is not in totals yet.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.learnt = problem.K * problem.per_arm
        self.groups = ((Part((self.learnt,), np.float64), Part((2 * self.learnt,), problem.real)),)

    @property
    def is_small(self) -> bool:
        """Whether a thread alone is the fastest."""
        return 2 * self.learnt <= MOST_ALONE

    @property
    def fits(self) -> bool:
        """Whether a thread can have all this."""
        K, d = self.problem.K, self.problem.d
        return 8 * (2 * d * (K + 3) * (d + 1) + 2 * K * d + 6 * K) <= MOST_LOCAL

    def start(self, state: Any) -> tuple[Any, ...]:
        V, V_inv, b, theta_hat = (array[0] for array in state)
        return _by_rows(b, V), np.append(_by_rows(theta_hat, V_inv), np.zeros(self.learnt))

    def kernel(self, R: int) -> Any:
        from armspan.kernels.gpu.registers import kernel

        return kernel(self.problem, few=R < FULL)


def _by_rows(vectors: FloatArray, matrices: FloatArray) -> FloatArray:
    """Arm by arm and row by row, an entry of the vector and then those of the matrix up to the diagonal."""
    K, d = vectors.shape
    return np.concatenate([[vectors[k, i], *matrices[k, i, : i + 1]] for k in range(K) for i in range(d)])


class Team(Form):
    """A team of threads per run, one warp, for linear knowledge that is larger: they share V⁻¹ and θ̂.

    Of each run there are totals, for each arm V by its lower triangle and b; and V⁻¹, dealt out as in `Layout`, and θ̂.
    """

    runs_first: ClassVar[bool] = True
    flat: ClassVar[bool] = True

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.layout = layout(problem.K, problem.d)
        totals = Part((problem.K * problem.per_arm,), np.float64)
        self.groups = ((totals, Part((self.layout.state,), problem.real)),)

    @property
    def fits(self) -> bool:
        """Whether a team can share all this."""
        return self.layout.bytes_shared(self.problem.single) <= MOST_SHARED

    def start(self, state: Any) -> tuple[Any, ...]:
        V, V_inv, b, theta_hat = (array[0] for array in state)
        K, d = b.shape
        triangle, (k, i, j), dealt = np.tril_indices(d), np.ogrid[:K, :d, :d], np.zeros(self.layout.shape)
        dealt[self.layout.place(k, i, j)] = np.tril(V_inv) + np.tril(V_inv, -1).transpose(0, 2, 1)
        kept = dealt[:, : self.layout.rows, :TEAM]
        return np.hstack([V[:, *triangle], b]), np.append(kept, theta_hat)

    def kernel(self, R: int) -> Any:
        from armspan.kernels.gpu.team import kernel

        return kernel(self.problem)

    def grid(self, R: int) -> tuple[int, int]:
        return R, TEAM


class Layout(NamedTuple):
    """How V⁻¹ of K arms and d features is dealt out to a team."""

    K: int
    d: int
    together: int
    """Threads that have an arm together; where arms are many, a thread has several."""
    rows: int
    """Rows of an arm that a thread has."""

    @property
    def turns(self) -> int:
        """Arms that a thread has."""
        return -(-self.K // TEAM)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of V⁻¹ in the memory that they share.

        The last two are odd: then rows, which are read, and columns, which are changed, both spread over all banks.
        """
        return self.turns * self.d, self.rows | 1, TEAM + 1

    def place(self, k: Any, i: Any, j: Any) -> tuple[Any, Any, Any]:
        """Where entry (i, j) of arm k is."""
        return k // TEAM * self.d + j, i % self.rows, k % TEAM * self.together + i // self.rows

    def bytes_shared(self, single: bool) -> int:
        """How much memory a team shares, at most."""
        K, d = self.K, self.d
        others = 3 * K * (d + 2) + K * d + 4 + 4 * K + 2 * TEAM * self.turns
        return (4 if single else 8) * (math.prod(self.shape) + others) + 8 * K

    @property
    def state(self) -> int:
        """Numbers that are kept between launches, beside V and b: V⁻¹ and θ̂."""
        return self.turns * self.d * self.rows * TEAM + self.K * self.d


def layout(K: int, d: int) -> Layout:
    """As many threads an arm as there are."""
    together = max(TEAM // K, 1)
    return Layout(K, d, together, -(-d // together))
