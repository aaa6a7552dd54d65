"""UCB for each context on its own, with eight runs at a time in the vector units; see `lanes`.

What a run knows of a context lies in one row: sum of rewards and pulls, arm by arm, as do mean reward and loss in the
table. Four numbers of eight rows are turned in the registers, and written back the same way.
"""

import numpy as np

from armspan.kernels._compile import exact_kernel
from armspan.kernels.choice import ROUNDING
from armspan.kernels.counts import UNTRIED
from armspan.kernels.hints import wide
from armspan.kernels.lanes import (
    LOWEST,
    MOST_GROUPS,
    SHORT,
    TILE,
    count,
    rows_of_eight,
    take_down,
    toss,
    turn_both,
    write_noise,
)
from armspan.kernels.vectors import EIGHT, FOUR, all_of, eight, get, hand_out, magnitude, pick, put, root, turn_block

MOST_ARMS, LEAST = 2 if SHORT else 8, 6
"""With more arms, or fewer runs, all arms' learning costs as much as what is gained."""
STEPS_PER_CONTEXT = 16
"""So many steps of a block for each context: what is known is put into rows before a block, and taken back after it."""


@exact_kernel
def advance_counts_in_lanes(block, knobs, marks, state, regret, curve, tally):
    """`life.live` of the family `counts`, for groups of eight runs. Changes what that changes."""
    wide()
    pulls, reward_sums = state
    alpha, R, bins, (n, K) = knobs[0], block.runs.size, tally.bins, block.means.shape
    pairs = (K + 1) // 2
    G, W = min(MOST_GROUPS, (R + EIGHT - 1) // EIGHT), pairs * FOUR
    L = G * EIGHT
    known, table, index = np.empty(L * n * W), np.zeros(n * W), np.empty(K)
    for c in range(n):
        for k in range(K):
            table[c * W + 2 * k], table[c * W + 2 * k + 1] = block.means[c, k], block.losses[c, k]
    own, told, indices, costly = rows_of_eight(G * W), rows_of_eight(G * W), rows_of_eight(G * K), rows_of_eight(G * K)
    lost, leading, found, draws = rows_of_eight(G), rows_of_eight(G), rows_of_eight(2), rows_of_eight(TILE * G)
    starts, places = rows_of_eight(G).view(np.int64), rows_of_eight(TILE * G).view(np.int64)
    kept_at = rows_of_eight(TILE * G).view(np.int64)
    contexts, noises, B = block.contexts.reshape(-1), block.noise.reshape(-1), block.noise.shape[1]
    one, none, untried = eight(1.0), eight(0.0), eight(UNTRIED)
    for first in range(0, R, L):
        groups = min(G, (R - first + EIGHT - 1) // EIGHT)
        for run in range(L):
            r = min(first + run, R - 1)
            lost[run // EIGHT, run % EIGHT], starts[run // EIGHT, run % EIGHT] = regret[r], r * B
            for c in range(n):
                for k in range(K):
                    at = (run * n + c) * W + 2 * k
                    known[at], known[at + 1] = reward_sums[r, c, k], pulls[r, c, k]
        start, period = 0, bins[0]
        for m in range(marks.size):
            for t in range(start, marks[m]):
                if bins[t] != period:
                    count(costly, tally.pulls, first, period, 1, 0)
                    period = bins[t]
                now = (t - start) % TILE * G
                if now == 0:
                    turn_both(contexts, places, noises, draws, starts, t, marks[m], G)
                    for row in range(TILE * G):
                        for lane in range(EIGHT):
                            places[row, lane] *= W
                            kept_at[row, lane] = places[row, lane] + (row % G * EIGHT + lane) * n * W
                for g in range(groups):
                    best, second = eight(LOWEST), eight(LOWEST)
                    for pair in range(pairs):
                        turn_block(own, g * W + pair * FOUR, 1, known, kept_at, now + g, pair * FOUR)
                        turn_block(told, g * W + pair * FOUR, 1, table, places, now + g, pair * FOUR)
                    for k in range(K):
                        total, tried = get(own, g * W + 2 * k), get(own, g * W + 2 * k + 1)
                        divisor = pick(tried > none, tried, one)
                        value = pick(tried > none, total / divisor + alpha[t] / root(divisor), untried)
                        put(indices, g * K + k, value)
                        leads = value > best
                        behind = pick(leads, best, value)
                        best, second = pick(leads, value, best), pick(behind > second, behind, second)
                    put(leading, g, best)
                    clear = best - second > ROUNDING * (block.unit + magnitude(best))
                    if not all_of(clear):
                        put(found, 0, pick(clear, none, one))
                        put(found, 1, best)
                        toss(found, indices, g * K, 1, index, block, first + g * EIGHT, t)
                for g in range(groups):
                    noise, luck, total_loss = get(draws, now + g), eight(0.0), get(lost, g)
                    best = get(leading, g)
                    for k in range(K):
                        row = g * W + 2 * k
                        weight, mean = pick(get(indices, g * K + k) == best, one, none), get(told, row)
                        loss = get(told, row + 1)
                        total_loss += weight * loss
                        put(costly, g * K + k, get(costly, g * K + k) + pick(loss > none, weight, none))
                        e = pick(noise < mean, one, none) - mean if block.clicks else noise
                        luck += weight * e
                        put(own, row, get(own, row) + weight * (mean + e))
                        put(own, row + 1, get(own, row + 1) + weight)
                    for pair in range(pairs):
                        hand_out(known, kept_at, now + g, pair * FOUR, own, g * W + pair * FOUR, 1)
                    put(lost, g, total_loss)
                    if block.clicks:
                        put(found, 0, luck)
                        write_noise(found, block.noise, first + g * EIGHT, t)
            start = marks[m]
            take_down(lost, curve, first, m)
        count(costly, tally.pulls, first, period, 1, 0)
        for run in range(min(L, R - first)):
            regret[first + run] = lost[run // EIGHT, run % EIGHT]
            for c in range(n):
                for k in range(K):
                    at = (run * n + c) * W + 2 * k
                    reward_sums[first + run, c, k], pulls[first + run, c, k] = known[at], int(known[at + 1])
