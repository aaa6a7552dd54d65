"""Two least squares of each arm, of its forced pulls and of all: the first say which arms contend, the second win.

The knob `forced` is as in `forced`; h : arms within h/2 of the best by their forced pulls contend.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.kernels import linear as one
from armspan.kernels._compile import exact_kernel, inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.families import linear
from armspan.kernels.families.forced import FREE, forced_arm, learn_row, predicted, shares
from armspan.kernels.families.linear import LinearState, estimates, scratch_of
from armspan.kernels.family import Family, Field, Seen
from armspan.kernels.late import live_marked
from armspan.kernels.life import choose_once, learn_once, live, nothing
from armspan.kernels.linear import LOWEST, best_of, row_of
from armspan.kernels.marked import forced_marks


class OLSState(NamedTuple):
    """What was learnt in each of R runs: that of `LinearState` and rows (R, A), once of all pulls, once of forced ones.

    due : (R, K) as in `ExploredState`.
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


ROWS = Field("rows", "A", sums=True, dtype=np.int64)
DUE = Field("due", "K", dtype=np.int64)
ALL = (*linear.FIELDS, ROWS)
FIELDS = (*ALL, *(replace(field, name=f"forced_{field.name}") for field in ALL), DUE)


@part
def forced_at(t, K, q, first):
    """The arm of step t = 1, 2, …: all in turn, `first` times; then a = 1, 2, … where t is in T_a, FREE in no set.

    T_a = {(2ⁿ - 1)Kq + j : n = 0, 1, …, j = q(a - 1) + 1 … qa}.
    """
    cycle = (t - 1) // (K * q)
    if t <= first * K:
        return (t - 1) % K
    if cycle & (cycle + 1) == 0:  # it is 2ⁿ - 1
        return (t - 1) % (K * q) // q
    return FREE


@exact_kernel
def forced_steps(t, K, q, first):
    """The same for steps t (B,), as a knob."""
    arms = np.empty(t.size)
    for i in range(t.size):
        arms[i] = forced_at(t[i], K, q, first)
    return arms


def of_all(state: Any) -> LinearState:
    """What all pulls have shown."""
    return LinearState(state.V, state.V_inv, state.b, state.theta_hat)


def of_forced(state: Any) -> LinearState:
    """What forced pulls have shown."""
    return LinearState(state.forced_V, state.forced_V_inv, state.forced_b, state.forced_theta_hat)


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """As of `linear`, both."""
    linear.fresh(of_all(state), numbers)
    linear.fresh(of_forced(state), numbers)


def tidy(state: Any) -> None:
    """As of `linear`, both."""
    one.rebuild(of_all(state))
    one.rebuild(of_forced(state))


@inlined
def of_run(state, r):
    return (
        state.V[r],
        state.V_inv[r],
        state.b[r],
        state.theta_hat[r],
        state.rows[r],
        state.forced_V[r],
        state.forced_V_inv[r],
        state.forced_b[r],
        state.forced_theta_hat[r],
        state.forced_rows[r],
        state.due[r],
    )


@part
def estimate(theta_hat, rows, a, x, c, d):
    """θ̂ᵀx of one arm, 0 until it has d rows."""
    return predicted(theta_hat, a, x, c, d) if rows[row_of(a, theta_hat)] >= d else 0.0


@part
def contest(theta_hat, rows, forced_theta_hat, forced_rows, x, c, h, index, mean, K, d):
    """The estimates by all pulls of the arms that contend, -∞ of the others. Changes index and mean (K,)."""
    best = LOWEST
    for k in range(K):
        mean[k] = estimate(forced_theta_hat, forced_rows, k, x, c, d)
        best = max(best, mean[k])
    for k in range(K):
        index[k] = estimate(theta_hat, rows, k, x, c, d) if mean[k] >= best - h / 2 else LOWEST


@part
def pull(a, theta_hat, rows, forced_theta_hat, forced_rows, due, index, mean, x, c, h, unit, seed, run, step, K, d):
    """The forced arm a, or where that is FREE, the best that contends. Changes due, index and mean (K,)."""
    if a != FREE:
        due[a] += 1
        return a
    contest(theta_hat, rows, forced_theta_hat, forced_rows, x, c, h, index, mean, K, d)
    return best_of(index, unit, seed, run, step, K)


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    a, h, seed = forced_arm(knobs[0][i], block.seed, run, step, K), knobs[1][i], block.seed
    return pull(
        a, own[3], own[4], own[8], own[9], own[10], scratch[0], scratch[1],
        block.x, c, h, block.unit, seed, run, step, K, d,
    )  # fmt: skip


@part
def learn_due(V, V_inv, b, theta_hat, rows, due, a, x, c, y, z, d):
    """`learn_row`, if the reward of a forced pull is due. Changes the first six."""
    if due[a] > 0:
        due[a] -= 1
        rows[row_of(a, V)] += 1
        learn_row(V, V_inv, b, theta_hat, a, x, c, y, z, d)


@part
def learn(own, scratch, a, x, c, y, d):
    learn_row(own[0], own[1], own[2], own[3], a, x, c, y, scratch[3], d)
    own[4][row_of(a, own[0])] += 1
    learn_due(own[5], own[6], own[7], own[8], own[9], own[10], a, x, c, y, scratch[3], d)


@part
def tidy_run(own, scratch, K, d):
    linear.tidy_run((own[0], own[1], own[2], own[3]), scratch, K, d)
    linear.tidy_run((own[5], own[6], own[7], own[8]), scratch, K, d)


@kernel
def advance_ols(block, knobs, marks, state, regret, curve, tally):
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@part
def note(own, scratch, a, mark):
    """Whether the pull was forced. Nothing is due meanwhile."""
    due = own[10]
    mark[0], due[a] = due[a], 0


@part
def admit(own, scratch, a, x, c, mark, d):
    own[10][a] = int(mark[0])
    return True


@kernel
def late_ols(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_marked(
        block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, note, admit, learn
    )


@kernel
def choose_ols(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_ols(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, nothing, learn)


def standing(state: Any, block: Block, h: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, width and index (K,) of every arm by all pulls; the index of one that does not contend is -∞."""
    d = block.x.shape[2]
    mean, width = estimates(of_all(state), block)
    first, _ = estimates(of_forced(state), block)
    mean, first = np.where(state.rows[0] >= d, mean, 0.0), np.where(state.forced_rows[0] >= d, first, 0.0)
    return mean, width, np.where(first >= first.max() - h / 2, mean, -np.inf)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest mean of those that contend wins, where no arm is forced."""
    mean, width, index = standing(state, block, knobs[1])
    return Seen(mean, width, index, shares(knobs[0], index, block.unit))


FAMILY = Family(
    name="ols",
    marks=forced_marks,
    fields=FIELDS,
    scratch=linear.SCRATCH,
    state=OLSState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_ols,
    late=late_ols,
    choose_once=choose_ols,
    learn_once=learn_ols,
    seen=seen,
    knobs=("forced", "h"),
    tidy=tidy,
    tidy_run=tidy_run,
    every=one.REBUILD,
)
