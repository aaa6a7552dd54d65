"""V⁻¹x and xᵀV⁻¹x from the triangles in an agent's store: of one arm, or of several, which keeps the memory busier.

Indices are unsigned, because numba then need not ask whether one counts from the end.
"""

import numpy as np

from armspan.kernels._compile import inlined, kernel, part, rare
from armspan.kernels.agent_layout import FOUR, ONE, THREE, TWO


@part
def triangle_form(store, k, x, row):
    """xᵀV⁻¹x by the triangle of V⁻¹; four of its rows at a time keep the processor's sums busy."""
    i, d, form = np.uint64(0), np.uint64(x.shape[1]), 0.0
    row_0 = d
    while i + FOUR <= d:
        row_1 = row_0 + i + ONE
        row_2 = row_1 + i + TWO
        row_3 = row_2 + i + THREE
        sum_0, sum_1, sum_2, sum_3 = 0.0, 0.0, 0.0, 0.0
        for j in range(i):
            sum_0 += store[k, row_0 + j] * x[row, j]
            sum_1 += store[k, row_1 + j] * x[row, j]
            sum_2 += store[k, row_2 + j] * x[row, j]
            sum_3 += store[k, row_3 + j] * x[row, j]
        x_0, x_1, x_2, x_3 = x[row, i], x[row, i + ONE], x[row, i + TWO], x[row, i + THREE]
        form += x_0 * (2.0 * sum_0 + store[k, row_0 + i] * x_0)
        sum_1 += store[k, row_1 + i] * x_0
        form += x_1 * (2.0 * sum_1 + store[k, row_1 + i + ONE] * x_1)
        sum_2 += store[k, row_2 + i] * x_0 + store[k, row_2 + i + ONE] * x_1
        form += x_2 * (2.0 * sum_2 + store[k, row_2 + i + TWO] * x_2)
        sum_3 += store[k, row_3 + i] * x_0 + store[k, row_3 + i + ONE] * x_1 + store[k, row_3 + i + TWO] * x_2
        form += x_3 * (2.0 * sum_3 + store[k, row_3 + i + THREE] * x_3)
        row_0 = row_3 + i + FOUR
        i += FOUR
    while i < d:
        total = 0.0
        for j in range(i):
            total += store[k, row_0 + j] * x[row, j]
        form += x[row, i] * (2.0 * total + store[k, row_0 + i] * x[row, i])
        row_0 += i + ONE
        i += ONE
    return form


@part
def four_triangles(store, k0, k1, k2, k3, x):
    """`triangle_form` of four arms for the context x (1, d) that they share."""
    d, form_0, form_1, form_2, form_3 = np.uint64(x.shape[1]), 0.0, 0.0, 0.0, 0.0
    start = d
    for i in range(d):
        sum_0, sum_1, sum_2, sum_3 = 0.0, 0.0, 0.0, 0.0
        for j in range(i):
            sum_0 += store[k0, start + j] * x[0, j]
            sum_1 += store[k1, start + j] * x[0, j]
            sum_2 += store[k2, start + j] * x[0, j]
            sum_3 += store[k3, start + j] * x[0, j]
        x_i, at = x[0, i], start + i
        form_0 += x_i * (2.0 * sum_0 + store[k0, at] * x_i)
        form_1 += x_i * (2.0 * sum_1 + store[k1, at] * x_i)
        form_2 += x_i * (2.0 * sum_2 + store[k2, at] * x_i)
        form_3 += x_i * (2.0 * sum_3 + store[k3, at] * x_i)
        start += i + ONE
    return form_0, form_1, form_2, form_3


@part
def products(x, row, pairs):
    """Of a context that arms share, x_i x_j for every entry of a triangle, twice off the diagonal. Changes pairs.

    Four at a time, where x has four more; those beyond the diagonal are overwritten by the next row of the triangle.
    """
    d, start = np.uint64(x.shape[1]), np.uint64(0)
    for i in range(d):
        twice, j = 2.0 * x[row, i], np.uint64(0)
        while j < i and j + FOUR <= d:
            at = start + j
            one, two = twice * x[row, j], twice * x[row, j + ONE]
            three, four = twice * x[row, j + TWO], twice * x[row, j + THREE]
            pairs[0, at], pairs[0, at + ONE], pairs[0, at + TWO], pairs[0, at + THREE] = one, two, three, four
            j += FOUR
        while j < i:
            pairs[0, start + j] = twice * x[row, j]
            j += ONE
        pairs[0, start + i] = x[row, i] * x[row, i]
        start += i + ONE


