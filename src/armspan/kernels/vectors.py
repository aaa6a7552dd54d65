"""Eight numbers at once, as one value of a kernel: read from arrays and written to them, computed with and compared.

LLVM makes of it what the processor has: one instruction for eight numbers, two for four each, or four for two. Loops
over single numbers become such instructions only where LLVM can prove that arrays do not overlap, and small changes of
a kernel can lose that unnoticed.
"""

import operator

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

FOUR, EIGHT = 4, 8
WORDS, NUMBERS, FLAGS = (ir.VectorType(kind, EIGHT) for kind in (ir.IntType(32), ir.DoubleType(), ir.IntType(1)))
EVERY_OTHER = [0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]
"""What is taken of two vectors: their even numbers in turns, or their odd ones."""
MIXES = (
    ([0, 1, 2, 3], [4, 5, 6, 7], [[0, 1, 2, 3, 4, 5, 6, 7]] * 4),
    ([0, 0, 2, 2], [1, 1, 3, 3], [*EVERY_OTHER] * 2),
    ([0, 1, 0, 1], [2, 3, 2, 3], [[0, 1, 8, 9, 4, 5, 12, 13]] * 2 + [[2, 3, 10, 11, 6, 7, 14, 15]] * 2),
)
"""Eight rows of four become four of eight in three rounds: which two vectors are mixed, and what is taken of both."""


class Eight(types.Type):
    """numba's type of eight numbers."""


class Flags(types.Type):
    """numba's type of eight flags."""


numbers, flags = Eight("eight numbers"), Flags("eight flags")
register_model(Eight)(lambda manager, kind: models.PrimitiveModel(manager, kind, NUMBERS))
register_model(Flags)(lambda manager, kind: models.PrimitiveModel(manager, kind, FLAGS))


def get(array, row):
    """A row of an array (n, 8)."""
    return array[row].copy()


def put(array, row, numbers):
    """Write a row of an array (n, 8)."""
    array[row] = numbers


def eight(number):
    """One number, eight times."""
    return np.full(EIGHT, number)


def root(numbers):
    """The square roots."""
    return np.sqrt(numbers)


def magnitude(numbers):
    """The absolute values."""
    return np.abs(numbers)


def pick(flags, ones, others):
    """The ones where there is a flag, and the others elsewhere."""
    return np.where(flags, ones, others)


def all_of(flags):
    """Whether all eight flags are set."""
    return flags.all()


def collect(source, starts, which, offset):
    """A number of source from each of eight starts (n, 8), those in row `which`, plus offset."""
    return np.array([source[starts[which, lane] + offset] for lane in range(EIGHT)])


def turn_block(target, row, pitch, source, starts, which, offset):
    """Four numbers of source from each of eight starts (n, 8), those in row `which`, plus offset: as rows of target.

    There are four, pitch rows apart. They are turned in the registers: many processors are slow at gathering numbers
    from here and there.
    """
    for i in range(FOUR):
        for lane in range(EIGHT):
            target[row + i * pitch, lane] = source[starts[which, lane] + offset + i]


def hand_out(target, starts, which, offset, source, row, pitch):
    """The other way round: four rows of source (n, 8), pitch rows apart, as four numbers of target from each start.

    No two of these may overlap.
    """
    for i in range(FOUR):
        for lane in range(EIGHT):
            target[starts[which, lane] + offset + i] = source[row + i * pitch, lane]


def known(function, result, *kinds):
    """Tell numba what a function of Python is in kernels: decorates what writes it down for LLVM."""

    def decorate(code):
        @infer_global(function)
        class Typed(AbstractTemplate):
            def generic(self, args, _):
                return signature(result, *args)

        lower_builtin(function, *kinds)(code)
        return code

    return decorate


def neighbours(context, builder, kind, array, i, n=EIGHT):
    """Where n neighbours in an array are: in row i of several, from number i on of a flat one."""
    first = i if kind.ndim == 1 else builder.mul(i, i.type(EIGHT))
    place = builder.gep(context.make_array(kind)(context, builder, array).data, [first])
    return builder.bitcast(place, ir.VectorType(place.type.pointee, n).as_pointer())


