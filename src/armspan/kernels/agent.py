"""An agent's step: choose an arm for one context, learn one reward; each a single indivisible call.

`agent_layout` says what is where in the array that they work on.
"""

import math
from functools import partial

import numpy as np

from armspan.kernels._compile import atomic_kernel, inlined, part, rare
from armspan.kernels.agent_forms import (
    four_paired,
    four_triangles,
    paired_form,
    products,
    times,
    triangle_form,
)
from armspan.kernels.agent_layout import (
    ASKED,
    BIAS,
    CLOSED,
    COUNTED,
    DECISIONS,
    EPSILON,
    ERRORS,
    EVALUATED,
    FEATURES,
    FIRST_OF_TIES,
    FORCED,
    FULL,
    HEAD,
    INTERCEPT,
    LAMBDA,
    LARGEST,
    LARGEST_PAIRS,
    LARGEST_REWARD,
    LEARNT,
    LEFT,
    LONGEST,
    MODE,
    N_ARMS,
    OFTEN,
    ONE,
    PRUNE,
    PULLS,
    REWARDS,
    RIDGE,
    SCALE,
    SEED_HIGH,
    SEED_LOW,
    SKETCH,
    SKETCHED,
    SLOTS,
    SQUARED,
    SQUARES,
    THETA,
    THREE,
    TIED_WITHIN,
    TWO,
    UNKNOWN,
    WIDTH,
    borders,
    lines,
)
from armspan.kernels.agent_memory import is_crowded, note, slot_of, thin
from armspan.kernels.choice import contend, recurring_of, turn_of, within
from armspan.kernels.philox import HALF, TIES, unit, words
from armspan.kernels.sketch import LONGEST as LONGEST_SKETCHED
from armspan.kernels.sketch import SHORTEST, draw_sketch, narrow_row, sketched_form
from armspan.kernels.views import matrix, singles

CONTEXTS = ("float64[::1]", "float64[:, ::1]")


BUSY, BAD_SHAPE, NOT_FINITE = -1, -2, -3
"""What a call returns instead of an arm or a due date when it did nothing."""
MOST_OF_A_DIRECTION = 1e-3
"""An x for which 1 - xᵀV⁻¹x is less than this was nearly all that V knew of a direction: to take it back would multiply
rounding by the inverse."""
DUE, UNSOUND, CROWDED = 1, 2, 3
"""What `learn` returns beside 0: V⁻¹ is due to be looked at; or it is not positive definite, or memory must be thinned
first, and nothing was learnt."""

EVERYONE = np.empty(0, dtype=np.bool_)
"""In the place of those who may be chosen: all."""
FIRST_OF_ALL = 1e300
"""The index of an arm whose turn it is, whatever it promises."""
FOURS_FROM, FOURS = 8, 4
"""Features with which it pays to look at four arms at once; with fewer arms sketches of them do not pay where they
share a context, since after every reward one must be drawn again."""
ROWS_TOGETHER = 64
"""Contexts that are scored one after the other for one arm."""
LOOK, LOOKS = 64, 8
"""Where exploration is learnt, after every so many rewards, and how often, somebody looks at the sizes of features."""
FIRST_CHECK, REBUILD = 1024, 8192
"""V⁻¹ is looked at every so many pulls, and whenever pulls have doubled: for pruning, which lives by λ_min, always."""
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
    beta = math.sqrt(head[SQUARED] / head[COUNTED]) / head[WIDTH] if head[COUNTED] > 0.0 else 0.0
    return present_alpha(head), beta


@part
def tie_words(head, index):
    """Two random words of this decision. The agent's seed is kept in two numbers that hold 32 bits each."""
    seed = np.uint64(head[SEED_HIGH]) * np.uint64(4294967296) + np.uint64(head[SEED_LOW])
    first, second, _, _ = words(seed, np.int64(0), np.int64(head[DECISIONS]), index, TIES)
    return first, second


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