@kernel
def products_of_many(x, pairs):
    """`products` of every row of x (n, d), without the factor 2. Changes pairs (n, d(d + 1)/2)."""
    for row in range(x.shape[0]):
        start = np.uint64(0)
        for i in range(np.uint64(x.shape[1])):
            for j in range(i + ONE):
                pairs[row, start + j] = x[row, i] * x[row, j]
            start += i + ONE


@inlined
def paired_form(store, k, d, pairs):
    """xᵀV⁻¹x as one long product with `products`; with several arms and few features it is the fastest way.

    Zeros at its end make whole vectors of them, and meet numbers of V.
    """
    form, start = 0.0, np.uint64(d)
    for i in range(np.uint64(pairs.size)):
        form += store[k, start + i] * pairs[0, i]
    return form


@part
def four_paired(store, k0, k1, k2, k3, d, pairs):
    """`paired_form` of four arms."""
    form_0, form_1, form_2, form_3, start = 0.0, 0.0, 0.0, 0.0, np.uint64(d)
    for i in range(np.uint64(pairs.size)):
        form_0 += store[k0, start + i] * pairs[0, i]
        form_1 += store[k1, start + i] * pairs[0, i]
        form_2 += store[k2, start + i] * pairs[0, i]
        form_3 += store[k3, start + i] * pairs[0, i]
    return form_0, form_1, form_2, form_3


@rare
def times(store, k, x, row, z):
    """Multiply z = V⁻¹x by the triangle of V⁻¹, four of its rows at a time; returns xᵀV⁻¹x. Changes z, which is 0."""
    i, d, form = np.uint64(0), np.uint64(x.shape[1]), 0.0
    row_0 = d
    while i + FOUR <= d:
        row_1 = row_0 + i + ONE
        row_2 = row_1 + i + TWO
        row_3 = row_2 + i + THREE
        x_0, x_1, x_2, x_3 = x[row, i], x[row, i + ONE], x[row, i + TWO], x[row, i + THREE]
        sum_0, sum_1, sum_2, sum_3 = 0.0, 0.0, 0.0, 0.0
        for j in range(i):
            v_0, v_1, v_2, v_3 = store[k, row_0 + j], store[k, row_1 + j], store[k, row_2 + j], store[k, row_3 + j]
            sum_0 += v_0 * x[row, j]
            sum_1 += v_1 * x[row, j]
            sum_2 += v_2 * x[row, j]
            sum_3 += v_3 * x[row, j]
            z[0, j] += v_0 * x_0 + v_1 * x_1 + v_2 * x_2 + v_3 * x_3
        v_10, v_20, v_30 = store[k, row_1 + i], store[k, row_2 + i], store[k, row_3 + i]
        v_21, v_31, v_32 = store[k, row_2 + i + ONE], store[k, row_3 + i + ONE], store[k, row_3 + i + TWO]
        z[0, i] = sum_0 + store[k, row_0 + i] * x_0 + v_10 * x_1 + v_20 * x_2 + v_30 * x_3
        z[0, i + ONE] = sum_1 + v_10 * x_0 + store[k, row_1 + i + ONE] * x_1 + v_21 * x_2 + v_31 * x_3
        z[0, i + TWO] = sum_2 + v_20 * x_0 + v_21 * x_1 + store[k, row_2 + i + TWO] * x_2 + v_32 * x_3
        z[0, i + THREE] = sum_3 + v_30 * x_0 + v_31 * x_1 + v_32 * x_2 + store[k, row_3 + i + THREE] * x_3
        row_0 = row_3 + i + FOUR
        i += FOUR
    while i < d:
        total = 0.0
        for j in range(i):
            total += store[k, row_0 + j] * x[row, j]
            z[0, j] += store[k, row_0 + j] * x[row, i]
        z[0, i] = total + store[k, row_0 + i] * x[row, i]
        row_0 += i + ONE
        i += ONE
    for j in range(d):
        form += x[row, j] * z[0, j]
    return form
