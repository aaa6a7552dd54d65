"""UCB for each context on its own: pulls and reward sums of every context and arm, nothing shared between contexts."""

import math

import numpy as np

from armspan.kernels._compile import inlined, kernel
from armspan.kernels.choice import break_tie, contend, is_tie
from armspan.kernels.philox import real

UNTRIED = 1e300
"""The index of an arm that was never pulled: above all others, and finite, so that differences make sense."""
LOWEST = -math.inf


@inlined
def choose(pulls, reward_sums, c, alpha, index, unit, seed, run, step, K):
    """The arm with the largest mean reward + α_t/√pulls in context c. Changes index (K,)."""
    best, second, a = LOWEST, LOWEST, 0
    for k in range(K):
        N = real(pulls[c, k])
        index[k] = reward_sums[c, k] / N + alpha / math.sqrt(N) if N > 0.0 else UNTRIED
        best, second, a = contend(index[k], k, best, second, a)
    if is_tie(best, second, unit):
        a = break_tie(index, best, unit, seed, run, step)
    return a


@kernel
def advance_counts(block, alpha, marks, state, curve, tally):
    """Advance every run by a block. Changes state, curve (R, M) and tally; alpha, marks as in `linear.advance`."""
    means, losses = block.means, block.losses
    index = np.empty(means.shape[1])
    for r in range(block.runs.size):
        contexts, noise, pulls, reward_sums = block.contexts[r], block.noise[r], state.pulls[r], state.reward_sums[r]
        regret, i, costly = state.regret[r], 0, tally.pulls[r]
        for m in range(marks.size):
            while i < marks[m]:
                c, run, step = contexts[i], block.runs[r], block.first + i
                a = choose(pulls, reward_sums, c, alpha[i], index, block.unit, block.seed, run, step, index.size)
                pulls[c, a] += 1
                reward_sums[c, a] += means[c, a] + noise[i]
                regret += losses[c, a]
                costly[tally.bins[i], a] += losses[c, a] > 0
                i += 1
            curve[r, m] = regret
        state.regret[r] = regret
