"""Greedy while every arm's features go on to span, and `ols` afresh from the moment on that one's do not.

The knobs are the step t, and q, initial and h of `ols`. What all pulls have shown is greedy's until the switch.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.kernels._compile import exact_kernel, inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.eigen import smallest_eigenvalue
from armspan.kernels.families import forced, ols
from armspan.kernels.families.forced import greedy, learn_row, shares
from armspan.kernels.families.linear import estimates, scratch_of
from armspan.kernels.families.ols import forced_at, learn_due
from armspan.kernels.family import Family, Field, Seen, derived
from armspan.kernels.late import live_marked
from armspan.kernels.life import choose_once, learn_once, live, nothing
from armspan.kernels.linear import row_of
from armspan.kernels.marked import Marked, forced_marks

NOTHING, ROUNDING = 1e-5, 1e-9
"""λ̂₀ up to so much of the mean square of features is 0; and λ_min within rounding of its bound is not below it."""
LEARNT, BEGAN, T0, CHECK = 0, 1, 2, 3
"""Where the rewards so far, the step before OLS's first, t₀ and the next check are in `clock`."""
GREEDY = -3
"""Instead of an arm's number: before the switch."""
LAMBDA_0, RIDGE = 0, 1
"""Where λ̂₀ and the ridge are in `bounds`."""


class GreedyFirstState(NamedTuple):
    """What was learnt in each of R runs: that of `OLSState`, and when it switched.

    switched_at : (R, 1) the step after which it was OLS; 0 where it is greedy. clock : (R, 4). bounds : (R, 2).
    """

    V: FloatArray
    V_inv: FloatArray
    b: FloatArray
    theta_hat: FloatArray
    rows: IntArray
    forced_V: FloatArray
    forced_V_inv: FloatArray
    forced_b: FloatArray
    forced_theta_hat: FloatArray
    forced_rows: IntArray
    due: IntArray
    switched_at: IntArray
    clock: IntArray
    bounds: FloatArray


OWN = (Field("switched_at", "s", dtype=np.int64), Field("clock", "c", dtype=np.int64), Field("bounds", "v"))
SIZES = {"s": 1, "c": 4, "v": 2}


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """As of `ols`, and what the checks must know."""
    ols.fresh(state, numbers)
    state.clock[:, T0] = state.clock[:, CHECK] = int(numbers["t0"])
    state.bounds[:, RIDGE] = numbers["ridge"]


@inlined
def of_run(state, r):
    return (*ols.of_run(state, r), state.switched_at[r], state.clock[r], state.bounds[r])


@part
def forced_since(switched_at, clock, t, K, q, first):
    """The arm that OLS must pull in step t, GREEDY before the switch. Changes clock."""
    if switched_at[0] == 0:
        return GREEDY
    if clock[BEGAN] == 0:  # the reward that made it switch may have come late
        clock[BEGAN] = t - 1
    return forced_at(t - clock[BEGAN], K, q, first)


@part
def pull(a, theta_hat, rows, forced_theta_hat, forced_rows, due, index, mean, x, c, h, unit, seed, run, step, K, d):
    """As of `ols`, but for GREEDY. Changes due, index and mean (K,)."""
    if a == GREEDY:
        return greedy(theta_hat, index, x, c, unit, seed, run, step, K, d)
    return ols.pull(
        a, theta_hat, rows, forced_theta_hat, forced_rows, due, index, mean, x, c, h, unit, seed, run, step, K, d
    )


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    t, q, first, h, seed = int(knobs[0][i]), int(knobs[1][i]), int(knobs[2][i]), knobs[3][i], block.seed
    a = forced_since(own[11], own[12], t, K, q, first)
    return pull(
        a, own[3], own[4], own[8], own[9], own[10], scratch[0], scratch[1],
        block.x, c, h, block.unit, seed, run, step, K, d,
    )  # fmt: skip


@exact_kernel
def is_starved(V, clock, bounds, W, U, d):
    """Whether an arm's λ_min(Σxxᵀ) is below λ̂₀t/4; if not, when that can next be so. Changes all but V.

    λ_min never falls: after it was m, it is not below λ̂₀t/4 up to t = 4m/λ̂₀. So few checks are as good as one a step.
    """
    least, size = np.inf, 0.0
    for m in range(V.shape[0]):
        least = min(least, smallest_eigenvalue(V, m, W, U, d) - bounds[RIDGE])
        for i in range(d):
            size += (V[m, i, i] - bounds[RIDGE]) / d
    t, t0 = clock[LEARNT], clock[T0]
    if t == t0:
        bounds[LAMBDA_0] = least / (2.0 * t0)
        starved = not bounds[LAMBDA_0] > NOTHING * size / t0
    else:
        starved = least < bounds[LAMBDA_0] * t / 4.0 * (1.0 - ROUNDING)
    if not starved:
        clock[CHECK] = max(2 * t0 + 1, int(4.0 * least / (bounds[LAMBDA_0] * (1.0 - ROUNDING))) + 1)
    return starved


