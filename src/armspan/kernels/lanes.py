"""Several runs in one instruction: small linear problems, with eight runs at a time in the vector units.

Every arm learns, with weight 0 or 1, instead of a branch. Little is gathered number by number, which is slow: a row of
a table is read as a whole for each run, and eight rows are turned in the registers. All arms are scored for a group of
runs before any of them learns, so that roots, which take the processor long, follow each other closely.

Runs alone (`families.linear`) do the same operations in the same order, and both are compiled in strict arithmetic: so
which runs are in lanes changes nothing, not even the last bit.
"""

from collections.abc import Callable

import numpy as np
from numba.core import config
from numba.core.codegen import get_host_cpu_features

from armspan.kernels._compile import exact_kernel, inlined
from armspan.kernels.choice import ROUNDING, break_tie
from armspan.kernels.hints import wide
from armspan.kernels.vectors import EIGHT, FOUR, all_of, collect, eight, get, magnitude, pick, put, root, turn_block

LOWEST = -1e300
TARGET, SAID = config.CPU_NAME, config.CPU_FEATURES  # type: ignore[attr-defined]
SHORT = TARGET == "generic" or "+avx" not in (SAID or get_host_cpu_features())
"""Whether vectors hold two numbers only, as on arm64 and on x86-64 without AVX."""
MOST_ARMS = 5 if SHORT else 20
"""With more, all arms' learning costs more than what is gained, or nearly as much."""
TILE = FOUR
"""Steps whose draws are turned together, from one row per run to one row per step."""
MOST_GROUPS, CACHE = 4, 24_576
"""Groups of eight runs that go step by step together: so many, or fewer whose arms fit into the nearest cache, bytes.

More groups spread the cost of a step, and let the processor work on one while another waits for its roots.
"""


@inlined
def entry(i, j):
    """Where an entry of a symmetric matrix is in its lower triangle, row by row; j <= i."""
    return i * (i + 1) // 2 + j


@inlined
def turn(numbers, starts, t, n, tile, G):
    """The next n numbers of each run, from step t on, as G rows of eight runs per step. Changes tile."""
    if n == TILE:
        for g in range(G):
            turn_block(tile, g, G, numbers, starts, g, t)
    else:
        for g in range(G):
            for lane in range(EIGHT):
                for ahead in range(n):
                    tile[ahead * G + g, lane] = numbers[starts[g, lane] + t + ahead]


@exact_kernel
def turn_both(contexts, places, noises, draws, starts, t, end, G):
    """`turn` the contexts and the noise of the next tile, which ends before step `end`. Changes places and draws."""
    n = min(TILE, end - t)
    turn(contexts, starts, t, n, places, G)
    turn(noises, starts, t, n, draws, G)


@exact_kernel
def write_noise(found, noise, first, t):
    """The noise that clicks make, in the first row of found: eight runs' from run `first` on. Changes noise (R, B)."""
    for lane in range(min(EIGHT, len(noise) - first)):
        noise[first + lane, t] = found[0, lane]


