"""Two LASSOs of each arm, of its forced pulls and of all: the first say which arms contend, the second win.

An arm's β minimises ‖Y - Xβ‖²/n + λ‖β‖₁ over its n rows. Coordinate descent needs XᵀX and XᵀY alone, and starts from
the last β. Knobs: `forced` and h as in `ols`; λ₁ for forced pulls and λ₂ for all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.kernels._compile import exact_kernel, inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.families.forced import FREE, forced_arm, predicted, shares
from armspan.kernels.families.ols import DUE, ROWS
from armspan.kernels.family import Family, Field, Seen
from armspan.kernels.late import live_marked
from armspan.kernels.life import choose_once, learn_once, live, nothing
from armspan.kernels.linear import LOWEST, best_of, row_of
from armspan.kernels.marked import forced_marks
from armspan.kernels.single import Precision

ENOUGH, FEWEST_SWEEPS, MOST_SWEEPS, MOST_WORK = 1e-9, 1e3, Precision(1e5, 1e3), 1e9
"""β is found when a sweep moves no gradient by more than this part of the penalty, nλ/2; or after so many sweeps of d²
operations each, or fewer where they would take more than a second or so. Only features that are nearly the same need so
many; in single precision, rounding moves them for ever."""


class LassoState(NamedTuple):
    """What was learnt in each of R runs, once of all pulls, once of forced ones.

    gram : (R, A, d, d) XᵀX. b : (R, A, d) XᵀY. beta : (R, A, d). rest : (R, A, d) XᵀY - XᵀXβ. rows : (R, A) n.
    stale : (R, A) whether forced pulls have come since their β was fitted. due : (R, K) as in `ExploredState`.
    """

    gram: FloatArray
    b: FloatArray
    beta: FloatArray
    rest: FloatArray
    rows: IntArray
    forced_gram: FloatArray
    forced_b: FloatArray
    forced_beta: FloatArray
    forced_rest: FloatArray
    forced_rows: IntArray
    stale: IntArray
    due: IntArray


ALL = (Field("gram", "Add", sums=True), Field("b", "Ad", sums=True), Field("beta", "Ad"), Field("rest", "Ad"), ROWS)
FORCED = tuple(replace(field, name=f"forced_{field.name}") for field in ALL)


@inlined
def scratch_of(K, d):
    """Index and mean (K,)."""
    return np.empty(K), np.empty(K)


@inlined
def of_run(state, r):
    return (
        state.gram[r],
        state.b[r],
        state.beta[r],
        state.rest[r],
        state.rows[r],
        state.forced_gram[r],
        state.forced_b[r],
        state.forced_beta[r],
        state.forced_rest[r],
        state.forced_rows[r],
        state.stale[r],
        state.due[r],
    )


@part
def threshold(z, bar):
    """Move z towards 0 by so much, at most to 0."""
    return max(z - bar, 0.0) + min(z + bar, 0.0)


@exact_kernel
def fit(gram, beta, rest, m, bar, d):
    """β of model m by coordinate descent from where it is; bar : nλ/2. Changes beta and rest."""
    sweep, moved, most = 0, np.inf, min(MOST_SWEEPS, max(FEWEST_SWEEPS, MOST_WORK / (d * d)))
    while sweep < most and moved > ENOUGH * bar:
        moved = 0.0
        for j in range(d):
            size = gram[m, j, j]
            if size > 0.0:
                step = threshold(rest[m, j] + size * beta[m, j], bar) / size - beta[m, j]
                if step != 0.0:
                    beta[m, j] += step
                    moved = max(moved, size * abs(step))
                    for i in range(d):
                        rest[m, i] -= step * gram[m, j, i]
        sweep += 1


@exact_kernel
def contest(own, index, mean, x, c, h, lambda_1, lambda_2, K, d):
    """Λ₂'s βᵀx of the arms that contend, -∞ of the others. Changes index and mean (K,), and what is fitted."""
    gram, _, beta, rest, rows, forced_gram, _, forced_beta, forced_rest, forced_rows, stale, _ = own
    best, contenders, fitted = LOWEST, 0, -1
    for m in range(stale.size):
        if stale[m] > 0:
            fit(forced_gram, forced_beta, forced_rest, m, forced_rows[m] * lambda_1 / 2, d)
            stale[m] = 0
    for k in range(K):
        mean[k] = predicted(forced_beta, k, x, c, d)
        best = max(best, mean[k])
    for k in range(K):
        contenders += mean[k] >= best - h / 2
    for k in range(K):
        index[k] = 0.0 if mean[k] >= best - h / 2 else LOWEST
        if contenders > 1 and index[k] == 0.0:
            m = row_of(k, beta)
            if m != fitted:  # once, where arms share it
                fit(gram, beta, rest, m, rows[m] * lambda_2 / 2, d)
                fitted = m
            index[k] = predicted(beta, k, x, c, d)


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    a = forced_arm(knobs[0][i], block.seed, run, step, K)
    if a != FREE:
        own[11][a] += 1
    else:
        index, mean = scratch
        contest(own, index, mean, block.x, c, knobs[1][i], knobs[2][i], knobs[3][i], K, d)
        a = best_of(index, block.unit, block.seed, run, step, K)
    return a


