"""Several runs in one instruction: small linear problems, with the runs of a group in lockstep in the vector units.

What makes LLVM vectorise it: the inner loops go over L lanes, L a constant; all of an arm is in one array, `own`, at
constant offsets, so that nothing can overlap; tables are looked up in loops of their own, by `fixed` and `put`; and
every arm learns, with weight 0 or 1, instead of a branch. Where vectors hold two numbers only, as on arm64, that pays
for two features alone.

What makes it fast: on most processors with wide vectors nothing is gathered number by number, which is slow there. A
row of a table is copied as a whole for each lane, and then all rows are turned in the registers.

Runs alone (`families.linear`) do the same operations in the same order, and both are compiled in strict arithmetic: so
which runs are in lanes changes nothing, not even the last bit.
"""

import math
import platform
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from llvmlite.binding import get_host_cpu_name

from armspan.kernels._compile import config, exact_kernel, inlined
from armspan.kernels.choice import ROUNDING, break_tie
from armspan.kernels.draws import click
from armspan.kernels.hints import EIGHT, FOUR, apart, turn_block, wide, window

LOWEST = -1e300
SHORT = platform.machine().lower() in ("aarch64", "arm64")
"""Whether vectors hold two numbers only."""
GATHERS = SHORT or "rapids" in str(config.CPU_NAME or get_host_cpu_name())
"""Whether numbers are best gathered one by one: on arm64, and by Intel's processors since Sapphire Rapids."""
WIDE, NARROW = (16, 16) if SHORT else (32, 16)
"""Runs in a group: what an arm needs for all of them should fit into the nearest cache."""
TILE = 8 if GATHERS else 4
"""Steps whose draws are turned from one row per run to one row per step at a time. Four rows are turned by shuffles."""
of_tile, put_tile = apart("tile")
fixed, put = apart("arms")


@inlined
def entry(i, j):
    """Where an entry of a symmetric matrix is in its lower triangle, row by row; j <= i."""
    return i * (i + 1) // 2 + j


@inlined
def turn_directly(numbers, starts, t, n, tile, L):
    """The next n numbers of L runs, from step t on, as one row (L,) per step. Changes tile."""
    for lane in range(L):
        at = starts[lane] + t
        for ahead in range(TILE):  # beyond n the last one again, which nobody reads
            put_tile(tile, ahead * L + lane, of_tile(numbers, at + min(ahead, n - 1)))


@inlined
def turn_rows(numbers, starts, t, n, tile, L):
    """`turn_directly`, by turning blocks."""
    if n == TILE:
        for lane in range(0, L, EIGHT):
            turn_block(tile, lane, L, numbers, starts, lane, t)
    else:
        turn_directly(numbers, starts, t, n, tile, L)


@inlined
def look_up_directly(table, places, now, offset, own, at_x, width, L):
    """One row of the table for each lane, as one row (L,) of `own` per number. Changes own."""
    for lane in range(L):
        row = fixed(places, now + lane) + offset
        for i in range(width):
            put(own, at_x + i * L + lane, fixed(table, row + i))


@inlined
def look_up_rows(table, places, now, offset, own, at_x, width, L):
    """`look_up_directly`, by turning blocks: the first four numbers, and the last four if there are more."""
    for lane in range(0, L, EIGHT):
        turn_block(own, at_x + lane, L, table, places, now + lane, offset)
        if width > FOUR:
            more = width - FOUR
            turn_block(own, at_x + more * L + lane, L, table, places, now + lane, offset + more)


turn, look_up = (turn_directly, look_up_directly) if GATHERS else (turn_rows, look_up_rows)


