"""UCB for each context on its own: pulls and reward sums of every context and arm, nothing shared between contexts."""

import math

from armspan.kernels._compile import inlined
from armspan.kernels.choice import break_tie, contend, is_tie
from armspan.kernels.philox import real
from armspan.kernels.single import Precision

UNTRIED = Precision(1e300, single=1e30)
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
