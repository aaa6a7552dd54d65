"""The CUDA engine's kernel for larger problems: a team of threads, one warp, lives through a run.

What is learnt lies in the memory that the team shares, V⁻¹ and V as triangles, entry after entry. A thread has every
32nd entry: its part of every arm's xᵀV⁻¹x, and of the update of the arm that is pulled.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from armspan.kernels.cuda import ARRIVALS, BOX, CHAIN, REBUILD, inner

TEAM = 32
MOST_BYTES = 48_000
"""What a team may share."""


def bytes_shared(K: int, d: int, single: bool) -> int:
    """How much memory a team shares."""
    sums, others = K * d * (d + 3) // 2, K * d * (d + 5) // 2 + scratch_size(K, d) + d + 4 * K
    return 8 * sums + (4 if single else 8) * others


def scratch_size(K: int, d: int) -> int:
    """Room for the random numbers of a step, or for every thread's part of every arm's width."""
    return max((K * d + 3) // 4 * 4, K * (TEAM + 1))


@cache
def kernel(K: int, d: int, source: int, noise: int, single: bool) -> Any:
    """Advance every run of a linear policy by some steps; arguments as of `cuda.kernel`."""
    real = np.float32 if single else np.float64
    f = inner(single)
    words, pick, noise_pair = f.words, f.pick, f.noise_pair
    draw_units, place, best_of = f.draw_units, f.place, f.best_of
    smaller, moved, rebuild_arm = f.smaller, f.moved, f.rebuild_arm
    entries, fields, units, scratch = d * (d + 1) // 2, d * (d + 3) // 2, (K * d + 3) // 4 * 4, scratch_size(K, d)
    rounds, LOWEST = -(-entries // TEAM), real(-np.inf)

    @cuda.jit(fastmath=single)
    def advance(
        seed, first, steps, runs, scale, ridge, alpha, marks, threshold, alias, x_table, means_table,
        losses_table, low, high, theta, gap, regret, sums, at, tally, totals, state, curve, noise_curve, keep_noise,
    ):  # fmt: skip
        V_inv = cuda.shared.array((K, entries), real)  # each on a line of its own: the simulator tells them apart by it
        V = cuda.shared.array((K, entries), np.float64)  # in doubles: these are long sums
        b = cuda.shared.array((K, d), np.float64)
        theta_hat = cuda.shared.array((K, d), real)
        x = cuda.shared.array((1, K, d), real)
        part = cuda.shared.array(scratch, real)
        z = cuda.shared.array(d, real)
        index = cuda.shared.array(K, real)
        mean = cuda.shared.array(K, real)
        variance = cuda.shared.array(K, real)
        means = cuda.shared.array((1, K), real)
        lane, r = cuda.threadIdx.x, cuda.blockIdx.x
        rows, columns = cuda.local.array(rounds, np.uint32), cuda.local.array(rounds, np.uint32)  # this thread's
        weights = cuda.local.array(rounds, real)
        inverses, grams = cuda.local.array(rounds, real), cuda.local.array(rounds, np.float64)
        for q in range(rounds):
            entry, i = min(lane + q * TEAM, entries - 1), 0
            while (i + 1) * (i + 2) // 2 <= entry:
                i += 1
            rows[q], columns[q] = i, entry - i * (i + 1) // 2
            weights[q] = real(1) if rows[q] == columns[q] else real(2)
            weights[q] = weights[q] if lane + q * TEAM < entries else real(0)
        for k in range(K):
            for j in range(lane, d, TEAM):
                b[k, j] = totals[k * fields + j, r] if first > 0 else 0.0
                theta_hat[k, j] = state[k * fields + j, r] if first > 0 else real(0)
            for q in range(rounds):
                entry, here = lane + q * TEAM, k * fields + d + lane + q * TEAM
                if entry < entries:
                    diagonal = real(1) if rows[q] == columns[q] else real(0)
                    V[k, entry] = totals[here, r] if first > 0 else ridge * diagonal
                    V_inv[k, entry] = state[here, r] if first > 0 else diagonal / ridge
        run, row, total = runs[r], at[r], regret[r]
        s0, s1, s2, s3 = sums[0, r], sums[1, r], sums[2, r], sums[3, r]
        m, mark = 0, marks[0]
        for i in range(0, steps, 2):
            alpha_0, alpha_1 = alpha[i], alpha[i + 1]
            w0, w1, w2, w3 = words(seed, run, (first + i) // 2, 0, ARRIVALS)
            e0, e1 = noise_pair(noise, w2, w3, scale)
            for half in range(2):
                if i + half < steps:
                    step = first + i + half
                    e, alpha_t = (e1, alpha_1) if half else (e0, alpha_0)
                    best, c = LOWEST, 0
                    if source == BOX:
                        attempt, second = 0, real(0)
                        while best - second < gap:
                            draw_units(seed, run, step, attempt, part[:units], lane, TEAM)
                            cuda.syncthreads()
                            for k in range(lane, K, TEAM):
                                place(low, high, theta, part, x, means, 0, k, d)
                            cuda.syncthreads()
                            best, second = LOWEST, LOWEST
                            for k in range(K):
                                second = max(second, min(best, means[0, k]))
                                best = max(best, means[0, k])
                            attempt += 1
                    else:
                        c = pick(w1 if half else w0, threshold, alias, row)
                        if source == CHAIN:
                            row = c
                        for k in range(K):
                            for j in range(lane, d, TEAM):
                                x[0, k, j] = x_table[c, k, j]
                        for k in range(lane, K, TEAM):
                            means[0, k] = means_table[c, k]
                        cuda.syncthreads()
                    for k in range(K):
                        form = real(0)
                        for q in range(rounds):
                            pair = weights[q] * x[0, k, rows[q]] * x[0, k, columns[q]]
                            form += V_inv[k, min(lane + q * TEAM, entries - 1)] * pair
                        part[k * (TEAM + 1) + lane] = form
                    cuda.syncthreads()
                    for k in range(lane, K, TEAM):
                        estimate, form = real(0), real(0)
                        for j in range(d):
                            estimate += theta_hat[k, j] * x[0, k, j]
                        for j in range(TEAM):
                            form += part[k * (TEAM + 1) + j]
                        mean[k], variance[k] = estimate, form
                        index[k] = estimate + alpha_t * math.sqrt(abs(form))
                    cuda.syncthreads()
                    a = best_of(index, seed, run, step, K)
                    y, width, error = means[0, a] + e, variance[a], means[0, a] + e - mean[a]
                    for j in range(lane, d, TEAM):
                        form = real(0)
                        for k in range(d):
                            upper, lower = max(j, k), min(j, k)
                            form += V_inv[a, upper * (upper + 1) // 2 + lower] * x[0, a, k]
                        z[j] = form
                    cuda.syncthreads()
                    for q in range(rounds):
                        # read all, then write all: otherwise each write would hold up the next read
                        entry = min(lane + q * TEAM, entries - 1)
                        inverses[q] = smaller(V_inv[a, entry], width, z[rows[q]], z[columns[q]])
                        grams[q] = V[a, entry] + x[0, a, rows[q]] * x[0, a, columns[q]]
                    for q in range(rounds):
                        if lane + q * TEAM < entries:
                            V_inv[a, lane + q * TEAM], V[a, lane + q * TEAM] = inverses[q], grams[q]
                    for j in range(lane, d, TEAM):
                        theta_hat[a, j] = moved(theta_hat[a, j], width, error, z[j])
                        b[a, j] += y * x[0, a, j]
                    if source == BOX:
                        total += best - means[0, a]
                    else:
                        total += losses_table[c, a]
                    cuda.syncthreads()
                    if half:
                        s1 += e
                    else:
                        s0 += e
                    if i + half + 1 == mark:
                        if lane == 0:
                            curve[r, m] = total
                            if keep_noise:
                                noise_curve[r, m] = s2 + s3 + s0 + s1 if i & 2 else s0 + s1 + s2 + s3
                        m += 1
                        mark = marks[m]
            s0, s1, s2, s3 = s2, s3, s0, s1
            if (first + i + 2) % REBUILD == 0:
                for k in range(lane, K, TEAM):
                    own_V, own_V_inv = cuda.local.array((1, d, d), real), cuda.local.array((1, d, d), real)
                    own_b, own_theta = cuda.local.array((1, d), real), cuda.local.array((1, d), real)
                    L, L_inv = cuda.local.array((d, d), real), cuda.local.array((d, d), real)
                    for p in range(d):
                        own_b[0, p], own_theta[0, p] = b[k, p], theta_hat[k, p]
                        for q in range(p + 1):
                            own_V[0, p, q] = V[k, p * (p + 1) // 2 + q]
                            own_V_inv[0, p, q] = V_inv[k, p * (p + 1) // 2 + q]
                    rebuild_arm(own_V, own_V_inv, own_b, own_theta, 0, L, L_inv, d)
                    for p in range(d):
                        theta_hat[k, p] = own_theta[0, p]
                        for q in range(p + 1):
                            V_inv[k, p * (p + 1) // 2 + q] = own_V_inv[0, p, q]
                cuda.syncthreads()
        if lane == 0:
            regret[r], at[r] = total, row
            sums[0, r], sums[1, r], sums[2, r], sums[3, r] = s0, s1, s2, s3
        for k in range(K):
            for j in range(lane, d, TEAM):
                totals[k * fields + j, r], state[k * fields + j, r] = b[k, j], theta_hat[k, j]
            for j in range(lane, entries, TEAM):
                totals[k * fields + d + j, r], state[k * fields + d + j, r] = V[k, j], V_inv[k, j]

    return advance
