"""A sketch of every arm's V⁻¹ in single precision: half as much to read, and enough to tell which arms cannot win.

An arm's row holds √(V⁻¹)_ii, rounded up, and then the triangle of V⁻¹ with half its diagonal, in tiles of eight by
eight: for every eight rows the columns up to the diagonal. Lengths are multiples of eight, so that vectors need no rest
and never lie across two lines of the cache; what is beyond d or the diagonal is 0. The few loops that read it are
written in LLVM's own vectors, because its vectoriser does badly with so short ones. No sum is reordered, so how wrong a
form can be follows from the length of its sums.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic

from armspan.kernels._compile import atomic_kernel, part

ONE, TWO, SIDE, TILE = np.uint64(1), np.uint64(2), np.uint64(8), np.uint64(64)
UP = 1.0 + 1e-5
"""Roots are taken larger by this, so that rounding cannot make them too small."""
UNIT = 1.01 * 2.0**-24
"""The rounding unit of single precision, and a little."""
TINY = 1e-24
"""What underflow can cost, for contexts of squared length between these, and V⁻¹ of at most 1/`SMALLEST_RIDGE`."""
SHORTEST, LONGEST = 1e-10, 1e10
SMALLEST_RIDGE = 1e-12

SINGLES = ir.VectorType(ir.FloatType(), int(SIDE))
HALF, DOUBLES = ir.VectorType(ir.FloatType(), 4), ir.VectorType(ir.DoubleType(), 4)
LANES = ir.VectorType(ir.IntType(32), int(SIDE))
FUSED = ("contract",)


def sketch_size(d):
    """How many single-precision numbers an arm's sketch has."""
    groups = (d + 7) // 8
    return 8 * groups + 32 * groups * (groups + 1)


class _Writer:
    """Writes LLVM code for vectors of eight."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder

    def start(self, kind: Any, value: Any, at: Any) -> Any:
        """Where an array's item is."""
        return self.builder.gep(self.context.make_array(kind)(self.context, self.builder, value).data, [at])

    def step(self, pointer: Any, items: int) -> Any:
        return self.builder.gep(pointer, [ir.Constant(ir.IntType(64), items)])

    def load(self, pointer: Any, kind: Any = SINGLES, align: int = 4) -> Any:
        return self.builder.load(self.builder.bitcast(pointer, kind.as_pointer()), align=align)

    def store(self, value: Any, pointer: Any) -> None:
        self.builder.store(value, self.builder.bitcast(pointer, value.type.as_pointer()), align=4)

    def everywhere(self, pointer: Any) -> Any:
        """One number in all places of a vector."""
        nothing, first = ir.Constant(SINGLES, ir.Undefined), ir.Constant(ir.IntType(32), 0)
        one = self.builder.insert_element(nothing, self.builder.load(pointer), first)
        return self.builder.shuffle_vector(one, nothing, ir.Constant(LANES, [0] * int(SIDE)))

    def size(self, vector: Any) -> Any:
        """A vector's absolute values."""
        without_sign = ir.Constant(LANES, [2**31 - 1] * int(SIDE))
        return self.builder.bitcast(self.builder.and_(self.builder.bitcast(vector, LANES), without_sign), SINGLES)

    def sum(self) -> Any:
        """A sum that begins with 0."""
        return cgutils.alloca_once_value(self.builder, ir.Constant(SINGLES, [0.0] * int(SIDE)))

    def add(self, total: Any, a: Any, b: Any) -> None:
        """Add a·b to a sum."""
        product = self.builder.fmul(a, b, flags=FUSED)
        self.builder.store(self.builder.fadd(self.builder.load(total), product, flags=FUSED), total)

    def all_of(self, total: Any) -> Any:
        """The sum of a sum's eight."""
        vector, places = self.builder.load(total), (ir.Constant(ir.IntType(32), i) for i in range(int(SIDE)))
        return self.tree([self.builder.extract_element(vector, place) for place in places])

    def tree(self, parts: list[Any]) -> Any:
        """The sum of eight, in three steps."""
        while len(parts) > 1:
            parts = [self.builder.fadd(a, b, flags=FUSED) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]


