"""The CUDA engine's kernel: a thread lives through a run, by the same inner functions as the CPU.

It is made for a number of arms and features, so that loops are unrolled and what is learnt stays in registers or in the
thread's own memory. Between launches that is kept in arrays whose last axis is the run.
"""

import math
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import cuda

from armspan.kernels import counts, draws, events, linear, philox, sampling
from armspan.kernels.single import in_single

TABLE, CHAIN, BOX = 0, 1, 2
"""Where contexts come from: a table, a table by a Markov chain, or a box."""
LINEAR, COUNTS, SAMPLED = 0, 1, 2
"""What a policy learns: an estimate per arm, or a mean per arm and context; or the first, and it draws its indices."""
REBUILD = linear.REBUILD
FLUSH = 256
"""Steps after which V and b of single precision are added to the doubles in `totals`: a long sum would lose what it
adds."""
MOST_REGISTERS, MOST_SUMS = 144, 24
"""Up to how many registers of V⁻¹ and θ̂, or numbers of V and b, an arm is picked by comparing, not by its address:
only then can they stay in registers."""
MOST_SHARED = 32_768
"""Bytes of tables that a block of threads keeps in the memory which it shares."""
ARRIVALS, LOW, BERNOULLI = philox.ARRIVALS, philox.LOW, draws.BERNOULLI


@cache
def inner(single: bool) -> Any:
    """The functions that both engines share, in the precision asked for."""
    shared = {
        philox: ("words",),
        draws: ("pick", "noise_pair", "click", "features", "draw_units", "place"),
        linear: (
            *("choose", "learn", "products", "refine", "record", "rebuild_arm"),
            *("best_of", "smaller", "moved"),
        ),
        events: ("begin_frame", "event_of", "rarest_of", "meta_region"),
    }
    functions = {name: getattr(room, name) for room, names in shared.items() for name in names}
    functions |= {"choose_by_count": counts.choose, "choose_sampled": sampling.choose, "normal_of": sampling.normal_of}
    done: dict[Any, Any] = {}
    return SimpleNamespace(**{name: in_single(f, done) if single else f for name, f in functions.items()})


