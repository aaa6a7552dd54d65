"""How an agent learns one reward, or takes it back: a single indivisible call.

`agent_layout` says what is where in the array that it works on.
"""

import math
from functools import partial

import numpy as np

from armspan.kernels._compile import atomic_kernel, inlined, part
from armspan.kernels.agent_calls import BAD_SHAPE, BUSY, CONTEXTS, CROWDED, DUE, NOT_FINITE, UNSOUND, is_whole
from armspan.kernels.agent_forms import (
    times,
)
from armspan.kernels.agent_layout import (
    CLOSED,
    COUNTED,
    ERRORS,
    FEATURES,
    FULL,
    HEAD,
    INTERCEPT,
    LARGEST,
    LARGEST_REWARD,
    LEARNT,
    LEFT,
    MODE,
    OFTEN,
    PRUNE,
    PULLS,
    REWARDS,
    RIDGE,
    SLOTS,
    SQUARED,
    SQUARES,
    THETA,
    UNIT,
    borders,
)
from armspan.kernels.agent_memory import is_crowded, note, slot_of, thin
from armspan.kernels.agent_scores import (
    estimate,
    squared_length,
    with_intercept,
)
from armspan.kernels.views import matrix

MOST_OF_A_DIRECTION = 1e-3
"""An x for which 1 - xᵀV⁻¹x is less than this was nearly all that V knew of a direction: to take it back would multiply
rounding by the inverse."""
LOOK, LOOKS = 64, 8
"""Where exploration is learnt, after every so many rewards, and how often, somebody looks at the sizes of features."""
FIRST_CHECK, REBUILD = 1024, 8192
"""V⁻¹ is looked at every so many pulls, and whenever pulls have doubled: for pruning, which lives by λ_min, always."""


@part
def append_pair(arms, store, k, x, row, y, error, length, mode, ridge, u):
    """Learn a reward in the mode of few pulls: u = V⁻¹x·ridge, w = u/√(ridge + xᵀu). Changes arms and store.

    Returns 1/(1 + xᵀV⁻¹x), and by how much ridge·tr V⁻¹ falls: so much of a parameter was fitted.
    """
    d, known, start = np.uint64(x.shape[1]), 0.0, np.uint64(2 * x.shape[1])
    for i in range(d):
        u[0, i] = x[row, i]
    for _ in range(mode):
        total = 0.0
        for i in range(d):
            total += store[k, start + i] * x[row, i]
        known += total * total
        for i in range(d):
            u[0, i] -= total * store[k, start + i]
        start += d + d
    gain, fitted = 1.0 / (ridge + length - known), 0.0
    scale = math.sqrt(gain)
    for i in range(d):
        fitted += gain * u[0, i] * u[0, i]
        store[k, i] += y * x[row, i]
        arms[k, THETA + i] += gain * error * u[0, i]
        store[k, start - d + i] = x[row, i]
        store[k, start + i] = scale * u[0, i]
    arms[k, MODE] += 1.0
    return gain * ridge, fitted


@part
def add_to_full(arms, store, k, x, row, y, error, variance, ridge, z):
    """Learn a reward by Sherman–Morrison, with z = V⁻¹x and variance = xᵀz. Changes arms and store.

    Returns what `append_pair` does.
    """
    d, gain, fitted = np.uint64(x.shape[1]), 1.0 / (1.0 + variance), 0.0
    for i in range(d):
        fitted += gain * ridge * z[0, i] * z[0, i]
        store[k, i] += y * x[row, i]
        arms[k, THETA + i] += gain * error * z[0, i]
    start, half = d, d * (d + np.uint64(1)) // np.uint64(2)
    for i in range(d):
        scaled, x_i, other = gain * z[0, i], x[row, i], start + half
        for j in range(i + np.uint64(1)):
            store[k, start + j] -= scaled * z[0, j]
            store[k, other + j] += x_i * x[row, j]
        start += i + np.uint64(1)
    arms[k, MODE] = FULL
    return gain, fitted


@inlined
def learn_row(head, arms, store, memory, k, x, row, y):
    """`learn` for a row of x."""
    d = arms.shape[1] - THETA
    if head[CLOSED] > 0.0:
        return BUSY
    if x.shape[1] + (head[INTERCEPT] > 0.0) != d:
        return BAD_SHAPE
    if head[INTERCEPT] > 0.0:
        x = with_intercept(x)
    length = squared_length(x, row)
    if not (length < head[LARGEST] * head[LARGEST] and abs(y) < head[LARGEST_REWARD]):
        return NOT_FINITE
    mode, z = np.int64(arms[k, MODE]), matrix(head, HEAD, 1, d)
    if mode >= (d + 1) // 2:  # its store is full: it must change to the other mode first
        return BUSY
    for i in range(d):
        z[0, i] = 0.0
    variance = times(store, k, x, row, z) if mode < 0 else 0.0
    if not variance >= 0.0:
        return UNSOUND
    if memory.shape[0] > 0:
        slot = slot_of(memory, k, x, row)
        if is_crowded(head, memory, slot):
            return CROWDED
        note(head, memory, slot, k, x, row, 1.0, y)
    error = y - estimate(arms, k, x, row)
    if mode >= 0:
        gain, fitted = append_pair(arms, store, k, x, row, y, error, length, mode, head[RIDGE], z)
    else:
        gain, fitted = add_to_full(arms, store, k, x, row, y, error, variance, head[RIDGE], z)
    arms[k, PULLS] += 1.0
    arms[k, SQUARES] += y * y
    if head[LEARNT] > 0.0:
        head[ERRORS] += gain * error * error
        head[LEFT] += 1.0 - fitted
    if arms[k, SQUARES] >= 0.0:  # it is not a number where sums came from elsewhere without it
        head[SQUARED] += y * y
        head[COUNTED] += 1.0
        head[UNIT] = math.sqrt(head[SQUARED] / head[COUNTED])
    head[REWARDS] += 1.0
    pulls = np.int64(arms[k, PULLS])
    doubled = pulls & (pulls - 1) == 0 and (head[PRUNE] > 0.0 or pulls >= FIRST_CHECK)
    due = mode + 1 == (d + 1) // 2 if mode >= 0 else pulls % REBUILD == 0 or doubled
    if head[LEARNT] > 0.0 and mode < 0 and head[COUNTED] <= LOOKS * LOOK:
        due = due or np.int64(head[COUNTED]) % LOOK == 0
    if head[OFTEN] > 0.0:
        due = due or pulls % np.int64(head[OFTEN]) == 0
    return DUE if due else 0


