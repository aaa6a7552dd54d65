"""How an agent chooses an arm for one context: a single indivisible call.

`agent_layout` says what is where in the array that it works on.
"""

import math
from functools import partial

import numpy as np

from armspan.kernels._compile import atomic_kernel, inlined, part, rare
from armspan.kernels.agent_calls import BAD_SHAPE, BUSY, CONTEXTS, NOT_FINITE, is_whole
from armspan.kernels.agent_forms import (
    four_paired,
    four_triangles,
    paired_form,
    products,
    triangle_form,
)
from armspan.kernels.agent_layout import (
    ASKED,
    CLOSED,
    DECISIONS,
    EPSILON,
    EVALUATED,
    FIRST_OF_TIES,
    FORCED,
    HEAD,
    INTERCEPT,
    LARGEST,
    LARGEST_PAIRS,
    LEARNT,
    LONGEST,
    MODE,
    N_ARMS,
    ONE,
    PRUNE,
    PULLS,
    RIDGE,
    SEED_HIGH,
    SEED_LOW,
    SKETCH,
    SKETCHED,
    THETA,
    THREE,
    TIED_WITHIN,
    TWO,
    UNIT,
    UNKNOWN,
    borders,
    lines,
)
from armspan.kernels.agent_scores import (
    all_full,
    estimate,
    exploration,
    few_pulls_form,
    index_of,
    look,
    squared_length,
    variance_bound,
    variance_of,
    with_intercept,
)
from armspan.kernels.choice import contend, recurring_of, turn_of
from armspan.kernels.philox import HALF, TIES, unit, words
from armspan.kernels.sketch import LONGEST as LONGEST_SKETCHED
from armspan.kernels.sketch import SHORTEST, draw_sketch, narrow_row, sketched_form
from armspan.kernels.views import matrix, singles

EVERYONE = np.empty(0, dtype=np.bool_)
"""In the place of those who may be chosen: all."""
FIRST_OF_ALL = 1e300
"""The index of an arm whose turn it is, whatever it promises."""
FOURS_FROM, FOURS = 8, 4
"""Features with which it pays to look at four arms at once; with fewer arms sketches of them do not pay where they
share a context, since after every reward one must be drawn again."""


@inlined
def tied_from(head, best):
    """From which index on an arm is tied with the best: it differs by rounding alone, relative to it and to rewards."""
    return best if abs(best) == math.inf else best - head[TIED_WITHIN] * (head[UNIT] + abs(best))


@part
def tie_words(head, index):
    """Two random words of this decision. The agent's seed is kept in two numbers that hold 32 bits each."""
    seed = np.uint64(head[SEED_HIGH]) * np.uint64(4294967296) + np.uint64(head[SEED_LOW])
    first, second, _, _ = words(seed, np.int64(0), np.int64(head[DECISIONS]), index, TIES)
    return first, second


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
    tied, edge = 0, tied_from(head, best)
    for k in range(index.size):
        if index[k] >= edge:
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
        elif upper[k] < tied_from(S, floor):
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
    contenders, arm, edge = 0, np.int64(0), tied_from(S, floor)
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
    return settled(S, arms, store, rows, per_arm, extra) if second >= tied_from(S, best) else arm


@part
def one_by_one(S, arms, store, rows, per_arm, length, extra, first, means, upper):
    """The two largest indices, and whose the first is. Changes S; the other parameters are those of `screened`.

    length : the squared length of the row that arms share.
    """
    K, pruning = arms.shape[0], S[PRUNE] > 0.0
    best, second, arm, evaluated = -math.inf, -math.inf, np.int64(0), 0
    for step in range(K):
        k = first + step if first + step < K else first + step - K
        if pruning and upper[k] < tied_from(S, best):
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
            if pruning and upper[k] < tied_from(S, best):
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
    if second >= tied_from(S, best):
        arm = settled(S, arms, store, rows, per_arm, extra)
    return taken(S, arm)


@inlined
def room_for_pairs(S):
    """Where an agent's array has room for the products of two features, and zeros up to whole vectors, if it has."""
    d = borders(S)[1]
    return matrix(S, HEAD + d, 1, lines(d * (d + 1) // 2) if d <= LARGEST_PAIRS else 0)


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
    edge = tied_from(head, best)
    for k in range(K):
        tied += index[k] >= edge
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
