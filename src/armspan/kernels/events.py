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
def begin_frame(needed, p, pulls, arrivals, bad, frames, irregular, clouded, r, K):
    """Judge the frame that ends and begin the next. Changes arrays of `EventCounts`."""
    ended = frames[r]
    length = 2.0**ended
    for c in range(needed.size):
        if needed[c] and arrivals[r, c] <= p / 2.0 * length:
            irregular[r, ended + 1] = True
        arrivals[r, c] = 0
        for k in range(K):
            pulls[r, ended + 1, c, k] = pulls[r, ended, c, k]
    clouded[r, ended + 1] = bad[r] >= p / 4.0 * length
    bad[r] = 0
    frames[r] = ended + 1


@inlined
def event_of(irregular, clouded, r, frame, misses):
    """Which of 𝒜, ℬ, 𝒞, 𝒟 a step is in; 𝒟 if a suboptimal arm is pulled."""
    return 0 if irregular[r, frame] else 1 if misses > 0 else 2 if clouded[r, frame] else 3


@inlined
def rarest_of(basis, pulls, r, frame, k):
    """Pulls of the least pulled region of an arm's basis, -1 if it has none."""
    least = -1
    for c in range(basis.shape[1]):
        if basis[k, c] and (least < 0 or pulls[r, frame, c, k] < least):
            least = pulls[r, frame, c, k]
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
                if t > 1 and t & (t - 1) == 0:
                    begin_frame(
                        counted.needed, counted.p, counted.pulls, counted.arrivals, counted.bad, counted.frame,
                        counted.irregular, counted.clouded, r, K,
                    )  # fmt: skip
                best, second, a, misses = LOWEST, LOWEST, 0, 0
                for k in range(K):  # as `choose`, which would be slow in here
                    mean[k], variance[k] = score(V_inv, theta_hat, k, x, c, d)
                    width = alpha[i] * math.sqrt(abs(variance[k]))
                    misses += abs(mean[k] - means[c, k]) > width
                    index[k] = mean[k] + width
                    best, second, a = contend(index[k], k, best, second, a)
                if is_tie(best, second, block.unit):
                    a = break_tie(index, best, block.unit, block.seed, block.runs[r], t - 1)
                if block.clicks:
                    noise[i] = click(noise[i], means[c, a])
                learn(V, V_inv, b, theta_hat, a, x, c, means[c, a] + noise[i], mean[a], variance[a], z, d)
                regret += losses[c, a]
                costly[tally.bins[i], a] += losses[c, a] > 0
                frame, region, loss = counted.frame[r], regions[c], losses[c, a]
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
                    counted.last[r] = t
            curve[r, m], start = regret, marks[m]
            grams[r, m] = V
            for k in range(K):
                rarest[r, m, k] = rarest_of(counted.basis, counted.pulls, r, counted.frame[r], k)
        regrets[r] = regret