@intrinsic
def reach(typing: Any, roots: Any, i: Any, x: Any, j: Any, groups: Any) -> Any:
    """Σ root·|x| of so many times eight numbers, of roots from i on and of x from j on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write = _Writer(context, builder)
        first, second = write.start(roots, args[0], args[1]), write.start(x, args[2], args[3])
        total, eight = write.sum(), ir.Constant(ir.IntType(64), int(SIDE))
        with cgutils.for_range(builder, args[4]) as loop:
            at = builder.mul(loop.index, eight)
            size = write.size(write.load(builder.gep(second, [at])))
            write.add(total, write.load(builder.gep(first, [at])), size)
        return write.all_of(total)

    return types.float32(roots, types.uint64, x, types.uint64, types.uint64), generate


@intrinsic
def tiled_form(typing: Any, tiles: Any, i: Any, x: Any, j: Any, groups: Any) -> Any:
    """xᵀ(L + Lᵀ)x of a triangle L in tiles from i on and of x from j on: eight rows have a sum each, all at once."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write = _Writer(context, builder)
        x_first, (one, eight) = write.start(x, args[2], args[3]), (ir.Constant(ir.IntType(64), n) for n in (1, 8))
        place = cgutils.alloca_once_value(builder, write.start(tiles, args[0], args[1]))
        total, sums = write.sum(), [write.sum() for _ in range(int(SIDE))]
        with cgutils.for_range(builder, args[4]) as rows:
            for one_sum in sums:
                builder.store(ir.Constant(SINGLES, [0.0] * int(SIDE)), one_sum)
            with cgutils.for_range(builder, builder.add(rows.index, one)) as columns:
                tile = builder.load(place)
                weights = write.load(builder.gep(x_first, [builder.mul(columns.index, eight)]))
                for r, one_sum in enumerate(sums):
                    write.add(one_sum, write.load(write.step(tile, 8 * r)), weights)
                builder.store(write.step(tile, int(TILE)), place)
            weights = builder.gep(x_first, [builder.mul(rows.index, eight)])
            parts = [
                builder.fmul(builder.load(one_sum), write.everywhere(write.step(weights, r)))
                for r, one_sum in enumerate(sums)
            ]
            builder.store(builder.fadd(builder.load(total), write.tree(parts)), total)
        form = write.all_of(total)
        return builder.fadd(form, form)

    return types.float32(tiles, types.uint64, x, types.uint64, types.uint64), generate


@intrinsic
def narrow(typing: Any, wide: Any, i: Any, single: Any, j: Any) -> Any:
    """`single[j : j + 8] = wide[i : i + 8]`, of arrays taken as flat; in halves, since few like vectors of 512 bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write = _Writer(context, builder)
        first, place = write.start(wide, args[0], args[1]), write.start(single, args[2], args[3])
        for four in (0, 4):
            half = write.load(write.step(first, four), DOUBLES, align=8)
            write.store(builder.fptrunc(half, HALF), write.step(place, four))
        return context.get_dummy_value()

    return types.none(wide, types.uint64, single, types.uint64), generate


def _plain_reach(roots: Any, i: Any, x: Any, j: Any, groups: Any) -> Any:
    i, j, n = int(i), int(j), 8 * int(groups)
    return roots.ravel()[i : i + n] @ np.abs(x.ravel()[j : j + n])


def _plain_form(tiles: Any, i: Any, x: Any, j: Any, groups: Any) -> Any:
    i, n = int(i), 8 * int(groups)
    w, total = x.ravel()[int(j) : int(j) + n], np.float32(0)
    for first in range(0, n, 8):
        size = first + 8
        rows = tiles.ravel()[i : i + 8 * size].reshape(-1, 8, 8)
        total, i = total + 2 * np.einsum("tac,a,tc->", rows, w[first:size], w[:size].reshape(-1, 8)), i + 8 * size
    return total


def _plain_narrow(wide: Any, i: Any, single: Any, j: Any) -> None:
    single.reshape(-1)[int(j) : int(j) + 8] = wide.ravel()[int(i) : int(i) + 8]


if config.DISABLE_JIT:  # type: ignore[attr-defined]
    reach, tiled_form, narrow = _plain_reach, _plain_form, _plain_narrow  # type: ignore[assignment]


@atomic_kernel()
def draw_sketch(store, sketch, k, d):
    """Write arm k's V⁻¹, and its roots, into its sketch. Changes sketch."""
    rows = (d + SIDE - ONE) // SIDE * SIDE
    origin, line = k * np.uint64(sketch.shape[1]), k * np.uint64(store.shape[1])
    start = d
    for i in range(d):
        first = i // SIDE * SIDE
        place = rows + first * (first + SIDE) // TWO + (i - first) * SIDE
        for column in range(0, first, SIDE):
            narrow(store, line + start + column, sketch, origin + place)
            place += TILE
        for j in range(i - first):
            sketch[k, place + j] = np.float32(store[k, start + first + j])
        diagonal = store[k, start + i]
        sketch[k, place + i - first] = np.float32(0.5 * diagonal)
        sketch[k, i] = np.float32(math.sqrt(max(diagonal, 0.0)) * UP)
        start += i + ONE


@part
def narrow_row(x, row, singles, place):
    """A row of singles becomes a row of x; what is beyond is 0. Changes singles."""
    d, column, wide = np.uint64(x.shape[1]), np.uint64(0), np.uint64(singles.shape[1])
    while column + SIDE <= d:
        narrow(x, np.uint64(row) * d + column, singles, np.uint64(place) * wide + column)
        column += SIDE
    for i in range(column, wide):
        singles[place, i] = np.float32(x[row, i]) if i < d else np.float32(0.0)


@part
def sketched_form(sketch, k, singles, place):
    """xᵀV⁻¹x of arm k from its sketch, for a row of singles, and by how much it may be wrong.

    Every product goes through at most 2 groups + 6 additions, is rounded twice, and is made of three rounded numbers;
    and |V⁻¹_ij| is at most the product of the roots of i and j.
    """
    groups, origin = np.uint64(singles.shape[1]) // SIDE, k * np.uint64(sketch.shape[1])
    at = np.uint64(place) * np.uint64(singles.shape[1])
    form = tiled_form(sketch, origin + groups * SIDE, singles, at, groups)
    size = np.float64(reach(sketch, origin, singles, at, groups))
    return np.float64(form), UNIT * np.float64(TWO * groups + np.uint64(12)) * size * size + TINY
