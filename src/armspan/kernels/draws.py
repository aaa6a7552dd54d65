"""Blocks of random draws: which context arrives, what its features are, what the noise is.

Every draw is a function of (seed, run, step), so it is the same for every policy, engine and number of workers.
Steps count from 0 here. A block starts at an even step and has an even length, because two steps share four words.
"""

import math

import numpy as np

from armspan.kernels._compile import exact_kernel, inlined
from armspan.kernels.hints import apart, wide
from armspan.kernels.philox import ARRIVALS, DELAYS, FEATURES, HALF, LOW, real, unit, words
from armspan.kernels.vectors import EIGHT, FOUR, hand_out

GAUSSIAN, RADEMACHER, BERNOULLI = 0, 1, 2
QUARTER_TURN = math.pi * 2.0**-33
"""A quarter of a turn's 2³² parts, in radians."""
LOWEST = -math.inf
ROOT_OF_HALF = int(np.sqrt(np.float64(0.5)).view(np.int64))
"""Its bits."""
LOG_2_HIGH, LOG_2_LOW = 0.6931471804855391, 7.440617110012397e-11
"""log 2 in two parts, of which a small whole number times the first is exact."""
MIDDLE = np.uint64(2**31)
SIDE_BY_SIDE = 4096
"""Features that are drawn together, or those of eight steps: 32 kB, as much as the nearest cache holds."""


fixed, put = apart("draws")


@inlined
def pick(word, threshold, alias, row):
    """A category by Walker's alias method: the high part of word · n picks a column, the low part keeps or leaves it.

    threshold, alias : (S, n) tables, of which one row is used.
    """
    scaled = word * np.uint64(threshold.shape[1])
    column = np.int64(scaled >> HALF)
    limit, other = threshold[row, column], alias[row, column]
    return column if (scaled & LOW) < limit else other


@inlined
def turn(word):
    """Cosine and sine of a random angle in (-π, π), by their series at a quarter of it and two doublings.

    Within 2e-15 of exact and, unlike the library's functions, vectorised.
    """
    x = (word + (0.5 - 2.0**31)) * QUARTER_TURN
    z = x * x
    s = -1 / 39916800 + z * (1 / 6227020800 - z * (1 / 1307674368000))
    s = x * (1.0 + z * (-1 / 6 + z * (1 / 120 + z * (-1 / 5040 + z * (1 / 362880 + z * s)))))
    c = 1 / 479001600 + z * (-1 / 87178291200 + z * (1 / 20922789888000))
    c = 1.0 + z * (-1 / 2 + z * (1 / 24 + z * (-1 / 720 + z * (1 / 40320 + z * (-1 / 3628800 + z * c)))))
    s, c = 2.0 * s * c, 1.0 - 2.0 * s * s
    return 1.0 - 2.0 * s * s, 2.0 * s * c


@inlined
def log_unit(word):
    """The logarithm of a word as a number in (0, 1)."""
    return math.log((word + 0.5) * 2.0**-32)


@inlined
def log_unit_in_lanes(word):
    """`log_unit` without a call of the library, so that it is vectorised; within 1 unit in the last place of exact.

    A number is 2ᵉ·m with m from √½ to √2; and log m = 2 artanh s with s = (m - 1)/(m + 1), by its series.
    """
    bits = np.float64((word + 0.5) * 2.0**-32).view(np.int64)
    e = (bits - ROOT_OF_HALF) >> 52
    f = np.int64(bits - (e << 52)).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    rest = z * (2 / 11 + z * (2 / 13 + z * (2 / 15 + z * (2 / 17 + z * (2 / 19 + z * (2 / 21))))))
    rest = z * (2 / 3 + z * (2 / 5 + z * (2 / 7 + z * (2 / 9 + rest))))
    square = 0.5 * f * f  # 2s = f - s·f, and f·f/2 keeps what that would lose
    return e * LOG_2_HIGH - ((square - (s * (square + rest) + e * LOG_2_LOW)) - f)


@inlined
def gaussians(log_u, word, scale):
    """Two independent N(0, scale²) by Box and Muller, from a logarithm of one word and another word."""
    radius = scale * math.sqrt(-2.0 * log_u)
    cosine, sine = turn(word)
    return radius * cosine, radius * sine