@part
def record(gram, b, beta, rest, rows, a, x, c, y, d):
    """Add a row. Changes all but beta."""
    m, error = row_of(a, beta), y - predicted(beta, a, x, c, d)
    rows[m] += 1
    for i in range(d):
        b[m, i] += y * x[c, a, i]
        rest[m, i] += error * x[c, a, i]
        for j in range(d):
            gram[m, i, j] += x[c, a, i] * x[c, a, j]


@part
def learn(own, scratch, a, x, c, y, d):
    gram, b, beta, rest, rows, forced_gram, forced_b, forced_beta, forced_rest, forced_rows, stale, due = own
    record(gram, b, beta, rest, rows, a, x, c, y, d)
    if due[a] > 0:
        due[a] -= 1
        stale[row_of(a, beta)] = 1
        record(forced_gram, forced_b, forced_beta, forced_rest, forced_rows, a, x, c, y, d)


@part
def refresh(gram, b, beta, rest, d):
    """XᵀY - XᵀXβ afresh. Changes rest."""
    for m in range(beta.shape[0]):
        for i in range(d):
            rest[m, i] = b[m, i]
            for j in range(d):
                rest[m, i] -= gram[m, i, j] * beta[m, j]


@part
def tidy_run(own, scratch, K, d):
    gram, b, beta, rest, _, forced_gram, forced_b, forced_beta, forced_rest, _, stale, _ = own
    refresh(gram, b, beta, rest, d)
    refresh(forced_gram, forced_b, forced_beta, forced_rest, d)
    for m in range(stale.size):
        stale[m] = 1  # for rows that came by a merge


@kernel
def tidy(state):
    """`tidy_run` for all. Changes state."""
    for r in range(state.due.shape[0]):
        tidy_run(of_run(state, r), (), state.due.shape[1], state.b.shape[2])


@kernel
def advance_lasso(block, knobs, marks, state, regret, curve, tally):
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@part
def note(own, scratch, a, mark):
    """Whether the pull was forced. Nothing is due meanwhile."""
    due = own[11]
    mark[0], due[a] = due[a], 0


@part
def admit(own, scratch, a, x, c, mark, d):
    own[11][a] = int(mark[0])
    return True


@kernel
def late_lasso(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_marked(
        block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, note, admit, learn
    )


@kernel
def choose_lasso(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_lasso(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, nothing, learn)


@kernel
def index_lasso(block, state, h, lambda_1, lambda_2, index, mean):
    """`contest` for the one step of a block of one run. Changes index, mean and the state's fits."""
    contest(of_run(state, 0), index, mean, block.x, 0, h, lambda_1, lambda_2, index.size, block.x.shape[2])


@kernel
def mean_lasso(block, state, lambda_2, mean):
    """The estimates (K,) of all pulls, fitted. Changes mean and the state's fits."""
    K, d = block.x.shape[1], block.x.shape[2]
    for m in range(state.rows.shape[1]):
        fit(state.gram[0], state.beta[0], state.rest[0], m, state.rows[0, m] * lambda_2 / 2, d)
    for k in range(K):
        mean[k] = predicted(state.beta[0], k, block.x, 0, d)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest mean of those that contend wins, where no arm is forced; a LASSO has no width. Changes nothing."""
    (forced, h, lambda_1, lambda_2), K = knobs, block.x.shape[1]
    index, mean = np.empty(K), np.empty(K)
    copies = [LassoState(*(array.copy() for array in state)) for _ in range(2)]
    index_lasso(block, copies[0], h, lambda_1, lambda_2, index, mean)
    mean_lasso(block, copies[1], lambda_2, mean)
    return Seen(mean, np.zeros(K), index, shares(forced, index, block.unit))


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """All 0."""


FAMILY = Family(
    name="lasso",
    marks=forced_marks,
    fields=(*ALL, *FORCED, Field("stale", "A", dtype=np.int64), DUE),
    scratch=(Field("index", "K"), Field("mean", "K")),
    state=LassoState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_lasso,
    late=late_lasso,
    choose_once=choose_lasso,
    learn_once=learn_lasso,
    seen=seen,
    knobs=("forced", "h", "lambda_1", "lambda_2"),
    tidy=tidy,
    tidy_run=tidy_run,
    every=8192,
)
