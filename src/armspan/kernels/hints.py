"""What LLVM is told of a kernel beside its code: how wide vectors may be, and which arrays never meet."""

import functools

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import populate_array


def wide():
    """Let the kernel that calls this use the widest vectors there are: LLVM takes half of AVX-512 if not told."""


@overload(wide, inline="always")
def _wide():
    @intrinsic
    def told(typing):
        def code(context, builder, signature, args):
            set.add(builder.function.attributes, '"prefer-vector-width"="512"')  # not in llvmlite's list of names
            return context.get_dummy_value()

        return types.none(), code

    return lambda: told()


def apart(name):
    """`fixed(array, i)` reads and `put(array, i, value)` writes, so that LLVM knows that the two never meet.

    A loop that looks something up in a table, at places that nobody knows beforehand, is vectorised only then. What is
    put by one pair must never be what the same pair reads as fixed, in the whole kernel: hence pairs with names.
    """

    def fixed(array, i):
        return array[i]

    def put(array, i, value):
        array[i] = value

    def mark(builder, access, kind):
        """Metadata of LLVM: a scope that an access is in, or that it does not touch."""
        scope = builder.module.add_metadata([name, builder.module.add_metadata(["armspan"])])
        access.set_metadata(kind, builder.module.add_metadata([scope]))
        return access

    def place(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.gep(array.data, [args[1]])

    @intrinsic
    def load(typing, array, i):
        def code(context, builder, signature, args):
            return mark(builder, builder.load(place(context, builder, signature, args)), "alias.scope")

        return array.dtype(array, types.intp), code

    @intrinsic
    def store(typing, array, i, value):
        def code(context, builder, signature, args):
            mark(builder, builder.store(args[2], place(context, builder, signature, args)), "noalias")
            return context.get_dummy_value()

        return types.none(array, types.intp, array.dtype), code

    overload(fixed, inline="always")(lambda array, i: lambda array, i: load(array, i))
    overload(put, inline="always")(lambda array, i, value: lambda array, i, value: store(array, i, value))
    return fixed, put


FOUR, EIGHT = 4, 8
MIXES = (
    ([0, 1, 2, 3], [4, 5, 6, 7], [[0, 1, 2, 3, 4, 5, 6, 7]] * 4),
    ([0, 0, 2, 2], [1, 1, 3, 3], [[0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]] * 2),
    ([0, 1, 0, 1], [2, 3, 2, 3], [[0, 1, 8, 9, 4, 5, 12, 13]] * 2 + [[2, 3, 10, 11, 6, 7, 14, 15]] * 2),
)
"""Eight rows of four become four of eight in three rounds: which two vectors are mixed, and what is taken of both."""


def turn_block(target, at, pitch, source, starts, first, offset):
    """Four numbers from each of EIGHT starts, starts[first:], plus offset: as four rows of target, pitch apart.

    They are turned in the registers, since many processors gather slowly. The arrays never meet.
    """
    for i in range(FOUR):
        for lane in range(EIGHT):
            target[at + i * pitch + lane] = source[starts[first + lane] + offset + i]


@overload(turn_block, inline="always")
def _turn_block(target, at, pitch, source, starts, first, offset):
    @intrinsic
    def turn(typing, target, at, pitch, source, starts, first, offset):
        def code(context, builder, signature, args):
            def place(array, i):
                return builder.gep(context.make_array(signature.args[array])(context, builder, args[array]).data, [i])

            def vector(pointer, n):
                return builder.bitcast(pointer, ir.VectorType(pointer.type.pointee, n).as_pointer())

            number = functools.partial(ir.Constant, args[1].type)
            rows = []
            for lane in range(EIGHT):
                start = builder.load(place(4, builder.add(args[5], number(lane))))
                rows.append(builder.load(vector(place(3, builder.add(start, args[6])), FOUR), align=8))
            for ones, others, masks in MIXES:
                rows = [
                    builder.shuffle_vector(rows[i], rows[j], ir.Constant(ir.VectorType(ir.IntType(32), EIGHT), mask))
                    for i, j, mask in zip(ones, others, masks, strict=True)
                ]
            for i, row in enumerate(rows):
                at = builder.add(args[1], builder.mul(args[2], number(i)))
                builder.store(row, vector(place(0, at), EIGHT), align=8)
            return context.get_dummy_value()

        return types.none(target, types.intp, types.intp, source, starts, types.intp, types.intp), code

    return lambda target, at, pitch, source, starts, first, offset: turn(
        target, at, pitch, source, starts, first, offset
    )


def window(array, start, n):
    """array[start : start + n], as a view that owns nothing: references are not counted, which takes an atomic add.

    The array must outlive it.
    """
    return array[start : start + n]


@overload(window, inline="always")
def _window(array, start, n):
    @intrinsic
    def view(typing, array, start, n):
        def code(context, builder, signature, args):
            whole, own = context.make_array(array)(context, builder, args[0]), context.make_array(array)(context, builder)
            size = whole.itemsize
            data = cgutils.pointer_add(builder, whole.data, builder.mul(args[1], size))
            populate_array(own, data=data, shape=[args[2]], strides=[size], itemsize=size, meminfo=None)
            return own._getvalue()

        return array(array, types.intp, types.intp), code

    return lambda array, start, n: view(array, start, n)