@inlined
def noise_pair(kind, w2, w3, scale):
    """The noise of two steps from two words, as `words_to_noise` gives it."""
    if kind == RADEMACHER:
        return scale if w2 < MIDDLE else -scale, scale if w3 < MIDDLE else -scale
    if kind == BERNOULLI:
        return unit(w2), unit(w3)
    return gaussians(log_unit(real(w2)), real(w3), scale)


@inlined
def click(u, mean):
    """The noise of a click: 1 - mean where u is below the mean, else -mean. Added to the mean it gives 1 or 0."""
    return (1.0 if u < mean else 0.0) - mean


@exact_kernel
def words_to_noise(kind, scale, ones, others, noise):
    """Turn words into noise: Gaussian by Box–Muller, ±scale, or what clicks need. Changes noise (B,), and ones.

    ones, others : (B/2,) words of the even and of the odd steps. Logarithms have a loop of their own: a processor
    works on several rounds of a short loop at once, on few of a long one.
    """
    wide()
    if kind == RADEMACHER:
        for i in range(ones.size):
            noise[2 * i] = scale if ones[i] < 2.0**31 else -scale
            noise[2 * i + 1] = scale if others[i] < 2.0**31 else -scale
    elif kind == BERNOULLI:
        for i in range(ones.size):
            noise[2 * i], noise[2 * i + 1] = (ones[i] + 0.5) * 2.0**-32, (others[i] + 0.5) * 2.0**-32
    else:
        for i in range(ones.size):
            ones[i] = log_unit_in_lanes(ones[i])
        for i in range(ones.size):
            noise[2 * i], noise[2 * i + 1] = gaussians(ones[i], others[i], scale)


@exact_kernel
def words_to_contexts(drawn, threshold, alias, row, contexts):
    """`pick` for each word of one run, drawn (B,). Changes contexts (B,). Returns where the run's chain stands.

    Independent arrivals use the vector units, a chain cannot.
    """
    wide()
    n, limits, others = np.uint64(threshold.shape[1]), threshold.reshape(-1), alias.reshape(-1)
    full = True
    for limit in limits:
        full = full and limit == 2**32
    if threshold.shape[0] > 1:
        for i in range(drawn.size):
            row = pick(drawn[i], threshold, alias, row)
            contexts[i] = row
    elif full:  # all columns stand
        for i in range(drawn.size):
            contexts[i] = np.int64((drawn[i] * n) >> HALF)
    else:
        for i in range(drawn.size):
            scaled = fixed(drawn, i) * n
            column = np.int64(scaled >> HALF)
            limit, other = fixed(limits, column), fixed(others, column)
            put(contexts, i, column if (scaled & LOW) < limit else other)
    return row


