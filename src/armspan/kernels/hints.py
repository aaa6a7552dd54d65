"""What LLVM is told of a kernel beside its code: how wide vectors may be, and which arrays never meet."""

from numba.core import types
from numba.extending import intrinsic, overload


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