@exact_kernel
def take_down(lost, curve, first, m):
    """The regret of a group's runs, from run `first` on, at a mark. Changes curve (R, M)."""
    for run in range(min(len(lost) * EIGHT, len(curve) - first)):
        curve[first + run, m] = lost[run // EIGHT, run % EIGHT]


@inlined
def look_up(table, places, which, offset, arms, row, width):
    """One row of the table for each of eight lanes, as one row of `arms` per number. Changes arms."""
    turn_block(arms, row, 1, table, places, which, offset)
    if width > FOUR:  # the last four numbers
        turn_block(arms, row + width - FOUR, 1, table, places, which, offset + width - FOUR)


@inlined
def look_up_own(x, means, losses, first, places, which, k, arms, row, d):
    """The same without a table, which would be read only once: from places (n, 8) in means and losses, first in x."""
    turn_block(arms, row, 1, x, first, which, k * d)
    for i in range(FOUR, d):
        put(arms, row + i, collect(x, first, which, k * d + i))
    put(arms, row + d, collect(means, places, which, k))
    put(arms, row + d + 1, collect(losses, places, which, k))


@exact_kernel
def toss(found, rows, at, pitch, index, block, first, t):
    """Where arms are tied, let chance choose, and nobody else be the best. Changes rows and index (K,).

    found : (2, 8) which lanes have a tie, and the best index. rows : each arm's indices, from row `at` on, one every
    `pitch` rows. first : the run in lane 0. t : the step in the block.
    """
    for lane in range(EIGHT):
        if found[0, lane] > 0.0:
            for k in range(index.size):
                index[k] = rows[at + k * pitch, lane]
            run = block.runs[min(first + lane, block.runs.size - 1)]
            chosen = break_tie(index, found[1, lane], block.unit, block.seed, run, block.first + t)
            for k in range(index.size):
                rows[at + k * pitch, lane] = found[1, lane] if k == chosen else LOWEST


@inlined
def lanes(block, alpha, marks, state, regret, curve, tally, d):
    """`life.live` of the linear family, for groups of eight runs. Changes what that changes.

    An arm of a group is `size` rows of `arms`, one number per run in each. The last group may be too small; its spare
    lanes repeat the last run, and what they find is left out.
    """
    wide()
    unit, clicks, R, K, bins = block.unit, block.clicks, block.runs.size, block.x.shape[1], tally.bins
    at_inverse, width = d * (d + 1) // 2, d + 2
    at_b, at_theta, at_x = 2 * at_inverse, 2 * at_inverse + d, 2 * at_inverse + 2 * d
    at_mean, at_loss, at_estimate = at_x + d, at_x + d + 1, at_x + d + 2  # two beside the features, as in the table
    at_gain, at_index, at_costly, at_z, size = at_x + d + 3, at_x + d + 4, at_x + d + 5, at_x + d + 6, at_x + 2 * d + 6
    G = max(min(CACHE // (K * size * EIGHT * 8), MOST_GROUPS, (R + EIGHT - 1) // EIGHT), 1)
    L = G * EIGHT
    tabled = d < FOUR or len(block.x) < block.contexts.size
    x, means, losses = block.x.reshape(-1), block.means.reshape(-1), block.losses.reshape(-1)
    arms, table, index = rows_of_eight(G * K * size), world(x, means, losses, d if tabled else 0), np.empty(K)
    lost, leading, found, draws = rows_of_eight(G), rows_of_eight(G), rows_of_eight(2), rows_of_eight(TILE * G)
    starts, places = rows_of_eight(G).view(np.int64), rows_of_eight(TILE * G).view(np.int64)
    contexts, noises, B = block.contexts.reshape(-1), block.noise.reshape(-1), block.noise.shape[1]
    features_from = rows_of_eight(TILE * G).view(np.int64)
    one, none = eight(1.0), eight(0.0)
    for first in range(0, R, L):
        groups = min(G, (R - first + EIGHT - 1) // EIGHT)
        take_in(arms, lost, starts, state, regret, first, B, size, at_costly)
        start, period = 0, bins[0]
        for m in range(marks.size):
            for t in range(start, marks[m]):
                if bins[t] != period:
                    count(arms, tally.pulls, first, period, size, at_costly)
                    period = bins[t]
                now = (t - start) % TILE * G
                if now == 0:
                    turn_both(contexts, places, noises, draws, starts, t, marks[m], G)
                    for row in range(TILE * G):
                        for lane in range(EIGHT):
                            places[row, lane] *= K * width if tabled else K
                            features_from[row, lane] = places[row, lane] * d
                for g in range(groups):
                    best, second = eight(LOWEST), eight(LOWEST)
                    for k in range(K):
                        own = (g * K + k) * size
                        if tabled:
                            look_up(table, places, now + g, k * width, arms, own + at_x, width)
                        else:
                            look_up_own(x, means, losses, features_from, places, now + g, k, arms, own + at_x, d)
                        x_0 = get(arms, own + at_x)
                        mean, variance = get(arms, own + at_theta) * x_0, x_0 * (get(arms, own + at_inverse) * x_0)
                        for i in range(1, d):
                            x_i, total = get(arms, own + at_x + i), get(arms, own + at_inverse + entry(i, 0)) * x_0
                            for j in range(1, i):
                                total += get(arms, own + at_inverse + entry(i, j)) * get(arms, own + at_x + j)
                            variance += x_i * (2.0 * total + get(arms, own + at_inverse + entry(i, i)) * x_i)
                            mean += get(arms, own + at_theta + i) * x_i
                        value = mean + alpha[t] * root(magnitude(variance))
                        put(arms, own + at_estimate, mean)
                        put(arms, own + at_gain, 1.0 / (1.0 + variance))
                        put(arms, own + at_index, value)
                        leads = value > best
                        behind = pick(leads, best, value)
                        best, second = pick(leads, value, best), pick(behind > second, behind, second)
                    put(leading, g, best)
                    clear = best - second > ROUNDING * (unit + magnitude(best))
                    if not all_of(clear):
                        put(found, 0, pick(clear, none, one))
                        put(found, 1, best)
                        toss(found, arms, g * K * size + at_index, size, index, block, first + g * EIGHT, t)
                for g in range(groups):
                    noise, luck, total_loss = get(draws, now + g), eight(0.0), get(lost, g)
                    best = get(leading, g)
                    for k in range(K):
                        own = (g * K + k) * size
                        weight, loss = pick(get(arms, own + at_index) == best, one, none), get(arms, own + at_loss)
                        total_loss += weight * loss
                        put(arms, own + at_costly, get(arms, own + at_costly) + pick(loss > none, weight, none))
                        mean = get(arms, own + at_mean)
                        e = pick(noise < mean, one, none) - mean if clicks else noise
                        luck += weight * e
                        y, gain = mean + e, weight * get(arms, own + at_gain)
                        change = gain * (y - get(arms, own + at_estimate))
                        for i in range(d):
                            z_i = get(arms, own + at_inverse + entry(i, i)) * get(arms, own + at_x + i)
                            for j in range(i):
                                z_i += get(arms, own + at_inverse + entry(i, j)) * get(arms, own + at_x + j)
                            for j in range(i + 1, d):
                                z_i += get(arms, own + at_inverse + entry(j, i)) * get(arms, own + at_x + j)
                            put(arms, own + at_z + i, z_i)
                        for i in range(d):
                            x_i, z_i = get(arms, own + at_x + i), get(arms, own + at_z + i)
                            put(arms, own + at_theta + i, get(arms, own + at_theta + i) + change * z_i)
                            put(arms, own + at_b + i, get(arms, own + at_b + i) + weight * y * x_i)
                            for j in range(i + 1):
                                both, back = own + entry(i, j), own + at_inverse + entry(i, j)
                                put(arms, both, get(arms, both) + weight * x_i * get(arms, own + at_x + j))
                                put(arms, back, get(arms, back) - gain * z_i * get(arms, own + at_z + j))
                    put(lost, g, total_loss)
                    if clicks:
                        put(found, 0, luck)
                        write_noise(found, block.noise, first + g * EIGHT, t)
            start = marks[m]
            take_down(lost, curve, first, m)
        count(arms, tally.pulls, first, period, size, at_costly)
        give_back(arms, lost, state, regret, first, size)


@exact_kernel
def take_in(arms, lost, starts, state, regret, first, B, size, at_costly):
    """Put groups of runs into their lanes, from run `first` on. Changes arms, lost and starts.

    starts : (groups, 8) where each run's draws begin, B of them.
    """
    V, V_inv, b, theta_hat = state
    (R, K, d), at_inverse = b.shape, entry(b.shape[2], 0)
    at_b = 2 * at_inverse
    for g in range(len(lost)):
        for lane in range(EIGHT):
            r = min(first + g * EIGHT + lane, R - 1)
            lost[g, lane], starts[g, lane] = regret[r], r * B
            for k in range(K):
                own = (g * K + k) * size
                arms[own + at_costly, lane] = 0.0
                for i in range(d):
                    arms[own + at_b + i, lane], arms[own + at_b + d + i, lane] = b[r, k, i], theta_hat[r, k, i]
                    for j in range(i + 1):
                        arms[own + entry(i, j), lane] = V[r, k, i, j]
                        arms[own + at_inverse + entry(i, j), lane] = V_inv[r, k, i, j]


@exact_kernel
def give_back(arms, lost, state, regret, first, size):
    """The other way round. Changes regret and the state."""
    V, V_inv, b, theta_hat = state
    (R, K, d), at_inverse = b.shape, entry(b.shape[2], 0)
    at_b = 2 * at_inverse
    for run in range(min(len(lost) * EIGHT, R - first)):
        g, lane, r = run // EIGHT, run % EIGHT, first + run
        regret[r] = lost[g, lane]
        for k in range(K):
            own = (g * K + k) * size
            for i in range(d):
                b[r, k, i], theta_hat[r, k, i] = arms[own + at_b + i, lane], arms[own + at_b + d + i, lane]
                for j in range(i + 1):
                    V[r, k, i, j] = arms[own + entry(i, j), lane]
                    V_inv[r, k, i, j] = arms[own + at_inverse + entry(i, j), lane]


@exact_kernel
def rows_of_eight(n):
    """Zeros (n, 8) from the start of a line of the cache on: vectors that cross lines take twice as long."""
    room = np.zeros(n * EIGHT + 7)
    skip = -room.ctypes.data % 64 // 8
    return room[skip : skip + n * EIGHT].reshape(n, EIGHT)


@exact_kernel
def world(x, means, losses, d):
    """The tables as one flat array: for each context and arm d features, mean reward and loss; nothing for d = 0."""
    table = np.empty(means.size * (d + 2) if d > 0 else 0)
    for c in range(len(table) // (d + 2)):
        row = c * (d + 2)
        for i in range(d):
            table[row + i] = x[c * d + i]
        table[row + d], table[row + d + 1] = means[c], losses[c]
    return table


@exact_kernel
def count(arms, pulls, first, period, size, at_costly):
    """Add the pulls of a group that cost something to pulls (R, bins, K), and begin anew. Changes both."""
    K = pulls.shape[2]
    for i in range(len(arms) // size):
        for lane in range(EIGHT):
            r = first + i // K * EIGHT + lane
            if r < pulls.shape[0]:
                pulls[r, period, i % K] += np.uint32(arms[i * size + at_costly, lane])
            arms[i * size + at_costly, lane] = 0.0


@exact_kernel
def advance_lanes_2(block, knobs, marks, state, regret, curve, tally):
    """`lanes` for d = 2; so the next ones for 3, 4 and 5."""
    lanes(block, knobs[0], marks, state, regret, curve, tally, 2)


@exact_kernel
def advance_lanes_3(block, knobs, marks, state, regret, curve, tally):
    lanes(block, knobs[0], marks, state, regret, curve, tally, 3)


@exact_kernel
def advance_lanes_4(block, knobs, marks, state, regret, curve, tally):
    lanes(block, knobs[0], marks, state, regret, curve, tally, 4)


@exact_kernel
def advance_lanes_5(block, knobs, marks, state, regret, curve, tally):
    lanes(block, knobs[0], marks, state, regret, curve, tally, 5)


TWO: dict[int, Callable[..., None]] = {2: advance_lanes_2}
LANES = TWO if SHORT else TWO | {3: advance_lanes_3, 4: advance_lanes_4, 5: advance_lanes_5}
"""By the number of features, where they pay."""


def least(K: int) -> int:
    """From how many runs on a group is faster than the same runs one by one."""
    return 6 if SHORT or K > 5 else 3