@cache
def kernel(
    K: int, d: int, n: int, policy: int, source: int, noise: int, single: bool, few: bool, watching: bool = False
) -> Any:
    """Advance every run of a policy by some steps; K arms, d features, n contexts.

    few : so few runs that a step's latency counts, not the number of its instructions. watching : count the events of
    `events` too, of a linear policy. Of what is returned:

    seed, first, steps : the random stream, the first step from 0 (a multiple of 4), and how many. runs : (R,). unit :
    how large rewards are, roughly. alpha : (steps,) exploration of each step.
    marks : (M,) steps of the launch, from 0, after which curve (R, M) takes down the pseudo-regret and noise_curve the
    noise; the last mark is beyond the steps. threshold, alias, x, means, losses : tables as in `draws` and `Block`.
    low, high, theta, gap : the box. regret, noise_sums, at : (R,) and, with an entry for each number that is learnt,
    tally, totals (V and b, or sums of rewards, in doubles) and state (V⁻¹ and θ̂, then what is not in totals yet) :
    (…, R) go on in the next launch, so that its length changes nothing.
    ends : (B + 1,) edges of the bins of time, from the horizon down. suboptimal : (B, K, R) pulls that cost something.
    watched : where watching, `EventCounts`, the bases, units and radius of `meta_region` for a box, and grams and
    rarest as of `advance_counting`; else False.
    """
    real = np.float32 if single else np.float64
    f = inner(single)
    words, pick, noise_pair, click, features = f.words, f.pick, f.noise_pair, f.click, f.features
    choose = f.choose_sampled if policy == SAMPLED else f.choose
    learn, products, refine, record = f.learn, f.products, f.refine, f.record
    rebuild_arm, choose_by_count = f.rebuild_arm, f.choose_by_count
    begin_frame, event_of, rarest_of, meta_region = f.begin_frame, f.event_of, f.rarest_of, f.meta_region
    learnt = K * d * (d + 3) // 2
    in_registers = policy != COUNTS and learnt * (1 if single else 2) <= MOST_REGISTERS
    sums_too = learnt <= MOST_SUMS
    D = d if in_registers else np.uint64(d)  # an unsigned index needs no check for counting from the end
    block = FLUSH if single else REBUILD
    scratch, rows = (K * d + 3) // 4 * 4, n + 1 if source == CHAIN else 1
    shared = source != BOX and 8 * n * (K * d + 2 * K + 2 * rows) <= MOST_SHARED

    @cuda.jit(fastmath=single)
    def advance(
        seed, first, steps, runs, scale, ridge, unit, alpha, marks, threshold_table, alias_table, x_table, means_table,
        losses_table, low, high, theta, gap, regret, noise_sums, at, tally, totals, state, curve, noise_curve,
        keep_noise, ends, suboptimal, watched,
    ):  # fmt: skip
        if watching:
            counted, bases, unit_bases, radius, grams, rarest = watched
        if shared:
            x = cuda.shared.array((n, K, d), real)  # each on a line of its own: the simulator tells them apart by it
            means = cuda.shared.array((n, K), real)
            losses = cuda.shared.array((n, K), np.float64)
            threshold = cuda.shared.array((rows, n), np.uint64)
            alias = cuda.shared.array((rows, n), np.int64)
            for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
                for k in range(K):
                    means[i, k], losses[i, k] = means_table[i, k], losses_table[i, k]
                    for j in range(d):
                        x[i, k, j] = x_table[i, k, j]
                for j in range(rows):
                    threshold[j, i], alias[j, i] = threshold_table[j, i], alias_table[j, i]
            cuda.syncthreads()
        elif source == BOX:
            x, u = cuda.local.array((1, K, d), real), cuda.local.array(scratch, real)
            means, losses = cuda.local.array((1, K), real), cuda.local.array((1, K), real)
        else:
            x, means, losses, threshold, alias = x_table, means_table, losses_table, threshold_table, alias_table
        r = cuda.grid(1)
        if r >= runs.size:
            return
        index = cuda.local.array(K, real)
        if policy != COUNTS:
            V, b = cuda.local.array((K, d, d), real), cuda.local.array((K, d), real)
            V_inv, theta_hat = cuda.local.array((K, d, d), real), cuda.local.array((K, d), real)
            mean, variance = cuda.local.array(K, real), cuda.local.array(K, real)
            z, L, L_inv = cuda.local.array(d, real), cuda.local.array((d, d), real), cuda.local.array((d, d), real)
            own_V_inv, own_theta = cuda.local.array((1, d, d), real), cuda.local.array((1, d), real)
            own_x, whole_V, whole_b = (
                cuda.local.array((1, 1, d), real), cuda.local.array((1, d, d), real), cuda.local.array((1, d), real)
            )  # fmt: skip
            field = 0
            for k in range(K):
                for i in range(d):
                    if first == 0:
                        totals[field, r], state[field, r], state[learnt + field, r] = 0.0, real(0), real(0)
                    theta_hat[k, i], b[k, i] = state[field, r], state[learnt + field, r]
                    field += 1
                    for j in range(i + 1):
                        if first == 0:
                            totals[field, r] = ridge if i == j else real(0)
                            state[field, r] = real(1) / ridge if i == j else real(0)
                            state[learnt + field, r] = real(0)
                        V_inv[k, i, j], V[k, i, j] = state[field, r], state[learnt + field, r]
                        field += 1
        else:
            pulls, reward_sums = cuda.local.array((n, K), np.int64), cuda.local.array((n, K), np.float64)
            for i in range(n):
                for k in range(K):
                    pulls[i, k] = tally[i * K + k, r] if first > 0 else 0
                    reward_sums[i, k] = totals[i * K + k, r] if first > 0 else 0.0
        run, row, total, noise_sum = runs[r], at[r], regret[r], noise_sums[r]
        m, mark, start, bin_ = 0, marks[0], 0, np.int32(ends.size - 2)
        w, e, next_w, next_e = LOW, scale, LOW, scale
        while start < steps:
            stop = min(steps, start + block - (first + start) % block)
            for i in range(np.int32(start), np.int32(stop)):  # in 32 bits, and below unsigned: a GPU counts faster so
                step, alpha_t = first + i, alpha[np.uint32(i)]
                if i & 1:
                    w, e = next_w, next_e
                else:  # a call for two steps
                    w, next_w, w2, w3 = words(seed, run, step >> 1, 0, ARRIVALS)
                    e, next_e = noise_pair(noise, w2, w3, scale)
                if source == BOX:
                    c = np.uint32(0)
                    features(seed, run, step, low, high, theta, gap, u, x, means, losses, 0, K, d)
                else:
                    c = np.uint32(pick(w, threshold, alias, row))
                    if source == CHAIN:
                        row = c
                if watching and step > 0 and (step + 1) & step == 0:
                    begin_frame(
                        counted.needed, counted.p, counted.pulls, counted.arrivals, counted.bad, counted.frame,
                        counted.irregular, counted.clouded, r, K,
                    )  # fmt: skip
                if policy != COUNTS:
                    a = np.uint32(
                        choose(V_inv, theta_hat, x, c, alpha_t, index, mean, variance, unit, seed, run, step, K, D)
                    )
                    if watching:
                        misses = 0
                        for k in range(K):
                            misses += abs(mean[k] - means[c, k]) > alpha_t * math.sqrt(abs(variance[k]))
                        region = meta_region(x, losses, 0, bases, unit_bases, radius, K, d) if source == BOX else c
                        frame, loss = counted.frame[r], losses[c, a]
                        event = event_of(counted.irregular, counted.clouded, r, frame, misses)
                        if event < 3 or loss > 0:
                            counted.steps[r, frame, event] += 1
                            counted.regret[r, frame, event] += loss
                        counted.misses[r, frame] += misses
                        counted.bad[r] += misses > 0
                        counted.arrivals[r, region] += 1
                        counted.pulls[r, frame, region, a] += 1
                        counted.good_pulls[r, region, a] += misses == 0
                        if loss > 0:
                            counted.last[r] = step + 1
                    if in_registers:  # read before you compare: where k equals a, it would be read by its address
                        at_once = np.uint32(0) if few else a  # what is shared, by comparing or by its address
                        y, own_mean, own_variance = means[c, at_once], mean[0], variance[0]
                        for p in range(d):
                            own_x[0, 0, p], own_theta[0, p] = x[c, at_once, p], theta_hat[0, p]
                            for q in range(p + 1):
                                own_V_inv[0, p, q] = V_inv[0, p, q]
                        for k in range(1, K):
                            value, other = mean[k], variance[k]
                            own_mean, own_variance = (value, other) if k == a else (own_mean, own_variance)
                            if few:
                                value = means[c, k]
                                y = value if k == a else y
                            for p in range(d):
                                if few:
                                    value, other = x[c, k, p], own_x[0, 0, p]
                                    own_x[0, 0, p] = value if k == a else other
                                value, other = theta_hat[k, p], own_theta[0, p]
                                own_theta[0, p] = value if k == a else other
                                for q in range(p + 1):
                                    value, other = V_inv[k, p, q], own_V_inv[0, p, q]
                                    own_V_inv[0, p, q] = value if k == a else other
                        if noise == BERNOULLI:
                            e = click(e, y)
                        y += e
                        products(own_V_inv, 0, own_x, 0, z, d)
                        refine(own_V_inv, own_theta, 0, y, own_mean, own_variance, z, d)
                        if not sums_too:
                            record(V, b, a, own_x, 0, 0, real(1), y, d)
                        for k in range(K):
                            if sums_too:
                                record(V, b, k, own_x, 0, 0, real(1) if k == a else real(0), y, d)
                            for p in range(d):
                                value, other = own_theta[0, p], theta_hat[k, p]
                                theta_hat[k, p] = value if k == a else other
                                for q in range(p + 1):
                                    value, other = own_V_inv[0, p, q], V_inv[k, p, q]
                                    V_inv[k, p, q] = value if k == a else other
                    else:
                        if noise == BERNOULLI:
                            e = click(e, means[c, a])
                        y = means[c, a] + e
                        learn(V, V_inv, b, theta_hat, np.uint64(a), x, c, y, mean[a], variance[a], z, D)
                else:
                    a = np.uint32(choose_by_count(pulls, reward_sums, c, alpha_t, index, unit, seed, run, step, K))
                    if noise == BERNOULLI:
                        e = click(e, means[c, a])
                    pulls[c, a] += 1
                    reward_sums[c, a] += means[c, a] + e
                if losses[c, a] > 0:
                    while step >= ends[bin_]:
                        bin_ -= np.int32(1)
                    suboptimal[bin_, a, r] += np.uint32(1)
                total += losses[c, a]
                noise_sum += e
                if i == mark:
                    curve[r, m] = total
                    if keep_noise:
                        noise_curve[r, m] = noise_sum
                    if watching:
                        field = 0
                        for k in range(K):
                            rarest[r, m, k] = rarest_of(counted.basis, counted.pulls, r, counted.frame[r], k)
                            for p in range(d):
                                field += 1
                                for q in range(p + 1):
                                    grams[r, m, k, p, q] = totals[field, r] + V[k, p, q]
                                    field += 1
                    m += 1
                    mark = marks[m]
            start = stop
            if policy != COUNTS and (first + start) % block == 0:
                field = 0
                for k in range(K):
                    for p in range(d):
                        totals[field, r] += b[k, p]
                        b[k, p] = real(0)
                        field += 1
                        for q in range(p + 1):
                            totals[field, r] += V[k, p, q]
                            V[k, p, q] = real(0)
                            field += 1
            if policy != COUNTS and (first + start) % REBUILD == 0:
                field = 0
                for k in range(K):
                    for p in range(d):
                        whole_b[0, p] = totals[field, r]
                        own_theta[0, p] = theta_hat[k, p]
                        field += 1
                        for q in range(p + 1):
                            whole_V[0, p, q] = totals[field, r]
                            own_V_inv[0, p, q] = V_inv[k, p, q]
                            field += 1
                    rebuild_arm(whole_V, own_V_inv, whole_b, own_theta, 0, L, L_inv, d)
                    for p in range(d):
                        theta_hat[k, p] = own_theta[0, p]
                        for q in range(p + 1):
                            V_inv[k, p, q] = own_V_inv[0, p, q]
        regret[r], at[r], noise_sums[r] = total, row, noise_sum
        if policy != COUNTS:
            field = 0
            for k in range(K):
                for i in range(d):
                    state[field, r], state[learnt + field, r] = theta_hat[k, i], b[k, i]
                    field += 1
                    for j in range(i + 1):
                        state[field, r], state[learnt + field, r] = V_inv[k, i, j], V[k, i, j]
                        field += 1
        else:
            for i in range(n):
                for k in range(K):
                    tally[i * K + k, r], totals[i * K + k, r] = pulls[i, k], reward_sums[i, k]

    return advance
