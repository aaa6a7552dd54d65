"""Linear policies with the proof's frames and error events counted: the same steps as in `families.linear`.

Frame k holds the steps 2^(k-1), …, 2^k - 1. Events of a step: 𝒜, in the frame before a context of some basis came at
most half as often as expected; ℬ, some arm's estimate is off by more than α_t σ̂; 𝒞, in the frame before ℬ took at least
a share p/4; 𝒟, none of these, and a suboptimal arm was pulled. A step counts for the first of 𝒜, ℬ, 𝒞, 𝒟 that it is in.
"""

import math
from typing import NamedTuple

import numpy as np

from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.kernels._compile import inlined, kernel
from armspan.kernels.choice import break_tie, contend, is_tie
from armspan.kernels.draws import click
from armspan.kernels.linear import LOWEST, learn, score


class EventCounts(NamedTuple):
    """What is counted in R runs over F frames; of contexts, or of meta-contexts where contexts do not recur: n regions.

    basis : (K, n) regions of each arm's basis. needed : (n,) regions of any. p : how often the rarest of them comes.
    pulls : (R, F, n, K) up to the end of each frame. good_pulls : (R, n, K) those outside ℬ.
    arrivals : (R, n), bad : (R,) in the present frame. frame : (R,) the present frame.
    irregular, clouded : (R, F) whether a frame is in 𝒜, in 𝒞.
    steps, regret : (R, F, 4) for 𝒜, ℬ, 𝒞, 𝒟. misses : (R, F) estimates off by more than their width. last : (R,) the
    last step at which a suboptimal arm was pulled.
    """

    basis: BoolArray
    needed: BoolArray
    p: float
    pulls: IntArray
    good_pulls: IntArray
    arrivals: IntArray
    bad: IntArray
    frame: IntArray
    irregular: BoolArray
    clouded: BoolArray
    steps: IntArray
    regret: FloatArray
    misses: IntArray
    last: IntArray


@inlined
def meta_region(x, losses, row, bases, units, radius, K, d):
    """The meta-context of one row of x (n, K, d): number 2(a·d + i) + (0 within the ball, 1 outside).

    a is the best arm, i the vector of its basis, bases (K, d, d), onto which the features project the most; units are
    the same vectors with length 1.
    """
    a = 0
    for k in range(1, K):
        if losses[row, k] < losses[row, a]:
            a = k
    nearest, most = 0, -math.inf
    for i in range(d):
        projection = 0.0
        for j in range(d):
            projection += units[a, i, j] * x[row, a, j]
        if projection > most:
            nearest, most = i, projection
    distance = 0.0
    for j in range(d):
        distance += (x[row, a, j] - bases[a, nearest, j]) ** 2
    return 2 * (a * d + nearest) + (distance > radius * radius)


@kernel
def meta_regions(x, losses, bases, units, radius, regions):
    """`meta_region` of each row of x (n, K, d). Changes regions (n,)."""
    for row in range(x.shape[0]):
        regions[row] = meta_region(x, losses, row, bases, units, radius, x.shape[1], x.shape[2])


@inlined
def begin_frame(counted, r, K):
    """Judge the frame that ends and begin the next. Changes counted."""
    ended = counted.frame[r]
    length = 2.0**ended
    for c in range(counted.needed.size):
        if counted.needed[c] and counted.arrivals[r, c] <= counted.p / 2.0 * length:
            counted.irregular[r, ended + 1] = True
        counted.arrivals[r, c] = 0
        for k in range(K):
            counted.pulls[r, ended + 1, c, k] = counted.pulls[r, ended, c, k]
    counted.clouded[r, ended + 1] = counted.bad[r] >= counted.p / 4.0 * length
    counted.bad[r] = 0
    counted.frame[r] = ended + 1


@inlined
def begins_frame(t):
    """Whether step 1, 2, … is the first of a frame that another one came before."""
    return t > 1 and t & (t - 1) == 0


@inlined
def is_missed(estimate, mean, width):
    """Whether an estimate is off by more than its width: event ℬ, if it is so for any arm."""
    return abs(estimate - mean) > width


@inlined
def count_step(counted, r, t, region, a, loss, misses):
    """Count step t of a run: arm a was pulled in this region, at this loss, with so many misses. Changes counted."""
    frame = counted.frame[r]
    event = 0 if counted.irregular[r, frame] else 1 if misses > 0 else 2 if counted.clouded[r, frame] else 3
    if event < 3 or loss > 0:
        counted.steps[r, frame, event] += 1
        counted.regret[r, frame, event] += loss
    counted.misses[r, frame] += misses
    counted.bad[r] += misses > 0
    counted.arrivals[r, region] += 1
    counted.pulls[r, frame, region, a] += 1
    counted.good_pulls[r, region, a] += misses == 0
    if loss > 0:
        counted.last[r] = t


@inlined
def rarest_of(counted, r, k):
    """Pulls of the least pulled region of an arm's basis, -1 if it has none."""
    least, frame = -1, counted.frame[r]
    for c in range(counted.basis.shape[1]):
        if counted.basis[k, c] and (least < 0 or counted.pulls[r, frame, c, k] < least):
            least = counted.pulls[r, frame, c, k]
    return least


@kernel
def advance_counting(block, alpha, marks, state, regrets, regions, counted, curve, tally, grams, rarest):
    """Advance every run by a block. Changes all of state, regrets (R,), counted, curve (R, M), tally, grams and rarest.

    regions : (n,) the region of each row of the block's tables. At the marks, grams (R, M, K, d, d) takes down V,
    and rarest (R, M, K) the pulls of the least pulled region of each arm's basis.
    """
    x, means, losses = block.x, block.means, block.losses
    K, d = x.shape[1], x.shape[2]
    index, mean, variance, z = np.empty(K), np.empty(K), np.empty(K), np.empty(d)
    for r in range(block.runs.size):
        contexts, noise = block.contexts[r], block.noise[r]
        V, V_inv, b, theta_hat = state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r]
        regret, start, costly = regrets[r], 0, tally.pulls[r]
        for m in range(marks.size):
            for i in range(start, marks[m]):
                c, t = contexts[i], block.first + i + 1
                if begins_frame(t):
                    begin_frame(counted, r, K)
                best, second, a, misses = LOWEST, LOWEST, 0, 0
                for k in range(K):  # as `choose`, which would be slow in here
                    mean[k], variance[k] = score(V_inv, theta_hat, k, x, c, d)
                    width = alpha[i] * math.sqrt(abs(variance[k]))
                    misses += is_missed(mean[k], means[c, k], width)
                    index[k] = mean[k] + width
                    best, second, a = contend(index[k], k, best, second, a)
                if is_tie(best, second, block.unit):
                    a = break_tie(index, best, block.unit, block.seed, block.runs[r], t - 1)
                if block.clicks:
                    noise[i] = click(noise[i], means[c, a])
                learn(V, V_inv, b, theta_hat, a, x, c, means[c, a] + noise[i], mean[a], variance[a], z, d)
                regret += losses[c, a]
                costly[tally.bins[i], a] += losses[c, a] > 0
                count_step(counted, r, t, regions[c], a, losses[c, a], misses)
            curve[r, m], start = regret, marks[m]
            for k in range(V.shape[0]):  # `grams[r, m] = V` would take six seconds to compile
                for i in range(d):
                    for j in range(d):
                        grams[r, m, k, i, j] = V[k, i, j]
            for k in range(K):
                rarest[r, m, k] = rarest_of(counted, r, k)
        regrets[r] = regret
