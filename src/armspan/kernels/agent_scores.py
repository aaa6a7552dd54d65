"""What an agent expects of its arms in a context: means, widths, and indices made of both."""

import math
from functools import partial

import numpy as np

from armspan.kernels._compile import atomic_kernel, inlined, part, rare
from armspan.kernels.agent_forms import (
    four_paired,
    paired_form,
    products,
    triangle_form,
)
from armspan.kernels.agent_layout import (
    BIAS,
    DECISIONS,
    ERRORS,
    LAMBDA,
    LEARNT,
    LEFT,
    LONGEST,
    MODE,
    REWARDS,
    RIDGE,
    SCALE,
    THETA,
    UNIT,
    WIDTH,
    lines,
)

ROWS_TOGETHER = 64
"""Contexts that are scored one after the other for one arm."""
SLACK = 2e-9
"""By how much a bound of the variance is taken larger, so that rounding cannot make it fail."""


@inlined
def positive(number):
    """The number, or 0 where it is below: numba compiles max() as a function of its own."""
    return 0.0 if number < 0.0 else number


@inlined
def noise(head):
    """σ̂, from the errors of what was predicted before each reward came; 0 as long as they say nothing."""
    return math.sqrt(positive(head[ERRORS]) / head[LEFT]) if head[LEFT] > 0.0 else 0.0


@part
def present_alpha(head):
    """α_t = bias + scale·√log f(t), with t one more than was decided or learnt; or scale·σ̂·√log(t + 1)."""
    if head[SCALE] == 0.0:
        return head[BIAS]
    t = 1.0 + (head[DECISIONS] if head[DECISIONS] > head[REWARDS] else head[REWARDS])
    if t > head[LONGEST]:
        t = head[LONGEST]
    if head[LEARNT] > 0.0:
        return head[SCALE] * noise(head) * math.sqrt(math.log(t + 1.0))
    log = math.log(t)
    return head[BIAS] + head[SCALE] * math.sqrt(math.log(1.0 + t * log * log))


@part
def exploration(head):
    """α_t and β, which an index has beside its mean: α_t w + β w². β = ȳ/d where exploration is learnt, otherwise 0.

    ȳ is the root mean square of the rewards; `armspan.kernels.families.practical` says what it is for.
    """
    beta = head[UNIT] / head[WIDTH] if head[LEARNT] > 0.0 else 0.0
    return present_alpha(head), beta


@part
def estimate(arms, k, x, row):
    """r̂ = θ̂ᵀx of arm k for a row of x."""
    mean = 0.0
    for i in range(x.shape[1]):
        mean += arms[k, THETA + i] * x[row, i]
    return mean


@part
def squared_length(x, row):
    """‖x‖² of a row of x."""
    total = 0.0
    for i in range(x.shape[1]):
        total += x[row, i] * x[row, i]
    return total


@partial(rare, allocates=True)
def with_intercept(x):
    """Rows of x (m, n) with a constant 1 at the end."""
    m, n = x.shape
    wide = np.empty((m, n + 1))
    for row in range(m):
        wide[row, n] = 1.0
        for i in range(n):
            wide[row, i] = x[row, i]
    return wide


@part
def few_pulls_form(arms, store, ridge, k, x, row, length):
    """`variance_of` in the mode of few pulls."""
    d, known = np.uint64(x.shape[1]), 0.0
    start = d + d
    for _ in range(np.int64(arms[k, MODE])):
        total = 0.0
        for i in range(d):
            total += store[k, start + i] * x[row, i]
        known += total * total
        start += d + d
    return (length - known) / ridge


@part
def variance_of(arms, store, ridge, k, x, row, length):
    """σ̂² = xᵀV⁻¹x of arm k for a row of x, whose squared length is `length`.

    Indices are unsigned, because numba then need not ask whether one counts from the end; and arrays are not sliced,
    because a slice costs as much as a small arm.
    """
    if arms[k, MODE] < 0.0:
        return triangle_form(store, k, x, row)
    return few_pulls_form(arms, store, ridge, k, x, row, length)


@part
def all_full(arms):
    """Whether every arm has V⁻¹."""
    full = True
    for k in range(arms.shape[0]):
        full = full and arms[k, MODE] < 0.0
    return full


@part
def variance_bound(arms, k, length):
    """What σ̂² is at most, without looking at V: ‖x‖²/λ_min(V), since λ_min never falls."""
    return length / arms[k, LAMBDA] * (1.0 + SLACK)


@atomic_kernel()
def look(head, arms, store, x, per_arm, mean, width):
    """θ̂ᵀx and σ̂ of every arm, for x with its intercept. Changes mean and width (K,)."""
    for k in range(mean.size):
        row = k * per_arm
        mean[k] = estimate(arms, k, x, row)
        variance = variance_of(arms, store, head[RIDGE], k, x, row, squared_length(x, row))
        width[k] = math.sqrt(max(variance, 0.0))


@atomic_kernel()
def look_many(head, arms, store, x, mean, width):
    """`look` for many contexts that all arms share: x (n, d) with its intercept. Changes mean and width (n, K).

    Some rows at a time and one arm after the other, so that both stay in the nearest cache.
    """
    n, d = x.shape
    K = mean.shape[1]
    if d < 16 and all_full(arms):
        look_paired(arms, store, x, mean, width)
        return
    for first in range(0, n, ROWS_TOGETHER):
        for k in range(K):
            for row in range(first, min(first + ROWS_TOGETHER, n)):
                mean[row, k] = estimate(arms, k, x, row)
                variance = variance_of(arms, store, head[RIDGE], k, x, row, squared_length(x, row))
                width[row, k] = math.sqrt(max(variance, 0.0))


@inlined
def look_paired(arms, store, x, mean, width):
    """`look_many` for few features and arms that all have V⁻¹: a context after the other, arms in fours."""
    d, K = x.shape[1], mean.shape[1]
    pairs = np.zeros((1, min(lines(d * (d + 1) // 2), d * (d + 1))))  # no longer than both triangles
    for row in range(x.shape[0]):
        products(x, row, pairs)
        for k in range(0, K - 3, 4):
            u = np.uint64(k)
            v0, v1, v2, v3 = four_paired(store, u, u + np.uint64(1), u + np.uint64(2), u + np.uint64(3), d, pairs)
            width[row, k], width[row, k + 1], width[row, k + 2], width[row, k + 3] = v0, v1, v2, v3
        for k in range(K - K % 4, K):
            width[row, k] = paired_form(store, k, d, pairs)
        for k in range(K):
            mean[row, k], width[row, k] = estimate(arms, k, x, row), math.sqrt(max(width[row, k], 0.0))


@part
def index_of(mean, extra, variance):
    """The index for a mean and a variance; extra : what `exploration` says."""
    alpha, beta = extra
    square = positive(variance)
    return mean + alpha * math.sqrt(square) + beta * square