@inlined
def lanes(block, alpha, marks, state, regret, curve, tally, d, L):
    """`life.live` of the linear family, for groups of L runs. Changes what that changes.

    The last group may be too small; its spare lanes repeat the last run, and what they find is left out.
    """
    wide()
    V, V_inv, b, theta_hat = state
    unit, clicks, R, K, bins = block.unit, block.clicks, block.runs.size, block.x.shape[1], tally.bins
    half = d * (d + 1) // 2
    at_inverse, at_b, at_theta, at_x = half * L, 2 * half * L, (2 * half + d) * L, (2 * half + 2 * d) * L
    at_mean, at_loss = at_x + d * L, at_x + (d + 1) * L  # beside the features, as in the table
    at_estimate, at_variance, at_index, at_costly = at_loss + L, at_loss + 2 * L, at_loss + 3 * L, at_loss + 4 * L
    at_z = at_loss + 5 * L
    size = at_z + d * L
    arms, table = aligned(K * size), world(block.x, block.means, block.losses)
    lost, noise, luck, best, second, tied = aligned(L), aligned(L), aligned(L), aligned(L), aligned(L), aligned(L)
    width, index, starts, B = d + 2, np.empty(K), np.empty(L, np.int64), block.noise.shape[1]
    draws, places = aligned(TILE * L), aligned(TILE * L).view(np.int64)
    contexts, noises = block.contexts.reshape(-1), block.noise.reshape(-1)
    for first in range(0, R, L):
        for lane in range(L):
            r = min(first + lane, R - 1)
            lost[lane], starts[lane] = regret[r], r * B
            for k in range(K):
                place = k * size + lane
                arms[place + at_costly] = 0.0
                for i in range(d):
                    arms[place + at_b + i * L], arms[place + at_theta + i * L] = b[r, k, i], theta_hat[r, k, i]
                    for j in range(i + 1):
                        arms[place + entry(i, j) * L] = V[r, k, i, j]
                        arms[place + at_inverse + entry(i, j) * L] = V_inv[r, k, i, j]
        start, period = 0, bins[0]
        for m in range(marks.size):
            for t in range(start, marks[m]):
                if bins[t] != period:
                    count(arms, tally.pulls, first, period, size, at_costly, L)
                    period = bins[t]
                now = (t - start) % TILE * L
                if now == 0:
                    n = min(TILE, marks[m] - t)
                    turn(contexts, starts, t, n, places, L)
                    turn(noises, starts, t, n, draws, L)
                    for i in range(TILE * L):
                        places[i] *= K * width
                for lane in range(L):
                    noise[lane], luck[lane], best[lane], second[lane] = draws[now + lane], 0.0, LOWEST, LOWEST
                for k in range(K):
                    own = window(arms, k * size, size)
                    look_up(table, places, now, k * width, own, at_x, width, L)
                    for lane in range(L):
                        mean, variance = 0.0, 0.0
                        for i in range(d):
                            x_i, total = own[at_x + i * L + lane], 0.0
                            for j in range(i):
                                total += own[at_inverse + entry(i, j) * L + lane] * own[at_x + j * L + lane]
                            variance += x_i * (2.0 * total + own[at_inverse + entry(i, i) * L + lane] * x_i)
                            mean += own[at_theta + i * L + lane] * x_i
                        value = mean + alpha[t] * math.sqrt(abs(variance))
                        own[at_estimate + lane], own[at_variance + lane], own[at_index + lane] = mean, variance, value
                        so_far, next_best = best[lane], second[lane]
                        behind = so_far if value > so_far else value
                        second[lane] = behind if behind > next_best else next_best
                        best[lane] = value if value > so_far else so_far
                ties = 0
                for lane in range(L):
                    tied[lane] = 0.0 if best[lane] - second[lane] > ROUNDING * (unit + abs(best[lane])) else 1.0
                    ties |= np.int64(tied[lane])
                if ties:
                    for lane in range(L):
                        if tied[lane] > 0.0:
                            for k in range(K):
                                index[k] = arms[k * size + at_index + lane]
                            run = block.runs[min(first + lane, R - 1)]
                            chosen = break_tie(index, best[lane], unit, block.seed, run, block.first + t)
                            for k in range(K):  # so that it alone is the best
                                arms[k * size + at_index + lane] = best[lane] if k == chosen else LOWEST
                for k in range(K):
                    own = window(arms, k * size, size)
                    for lane in range(L):
                        weight, loss = 1.0 if own[at_index + lane] == best[lane] else 0.0, own[at_loss + lane]
                        lost[lane] += weight * loss
                        own[at_costly + lane] += weight if loss > 0.0 else 0.0
                        mean, e = own[at_mean + lane], noise[lane]
                        e = click(e, mean) if clicks else e
                        y, gain = mean + e, weight * (1.0 / (1.0 + own[at_variance + lane]))
                        luck[lane] += weight * e
                        change = gain * (y - own[at_estimate + lane])
                        for i in range(d):
                            z_i = own[at_inverse + entry(i, i) * L + lane] * own[at_x + i * L + lane]
                            for j in range(i):
                                z_i += own[at_inverse + entry(i, j) * L + lane] * own[at_x + j * L + lane]
                            for j in range(i + 1, d):
                                z_i += own[at_inverse + entry(j, i) * L + lane] * own[at_x + j * L + lane]
                            own[at_z + i * L + lane] = z_i
                        for i in range(d):
                            x_i, z_i = own[at_x + i * L + lane], own[at_z + i * L + lane]
                            own[at_theta + i * L + lane] += change * z_i
                            own[at_b + i * L + lane] += weight * y * x_i
                            for j in range(i + 1):
                                own[at_inverse + entry(i, j) * L + lane] -= gain * z_i * own[at_z + j * L + lane]
                                own[entry(i, j) * L + lane] += weight * x_i * own[at_x + j * L + lane]
                if clicks:
                    for lane in range(min(L, R - first)):
                        block.noise[first + lane, t] = luck[lane]
            start = marks[m]
            for lane in range(min(L, R - first)):
                curve[first + lane, m] = lost[lane]
        count(arms, tally.pulls, first, period, size, at_costly, L)
        for lane in range(min(L, R - first)):
            r = first + lane
            regret[r] = lost[lane]
            for k in range(K):
                place = k * size + lane
                for i in range(d):
                    b[r, k, i], theta_hat[r, k, i] = arms[place + at_b + i * L], arms[place + at_theta + i * L]
                    for j in range(i + 1):
                        V[r, k, i, j] = arms[place + entry(i, j) * L]
                        V_inv[r, k, i, j] = arms[place + at_inverse + entry(i, j) * L]


