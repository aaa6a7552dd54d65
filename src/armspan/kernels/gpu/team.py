"""The fast kernel of larger linear problems: a team of threads, one warp, lives through a run.

V⁻¹ and θ̂ lie in the memory that the team shares. An arm's rows are dealt out to some of the threads, which multiply
them by the features: that gives z = V⁻¹x, and σ̂² = xᵀz. V and b, which only `rebuild_arm` reads, are added up in the
GPU's main memory, by additions that nobody waits for. Between launches all is kept as `forms.Team` says.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from armspan.kernels import draws, linear, sampling
from armspan.kernels.draws import BERNOULLI
from armspan.kernels.gpu import steps as of_steps
from armspan.kernels.gpu.forms import FAST, TEAM, Problem, layout
from armspan.kernels.gpu.steps import BOX, CHAIN, bin_of, take_down
from armspan.kernels.philox import LOW
from armspan.kernels.single import in_precision


@cache
def kernel(problem: Problem) -> Any:
    """The kernel for a problem; `arguments` says what it takes. The features of tables are flat."""
    family, K, d, _, source, noise, single, *_ = problem
    real, every, sampled = problem.real, family.every, FAST[family.name]
    two_steps, pick, click, draw_units, place = in_precision(
        single, of_steps.two_steps, draws.pick, draws.click, draws.draw_units, draws.place
    )
    best_of, smaller, moved, rebuild_arm, normal_of = in_precision(
        single, linear.best_of, linear.smaller, linear.moved, linear.rebuild_arm, sampling.normal_of
    )
    plan = layout(K, d)
    together, rows, turns, shape = plan.together, plan.rows, plan.turns, plan.shape
    threads, rounds, columns, size = turns * TEAM, -(-K * d // TEAM), -(-d // TEAM), turns * d * rows * TEAM
    fields, units, width_x = problem.per_arm, problem.units if source == BOX else 4, (d + 1) | 1
    additions = -(-fields // TEAM)
    LOWEST, ZERO, ONE, D = real(-np.inf), np.uint64(0), np.uint64(1), np.uint64(d)

    @cuda.jit(fastmath=single)
    def advance(told, world, carried, written, watched):
        seed, runs, scale, unit, ends, first, steps, (alpha,), marks = told
        totals, state = carried.knowledge[0]
        V_inv = cuda.shared.array(shape, real)  # each on a line of its own: the simulator tells them apart by it
        theta_hat = cuda.shared.array((K, width_x), real)
        x = cuda.shared.array((1, K, width_x), real)
        z = cuda.shared.array((K, width_x), real)
        u = cuda.shared.array(units, real)
        part_mean = cuda.shared.array(threads, real)
        part_form = cuda.shared.array(threads, real)
        index = cuda.shared.array(K, real)
        mean = cuda.shared.array(K, real)
        variance = cuda.shared.array(K, real)
        means = cuda.shared.array((1, K), real)
        losses = cuda.shared.array(K, np.float64)
        products, entries = cuda.local.array(rows, real), cuda.local.array(d, real)
        row_of, column_of = cuda.local.array(additions, np.uint32), cuda.local.array(additions, np.uint32)
        arm_of, feature_of = cuda.local.array(rounds, np.uint32), cuda.local.array(rounds, np.uint32)
        lane, r = np.uint32(cuda.threadIdx.x), np.uint32(cuda.blockIdx.x)
        own_arm, own_row = np.uint32(lane // together), np.uint32(lane % together * rows)
        for turn in range(rounds):  # which entry of x this thread copies, and below which of V and b it adds to
            arm_of[turn], feature_of[turn] = (turn * TEAM + lane) // d, (turn * TEAM + lane) % d
        for turn in range(additions):
            row_of[turn], column_of[turn] = 0, turn * TEAM + lane
            while column_of[turn] > row_of[turn] and row_of[turn] < d:
                row_of[turn], column_of[turn] = row_of[turn] + 1, column_of[turn] - row_of[turn] - 1
        for i in range(turns * d):
            for p in range(rows):
                V_inv[i, p, lane] = state[r, (i * rows + p) * TEAM + lane]
        for entry in range(lane, K * d, TEAM):
            theta_hat[entry // d, entry % d] = state[r, size + entry]
        cuda.syncthreads()
        run, row, total, noise_sum = runs[r], carried.at[r], carried.regret[r], carried.noise_sums[r]
        m, mark, start, bin_ = 0, marks[0], 0, np.int32(ends.size - 2)
        w, next_w, e, next_e = LOW, LOW, scale, scale
        while start < steps:
            stop = min(steps, start + every - (first + start) % every)
            for i in range(np.int32(start), np.int32(stop)):
                step, alpha_t = first + i, alpha[np.uint32(i)]
                if i & 1:
                    w, e = next_w, next_e
                else:
                    w, next_w, e, next_e = two_steps(noise, scale, seed, run, step)
                best, c = LOWEST, np.uint32(0)
                if source == BOX:
                    attempt, second = 0, real(0)
                    while best - second < world.gap:
                        draw_units(seed, run, step, attempt, u, lane, TEAM)
                        cuda.syncthreads()
                        for turn in range(turns):
                            k = np.uint32(turn * TEAM + lane)
                            if k < K:
                                place(world.low, world.high, world.theta, u, x, means, 0, k, d)
                        cuda.syncthreads()
                        best, second = LOWEST, LOWEST
                        for k in range(K):
                            second = max(second, min(best, means[0, k]))
                            best = max(best, means[0, k])
                        attempt += 1
                else:
                    c = np.uint32(pick(w, world.threshold, world.alias, row))
                    if source == CHAIN:
                        row = c
                    for turn in range(rounds):  # loops of a known length, which are unrolled
                        entry = np.uint32(turn * TEAM + lane)
                        if entry < K * d:
                            x[0, arm_of[turn], feature_of[turn]] = world.x[np.uint32(c * (K * d) + entry)]
                    for turn in range(turns):
                        k = np.uint32(turn * TEAM + lane)
                        if k < K:
                            means[0, k], losses[k] = world.means[c, k], world.losses[c, k]
                    cuda.syncthreads()
                for turn in range(turns):
                    k, has_arm = np.uint32(min(turn * TEAM + own_arm, K - 1)), turn * TEAM + own_arm < K
                    for p in range(rows):
                        products[p] = real(0)
                    j = ZERO
                    while j < D:  # which a GPU's compiler unrolls, unlike numba's range
                        for p in range(rows):
                            products[p] += V_inv[np.uint64(turn * d) + j, p, lane] * x[0, k, j]
                        j += ONE
                    estimate, form = real(0), real(0)
                    for p in range(rows):
                        q = np.uint32(own_row + p)
                        if has_arm and q < d:
                            z[k, q] = products[p]
                            form += products[p] * x[0, k, q]
                            estimate += theta_hat[k, q] * x[0, k, q]
                    part_mean[turn * TEAM + lane], part_form[turn * TEAM + lane] = estimate, form
                cuda.syncthreads()
                for turn in range(turns):
                    k = np.uint32(turn * TEAM + lane)
                    if k < K:
                        estimate, form = real(0), real(0)
                        for p in range(together):
                            estimate += part_mean[k * together + p]
                            form += part_form[k * together + p]
                        mean[k], variance[k] = estimate, form
                        width = alpha_t * math.sqrt(abs(form))
                        if sampled:
                            width *= normal_of(seed, run, step, k)
                        index[k] = estimate + width
                cuda.syncthreads()
                a = np.uint32(best_of(index, unit, seed, run, step, K))
                if noise == BERNOULLI:
                    e = click(e, means[0, a])
                y, width = means[0, a] + e, variance[a]
                error, from_row, from_lane = y - mean[a], a // TEAM * d, a % TEAM * together
                for turn in range(columns):
                    j = np.uint64(turn * TEAM + lane)
                    if j < d:
                        theta_hat[a, j] = moved(theta_hat[a, j], width, error, z[a, j])
                        for q in range(d):  # read all, then write all: else each write would hold up the next read
                            entry = V_inv[np.uint64(from_row + j), q % rows, np.uint64(from_lane + q // rows)]
                            entries[q] = smaller(entry, width, z[a, q], z[a, j])
                        for q in range(d):
                            V_inv[np.uint64(from_row + j), q % rows, np.uint64(from_lane + q // rows)] = entries[q]
                for turn in range(additions):
                    entry = np.uint32(turn * TEAM + lane)
                    if entry < fields:
                        value = y if row_of[turn] == d else x[0, a, row_of[turn]]
                        cuda.atomic.add(totals, (r, np.uint32(a * fields + entry)), value * x[0, a, column_of[turn]])
                loss = best - means[0, a] if source == BOX else losses[a]
                if lane == 0 and loss > 0:
                    bin_ = bin_of(step, bin_, ends)
                    cuda.atomic.add(written.suboptimal, (bin_, a, r), np.uint32(1))
                total += loss
                noise_sum += e
                cuda.syncthreads()
                if i == mark:
                    if lane == 0:
                        take_down(total, noise_sum, r, m, written)
                    m += 1
                    mark = marks[m]
            start = stop
            if (first + start) % every == 0:
                for k in range(lane, K, TEAM):
                    own_V, own_V_inv = cuda.local.array((1, d, d), real), cuda.local.array((1, d, d), real)
                    own_b, own_theta = cuda.local.array((1, d), real), cuda.local.array((1, d), real)
                    L, L_inv = cuda.local.array((d, d), real), cuda.local.array((d, d), real)
                    from_row, from_lane = k // TEAM * d, k % TEAM * together
                    for p in range(d):
                        own_b[0, p], own_theta[0, p] = totals[r, k * fields + fields - d + p], theta_hat[k, p]
                        for q in range(p + 1):
                            own_V[0, p, q] = totals[r, k * fields + p * (p + 1) // 2 + q]
                            own_V_inv[0, p, q] = V_inv[from_row + q, p % rows, from_lane + p // rows]
                    rebuild_arm(own_V, own_V_inv, own_b, own_theta, 0, L, L_inv, d)
                    for p in range(d):
                        theta_hat[k, p] = own_theta[0, p]
                        for q in range(p + 1):
                            V_inv[from_row + q, p % rows, from_lane + p // rows] = own_V_inv[0, p, q]
                            V_inv[from_row + p, q % rows, from_lane + q // rows] = own_V_inv[0, p, q]
                cuda.syncthreads()
        if lane == 0:
            carried.regret[r], carried.at[r], carried.noise_sums[r] = total, row, noise_sum
        for i in range(turns * d):
            for p in range(rows):
                state[r, (i * rows + p) * TEAM + lane] = V_inv[i, p, lane]
        for entry in range(lane, K * d, TEAM):
            state[r, size + entry] = theta_hat[entry // d, entry % d]

    return advance
