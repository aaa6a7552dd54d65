"""Linear knowledge as in `practical`, of which old rewards lose their weight: every so often all sums shrink.

V - λI, b, Σy² and N are multiplied by one factor, for all arms at once, and V⁻¹, θ̂ and S follow. A reward that comes
counts in full until the next time. α_t follows the residuals or not, as the policy says. If it does, an arm of which
less than half a reward still counts is tried again now and then, whatever its index is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.agent_layout import UNKNOWN
from armspan.kernels.block import Block
from armspan.kernels.choice import recurring, recurring_of, turn, turn_of
from armspan.kernels.families import linear, practical
from armspan.kernels.families.linear import scratch_of
from armspan.kernels.families.practical import ERRORS, REWARDS, RIDGE
from armspan.kernels.family import Field, Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live
from armspan.kernels.linear import best_of, rebuild_arm, row_of, score

SINCE, EVERY, FACTOR, FOLLOWS, MEMORY = 0, 1, 2, 3, 4
"""Where the clock has the rewards since the last time, those between two times, the factor, 1 if α_t follows, and how
many rewards count in the end."""


class ForgetfulState(NamedTuple):
    """What was learnt in each of R runs: that of `PracticalState`, and clock (R, 5), and pulls (R, A), which fade."""

    V: FloatArray
    V_inv: FloatArray
    b: FloatArray
    theta_hat: FloatArray
    noise: FloatArray
    explained: FloatArray
    parts: FloatArray
    clock: FloatArray
    pulls: FloatArray


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """As of `practical`, and the clock."""
    practical.fresh(state, numbers)
    names = "every", "factor", "follows", "memory"
    state.clock[:, [EVERY, FACTOR, FOLLOWS, MEMORY]] = [numbers[name] for name in names]


@inlined
def of_run(state, r):
    known = state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r]
    return *known, state.noise[r], state.explained[r], state.parts[r], state.clock[r], state.pulls[r]


@part
def must_try(noise, parts, clock, pulls, step, K, d):
    """The arm that must be pulled whatever its index is, or K: as of `practical`, or one that is not known any more."""
    again = turn_of(recurring_of(np.int64(step), clock[MEMORY], K), K)
    if step >= K and again < K and pulls.size == K and pulls[again] < UNKNOWN:
        return again
    return practical.must_try(noise, parts, step, K, d)


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    _, V_inv, _, theta_hat, noise, explained, parts, clock, pulls = own
    index, mean, variance, _, _, _ = scratch
    alpha, beta, forced = knobs[0][i], 0.0, K
    if clock[FOLLOWS] > 0.0:
        alpha *= practical.noise_scale(V_inv, noise, d)
        beta = practical.reward_scale(noise, explained) / d
        forced = must_try(noise, parts, clock, pulls, step, K, d)
    for k in range(K):
        mean[k], variance[k] = score(V_inv, theta_hat, k, block.x, c, d)
        square = abs(variance[k])
        index[k] = mean[k] + alpha * math.sqrt(square) + beta * square
    return forced if forced < K else best_of(index, block.unit, block.seed, run, step, K)


@part
def forget(own, scratch, d):
    """All that was seen counts less, by the clock's factor. Changes everything but the clock."""
    V, V_inv, b, theta_hat, noise, explained, _, clock, pulls = own
    factor, squares, together = clock[FACTOR], noise[ERRORS], 0.0
    for m in range(V.shape[0]):
        squares += explained[m]
        pulls[m] *= factor
        explained[m] = 0.0
        for i in range(d):
            b[m, i] *= factor
            for j in range(i + 1):
                V[m, i, j] *= factor
            V[m, i, i] += (1.0 - factor) * noise[RIDGE]
        rebuild_arm(V, V_inv, b, theta_hat, m, scratch[4], scratch[5], d)
        for i in range(d):
            explained[m] += b[m, i] * theta_hat[m, i]
        together += explained[m]
    noise[ERRORS] = max(factor * squares - together, 0.0)
    noise[REWARDS] *= factor


@part
def learn(own, scratch, a, x, c, y, d):
    clock, pulls = own[7], own[8]
    if clock[SINCE] >= clock[EVERY]:
        forget(own, scratch, d)
        linear.recall(own[:4], scratch, a, x, c, d)
        clock[SINCE] = 0.0
    clock[SINCE] += 1.0
    pulls[row_of(a, pulls)] += 1.0
    practical.learn(own[:7], scratch, a, x, c, y, d)


@part
def recall(own, scratch, a, x, c, d):
    linear.recall(own[:4], scratch, a, x, c, d)


@kernel
def advance_forgetful(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def late_forgetful(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, recall, learn)


@kernel
def choose_forgetful(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_forgetful(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, recall, learn)


def follows(state: Any) -> bool:
    """Whether α_t follows the residuals."""
    return bool(state.clock[0, FOLLOWS] > 0)


def must_try_next(state: Any, step: int, K: int, d: int) -> int:
    """The arm that must be pulled whatever its index is, or K."""
    if not follows(state):
        return K
    again = turn(recurring(step, state.clock[0, MEMORY], K), K) if step >= K else K
    if again < K and state.pulls.shape[1] == K and state.pulls[0, again] < UNKNOWN:
        return again
    return practical.must_try_next(state, step, K, d)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """As of `practical`, or of `linear`, unless an arm must be pulled."""
    found = practical.seen(state, block, knobs) if follows(state) else linear.seen(state, block, knobs)
    K, d = block.x.shape[1:]
    forced = must_try_next(state, block.first, K, d)
    return found if forced == K else replace(found, share=(np.arange(K) == forced).astype(np.float64))


FAMILY = derived(
    practical.FAMILY,
    name="forgetful",
    fields=(*practical.FAMILY.fields, Field("clock", "f"), Field("pulls", "A")),
    state=ForgetfulState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_forgetful,
    late=late_forgetful,
    choose_once=linear.for_many_arms(choose_forgetful, seen, must_try_next),
    learn_once=learn_forgetful,
    seen=seen,
    tidy=practical.rebuild,
    tidy_run=practical.tidy_run,
    merges=False,
)
