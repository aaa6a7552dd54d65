"""A sketch of every arm's V⁻¹ in single precision: half as much to read, and enough to tell which arms cannot win.

An arm's row holds √(V⁻¹)_ii, rounded up, and then V⁻¹ in tiles of eight by eight: for every eight columns the rows from
the diagonal on. Lengths are multiples of eight, so that vectors need no rest; what is beyond d is 0. The few loops that
read it are written in LLVM's own vectors, because its vectoriser does badly with so short ones. No sum is reordered, so
how wrong a form can be follows from the length of its sums.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic

from armspan.kernels._compile import atomic_kernel, inlined

ONE, SIDE, TILE = np.uint64(1), np.uint64(8), np.uint64(64)
UP = 1.0 + 1e-5
"""Roots are taken larger by this, so that rounding cannot make them too small."""
UNIT = 1.01 * 2.0**-24
"""The rounding unit of single precision, and a little."""
TINY = 1e-24
"""What underflow can cost, for contexts of squared length between these, and V⁻¹ of at most 1/`SMALLEST_RIDGE`."""
SHORTEST, LONGEST = 1e-10, 1e10
SMALLEST_RIDGE = 1e-12

SINGLES = ir.VectorType(ir.FloatType(), int(SIDE))
DOUBLES = ir.VectorType(ir.DoubleType(), int(SIDE))
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
        self.builder.store(value, self.builder.bitcast(pointer, SINGLES.as_pointer()), align=4)

    def everywhere(self, pointer: Any) -> Any:
        """One number in all places of a vector."""
        nothing, first = ir.Constant(SINGLES, ir.Undefined), ir.Constant(ir.IntType(32), 0)
        one = self.builder.insert_element(nothing, self.builder.load(pointer), first)
        return self.builder.shuffle_vector(one, nothing, ir.Constant(LANES, [0] * int(SIDE)))

    def sum(self) -> Any:
        """A sum that begins with 0."""
        return cgutils.alloca_once_value(self.builder, ir.Constant(SINGLES, [0.0] * int(SIDE)))

    def add(self, total: Any, a: Any, b: Any) -> None:
        """Add a·b to a sum."""
        product = self.builder.fmul(a, b, flags=FUSED)
        self.builder.store(self.builder.fadd(self.builder.load(total), product, flags=FUSED), total)

    def all_of(self, total: Any) -> Any:
        """The sum of a sum's eight."""
        vector = self.builder.load(total)
        parts = [self.builder.extract_element(vector, ir.Constant(ir.IntType(32), i)) for i in range(int(SIDE))]
        while len(parts) > 1:
            parts = [self.builder.fadd(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]


@intrinsic
def product(typing: Any, a: Any, i: Any, b: Any, j: Any, groups: Any) -> Any:
    """Of flat a from i and flat b from j, the product of so many times eight numbers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write = _Writer(context, builder)
        first, second = write.start(a, args[0], args[1]), write.start(b, args[2], args[3])
        total, eight = write.sum(), ir.Constant(ir.IntType(64), int(SIDE))
        with cgutils.for_range(builder, args[4]) as loop:
            at = builder.mul(loop.index, eight)
            write.add(total, write.load(builder.gep(first, [at])), write.load(builder.gep(second, [at])))
        return write.all_of(total)

    return types.float32(a, types.uint64, b, types.uint64, types.uint64), generate


@intrinsic
def tiled_form(typing: Any, tiles: Any, i: Any, x: Any, j: Any, groups: Any) -> Any:
    """xᵀAx of the tiles from i on and of x from j on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write = _Writer(context, builder)
        x_first, (one, eight) = write.start(x, args[2], args[3]), (ir.Constant(ir.IntType(64), n) for n in (1, 8))
        place = cgutils.alloca_once_value(builder, write.start(tiles, args[0], args[1]))
        total, below, diagonal = write.sum(), [write.sum() for _ in range(4)], [write.sum() for _ in range(4)]

        def add_tile(group: Any, sums: Any) -> None:
            """Eight rows of the present columns, which begin at `place`."""
            row, weights = builder.load(place), builder.gep(x_first, [builder.mul(group, eight)])
            for r in range(int(SIDE)):
                write.add(sums[r % 4], write.load(write.step(row, 8 * r)), write.everywhere(write.step(weights, r)))
            builder.store(write.step(row, int(TILE)), place)

        def together(sums: Any) -> Any:
            a, b, c, d = (builder.load(one_sum) for one_sum in sums)
            return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))

        with cgutils.for_range(builder, args[4]) as columns:
            for one_sum in below + diagonal:
                builder.store(ir.Constant(SINGLES, [0.0] * int(SIDE)), one_sum)
            add_tile(columns.index, diagonal)
            after = builder.add(columns.index, one)
            with cgutils.for_range(builder, builder.sub(args[4], after)) as rows:
                add_tile(builder.add(after, rows.index), below)
            twice = together(below)
            column = builder.fadd(together(diagonal), builder.fadd(twice, twice))
            write.add(total, column, write.load(builder.gep(x_first, [builder.mul(columns.index, eight)])))
        return write.all_of(total)

    return types.float32(tiles, types.uint64, x, types.uint64, types.uint64), generate