@partial(part, allocates=True)
def learn_into(S, store, k, x, y):
    """`learn` with the store given."""
    K, d, first, begin, _ = borders(S)
    arms, memory = matrix(S, first, K, THETA + d), matrix(S, begin, np.int64(S[SLOTS]), FEATURES + d)
    if not is_whole(x):
        return BAD_SHAPE
    if x.ndim == 1:
        return learn_row(S, arms, store, memory, k, matrix(x, 0, 1, x.size), np.int64(0), y)
    if x.shape[0] != K:
        return BAD_SHAPE
    if not squared_length(matrix(x, 0, 1, x.size), np.int64(0)) + S[INTERCEPT] < S[LARGEST] * S[LARGEST]:
        for other in range(K):  # that all of them together are short is seen faster
            if not squared_length(x, other) + S[INTERCEPT] < S[LARGEST] * S[LARGEST]:
                return NOT_FINITE
    return learn_row(S, arms, store, memory, k, x, k, y)


@atomic_kernel(*[f"int64(float64[::1], int64, {x}, float64)" for x in CONTEXTS])
def learn(S, k, x, y):
    """Learn reward y of arm k for its x (d,), or x (K, d) with one row per arm; or say why not. Changes S."""
    K, d, _, _, end = borders(S)
    return learn_into(S, matrix(S, end, K, d * (d + 2)), k, x, y)


@atomic_kernel(*[f"int64(float64[::1], float32[:, ::1], int64, {x}, float64)" for x in CONTEXTS])
def learn_single(S, store, k, x, y):
    """`learn` with a store in single precision."""
    return learn_into(S, store, k, x, y)


@atomic_kernel()
def make_way(S):
    """Thin a memory that is crowded, unless someone else works on this state. Changes S."""
    _, d, _, begin, _ = borders(S)
    if S[CLOSED] == 0.0:
        thin(S, matrix(S, begin, np.int64(S[SLOTS]), FEATURES + d), np.int64(S[SLOTS]) // 4)


@atomic_kernel()
def unlearn(arms, store, k, x, y):
    """Take back reward y of arm k for x (d,): V - xxᵀ by Sherman–Morrison. Changes arms and store.

    False if V⁻¹ must be computed afresh from V, which is right.
    """
    d, z, rows = x.size, np.zeros((1, x.size)), x.reshape(1, x.size)
    variance = times(store, k, rows, 0, z)
    sound = variance < 1.0 - MOST_OF_A_DIRECTION
    gain, half = 1.0 / (1.0 - variance), d * (d + 1) // 2
    start = d
    for i in range(d):
        store[k, i] -= y * x[i]
        for j in range(i + 1):
            store[k, start + j] += gain * z[0, i] * z[0, j]
            store[k, start + half + j] -= x[i] * x[j]
        start += i + 1
    arms[k, MODE] = FULL
    arms[k, PULLS] -= 1.0
    arms[k, SQUARES] = max(arms[k, SQUARES] - y * y, 0.0)
    if sound:
        rows = np.empty((1, d))
        for i in range(d):
            rows[0, i] = store[k, i]
            z[0, i] = 0.0
        times(store, k, rows, 0, z)
        for i in range(d):
            arms[k, THETA + i] = z[0, i]
    return sound


@atomic_kernel()
def recount(head, arms, store):
    """What σ̂ is made of, afresh: errors Σy² - bᵀθ̂, and how many rewards there are beyond the fitted. Changes head.

    Errors are also the sum of e²/(1 + xᵀV⁻¹x) over all rewards, in whatever order they came; Σ(d - ridge·tr V⁻¹)
    parameters were fitted.
    """
    d = arms.shape[1] - THETA
    head[ERRORS] = head[LEFT] = 0.0
    for k in range(arms.shape[0]):
        head[ERRORS] += arms[k, SQUARES]
        head[LEFT] += arms[k, PULLS]
        for i in range(d):
            head[ERRORS] -= store[k, i] * arms[k, THETA + i]
        if arms[k, MODE] < 0.0:
            place = d
            for i in range(d):
                head[LEFT] -= 1.0 - head[RIDGE] * store[k, place]
                place += i + 2
        else:
            for pair in range(np.int64(arms[k, MODE])):
                for i in range(d):
                    head[LEFT] -= store[k, (2 * pair + 2) * d + i] ** 2