@part
def weigh(k, mean, extra, variance, best, second, arm):
    """Let arm k contend with its index for this mean and variance."""
    return contend(index_of(mean, extra, variance), k, best, second, arm)


@part
def four_estimates(arms, k0, k1, k2, k3, x):
    """`estimate` of four arms for the context x (1, d) that they share."""
    mean_0, mean_1, mean_2, mean_3 = 0.0, 0.0, 0.0, 0.0
    for i in range(x.shape[1]):
        mean_0 += arms[k0, THETA + i] * x[0, i]
        mean_1 += arms[k1, THETA + i] * x[0, i]
        mean_2 += arms[k2, THETA + i] * x[0, i]
        mean_3 += arms[k3, THETA + i] * x[0, i]
    return mean_0, mean_1, mean_2, mean_3


@inlined
def tied_arm(head, index, best):
    """One of the arms whose index equals the best up to rounding: the first, or any at random. Changes index."""
    tied = 0
    for k in range(index.size):
        if within(best, index[k], head[TIED_WITHIN]):
            index[k] = best
            tied += 1
    word, _ = tie_words(head, np.uint64(0))
    skip = 0 if head[FIRST_OF_TIES] > 0.0 else np.int64((word * np.uint64(tied)) >> HALF)
    for k in range(index.size):
        if index[k] == best:
            if skip == 0:
                return k
            skip -= 1
    return np.int64(0)


@partial(rare, allocates=True)
def settled(head, arms, store, x, per_arm, extra):
    """The arm for rows x where the best are tied. All are compared again, in one way: rounding may differ."""
    K, best = np.int64(head[N_ARMS]), -math.inf
    index = np.empty(K)
    for k in range(K):
        row = k * per_arm
        variance = variance_of(arms, store, head[RIDGE], k, x, row, squared_length(x, row))
        index[k] = index_of(estimate(arms, k, x, row), extra, variance)
        best = index[k] if index[k] > best else best
    return tied_arm(head, index, best)


@part
def stray(head, among):
    """Which of so many arms the ε-mixture takes now, or -1 where it leaves the choice to the index."""
    mixed, which = tie_words(head, np.uint64(1))
    return np.int64((which * np.uint64(among)) >> HALF) if unit(mixed) < head[EPSILON] else np.int64(-1)


@part
def untried(head, arms, eligible):
    """The next arm that must be pulled once before its index counts, or again because no reward came, or -1.

    Changes head and arms.
    """
    for k in range(np.int64(head[FORCED]), arms.shape[0]):
        if arms[k, PULLS] == 0.0 and (eligible.size == 0 or eligible[k]):
            arms[k, PULLS] = ASKED
            return k
        if k == head[FORCED] and arms[k, PULLS] > 0.0:
            head[FORCED] += 1.0
    again = turn_of(recurring_of(np.int64(head[DECISIONS]), head[LONGEST], arms.shape[0]), arms.shape[0])
    if again < arms.shape[0] and arms[again, PULLS] < UNKNOWN and (eligible.size == 0 or eligible[again]):
        return again
    return np.int64(-1)


@part
def taken(head, arm):
    """Count a decision for this arm, or for another one if the ε-mixture wants it. Changes head."""
    if head[EPSILON] > 0.0:
        anyone = stray(head, head[N_ARMS])
        arm = arm if anyone < 0 else anyone
    head[DECISIONS] += 1.0
    return arm


@part
def sketched_variance(S, arms, store, sketch, k, rows, row, x, place):
    """σ̂² of arm k by its sketch, and how wrong it may be; x has the row in single precision at this place.

    Changes arms and sketch.
    """
    if arms[k, MODE] >= 0.0:
        return few_pulls_form(arms, store, S[RIDGE], k, rows, row, squared_length(rows, row)), 0.0
    if arms[k, MODE] > SKETCHED:
        draw_sketch(store, sketch, np.uint64(k), np.uint64(rows.shape[1]))
        arms[k, MODE] = SKETCHED
    return sketched_form(sketch, np.uint64(k), x, place)


