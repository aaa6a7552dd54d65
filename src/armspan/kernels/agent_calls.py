"""What a call of an agent's kernel is given, and what it answers where it did nothing."""

from armspan.kernels._compile import inlined

CONTEXTS = ("float64[::1]", "float64[:, ::1]")
BUSY, BAD_SHAPE, NOT_FINITE = -1, -2, -3
"""What a call returns instead of an arm or a due date when it did nothing."""
DUE, UNSOUND, CROWDED = 1, 2, 3
"""What `learn` returns beside 0: V⁻¹ is due to be looked at; or it is not positive definite, or memory must be thinned
first, and nothing was learnt."""


@inlined
def is_whole(x):
    """Whether a context's numbers are next to each other in memory, each where processors expect it."""
    if x.ctypes.data % x.itemsize != 0 or (x.shape[-1] > 1 and x.strides[-1] != x.itemsize):
        return False
    return x.ndim == 1 or x.shape[0] == 1 or x.strides[0] == x.shape[-1] * x.itemsize