def spread(builder, number):
    """One number as eight."""
    alone = builder.insert_element(ir.Constant(NUMBERS, ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(alone, ir.Constant(NUMBERS, ir.Undefined), ir.Constant(WORDS, [0] * EIGHT))


@known(get, numbers, types.Array, types.Integer)
def _get(context, builder, signature, args):
    return builder.load(neighbours(context, builder, signature.args[0], *args), align=8)


@known(put, types.none, types.Array, types.Integer, Eight)
def _put(context, builder, signature, args):
    builder.store(args[2], neighbours(context, builder, signature.args[0], *args[:2]), align=8)
    return context.get_dummy_value()


@known(eight, numbers, types.Float)
def _eight(context, builder, signature, args):
    return spread(builder, args[0])


@known(pick, numbers, Flags, Eight, Eight)
def _pick(context, builder, signature, args):
    return builder.select(*args)


@known(all_of, types.boolean, Flags)
def _all_of(context, builder, signature, args):
    return builder.icmp_unsigned("==", builder.bitcast(args[0], ir.IntType(8)), ir.IntType(8)(255))


def starting_points(context, builder, kind, starts, which):
    """The eight numbers in a row of starts, one by one."""
    first, place = builder.mul(which, which.type(EIGHT)), context.make_array(kind)(context, builder, starts).data
    return [builder.load(builder.gep(place, [builder.add(first, which.type(lane))])) for lane in range(EIGHT)]


@known(collect, numbers, *[types.Array] * 2, *[types.Integer] * 2)
def _collect(context, builder, signature, args):
    (source, starts, _, _), (of, where, which, offset) = signature.args, args
    place, together = context.make_array(source)(context, builder, of).data, ir.Constant(NUMBERS, ir.Undefined)
    for lane, start in enumerate(starting_points(context, builder, starts, where, which)):
        number = builder.load(builder.gep(place, [builder.add(start, offset)]))
        together = builder.insert_element(together, number, ir.IntType(32)(lane))
    return together


@known(turn_block, types.none, types.Array, *[types.Integer] * 2, *[types.Array] * 2, *[types.Integer] * 2)
def _turn_block(context, builder, signature, args):
    (target, _, _, source, starts, _, _), (to, row, pitch, of, where, which, offset) = signature.args, args
    rows = [
        builder.load(neighbours(context, builder, source, of, builder.add(start, offset), FOUR), align=8)
        for start in starting_points(context, builder, starts, where, which)
    ]
    for ones, others, masks in MIXES:
        rows = [
            builder.shuffle_vector(rows[i], rows[j], ir.Constant(WORDS, mask))
            for i, j, mask in zip(ones, others, masks, strict=True)
        ]
    for i, turned in enumerate(rows):
        place = builder.add(row, builder.mul(pitch, row.type(i)))
        builder.store(turned, neighbours(context, builder, target, to, place), align=8)
    return context.get_dummy_value()


@known(hand_out, types.none, *[types.Array] * 2, *[types.Integer] * 2, types.Array, *[types.Integer] * 2)
def _hand_out(context, builder, signature, args):
    (target, starts, _, _, source, _, _), (to, where, which, offset, of, row, pitch) = signature.args, args
    rows = [
        builder.load(
            neighbours(context, builder, source, of, builder.add(row, builder.mul(pitch, row.type(i)))), align=8
        )
        for i in range(FOUR)
    ]
    pairs = [
        [builder.shuffle_vector(*rows[i : i + 2], ir.Constant(WORDS, mask)) for i in (0, 2)] for mask in EVERY_OTHER
    ]
    for lane, start in enumerate(starting_points(context, builder, starts, where, which)):
        first = lane // 2 * 2
        mask = ir.Constant(ir.VectorType(ir.IntType(32), FOUR), [first, first + 1, first + EIGHT, first + EIGHT + 1])
        turned = builder.shuffle_vector(*pairs[lane % 2], mask)
        place = neighbours(context, builder, target, to, builder.add(start, offset), FOUR)
        builder.store(turned, place, align=8)
    return context.get_dummy_value()


def of_each(function, name):
    """Let a function be LLVM's own, of each of eight numbers."""

    @known(function, numbers, Eight)
    def code(context, builder, signature, args):
        kind = ir.FunctionType(NUMBERS, [NUMBERS])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v8f64"), args)


def between(symbol, result, name, *options):
    """Let an operator be between eight numbers and eight, or one and eight, in strict arithmetic."""
    one = types.float64

    @infer_global(symbol)
    class Typed(AbstractTemplate):
        def generic(self, args, _):
            return signature(result, *(kind if kind == numbers else one for kind in args)) if numbers in args else None

    def code(context, builder, signature, args):
        pairs = zip(signature.args, args, strict=True)
        return getattr(builder, name)(*options, *(spread(builder, arg) if kind == one else arg for kind, arg in pairs))

    for kinds in ((Eight, Eight), (Eight, types.Float), (types.Float, Eight)):
        lower_builtin(symbol, *kinds)(code)


of_each(root, "sqrt")
of_each(magnitude, "fabs")
for symbols, name in (
    ((operator.add, operator.iadd), "fadd"),
    ((operator.sub, operator.isub), "fsub"),
    ((operator.mul,), "fmul"),
    ((operator.truediv,), "fdiv"),
):
    for symbol in symbols:
        between(symbol, numbers, name)
for symbol, sign in ((operator.gt, ">"), (operator.lt, "<"), (operator.eq, "==")):
    between(symbol, flags, "fcmp_ordered", sign)