@exact_kernel
def draw_table(seed, runs, first, steps, threshold, alias, row, kind, scale, contexts, noise):
    """Contexts of a finite set, and noise, for a block of steps. Changes contexts and noise (R, B), and row (R,).

    B may exceed the steps; what is beyond them, or beyond the next one where they are odd, stays as it is.

    threshold, alias : (S, n) alias tables. With S = 1 arrivals are independent; with S = n + 1 they are a Markov chain,
    whose next context is drawn from the row of the present one. row : (R,) holds where each run's chain stands.
    """
    wide()
    half = (steps + 1) // 2
    drawn, ones, others = np.empty(2 * half, np.uint64), np.empty(half), np.empty(half)
    for r in range(runs.size):
        for i in range(half):
            drawn[2 * i], drawn[2 * i + 1], w2, w3 = words(seed, runs[r], first // 2 + i, 0, ARRIVALS)
            ones[i], others[i] = w2, w3
        row[r] = words_to_contexts(drawn, threshold, alias, row[r], contexts[r])
        words_to_noise(kind, scale, ones, others, noise[r])


@exact_kernel
def draw_noise(seed, runs, first, kind, scale, noise):
    """The noise that `draw_table` gives, alone. Changes noise (R, B)."""
    wide()
    half = noise.shape[1] // 2
    ones, others = np.empty(half), np.empty(half)
    for r in range(runs.size):
        for i in range(half):
            _, _, w2, w3 = words(seed, runs[r], first // 2 + i, 0, ARRIVALS)
            ones[i], others[i] = w2, w3
        words_to_noise(kind, scale, ones, others, noise[r])


@exact_kernel
def sum_noise(noise, marks, sums, curve):
    """Running sums of noise (R, B) after marks (M,) steps. Changes curve (R, M), and sums (R, 4), which go on.

    Every fourth step goes to the same of four sums: that is faster than one, and the same however steps are blocked.
    """
    for r in range(noise.shape[0]):
        start = 0
        for m in range(marks.size):
            end = marks[m]
            fours = max(end // 4 * 4, start)
            begin = min((start + 3) // 4 * 4, fours)
            for i in range(start, begin):
                sums[r, i % 4] += noise[r, i]
            s0, s1, s2, s3 = sums[r, 0], sums[r, 1], sums[r, 2], sums[r, 3]
            for i in range(begin, fours, 4):
                s0 += noise[r, i]
                s1 += noise[r, i + 1]
                s2 += noise[r, i + 2]
                s3 += noise[r, i + 3]
            sums[r, 0], sums[r, 1], sums[r, 2], sums[r, 3] = s0, s1, s2, s3
            for i in range(fours, end):
                sums[r, i % 4] += noise[r, i]
            curve[r, m], start = sums[r, 0] + sums[r, 1] + sums[r, 2] + sums[r, 3], end


@inlined
def draw_units(seed, run, step, attempt, u, first, every):
    """Numbers in (0, 1) for one draw of features, four at a time. Changes u; first, every : which fours."""
    calls = u.size // 4
    for j in range(first, calls, every):
        w0, w1, w2, w3 = words(seed, run, step, attempt * calls + j, FEATURES)
        u[4 * j], u[4 * j + 1], u[4 * j + 2], u[4 * j + 3] = unit(w0), unit(w1), unit(w2), unit(w3)


@inlined
def place(low, high, theta, u, x, means, c, a, d):
    """An arm's features in the box, and its mean reward. Changes x[c, a] and means[c, a]."""
    mean = 0.0
    for j in range(d):
        x[c, a, j] = low[j] + (high[j] - low[j]) * u[a * d + j]
        mean += theta[a, j] * x[c, a, j]
    means[c, a] = mean


@inlined
def features(seed, run, step, low, high, theta, gap, u, x, means, losses, c, K, d):
    """Features of one step, redrawn until the best arm leads by gap. Changes row c of x, means and losses.

    u : scratch for K·d numbers, rounded up to a multiple of 4.
    """
    attempt, best, second = 0, LOWEST, 0.0
    while best - second < gap:
        draw_units(seed, run, step, attempt, u, 0, 1)
        for a in range(K):
            place(low, high, theta, u, x, means, c, a, d)
        best, second = LOWEST, LOWEST
        for a in range(K):
            second = max(second, min(best, means[c, a]))
            best = max(best, means[c, a])
        attempt += 1
    for a in range(K):
        losses[c, a] = best - means[c, a]


@inlined
def features_side_by_side(seed, runs, steps, attempts, low, high, theta, u, means, best, second):
    """`features` of several steps (n,) of several runs, one attempt each.

    Changes u (4·calls, n), whose rows are then the features; means (K, n) of each arm; best and second (n,) of them.
    """
    K, d = theta.shape
    calls = len(u) // 4
    for j in range(calls):
        u0, u1, u2, u3 = u[4 * j], u[4 * j + 1], u[4 * j + 2], u[4 * j + 3]
        for i in range(steps.size):
            w0, w1, w2, w3 = words(seed, runs[i], steps[i], attempts[i] * calls + j, FEATURES)
            u0[i], u1[i], u2[i], u3[i] = unit(w0), unit(w1), unit(w2), unit(w3)
    best[:], second[:], means[:] = LOWEST, LOWEST, 0.0
    for a in range(K):
        mean = means[a]
        for j in range(d):
            x, parameter, corner, width = u[a * d + j], theta[a, j], low[j], high[j] - low[j]
            for i in range(steps.size):
                x[i] = corner + width * x[i]
                mean[i] += parameter * x[i]
        for i in range(steps.size):
            second[i] = max(second[i], min(best[i], mean[i]))
            best[i] = max(best[i], mean[i])


@inlined
def hand_out_rows(numbers, n, places, used, target):
    """The first n rows of numbers (…, W), one column for each place, as rows of a target (…, n) that is flat."""
    pitch, whole = places.size // EIGHT, used // EIGHT if n >= FOUR else 0
    eights, starts = numbers.reshape(-1, EIGHT), (places * n).reshape(-1, EIGHT)
    for g in range(whole):
        for j in range(0, n - FOUR, FOUR):
            hand_out(target, starts, g, j, eights, j * pitch + g, pitch)
        hand_out(target, starts, g, n - FOUR, eights, (n - FOUR) * pitch + g, pitch)  # the last four
    for i in range(whole * EIGHT, used):
        for j in range(n):
            target[places[i] * n + j] = numbers[j, i]


@exact_kernel
def draw_box(seed, runs, first, low, high, theta, gap, x, means, losses):
    """`features` of a block of B steps. Changes x (R·B, K, d), means and losses (R·B, K).

    Many steps go side by side through the vector units. Those whose best arm does not lead by enough stay for another
    attempt, and the next ones take the places of the others.

    low, high : (d,) corners of the box. gap : by how much the best arm leads at least.
    """
    wide()
    K, d = theta.shape
    n, rows, B, calls = K * d, len(x), len(x) // runs.size, (K * d + 3) // 4
    width = min(max(SIDE_BY_SIDE // n, EIGHT), 128, rows + 7) // EIGHT * EIGHT
    u, mean, lost = np.empty((4 * calls, width)), np.empty((K, width)), np.empty((K, width))
    best, second, places = np.empty(width), np.empty(width), np.empty(width, np.int64)
    own, steps, attempts = np.zeros(width, np.int64), np.zeros(width, np.int64), np.zeros(width, np.int64)
    coming, waiting, r, t = 0, 0, 0, 0
    while coming < rows or waiting > 0:
        while waiting < width and coming < rows:
            places[waiting], attempts[waiting], own[waiting], steps[waiting] = coming, 0, runs[r], first + t
            coming, waiting, t = coming + 1, waiting + 1, t + 1
            if t == B:
                r, t = r + 1, 0
        features_side_by_side(seed, own, steps, attempts, low, high, theta, u, mean, best, second)
        for a in range(K):
            for i in range(width):
                lost[a, i] = best[i] - mean[a, i]
        hand_out_rows(u, n, places, waiting, x.reshape(-1))
        hand_out_rows(mean, K, places, waiting, means.reshape(-1))
        hand_out_rows(lost, K, places, waiting, losses.reshape(-1))
        drawn, waiting = waiting, 0
        for i in range(drawn):
            if best[i] - second[i] < gap:  # what was handed out is overwritten by the next attempt
                places[waiting], attempts[waiting] = places[i], attempts[i] + 1
                own[waiting], steps[waiting] = own[i], steps[i]
                waiting += 1


@exact_kernel
def draw_normals(seed, runs, first, scale, x):
    """Features that are N(0, scale²), independent of each other. Changes x (R, B, n)."""
    for r in range(runs.size):
        for i in range(x.shape[1]):
            for pair in range((x.shape[2] + 1) // 2):
                w0, w1, _, _ = words(seed, runs[r], first + i, pair, FEATURES)
                even, odd = gaussians(log_unit(real(w0)), real(w1), scale)
                x[r, i, 2 * pair] = even
                if 2 * pair + 1 < x.shape[2]:
                    x[r, i, 2 * pair + 1] = odd


@exact_kernel
def late_by(seed, run, step, mean, lost):
    """How many steps late the reward of a step is, geometric with this mean; -1 where it is lost."""
    w0, w1, _, _ = words(seed, run, step, 0, DELAYS)
    if unit(w1) < lost:
        return -1
    return int(-log_unit(real(w0)) / math.log1p(1.0 / mean)) if mean > 0.0 else 0