@exact_kernel
def aligned(size):
    """Zeros from the start of a line of the cache on: vectors that cross lines take twice as long."""
    room = np.zeros(size + 7)
    skip = -room.ctypes.data % 64 // 8
    return room[skip : skip + size]


@exact_kernel
def world(x, means, losses):
    """The tables as one flat array: for each context and arm its features, mean reward and loss."""
    n, K, d = x.shape
    table = np.empty(n * K * (d + 2))
    for c in range(n):
        for k in range(K):
            row = (c * K + k) * (d + 2)
            for i in range(d):
                table[row + i] = x[c, k, i]
            table[row + d], table[row + d + 1] = means[c, k], losses[c, k]
    return table


@exact_kernel
def count(arms, pulls, first, period, size, at_costly, L):
    """Add the pulls of a group that cost something to pulls (R, bins, K), and begin anew. Changes both."""
    for k in range(pulls.shape[2]):
        for lane in range(min(L, pulls.shape[0] - first)):
            pulls[first + lane, period, k] += np.uint32(arms[k * size + at_costly + lane])
        for lane in range(L):
            arms[k * size + at_costly + lane] = 0.0


@exact_kernel
def advance_lanes_2(block, knobs, marks, state, regret, curve, tally):
    """`lanes` for d = 2; so the next ones for 3, 4 and 5."""
    lanes(block, knobs[0], marks, state, regret, curve, tally, 2, WIDE)


@exact_kernel
def advance_lanes_3(block, knobs, marks, state, regret, curve, tally):
    lanes(block, knobs[0], marks, state, regret, curve, tally, 3, WIDE)


@exact_kernel
def advance_lanes_4(block, knobs, marks, state, regret, curve, tally):
    lanes(block, knobs[0], marks, state, regret, curve, tally, 4, NARROW)


@exact_kernel
def advance_lanes_5(block, knobs, marks, state, regret, curve, tally):
    lanes(block, knobs[0], marks, state, regret, curve, tally, 5, NARROW)


class Lanes(NamedTuple):
    """A kernel, how many runs it takes together, and from how many on that is faster than one by one."""

    advance: Callable[..., None]
    runs: int
    least: int


TWO = {2: Lanes(advance_lanes_2, WIDE, 11 if SHORT else 10)}
MORE = {
    3: Lanes(advance_lanes_3, WIDE, 12),
    4: Lanes(advance_lanes_4, NARROW, 8),
    5: Lanes(advance_lanes_5, NARROW, 9),
}
LANES = TWO if SHORT else TWO | MORE
"""By the number of features, where they pay."""
