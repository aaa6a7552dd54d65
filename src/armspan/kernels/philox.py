"""Philox-4x32-10: random words as a function of (seed; step, index, run, stream), with no state to carry or share.

Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3". Words are 32-bit numbers held in uint64.
"""

import numpy as np

from armspan.kernels._compile import inlined

ARRIVALS = np.uint64(0)
"""Stream of context arrivals and noise: one block of four words serves two steps."""
FEATURES = np.uint64(1)
"""Stream of continuous features."""
TIES = np.uint64(2)
"""Stream that breaks ties."""
AGENTS = np.uint64(3)
"""Stream of seeds for agents written in Python."""
POLICIES = np.uint64(4)
"""Stream of what policies draw themselves."""
DELAYS = np.uint64(5)
"""Stream of how late rewards come."""

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
real = np.float64


@inlined
def philox(k0, k1, c0, c1, c2, c3):
    """Four random words from a key of two words and a counter of four; in 32 bits, for which GPUs are made."""
    k0, k1 = np.uint32(k0), np.uint32(k1)
    c0, c1, c2, c3 = np.uint32(c0), np.uint32(c1), np.uint32(c2), np.uint32(c3)
    for _ in range(10):
        p0, p1 = _M0 * np.uint64(c0), _M1 * np.uint64(c2)
        c0, c1 = np.uint32((p1 >> HALF) ^ np.uint64(c1) ^ np.uint64(k0)), np.uint32(p1 & LOW)
        c2, c3 = np.uint32((p0 >> HALF) ^ np.uint64(c3) ^ np.uint64(k1)), np.uint32(p0 & LOW)
        k0, k1 = np.uint32((np.uint64(k0) + _W0) & LOW), np.uint32((np.uint64(k1) + _W1) & LOW)
    return np.uint64(c0), np.uint64(c1), np.uint64(c2), np.uint64(c3)


@inlined
def words(seed, run, position, index, stream):
    """Four random words of a run's stream; position counts steps or pairs of steps, index counts within one."""
    key = np.uint64(seed)
    return philox(key & LOW, key >> HALF, np.uint64(position) & LOW, np.uint64(index), np.uint64(run), stream)


@inlined
def unit(word):
    """A word as a number in the open interval (0, 1)."""
    return (real(word) + 0.5) * 2.0**-32
