"""LinRel's knowledge in stages, as SupLinRel has it: `staged` with what `linrel` trusts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.families import linrel, staged
from armspan.kernels.families.linrel import width_of
from armspan.kernels.families.staged import (
    COMMON,
    LIMITS,
    LOWEST,
    NOWHERE,
    admit_by,
    choose_by,
    choose_with_stage,
    learn_in_stage,
    note,
    recall_by,
    screen,
    seen_by,
    stages,
)
from armspan.kernels.family import Field, Seen, derived
from armspan.kernels.late import live_marked
from armspan.kernels.life import choose_once, learn_once, live
from armspan.kernels.marked import Marked


class StagedLinRelState(NamedTuple):
    """What was learnt in each of R runs and S stages, as in `LinRelState`, with an axis S after R; limits : (R, 2)."""

    limits: FloatArray
    G: FloatArray
    P: FloatArray
    N: FloatArray
    b: FloatArray
    theta_hat: FloatArray


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """Nothing is trusted in any stage."""
    state.limits[:] = numbers["alpha"], numbers["least"]
    linrel.fresh(state, numbers)


@inlined
def scratch_of(K, d):
    """Index, estimate, width and stage (K,) of the present context; ‖a‖² and ‖ṽ‖² (K,); z (d,); W and U (d, d)."""
    doubles = np.empty(K), np.empty(K), np.empty(K)
    rest = np.empty(K), np.empty(K), np.empty(d), np.empty((d, d)), np.empty((d, d))
    return *doubles, np.empty(K, np.int64), *rest


@inlined
def of_run(state, r):
    return state.limits[r], state.G[r], state.P[r], state.N[r], state.b[r], state.theta_hat[r]


@inlined
def stage_of(own, s):
    """The knowledge of stage s, as `linrel` has it."""
    return own[1][s], own[2][s], own[3][s], own[4][s], own[5][s]


@inlined
def plain(scratch):
    """The scratch that `linrel` has."""
    index, mean, _, _, variance, rest, z, W, U = scratch
    return index, mean, variance, rest, z, W, U


@part
def measure(own, scratch, s, x, c, K, d):
    """As `staged.measure`. Changes scratch."""
    P, N, theta_hat = own[2][s], own[3][s], own[5][s]
    index, mean, width, _, variance, rest, _, _, _ = scratch
    for k in range(K):
        if index[k] > LOWEST:
            mean[k], variance[k], rest[k] = linrel.measure(P, N, theta_hat, k, x, c, d)
            width[k] = width_of(own[0][0], variance[k], rest[k])


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    return choose_by(measure, own, scratch, block, c, run, step, K, d)


@part
def learn(own, scratch, a, x, c, y, d):
    s = scratch[3][a]
    if s != NOWHERE:
        linrel.learn(stage_of(own, s), plain(scratch), a, x, c, y, d)


@part
def recall(own, scratch, a, x, c, d):
    recall_by(measure, own, scratch, a, x, c, d)


@part
def tidy_run(own, scratch, K, d):
    for s in range(own[1].shape[0]):
        linrel.tidy_run(stage_of(own, s), plain(scratch), K, d)


@kernel
def rebuild(state):
    """`tidy_run` for all. Changes state."""
    R, _, A, d = state.b.shape
    scratch = scratch_of(A, d)
    for r in range(R):
        tidy_run(of_run(state, r), scratch, A, d)


@kernel
def advance_staged_linrel(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@part
def admit(own, scratch, a, x, c, mark, d):
    return admit_by(measure, own, scratch, a, x, c, mark, d)


@kernel
def late_staged_linrel(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_marked(
        block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, note, admit, learn
    )


@kernel
def choose_staged_linrel(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_staged_linrel(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, recall, learn)


@kernel
def choose_marked(block, knobs, state):
    return choose_with_stage(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_marked(block, state, a, y, s):
    learn_in_stage(block, state, a, y, s, block.x.shape[2], scratch_of, of_run, measure, learn)


@kernel
def score_staged_linrel(block, state, mean, width, index):
    """As `staged.score_staged`. Changes all three (K,)."""
    scratch = scratch_of(mean.size, block.x.shape[2])
    screen(measure, of_run(state, 0), scratch, block.x, 0, mean.size, block.x.shape[2])
    for k in range(mean.size):
        index[k], mean[k], width[k] = scratch[0][k], scratch[1][k], scratch[2][k]


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    return seen_by(score_staged_linrel, state, block)


FAMILY = derived(
    staged.FAMILY,
    name="staged_linrel",
    marks=lambda _: Marked(choose_marked, learn_marked, stages),
    fields=(
        LIMITS,
        Field("G", "SAdd", sums=True),
        Field("P", "SAdd"),
        Field("N", "SAdd"),
        Field("b", "SAd", sums=True),
        Field("theta_hat", "SAd"),
    ),
    scratch=(*COMMON, Field("variance", "K"), Field("rest", "K"), Field("z", "d"), Field("W", "dd"), Field("U", "dd")),
    state=StagedLinRelState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_staged_linrel,
    late=late_staged_linrel,
    choose_once=choose_staged_linrel,
    learn_once=learn_staged_linrel,
    seen=seen,
    tidy=rebuild,
    tidy_run=tidy_run,
)
