"""The fast kernel of the linear families: a thread lives through a run, and what it learns stays in registers.

It is made for a number of arms and features, so that loops are unrolled; what is too much for registers is in the
thread's own memory. Between launches it is kept as `forms.Registers` says.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from armspan.kernels import draws, linear, sampling
from armspan.kernels._compile import inlined
from armspan.kernels.draws import BERNOULLI
from armspan.kernels.events import begin_frame, begins_frame, count_step, is_missed, meta_region, rarest_of
from armspan.kernels.families.linear import LinearState
from armspan.kernels.gpu import steps as of_steps
from armspan.kernels.gpu.arguments import Drawn, Table
from armspan.kernels.gpu.forms import FAST, Problem
from armspan.kernels.gpu.steps import BOX, CHAIN, count_pull, take_down
from armspan.kernels.philox import LOW
from armspan.kernels.single import in_precision

FLUSH = 256
"""Steps after which V and b of single precision are added to the doubles in `totals`: a long sum would lose what it
adds."""
MOST_REGISTERS, MOST_SUMS = 144, 24
"""Up to how many registers of V⁻¹ and θ̂, or numbers of V and b, an arm is picked by comparing, not by its address:
only then can they stay in registers."""
MOST_SHARED = 32_768
"""Bytes of tables that a block of threads keeps in the memory which it shares."""


@cache
def kernel(problem: Problem, *, few: bool) -> Any:
    """The kernel for a problem; `arguments` says what it takes.

    few : so few runs that a step's latency counts, not the number of its instructions.
    """
    family, K, d, n, source, noise, single, watching, *_ = problem
    real, every = problem.real, family.every
    two_steps, arrive, click, choose = in_precision(
        single,
        of_steps.two_steps,
        of_steps.arrive,
        draws.click,
        sampling.choose if FAST[family.name] else linear.choose,
    )
    learn, products, refine, record, rebuild_arm = in_precision(
        single, linear.learn, linear.products, linear.refine, linear.record, linear.rebuild_arm
    )
    learnt = K * problem.per_arm
    in_registers, sums_too = learnt * (1 if single else 2) <= MOST_REGISTERS, learnt <= MOST_SUMS
    D = d if in_registers else np.uint64(d)  # an unsigned index needs no check for counting from the end
    part = FLUSH if single else every
    units, rows = problem.units, n + 1 if source == CHAIN else 1
    shared = source != BOX and 8 * n * (K * d + 2 * K + 2 * rows) <= MOST_SHARED

    @inlined
    def share(world):
        """The tables, copied to the memory which a block of threads shares."""
        x = cuda.shared.array((n, K, d), real)  # each on a line of its own: the simulator tells them apart by it
        means = cuda.shared.array((n, K), real)
        losses = cuda.shared.array((n, K), np.float64)
        threshold = cuda.shared.array((rows, n), np.uint64)
        alias = cuda.shared.array((rows, n), np.int64)
        for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
            for k in range(K):
                means[i, k], losses[i, k] = world.means[i, k], world.losses[i, k]
                for j in range(d):
                    x[i, k, j] = world.x[i, k, j]
            for j in range(rows):
                threshold[j, i], alias[j, i] = world.threshold[j, i], world.alias[j, i]
        cuda.syncthreads()
        return Table(threshold, alias, x, means, losses)

    @inlined
    def load(own, state, r):
        """Go on where the last launch has ended. Changes own."""
        field = 0
        for k in range(K):
            for i in range(d):
                own.theta_hat[k, i], own.b[k, i] = state[field, r], state[learnt + field, r]
                field += 1
                for j in range(i + 1):
                    own.V_inv[k, i, j], own.V[k, i, j] = state[field, r], state[learnt + field, r]
                    field += 1

    @inlined
    def save(own, state, r):
        """Keep it for the next launch. Changes state."""
        field = 0
        for k in range(K):
            for i in range(d):
                state[field, r], state[learnt + field, r] = own.theta_hat[k, i], own.b[k, i]
                field += 1
                for j in range(i + 1):
                    state[field, r], state[learnt + field, r] = own.V_inv[k, i, j], own.V[k, i, j]
                    field += 1

    @inlined
    def flush(own, totals, r):
        """Add V and b to the totals, and begin them anew. Changes both."""
        field = 0
        for k in range(K):
            for p in range(d):
                totals[field, r] += own.b[k, p]
                own.b[k, p] = real(0)
                field += 1
                for q in range(p + 1):
                    totals[field, r] += own.V[k, p, q]
                    own.V[k, p, q] = real(0)
                    field += 1

    @inlined
    def rebuild(own, one, totals, r, L, L_inv):
        """V⁻¹ and θ̂ afresh from the totals, arm by arm. Changes own; one, L and L_inv are scratch."""
        field = 0
        for k in range(K):
            for p in range(d):
                one.b[0, p], one.theta_hat[0, p] = totals[field, r], own.theta_hat[k, p]
                field += 1
                for q in range(p + 1):
                    one.V[0, p, q], one.V_inv[0, p, q] = totals[field, r], own.V_inv[k, p, q]
                    field += 1
            rebuild_arm(one.V, one.V_inv, one.b, one.theta_hat, 0, L, L_inv, d)
            for p in range(d):
                own.theta_hat[k, p] = one.theta_hat[0, p]
                for q in range(p + 1):
                    own.V_inv[k, p, q] = one.V_inv[0, p, q]

    @inlined
    def learn_by_comparing(own, one, one_x, a, here, c, e, mean, variance, z):
        """Learn from arm a and return the noise; nothing is read by its address, so that all stays in registers.

        Read before you compare: where k equals a, it would be read by its address. Changes own; the rest is scratch.
        """
        at_once = np.uint32(0) if few else a  # what is shared, by comparing or by its address
        y, own_mean, own_variance = here.means[c, at_once], mean[0], variance[0]
        for p in range(d):
            one_x[0, 0, p], one.theta_hat[0, p] = here.x[c, at_once, p], own.theta_hat[0, p]
            for q in range(p + 1):
                one.V_inv[0, p, q] = own.V_inv[0, p, q]
        for k in range(1, K):
            value, other = mean[k], variance[k]
            own_mean, own_variance = (value, other) if k == a else (own_mean, own_variance)
            if few:
                value = here.means[c, k]
                y = value if k == a else y
            for p in range(d):
                if few:
                    value, other = here.x[c, k, p], one_x[0, 0, p]
                    one_x[0, 0, p] = value if k == a else other
                value, other = own.theta_hat[k, p], one.theta_hat[0, p]
                one.theta_hat[0, p] = value if k == a else other
                for q in range(p + 1):
                    value, other = own.V_inv[k, p, q], one.V_inv[0, p, q]
                    one.V_inv[0, p, q] = value if k == a else other
        if noise == BERNOULLI:
            e = click(e, y)
        y += e
        products(one.V_inv, 0, one_x, 0, z, d)
        refine(one.V_inv, one.theta_hat, 0, y, own_mean, own_variance, z, d)
        if not sums_too:
            record(own.V, own.b, a, one_x, 0, 0, real(1), y, d)
        for k in range(K):
            if sums_too:
                record(own.V, own.b, k, one_x, 0, 0, real(1) if k == a else real(0), y, d)
            for p in range(d):
                value, other = one.theta_hat[0, p], own.theta_hat[k, p]
                own.theta_hat[k, p] = value if k == a else other
                for q in range(p + 1):
                    value, other = one.V_inv[0, p, q], own.V_inv[k, p, q]
                    own.V_inv[k, p, q] = value if k == a else other
        return e

    @inlined
    def learn_by_address(own, one, one_x, a, here, c, e, mean, variance, z):
        """The same where there is too much for registers."""
        if noise == BERNOULLI:
            e = click(e, here.means[c, a])
        y = here.means[c, a] + e
        learn(own.V, own.V_inv, own.b, own.theta_hat, np.int64(a), here.x, c, y, mean[a], variance[a], z, D)
        return e

    learn_here = learn_by_comparing if in_registers else learn_by_address

    @inlined
    def watch(watched, r, t, here, c, a, alpha, mean, variance):
        """Count the events of step t. Changes what is counted."""
        misses, region = 0, c
        for k in range(K):
            misses += is_missed(mean[k], here.means[c, k], alpha * math.sqrt(abs(variance[k])))
        if source == BOX:
            region = meta_region(here.x, here.losses, 0, watched.bases, watched.units, watched.radius, K, d)
        count_step(watched.counted, r, t, region, a, here.losses[c, a], misses)

    @inlined
    def take_down_events(watched, own, totals, r, m):
        """What events have at a mark: V, and the rarest pulls. Changes grams and rarest."""
        field = 0
        for k in range(K):
            watched.rarest[r, m, k] = rarest_of(watched.counted, r, k)
            for p in range(d):
                field += 1
                for q in range(p + 1):
                    watched.grams[r, m, k, p, q] = totals[field, r] + own.V[k, p, q]
                    field += 1

    @cuda.jit(fastmath=single)
    def advance(told, world, carried, written, watched):
        seed, runs, scale, unit, ends, first, steps, (alpha,), marks = told
        here = share(world) if shared else world
        r = cuda.grid(1)
        if r >= runs.size:
            return
        if source == BOX:
            x, means = cuda.local.array((1, K, d), real), cuda.local.array((1, K), real)
            losses, u = cuda.local.array((1, K), real), cuda.local.array(units, real)
            here = Drawn(x, means, losses, u)
        V, b = cuda.local.array((K, d, d), real), cuda.local.array((K, d), real)
        V_inv, theta_hat = cuda.local.array((K, d, d), real), cuda.local.array((K, d), real)
        one_V, one_b = cuda.local.array((1, d, d), real), cuda.local.array((1, d), real)
        one_V_inv, one_theta = cuda.local.array((1, d, d), real), cuda.local.array((1, d), real)
        own, one = LinearState(V, V_inv, b, theta_hat), LinearState(one_V, one_V_inv, one_b, one_theta)
        index, mean, variance = cuda.local.array(K, real), cuda.local.array(K, real), cuda.local.array(K, real)
        one_x, z = cuda.local.array((1, 1, d), real), cuda.local.array(d, real)
        L, L_inv = cuda.local.array((d, d), real), cuda.local.array((d, d), real)
        totals, state = carried.knowledge[0]
        load(own, state, r)
        run, row, total, noise_sum = runs[r], carried.at[r], carried.regret[r], carried.noise_sums[r]
        m, mark, start, bin_ = 0, marks[0], 0, np.int32(ends.size - 2)
        w, next_w, e, next_e = LOW, LOW, scale, scale
        while start < steps:
            stop = min(steps, start + part - (first + start) % part)
            for i in range(np.int32(start), np.int32(stop)):  # in 32 bits, and below unsigned: a GPU counts faster so
                step, alpha_t = first + i, alpha[np.uint32(i)]
                if i & 1:
                    w, e = next_w, next_e
                else:
                    w, next_w, e, next_e = two_steps(noise, scale, seed, run, step)
                c, row = arrive(source, w, row, seed, run, step, world, here, K, d)
                if watching and begins_frame(step + 1):
                    begin_frame(watched.counted, r, K)
                a = np.uint32(
                    choose(V_inv, theta_hat, here.x, c, alpha_t, index, mean, variance, unit, seed, run, step, K, D)
                )
                if watching:
                    watch(watched, r, step + 1, here, c, a, alpha_t, mean, variance)
                e = learn_here(own, one, one_x, a, here, c, e, mean, variance, z)
                loss = here.losses[c, a]
                bin_ = count_pull(loss, step, a, r, bin_, ends, written.suboptimal)
                total += loss
                noise_sum += e
                if i == mark:
                    take_down(total, noise_sum, r, m, written)
                    if watching:
                        take_down_events(watched, own, totals, r, m)
                    m += 1
                    mark = marks[m]
            start = stop
            if (first + start) % part == 0:
                flush(own, totals, r)
            if (first + start) % every == 0:
                rebuild(own, one, totals, r, L, L_inv)
        carried.regret[r], carried.at[r], carried.noise_sums[r] = total, row, noise_sum
        save(own, state, r)

    return advance