@exact_kernel
def forget(V, V_inv, b, theta_hat, rows, ridge, d):
    """What greedy has learnt, for OLS to start afresh. Changes the arrays."""
    for m in range(V.shape[0]):
        rows[m] = 0
        for i in range(d):
            b[m, i] = theta_hat[m, i] = 0.0
            for j in range(d):
                V[m, i, j] = ridge if i == j else 0.0
                V_inv[m, i, j] = 1.0 / ridge if i == j else 0.0


@part
def check(V, V_inv, b, theta_hat, rows, switched_at, clock, bounds, W, U, d):
    """Count a reward, and switch if an arm starves. Changes all; W and U (d, d) are scratch."""
    clock[LEARNT] += 1
    if switched_at[0] == 0 and clock[LEARNT] == clock[CHECK] and is_starved(V, clock, bounds, W, U, d):
        switched_at[0] = clock[LEARNT]
        forget(V, V_inv, b, theta_hat, rows, bounds[RIDGE], d)


@part
def learn(own, scratch, a, x, c, y, d):
    V, z = own[0], scratch[3]
    learn_row(V, own[1], own[2], own[3], a, x, c, y, z, d)
    own[4][row_of(a, V)] += 1
    learn_due(own[5], own[6], own[7], own[8], own[9], own[10], a, x, c, y, z, d)
    check(V, own[1], own[2], own[3], own[4], own[11], own[12], own[13], scratch[4], scratch[5], d)


@part
def tidy_run(own, scratch, K, d):
    ols.tidy_run(own, scratch, K, d)


@kernel
def advance_greedy_first(block, knobs, marks, state, regret, curve, tally):
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@part
def note(own, scratch, a, mark):
    """Whether the pull was forced, GREEDY before the switch. Nothing is due meanwhile."""
    due, switched_at = own[10], own[11]
    mark[0], due[a] = due[a] if switched_at[0] > 0 else GREEDY, 0


@part
def admit(own, scratch, a, x, c, mark, d):
    """Rewards from before the switch are dropped after it."""
    own[10][a] = max(int(mark[0]), 0)
    return mark[0] != GREEDY or own[11][0] == 0


@kernel
def late_greedy_first(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_marked(
        block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, note, admit, learn
    )


@kernel
def choose_greedy_first(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_greedy_first(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, nothing, learn)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """As of `forced`, and after the switch of `ols`."""
    t, q, first, h = knobs
    if state.switched_at[0, 0] == 0:
        mean, width = estimates(ols.of_all(state), block)
        return Seen(mean, width, mean, shares(forced.FREE, mean, block.unit))
    mean, width, index = ols.standing(state, block, h)
    clock = t - (state.clock[0, BEGAN] or t - 1)
    arm = ols.forced_steps(np.array([int(clock)]), len(mean), int(q), int(first))[0]
    return Seen(mean, width, index, shares(arm, index, block.unit))


def marks(family: Family) -> Marked:
    """As of `forced_marks`, and GREEDY if it came before the switch, after which such rewards are dropped."""
    forced = forced_marks(family)

    def choose(block: Any, knobs: Any, state: Any) -> tuple[int, int]:
        a, mark = forced.choose(block, knobs, state)
        return a, mark if state.switched_at[0, 0] else GREEDY

    def learn(block: Any, state: Any, a: int, y: float, mark: int) -> None:
        if mark != GREEDY:
            forced.learn(block, state, a, y, mark)
        elif state.switched_at[0, 0] == 0:
            forced.learn(block, state, a, y, 0)

    return Marked(choose, learn, lambda state: (GREEDY, 0, 1))


FAMILY = derived(
    ols.FAMILY,
    name="greedy_first",
    marks=marks,
    fields=(*ols.FIELDS, *OWN),
    state=GreedyFirstState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_greedy_first,
    late=late_greedy_first,
    choose_once=choose_greedy_first,
    learn_once=learn_greedy_first,
    seen=seen,
    knobs=("t", "q", "initial", "h"),
    tidy=ols.tidy,
    tidy_run=tidy_run,
)
