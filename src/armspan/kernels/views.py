"""A part of a flat array as a matrix, inside kernels: numba's own slice and reshape cost as much as a small problem."""

from typing import Any

import numpy as np
from numba.core import config, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


def _part_of(dtype: Any, flat: Any) -> Any:
    """What an intrinsic returns for `view(flat, begin, rows, columns)`: a matrix of this type that begins there."""
    signature = types.Array(dtype, 2, "C")(flat, types.int64, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = make_array(signature.args[0])(context, builder, args[0])
        part = make_array(signature.return_type)(context, builder)
        size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(dtype)))
        shape, strides = [args[2], args[3]], [builder.mul(args[3], size), size]
        start = builder.bitcast(builder.gep(whole.data, [args[1]]), part.data.type)
        populate_array(part, data=start, shape=shape, strides=strides, itemsize=size, meminfo=None)
        return part._getvalue()

    return signature, generate


@intrinsic
def matrix(typing: Any, flat: Any, begin: Any, rows: Any, columns: Any) -> Any:
    """`flat[begin : begin + rows * columns].reshape(rows, columns)`, unchecked, and good only while flat lives."""
    return _part_of(flat.dtype, flat)


@intrinsic
def singles(typing: Any, flat: Any, begin: Any, rows: Any, columns: Any) -> Any:
    """A matrix in single precision, of an even size, in the place of a part of a flat array in double precision."""
    return _part_of(types.float32, flat)


def _plain(flat: Any, begin: Any, rows: Any, columns: Any) -> Any:
    """The same in Python, and checked."""
    begin, rows, columns = int(begin), int(rows), int(columns)
    return flat[begin : begin + rows * columns].reshape(rows, columns)


def _plain_singles(flat: Any, begin: Any, rows: Any, columns: Any) -> Any:
    begin, rows, columns = int(begin), int(rows), int(columns)
    return flat[begin : begin + rows * columns // 2].view(np.float32).reshape(rows, columns)


if config.DISABLE_JIT:  # type: ignore[attr-defined]
    matrix, singles = _plain, _plain_singles  # type: ignore[assignment]
