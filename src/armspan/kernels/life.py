"""The one loop in which compiled policies live: a context comes, the family chooses and learns, regret is counted.

Agents take it apart: they choose once, and learn once, whenever the reward comes.
"""

from armspan.kernels._compile import inlined
from armspan.kernels.draws import click


@inlined
def live(block, knobs, marks, state, regret, curve, tally, size, scratch_of, of_run, choose, learn):
    """Advance every run by a block of steps. Changes state, regret (R,), curve (R, M), tally, and clicks' noise.

    knobs : (B,) arrays, one number per step each. marks : (M,) numbers of steps after which curve takes down the
    pseudo-regret. size : d; where it is a constant, loops are unrolled. The rest are a family's functions:

    scratch_of(K, size) : arrays for intermediate results. of_run(state, r) : one run's knowledge.
    choose(own, scratch, block, c, knobs, i, run, step, K, size) : the arm for context c in step i of the block.
    learn(own, scratch, a, x, c, y, size) : learn reward y of the arm that was chosen just now.
    """
    x, means, losses = block.x, block.means, block.losses
    K = x.shape[1]
    scratch = scratch_of(K, size)
    for r in range(block.runs.size):
        contexts, noise, own = block.contexts[r], block.noise[r], of_run(state, r)
        total, start, costly, run = regret[r], 0, tally.pulls[r], block.runs[r]
        for m in range(marks.size):
            for i in range(start, marks[m]):
                c = contexts[i]
                a = choose(own, scratch, block, c, knobs, i, run, block.first + i, K, size)
                if block.clicks:
                    noise[i] = click(noise[i], means[c, a])
                learn(own, scratch, a, x, c, means[c, a] + noise[i], size)
                total += losses[c, a]
                costly[tally.bins[i], a] += losses[c, a] > 0
            curve[r, m], start = total, marks[m]
        regret[r] = total


@inlined
def choose_once(block, knobs, state, size, scratch_of, of_run, choose):
    """The arm for the one step of a block of one run."""
    K = block.means.shape[1]
    own, scratch = of_run(state, 0), scratch_of(K, size)
    return choose(own, scratch, block, block.contexts[0, 0], knobs, 0, block.runs[0], block.first, K, size)


@inlined
def learn_once(block, state, a, y, size, scratch_of, of_run, recall, learn):
    """Learn a reward that comes late: what its choice has left in scratch is computed again. Changes state.

    recall(own, scratch, a, x, c, size) : what `learn` needs of the arm that was chosen.
    """
    own, scratch, c = of_run(state, 0), scratch_of(block.means.shape[1], size), block.contexts[0, 0]
    recall(own, scratch, a, block.x, c, size)
    learn(own, scratch, a, block.x, c, y, size)


@inlined
def nothing(own, scratch, a, x, c, size):
    """In the place of `recall`, where `learn` needs nothing of what `choose` has computed."""
