"""Symmetric matrices as their lower triangles, row by row."""

import numpy as np

from armspan.kernels._compile import atomic_kernel


@atomic_kernel()
def unpacked(triangle, d):
    """The full matrix (d, d)."""
    full, start = np.empty((d, d)), 0
    for i in range(d):
        for j in range(i + 1):
            full[i, j] = full[j, i] = triangle[start + j]
        start += i + 1
    return full