@intrinsic
def narrow(typing: Any, wide: Any, i: Any, single: Any, j: Any) -> Any:
    """`single[j : j + 8] = wide[i : i + 8]`, of arrays taken as flat."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write = _Writer(context, builder)
        eight = write.load(write.start(wide, args[0], args[1]), DOUBLES, align=8)
        write.store(builder.fptrunc(eight, SINGLES), write.start(single, args[2], args[3]))
        return context.get_dummy_value()

    return types.none(wide, types.uint64, single, types.uint64), generate


def _plain_product(a: Any, i: Any, b: Any, j: Any, groups: Any) -> Any:
    i, j, n = int(i), int(j), 8 * int(groups)
    return a.ravel()[i : i + n] @ b.ravel()[j : j + n]


def _plain_form(tiles: Any, i: Any, x: Any, j: Any, groups: Any) -> Any:
    i, n = int(i), 8 * int(groups)
    w, total = x.ravel()[int(j) : int(j) + n], np.float32(0)
    for first in range(0, n, 8):
        rows = tiles.ravel()[i : i + 8 * (n - first)].reshape(-1, 8)
        weights = np.where(np.arange(first, n) < first + 8, w[first:], 2 * w[first:])
        total, i = total + weights @ rows @ w[first : first + 8], i + 8 * (n - first)
    return total


def _plain_narrow(wide: Any, i: Any, single: Any, j: Any) -> None:
    single.reshape(-1)[int(j) : int(j) + 8] = wide.ravel()[int(i) : int(i) + 8]


if config.DISABLE_JIT:  # type: ignore[attr-defined]
    product, tiled_form, narrow = _plain_product, _plain_form, _plain_narrow  # type: ignore[assignment]


@atomic_kernel()
def draw_sketch(store, sketch, k, d):
    """Write arm k's V⁻¹, and its roots, into its sketch. Changes sketch."""
    rows = (d + SIDE - ONE) // SIDE * SIDE
    origin, line = k * np.uint64(sketch.shape[1]), k * np.uint64(store.shape[1])
    start = d
    for i in range(d):
        first, at, column = i // SIDE * SIDE, rows + i * SIDE, np.uint64(0)
        while column < first:
            narrow(store, line + start + column, sketch, origin + at)
            column += SIDE
            at += (rows - column) * SIDE  # from one stripe of columns to the next, which has eight rows fewer
        for j in range(first, i + ONE):
            value = np.float32(store[k, start + j])
            sketch[k, at + j - first] = value
            sketch[k, at - (i - j) * SIDE + i - first] = value
        sketch[k, i] = np.float32(math.sqrt(max(store[k, start + i], 0.0)) * UP)
        start += i + ONE


@inlined
def narrow_row(x, row, singles):
    """Row 0 of singles becomes a row of x, and row 1 its absolute values; what is beyond is 0. Changes singles."""
    for i in range(np.uint64(x.shape[1])):
        singles[0, i] = np.float32(x[row, i])
        singles[1, i] = np.float32(abs(x[row, i]))
    for i in range(np.uint64(x.shape[1]), np.uint64(singles.shape[1])):
        singles[0, i] = singles[1, i] = np.float32(0.0)


@inlined
def sketched_form(sketch, k, singles):
    """xᵀV⁻¹x of arm k from its sketch, and by how much it may be wrong.

    Every product goes through at most 3 groups + 11 additions and is made of three rounded numbers; and |V⁻¹_ij| is at
    most the product of the roots of i and j.
    """
    groups, origin = np.uint64(singles.shape[1]) // SIDE, k * np.uint64(sketch.shape[1])
    form = tiled_form(sketch, origin + groups * SIDE, singles, np.uint64(0), groups)
    size = np.float64(product(sketch, origin, singles, groups * SIDE, groups))
    return np.float64(form), UNIT * np.float64(np.uint64(3) * groups + np.uint64(16)) * size * size + TINY
