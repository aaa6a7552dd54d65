"""Rewards that come late: where they wait, and the loop in which compiled policies live with them."""

from typing import NamedTuple

from armspan._typing import FloatArray, IntArray
from armspan.kernels._compile import inlined, part
from armspan.kernels.draws import click, late_by
from armspan.kernels.life import nothing


class Post(NamedTuple):
    """Rewards of R runs that have not come yet. Each waits at one of W places; a heap tells which comes next.

    steps, mean, lost : how late rewards are, see `armspan.environments.DelayedRewards`.
    waiting : (R,) how many wait. order : (R, W) all places; the first so many are a heap, the others are free.
    due, made, arm, context, reward : (R, W) by place. due : the step after which it comes. made : that of its choice.
    context : which row of x, or of the block's features where contexts recur. mark : (R, W, K) what its choice was.
    x : (R, W, K, d) features; (R, 0, K, d) where contexts recur.
    """

    steps: int
    mean: float
    lost: float
    waiting: IntArray
    order: IntArray
    due: IntArray
    made: IntArray
    arm: IntArray
    context: IntArray
    reward: FloatArray
    mark: FloatArray
    x: FloatArray


@part
def comes_before(due, made, s, t):
    """Whether the reward at place s comes before that at t; of two that come together, the older one does."""
    return due[s] < due[t] or (due[s] == due[t] and made[s] < made[t])


@part
def put(order, due, made, n):
    """Take the first free place into a heap of n. Changes order."""
    i = n
    while i > 0 and comes_before(due, made, order[i], order[(i - 1) // 2]):
        order[i], order[(i - 1) // 2] = order[(i - 1) // 2], order[i]
        i = (i - 1) // 2


@part
def take(order, due, made, n):
    """The place at the top of a heap of n, which becomes the first free one. Changes order."""
    n -= 1
    order[0], order[n] = order[n], order[0]
    i, j = 0, 1
    while j < n:
        if j + 1 < n and comes_before(due, made, order[j + 1], order[j]):
            j += 1
        if comes_before(due, made, order[j], order[i]):
            order[i], order[j] = order[j], order[i]
            i, j = j, 2 * j + 1
        else:
            j = n
    return order[n]


@inlined
def live_late(block, knobs, marks, state, regret, curve, tally, post, size, scratch_of, of_run, choose, recall, learn):
    """`life.live` with rewards that come late, of a family that learns all of them alike. Changes post, too.

    recall(own, scratch, a, x, c, size) : see `life.learn_once`.
    """
    wait_and_live(
        block, knobs, marks, state, regret, curve, tally, post, size,
        scratch_of, of_run, choose, no_note, recall, always, learn,
    )  # fmt: skip


@inlined
def live_marked(
    block, knobs, marks, state, regret, curve, tally, post, size, scratch_of, of_run, choose, note, admit, learn
):
    """`live_late` of a family that learns a reward by what its choice was; see `marked`.

    note(own, scratch, a, mark) : write to mark (K,) what the choice of arm a was.
    admit(own, scratch, a, x, c, mark, size) : whether such a reward is learnt, and what `learn` needs then.
    """
    wait_and_live(
        block, knobs, marks, state, regret, curve, tally, post, size,
        scratch_of, of_run, choose, note, nothing, admit, learn,
    )  # fmt: skip


@inlined
def wait_and_live(
    block, knobs, marks, state, regret, curve, tally, post, size, scratch_of, of_run, choose, note, recall, admit, learn
):
    """What both do."""
    means, losses, K = block.means, block.losses, block.x.shape[1]
    scratch, recurring = scratch_of(K, size), post.x.shape[1] == 0
    for r in range(block.runs.size):
        contexts, noise, own = block.contexts[r], block.noise[r], of_run(state, r)
        total, start, costly, run = regret[r], 0, tally.pulls[r], block.runs[r]
        order, due, made, n = post.order[r], post.due[r], post.made[r], post.waiting[r]
        x = block.x if recurring else post.x[r]
        for m in range(marks.size):
            for i in range(start, marks[m]):
                step = block.first + i
                while n > 0 and due[order[0]] < step:
                    s = take(order, due, made, n)
                    n -= 1
                    a, c = post.arm[r, s], post.context[r, s]
                    recall(own, scratch, a, x, c, size)
                    if admit(own, scratch, a, x, c, post.mark[r, s], size):
                        learn(own, scratch, a, x, c, post.reward[r, s], size)
                c = contexts[i]
                a = choose(own, scratch, block, c, knobs, i, run, step, K, size)
                if block.clicks:
                    noise[i] = click(noise[i], means[c, a])
                extra, s = late_by(block.seed, run, step, post.mean, post.lost), order[n]
                note(own, scratch, a, post.mark[r, s])
                if extra >= 0:
                    due[s], made[s] = step + post.steps + extra, step
                    post.arm[r, s], post.context[r, s], post.reward[r, s] = a, c, means[c, a] + noise[i]
                    if not recurring:
                        post.context[r, s] = s
                        for k in range(K):
                            for j in range(block.x.shape[2]):
                                x[s, k, j] = block.x[c, k, j]
                    put(order, due, made, n)
                    n += 1
                total += losses[c, a]
                costly[tally.bins[i], a] += losses[c, a] > 0
            curve[r, m], start = total, marks[m]
        regret[r], post.waiting[r] = total, n


@inlined
def no_note(own, scratch, a, mark):
    """Nothing need be known of the choice."""


@inlined
def always(own, scratch, a, x, c, mark, size):
    """Every reward is learnt."""
    return True
