"""Linear knowledge as in `linear`, used with as much optimism as the residuals and the rewards ask for.

The index of an arm is θ̂ᵀx + α_t w + ȳ w²/d, with w² = xᵀV⁻¹x. α_t follows the size of the residuals: they tell how far
an estimate may be off for noise. ȳ is the root mean square of the rewards: what was never tried is estimated as 0, so
where noise is small beside the rewards, that is how far off it may be. With the ridge l²/d, w²/d is 1 there for an x of
length l, and it falls like 1/n.

σ̂² = S/(N - Σ(d - λ tr V⁻¹)), where S = Σe²/(1 + xᵀV⁻¹x) adds up the errors e of what was predicted before each of N
rewards, and the other sum, over the models, is how many parameters were fitted. Every arm is pulled once first, and
again now and then while no reward of it has come. Where all arms share one model, d pulls are enough, one of each of
the first d arms.

S is also Σy² - ΣbᵀV⁻¹b. Where agents are merged, it follows from that: errors that each made by itself are too small.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import turn, turn_of, winners
from armspan.kernels.families import linear
from armspan.kernels.families.linear import scratch_of
from armspan.kernels.family import Field, Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live
from armspan.kernels.linear import best_of, row_of, score

ERRORS, REWARDS, RIDGE = 0, 1, 2
"""Where S, N and λ are in the field `noise`."""


class PracticalState(NamedTuple):
    """What was learnt in each of R runs: that of `LinearState`, and noise (R, 3).

    explained : (R, A) Σy² - S of a model, which is bᵀV⁻¹b. parts : (R, A) 1 for a model that has seen a reward; after a
    merge, before it is tidied, how many such models were added up.
    """

    V: FloatArray
    V_inv: FloatArray
    b: FloatArray
    theta_hat: FloatArray
    noise: FloatArray
    explained: FloatArray
    parts: FloatArray


SUMS = (Field("noise", "s", sums=True), Field("explained", "A", sums=True), Field("parts", "A", sums=True))


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """As of `linear`, and λ."""
    linear.fresh(state, numbers)
    state.noise[:, RIDGE] = numbers["ridge"]


@inlined
def of_run(state, r):
    known = state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r]
    return *known, state.noise[r], state.explained[r], state.parts[r]


@part
def left_over(V_inv, noise, d):
    """N - Σ(d - λ tr V⁻¹): how many rewards there are beyond those that the parameters have used up."""
    left = noise[REWARDS]
    for m in range(V_inv.shape[0]):
        for i in range(d):
            left -= 1.0 - noise[RIDGE] * V_inv[m, i, i]
    return left


@part
def noise_scale(V_inv, noise, d):
    """σ̂."""
    left = left_over(V_inv, noise, d)
    return math.sqrt(noise[ERRORS] / left) if left > 0.0 else 0.0


@part
def reward_scale(noise, explained):
    """ȳ."""
    total = noise[ERRORS]
    for m in range(explained.size):
        total += explained[m]
    return math.sqrt(max(total, 0.0) / noise[REWARDS]) if noise[REWARDS] > 0.0 else 0.0


@part
def take_down(noise, explained, parts, scratch, a, y):
    """Count a reward, its error, and what was explained of it. Changes the first three."""
    m, error = row_of(a, parts), y - scratch[1][a]
    square = error * error / (1.0 + scratch[2][a])
    noise[ERRORS] += square
    noise[REWARDS] += 1.0
    explained[m] += y * y - square
    parts[m] = 1.0


@part
def put_together(b, theta_hat, noise, explained, parts, d):
    """S after a merge: what models explained apart, but do not together, are errors. Changes the last three."""
    for m in range(parts.size):
        if parts[m] > 1.0:
            together = 0.0
            for i in range(d):
                together += b[m, i] * theta_hat[m, i]
            noise[ERRORS] = max(noise[ERRORS] + explained[m] - together, 0.0)
            explained[m], parts[m] = together, 1.0


@part
def must_try(noise, parts, step, K, d):
    """The arm that must be pulled whatever its index is, or K. An agent that learnt a log before need not."""
    if parts.size < K:
        return step if step < min(K, d) and noise[REWARDS] <= step else K
    if step < K and parts[step] == 0.0:
        return step
    again = turn_of(step, K)
    return again if again < K and parts[again] == 0.0 else K


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    _, V_inv, _, theta_hat, noise, explained, parts = own
    index, mean, variance, _, _, _ = scratch
    forced = must_try(noise, parts, step, K, d)
    if forced < K:
        mean[forced], variance[forced] = score(V_inv, theta_hat, forced, block.x, c, d)
        return forced
    alpha, beta = knobs[0][i] * noise_scale(V_inv, noise, d), reward_scale(noise, explained) / d
    for k in range(K):
        mean[k], variance[k] = score(V_inv, theta_hat, k, block.x, c, d)
        square = abs(variance[k])
        index[k] = mean[k] + alpha * math.sqrt(square) + beta * square
    return best_of(index, block.unit, block.seed, run, step, K)


@part
def learn(own, scratch, a, x, c, y, d):
    V, V_inv, b, theta_hat, noise, explained, parts = own
    take_down(noise, explained, parts, scratch, a, y)
    linear.learn((V, V_inv, b, theta_hat), scratch, a, x, c, y, d)


@part
def recall(own, scratch, a, x, c, d):
    linear.recall((own[0], own[1], own[2], own[3]), scratch, a, x, c, d)


@part
def tidy_run(own, scratch, K, d):
    linear.tidy_run(own[:4], scratch, K, d)
    put_together(own[2], own[3], own[4], own[5], own[6], d)


@kernel
def rebuild(state):
    """`tidy_run` for all. Changes state."""
    R, A, d = state.b.shape
    scratch = scratch_of(A, d)
    for r in range(R):
        tidy_run(of_run(state, r), scratch, A, d)


@kernel
def advance_practical(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def late_practical(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, recall, learn)


@kernel
def choose_practical(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_practical(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, recall, learn)


@kernel
def scales_of(state, d):
    """σ̂ and ȳ of the first run."""
    return noise_scale(state.V_inv[0], state.noise[0], d), reward_scale(state.noise[0], state.explained[0])


def must_try_next(state: Any, step: int, K: int, d: int) -> int:
    """`must_try` for Python."""
    parts = state.parts[0]
    if parts.size < K:
        return step if step < min(K, d) and state.noise[0, REWARDS] <= step else K
    if step < K and parts[step] == 0:
        return step
    again = turn(step, K)
    return again if again < K and parts[again] == 0 else K


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest mean + α_t·width + ȳ·width²/d wins, unless an arm must be pulled."""
    K, d = block.x.shape[1:]
    mean, width = linear.estimates(state, block)
    sigma, size = scales_of(state, d)
    index = mean + knobs[0] * sigma * width + size * width**2 / d
    forced = must_try_next(state, block.first, K, d)
    if forced < K:
        return Seen(mean, width, index, (np.arange(K) == forced).astype(np.float64))
    return Seen(mean, width, index, winners(index, block.unit))


FAMILY = derived(
    linear.FAMILY,
    name="practical",
    fields=(*linear.FIELDS, *SUMS),
    state=PracticalState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    tidy=rebuild,
    tidy_run=tidy_run,
    advance=lambda K, d: advance_practical,
    late=late_practical,
    choose_once=linear.for_many_arms(choose_practical, seen, must_try_next),
    learn_once=learn_practical,
    seen=seen,
)