@rare
def screened(S, arms, store, sketch, rows, per_arm, extra, first, means, upper):
    """The arm with the largest index; V⁻¹ itself is read only of those whose sketches cannot tell. Changes S.

    first : the arm that may be best by what is known already. means, upper : (K,) with pruning what each arm's mean is,
    and its index at most; upper is changed. Rows are made single one arm ahead: what was just written in small pieces
    cannot be read in large ones at once.
    """
    K, d, pruning, floor, evaluated = arms.shape[0], rows.shape[1], S[PRUNE] > 0.0, -math.inf, 0
    x, place, ready = singles(S, HEAD + d, 2, (d + 7) // 8 * 8), np.int64(0), np.int64(-1)
    if per_arm == 0:
        narrow_row(rows, np.int64(0), x, place)
    for step in range(K):
        k = first + step if first + step < K else first + step - K
        if not pruning:
            means[k] = estimate(arms, k, rows, k * per_arm)
        elif upper[k] < floor - S[TIED_WITHIN] * abs(floor):
            continue
        evaluated += 1
        if per_arm:
            place, after = 1 - place, k + 1 if k + 1 < K else np.int64(0)
            if ready != k:
                narrow_row(rows, k, x, place)
            narrow_row(rows, after, x, 1 - place)
            ready = after
        variance, error = sketched_variance(S, arms, store, sketch, k, rows, k * per_arm, x, place)
        upper[k] = index_of(means[k], extra, variance + error)
        if upper[k] > floor:
            floor = max(floor, index_of(means[k], extra, variance - error))
    S[EVALUATED] += evaluated
    contenders, arm, edge = 0, np.int64(0), floor - S[TIED_WITHIN] * abs(floor)
    for k in range(K):
        if upper[k] >= edge:
            contenders, arm = contenders + 1, k
    if contenders == 1:
        return arm
    best, second = -math.inf, -math.inf
    for k in range(K):
        if upper[k] >= edge:
            row = k * per_arm
            variance = variance_of(arms, store, S[RIDGE], k, rows, row, squared_length(rows, row))
            best, second, arm = weigh(k, means[k], extra, variance, best, second, arm)
    return settled(S, arms, store, rows, per_arm, extra) if within(best, second, S[TIED_WITHIN]) else arm


@part
def one_by_one(S, arms, store, rows, per_arm, length, extra, first, means, upper):
    """The two largest indices, and whose the first is. Changes S; the other parameters are those of `screened`.

    length : the squared length of the row that arms share.
    """
    K, pruning = arms.shape[0], S[PRUNE] > 0.0
    best, second, arm, evaluated = -math.inf, -math.inf, np.int64(0), 0
    for step in range(K):
        k = first + step if first + step < K else first + step - K
        if pruning and upper[k] < best - S[TIED_WITHIN] * abs(best):
            continue
        evaluated += 1
        if per_arm:
            length = squared_length(rows, k)
        variance = variance_of(arms, store, S[RIDGE], k, rows, k * per_arm, length)
        mean = means[k] if pruning else estimate(arms, k, rows, k * per_arm)
        best, second, arm = weigh(k, mean, extra, variance, best, second, arm)
    S[EVALUATED] += evaluated
    return best, second, arm


@part
def all_by_fours(arms, store, pairs, paired, rows, extra):
    """`by_fours` where all arms have V⁻¹ and none is pruned; pairs : products of features, if `paired`."""
    K, d = arms.shape[0], rows.shape[1]
    best, second, arm = -math.inf, -math.inf, np.int64(0)
    for k in range(0, K - 3, 4):
        u = np.uint64(k)
        m0, m1, m2, m3 = four_estimates(arms, u, u + ONE, u + TWO, u + THREE, rows)
        if paired:
            v0, v1, v2, v3 = four_paired(store, u, u + ONE, u + TWO, u + THREE, d, pairs)
        else:
            v0, v1, v2, v3 = four_triangles(store, u, u + ONE, u + TWO, u + THREE, rows)
        best, second, arm = weigh(k, m0, extra, v0, best, second, arm)
        best, second, arm = weigh(k + 1, m1, extra, v1, best, second, arm)
        best, second, arm = weigh(k + 2, m2, extra, v2, best, second, arm)
        best, second, arm = weigh(k + 3, m3, extra, v3, best, second, arm)
    for k in range(K - K % 4, K):
        variance = paired_form(store, k, d, pairs) if paired else triangle_form(store, k, rows, np.int64(0))
        best, second, arm = weigh(k, estimate(arms, k, rows, np.int64(0)), extra, variance, best, second, arm)
    return best, second, arm


@part
def by_fours(S, arms, store, pairs, rows, length, extra, first, means, upper):
    """`one_by_one` for a row that arms share: those that have V⁻¹ wait until four can be looked at together."""
    K, d, pruning = arms.shape[0], rows.shape[1], S[PRUNE] > 0.0
    paired, fours = FOURS_FROM <= d <= LARGEST_PAIRS and K >= 8, d >= FOURS_FROM and K >= 4
    if paired:
        products(rows, np.int64(0), pairs)
    if fours and not pruning and all_full(arms):
        S[EVALUATED] += K
        return all_by_fours(arms, store, pairs, paired, rows, extra)
    best, second, arm, evaluated = -math.inf, -math.inf, np.int64(0), 0
    k0 = k1 = k2 = k3 = np.uint64(0)
    waiting = 0
    for step in range(K + 3):
        if step < K:
            k = first + step if first + step < K else first + step - K
            if pruning and upper[k] < best - S[TIED_WITHIN] * abs(best):
                continue
            evaluated += 1
            if fours and arms[k, MODE] < 0.0 and (step > 0 or not pruning):  # the first is for the others to beat
                k0, k1, k2, k3, waiting = k1, k2, k3, np.uint64(k), waiting + 1
                if waiting < 4:
                    continue
                waiting = 0
                if pruning:
                    m0, m1, m2, m3 = means[k0], means[k1], means[k2], means[k3]
                else:
                    m0, m1, m2, m3 = four_estimates(arms, k0, k1, k2, k3, rows)
                if paired:
                    v0, v1, v2, v3 = four_paired(store, k0, k1, k2, k3, d, pairs)
                else:
                    v0, v1, v2, v3 = four_triangles(store, k0, k1, k2, k3, rows)
                best, second, arm = weigh(np.int64(k0), m0, extra, v0, best, second, arm)
                best, second, arm = weigh(np.int64(k1), m1, extra, v1, best, second, arm)
                best, second, arm = weigh(np.int64(k2), m2, extra, v2, best, second, arm)
                best, second, arm = weigh(np.int64(k3), m3, extra, v3, best, second, arm)
                continue
        elif waiting > 0:  # those that were too few
            k, k1, k2, k3, waiting = np.int64(k3), k0, k1, k2, waiting - 1
        else:
            break
        if paired and step >= K:
            variance = paired_form(store, k, d, pairs)
        else:
            variance = variance_of(arms, store, S[RIDGE], k, rows, np.int64(0), length)
        mean = means[k] if pruning else estimate(arms, k, rows, np.int64(0))
        best, second, arm = weigh(k, mean, extra, variance, best, second, arm)
    S[EVALUATED] += evaluated
    return best, second, arm


@inlined
def is_whole(x):
    """Whether a context's numbers are next to each other in memory, each where processors expect it."""
    if x.ctypes.data % x.itemsize != 0 or (x.shape[-1] > 1 and x.strides[-1] != x.itemsize):
        return False
    return x.ndim == 1 or x.shape[0] == 1 or x.strides[0] == x.shape[-1] * x.itemsize


@partial(part, allocates=True)
def chosen(S, store, sketch, pairs, x):
    """The arm with the largest index for x (d,), or (K, d) with one row per arm; or why there is none. Changes S.

    With pruning on, arms that cannot win by `variance_bound` are not looked at any further, and the answer is the same;
    so it is with sketches. sketch : None does without. pairs : `room_for_pairs`, for x (d,), which is changed; with it,
    arms are looked at in fours. What depends on those or on x.ndim alone is left out when it is compiled.
    """
    K, d, begin, _, _ = borders(S)
    arms = matrix(S, begin, K, THETA + d)
    if S[CLOSED] > 0.0:
        return BUSY
    if not is_whole(x):
        return BAD_SHAPE
    if x.ndim == 1:
        rows, per_arm = matrix(x, 0, 1, x.size), np.int64(0)
    else:
        rows, per_arm = x, np.int64(1)
    if rows.shape[1] + (S[INTERCEPT] > 0.0) != d or (per_arm == 1 and rows.shape[0] != K):
        return BAD_SHAPE
    if S[INTERCEPT] > 0.0:
        rows = with_intercept(rows)
    length, fits, pruning, first = 0.0, True, S[PRUNE] > 0.0, np.int64(0)
    sketched = sketch is not None and S[SKETCH] > 0.0 and (per_arm == 1 or K >= FOURS)
    # arrays that are not used cost time too
    upper, means = (np.empty(K), np.empty(K)) if pruning or sketched else (S, S)
    for row in range(rows.shape[0]):
        length = squared_length(rows, row)
        fits = fits and SHORTEST < length < LONGEST_SKETCHED
        if not length < S[LARGEST] * S[LARGEST]:
            return NOT_FINITE
        if pruning:
            upper[row] = length
    if S[LEARNT] > 0.0:
        forced = untried(S, arms, EVERYONE)
        if forced >= 0:
            return taken(S, forced)
    extra = exploration(S)
    if pruning:
        for k in range(K):
            if per_arm:
                length = upper[k]
            means[k] = estimate(arms, k, rows, k * per_arm)
            upper[k] = index_of(means[k], extra, variance_bound(arms, k, length))
            if upper[k] > upper[first]:
                first = k
    if sketch is not None:  # noqa: SIM102 - alone it is left out when it is compiled
        if sketched and fits:
            return taken(S, screened(S, arms, store, sketch, rows, per_arm, extra, first, means, upper))
    if pairs is None:
        best, second, arm = one_by_one(S, arms, store, rows, per_arm, length, extra, first, means, upper)
    else:
        best, second, arm = by_fours(S, arms, store, pairs, rows, length, extra, first, means, upper)
    if within(best, second, S[TIED_WITHIN]):
        arm = settled(S, arms, store, rows, per_arm, extra)
    return taken(S, arm)


@inlined
def room_for_pairs(S):
    """Where an agent's one array has room for the products of two features, and zeros up to whole vectors."""
    d = borders(S)[1]
    return matrix(S, HEAD + d, 1, lines(d * (d + 1) // 2))


@inlined
def kept(S):
    """The store and the sketch in an agent's one array."""
    K, d, _, _, end = borders(S)
    width = d * (d + 2)
    return matrix(S, end, K, width), singles(S, end + lines(K * width), K, np.int64(S[SKETCH]))


@atomic_kernel(*[f"int64(float64[::1], {x})" for x in CONTEXTS])
def choose(S, x):
    """The arm for x (d,) or (K, d), or why there is none. Changes S.

    What pays only with more features is left out, so that it need not be compiled.
    """
    return chosen(S, kept(S)[0], None, None, x)


@atomic_kernel(*[f"int64(float64[::1], {x})" for x in CONTEXTS])
def choose_by_fours(S, x):
    """`choose` for `FOURS_FROM` features or more."""
    return chosen(S, kept(S)[0], None, room_for_pairs(S) if x.ndim == 1 else None, x)


@atomic_kernel(*[f"int64(float64[::1], {x})" for x in CONTEXTS])
def choose_by_sketches(S, x):
    """`choose` for so many features that sketches pay where arms have rows of their own."""
    store, sketch = kept(S)
    if x.ndim == 1:
        return chosen(S, store, None, room_for_pairs(S), x)
    return chosen(S, store, sketch, None, x)


@atomic_kernel(*[f"int64(float64[::1], {x})" for x in CONTEXTS])
def choose_wide(S, x):
    """`choose` for so many features that sketches always pay."""
    store, sketch = kept(S)
    if x.ndim == 1:
        return chosen(S, store, sketch, room_for_pairs(S), x)
    return chosen(S, store, sketch, None, x)


@atomic_kernel(*[f"int64(float64[::1], float32[:, ::1], {x})" for x in CONTEXTS])
def choose_single(S, store, x):
    """`choose` with a store in single precision."""
    if x.ndim == 1:
        return chosen(S, store, None, room_for_pairs(S), x)
    return chosen(S, store, None, None, x)


@inlined
def pick_one(head, index, eligible, propensity):
    """An eligible arm: with probability epsilon any, else one with the largest index. Changes propensity and head."""
    K, best, among, tied = index.size, -math.inf, 0, 0
    for k in range(K):
        index[k] = index[k] if eligible[k] else -math.inf
        best = max(best, index[k])
        among += eligible[k]
    for k in range(K):
        tied += within(best, index[k], head[TIED_WITHIN])
    first = head[FIRST_OF_TIES] > 0.0
    arm = tied_arm(head, index, best)
    for k in range(K):
        share = (1.0 if k == arm else 0.0) if first else 1.0 / tied if index[k] == best else 0.0
        propensity[k] = (1.0 - head[EPSILON]) * share + (head[EPSILON] / among if eligible[k] else 0.0)
    skip = stray(head, among)
    if skip >= 0:
        for k in range(K):
            if eligible[k]:
                arm = k
                if skip == 0:
                    break
                skip -= 1
    head[DECISIONS] += 1.0
    return arm


@atomic_kernel()
def draw(head, arms, store, x, per_arm, eligible, propensity):
    """Choose among the eligible arms: with probability epsilon any of them, else one that is best. Changes head.

    propensity : (K,) becomes the probability of each arm.
    """
    K = eligible.size
    if head[INTERCEPT] > 0.0:
        x = with_intercept(x)
    mean, index = np.empty(K), np.empty(K)
    look(head, arms, store, x, per_arm, mean, index)
    extra = exploration(head)
    for k in range(K):
        index[k] = index_of(mean[k], extra, index[k] ** 2)
    if head[LEARNT] > 0.0:
        forced = untried(head, arms, eligible)
        if forced >= 0:
            index[forced] = FIRST_OF_ALL
    head[EVALUATED] += K
    return pick_one(head, index, eligible, propensity)


@atomic_kernel()
def pick(head, index, eligible, chosen):
    """`pick_one` for every row of index (n, K). Changes head, index and chosen (n,)."""
    propensity = np.empty(index.shape[1])
    for row in range(index.shape[0]):
        chosen[row] = pick_one(head, index[row], eligible, propensity)


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
        head[SQUARED] += y * y
        head[COUNTED] += 1.0
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
    """What σ̂ and ȳ are made of, afresh: Σy², errors Σy² - bᵀθ̂, rewards, and those beyond the fitted. Changes head.

    Errors are also the sum of e²/(1 + xᵀV⁻¹x) over all rewards, in whatever order they came; Σ(d - ridge·tr V⁻¹)
    parameters were fitted.
    """
    d = arms.shape[1] - THETA
    head[ERRORS] = head[LEFT] = head[SQUARED] = head[COUNTED] = 0.0
    for k in range(arms.shape[0]):
        head[ERRORS] += arms[k, SQUARES]
        head[LEFT] += arms[k, PULLS]
        head[SQUARED] += arms[k, SQUARES]
        head[COUNTED] += arms[k, PULLS]
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
