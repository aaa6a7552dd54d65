"""Where everything is in an agent's one array.

It is one because each array costs a call as much as the arithmetic of a small problem. It begins with a line of the
cache, and so does each part: vectors that lie across two lines are read half as fast. It holds

head : (32,) counters and constants, by the names below; and after it scratch, as `scratch_size` says.
arms : (K, 4 + d) what every decision reads of an arm: a lower bound of λ_min(V), its mode, its pulls, and θ̂; and Σy².
memory : (slots, 4 + d) an open hash table of the contexts that were pulled: arm, pulls, sum of rewards, stamp, x.
store : (K, d + d(d + 1)) b, and then V⁻¹ and V as triangles, row by row: in all as large as one full matrix. In single
precision it is an array of its own.
sketch : (K, ...) V⁻¹ in single precision, as `armspan.kernels.sketch` says; only where the head says that there is one.

While an arm has few pulls (mode m ≥ 0, the number of them) the store holds m pairs of rows (x, w) instead, with
V⁻¹ = (I - Σ wwᵀ)/ridge: a decision then costs O(m·d) and an arm that was never pulled costs nothing.
"""

import numpy as np

from armspan.kernels._compile import inlined

DECISIONS, REWARDS, BIAS, SCALE, RIDGE, N_ARMS, CLOSED, LONGEST = 0, 1, 2, 3, 4, 5, 6, 7
PRUNE, FIRST_OF_TIES, SEED_LOW, SEED_HIGH, REMEMBERED, INTERCEPT, EVALUATED = 8, 9, 10, 11, 12, 13, 14
WIDTH, SLOTS, LARGEST, TIED_WITHIN, EPSILON, OFTEN = 15, 16, 17, 18, 19, 20
LEARNT, ERRORS, LEFT, FORCED, LARGEST_REWARD, SKETCH, SQUARED, COUNTED, UNIT = 21, 22, 23, 24, 25, 26, 27, 28, 29
"""Whether α_t follows the noise that was seen; the sum of squared errors; how many rewards there are beyond the
parameters that were fitted; how many arms have had their first pull, whatever they promise; what rewards must be
below; how wide an arm's sketch is, 0 without one; Σy² of how many rewards; and ȳ, their root mean square."""
HEAD = 32
LAMBDA, MODE, PULLS, SQUARES, THETA = 0, 1, 2, 3, 4
ASKED, UNKNOWN = 1e-300, 0.5
"""The pulls of an arm that was tried, while none of its rewards has come, too few to change any sum; and how many it
must have not to count as one that was never tried, or that is forgotten."""
FULL, SKETCHED = -1.0, -2.0
"""Modes of an arm that has V⁻¹: its sketch is out of date, or it is not. Whoever writes V⁻¹ says which."""
ARM, SEEN, SUM, STAMP, FEATURES = 0, 1, 2, 3, 4
EMPTY = -1.0
ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
"""Steps of unsigned indices, which numba need not ask whether they count from the end."""
LARGEST_PAIRS = 64
"""Up to how many features a decision may multiply a context with itself before it looks at the arms."""


def scratch_size(d):
    """How much room for intermediate results: (d,); and x_i x_j of a triangle, or two rows in single precision."""
    return d + (d * (d + 1) // 2 + 7) // 8 * 8 if d <= LARGEST_PAIRS else d + (d + 7) // 8 * 8


def in_lines(size):
    """How much room so many numbers have: whole lines of the cache, so that what follows begins with one."""
    return (size + 7) // 8 * 8


scratch, lines = inlined(scratch_size), inlined(in_lines)  # for kernels; for Python's few calls they need not compile


@inlined
def borders(S):
    """K, d, and where an agent's arms, memory and store begin; the head is at the start, and scratch after it."""
    K, d = np.int64(S[N_ARMS]), np.int64(S[WIDTH])
    first = lines(HEAD + scratch(d))
    begin = first + lines(K * (THETA + d))
    return K, d, first, begin, begin + lines(np.int64(S[SLOTS]) * (FEATURES + d))
