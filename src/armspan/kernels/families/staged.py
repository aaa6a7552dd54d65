"""Linear knowledge in stages, as SupLinUCB has it: a stage learns only from choices that its own rewards had no say in.

A context goes through the stages until one of them is in doubt of an arm, or all is known well enough. A simulation
learns a reward that comes late in the stage that has decided. An agent is not told which that was, and learns it in the
one that would decide now.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels import linear
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import winners
from armspan.kernels.family import Family, Field, Seen
from armspan.kernels.late import live_marked
from armspan.kernels.life import choose_once, learn_once, live
from armspan.kernels.linear import best_of, score
from armspan.kernels.marked import Marked

LOWEST = -math.inf
NOWHERE = -1
"""The stage of what is not learnt."""


class StagedState(NamedTuple):
    """What was learnt in each of R runs and S stages, as in `LinearState`; and α and 1/√T, which never change.

    V, V_inv : (R, S, A, d, d). b, theta_hat : (R, S, A, d). limits : (R, 2).
    """

    limits: FloatArray
    V: FloatArray
    V_inv: FloatArray
    b: FloatArray
    theta_hat: FloatArray


LIMITS = Field("limits", "P")
COMMON = (Field("index", "K"), Field("mean", "K"), Field("width", "K"), Field("stage", "K", dtype=np.int64))
"""What all staged families have in scratch, at first."""


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """V = ridge·I, b = 0, θ̂ = 0 in all stages."""
    eye = np.eye(state.b.shape[-1])
    state.limits[:] = numbers["alpha"], numbers["least"]
    state.V[:] = numbers["ridge"] * eye
    state.V_inv[:] = eye / numbers["ridge"]


@inlined
def scratch_of(K, d):
    """Index, estimate, width and stage (K,) of the present context; σ̂² (K,), z (d,), L and L⁻¹ (d, d)."""
    doubles = np.empty(K), np.empty(K), np.empty(K)
    return *doubles, np.empty(K, np.int64), np.empty(K), np.empty(d), np.empty((d, d)), np.empty((d, d))


@inlined
def of_run(state, r):
    return state.limits[r], state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r]


@part
def measure(own, scratch, s, x, c, K, d):
    """The estimates of arms that are not ruled out in stage s, and their widths α√(xᵀV⁻¹x). Changes scratch."""
    V_inv, theta_hat = own[2][s], own[4][s]
    index, mean, width, _, variance, _, _, _ = scratch
    for k in range(K):
        if index[k] > LOWEST:
            mean[k], variance[k] = score(V_inv, theta_hat, k, x, c, d)
            width[k] = own[0][0] * math.sqrt(abs(variance[k]))


@inlined
def screen(measure, own, scratch, x, c, K, d):
    """The stage that decides, from 0, and whether it explores. Changes scratch: the largest index is to be pulled.

    Arms that an earlier stage has ruled out have index -inf. Where the stage explores, an index is the width alone.
    """
    index, mean, width = scratch[0], scratch[1], scratch[2]
    least, s, bar, decided, widest = own[0][1], 0, 0.5, False, 0.0  # bar is 2⁻ˢ, for stages from 1
    for k in range(K):
        index[k] = 0.0
    while not decided:
        widest, best = 0.0, LOWEST
        measure(own, scratch, s, x, c, K, d)
        for k in range(K):
            if index[k] > LOWEST:
                index[k] = mean[k] + width[k]
                widest, best = max(widest, width[k]), max(best, index[k])
        last = s + 1 == own[1].shape[0]  # which decides by itself, unless numbers have overflown
        decided = widest <= least or widest > bar or last
        if not decided:
            for k in range(K):
                if index[k] < best - 2.0 * bar:
                    index[k] = LOWEST
            s, bar = s + 1, 0.5 * bar
    explores = widest > least
    for k in range(K):
        if explores and index[k] > LOWEST:
            index[k] = width[k]
    return s, explores


@inlined
def choose_by(measure, own, scratch, block, c, run, step, K, d):
    """The arm by the stage that decides. Changes scratch."""
    index, stage = scratch[0], scratch[3]
    s, explores = screen(measure, own, scratch, block.x, c, K, d)
    a = best_of(index, block.unit, block.seed, run, step, K)
    stage[a] = s if explores else NOWHERE
    return a


@inlined
def recall_by(measure, own, scratch, a, x, c, d):
    """The stage that would decide now, and what it knows of the arm, ruled out or not. Changes scratch."""
    s, explores = screen(measure, own, scratch, x, c, x.shape[1], d)
    scratch[0][a] = 0.0
    measure(own, scratch, s, x, c, x.shape[1], d)
    scratch[3][a] = s if explores else NOWHERE


@inlined
def choose_with_stage(block, knobs, state, d, scratch_of, of_run, choose):
    """`choose_once`, and the stage that has decided, NOWHERE if its reward is not to be learnt."""
    K = block.means.shape[1]
    own, scratch = of_run(state, 0), scratch_of(K, d)
    a = choose(own, scratch, block, block.contexts[0, 0], knobs, 0, block.runs[0], block.first, K, d)
    return a, scratch[3][a]


@inlined
def learn_in_stage(block, state, a, y, s, d, scratch_of, of_run, measure, learn):
    """Learn a reward in stage s, unless that is NOWHERE. Changes state."""
    if s != NOWHERE:
        K, c = block.means.shape[1], block.contexts[0, 0]
        own, scratch = of_run(state, 0), scratch_of(K, d)
        for k in range(K):
            scratch[0][k] = 0.0
        measure(own, scratch, s, block.x, c, K, d)
        scratch[3][a] = s
        learn(own, scratch, a, block.x, c, y, d)


@part
def note(own, scratch, a, mark):
    """The stage that has decided."""
    mark[0] = scratch[3][a]


@inlined
def admit_by(measure, own, scratch, a, x, c, mark, d):
    """Whether a stage is to learn it; what that knows of the arms, ruled out or not. Changes scratch."""
    s = int(mark[0])
    if s != NOWHERE:
        for k in range(x.shape[1]):
            scratch[0][k] = 0.0
        measure(own, scratch, s, x, c, x.shape[1], d)
        scratch[3][a] = s
    return s != NOWHERE


@part
def admit(own, scratch, a, x, c, mark, d):
    return admit_by(measure, own, scratch, a, x, c, mark, d)


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    return choose_by(measure, own, scratch, block, c, run, step, K, d)


@part
def learn(own, scratch, a, x, c, y, d):
    """Learn in the stage that has decided, if it was to explore."""
    _, V, V_inv, b, theta_hat = own
    _, mean, _, stage, variance, z, _, _ = scratch
    s = stage[a]
    if s != NOWHERE:
        linear.learn(V[s], V_inv[s], b[s], theta_hat[s], a, x, c, y, mean[a], variance[a], z, d)


@part
def recall(own, scratch, a, x, c, d):
    recall_by(measure, own, scratch, a, x, c, d)


@part
def tidy_run(own, scratch, K, d):
    """V⁻¹ and θ̂ of all stages afresh."""
    _, V, V_inv, b, theta_hat = own
    _, _, _, _, _, _, L, L_inv = scratch
    for s in range(V.shape[0]):
        for a in range(V.shape[1]):
            linear.rebuild_arm(V[s], V_inv[s], b[s], theta_hat[s], a, L, L_inv, d)


@kernel
def rebuild(state):
    """`tidy_run` for all. Changes state."""
    R, _, A, d = state.b.shape
    scratch = scratch_of(A, d)
    for r in range(R):
        tidy_run(of_run(state, r), scratch, A, d)


@kernel
def advance_staged(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def late_staged(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_marked(
        block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, note, admit, learn
    )


@kernel
def choose_staged(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_staged(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, recall, learn)


@kernel
def choose_marked(block, knobs, state):
    return choose_with_stage(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_marked(block, state, a, y, s):
    learn_in_stage(block, state, a, y, s, block.x.shape[2], scratch_of, of_run, measure, learn)


@kernel
def score_staged(block, state, mean, width, index):
    """What the stage that decides knows of every arm, of those ruled out their last one. Changes all three (K,).

    As in `linear`, the width that is shown is √(xᵀV⁻¹x), without α.
    """
    scratch = scratch_of(mean.size, block.x.shape[2])
    screen(measure, of_run(state, 0), scratch, block.x, 0, mean.size, block.x.shape[2])
    for k in range(mean.size):
        index[k], mean[k], width[k] = scratch[0][k], scratch[1][k], math.sqrt(abs(scratch[4][k]))


def seen_by(score_all: Any, state: Any, block: Block) -> Seen:
    """What a kernel such as `score_staged` says."""
    mean, width, index = (np.empty(block.x.shape[1]) for _ in range(3))
    score_all(block, state, mean, width, index)
    return Seen(mean, width, index, winners(index, block.unit))


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest index wins: mean + α·width, or α·width where the stage explores; -inf for an arm ruled out."""
    return seen_by(score_staged, state, block)


def stages(state: Any) -> range:
    """The stages that a reward may be learnt in, and NOWHERE."""
    return range(NOWHERE, state.b.shape[1])


FAMILY = Family(
    name="staged",
    marks=lambda _: Marked(choose_marked, learn_marked, stages),
    fields=(
        LIMITS,
        Field("V", "SAdd", sums=True),
        Field("V_inv", "SAdd"),
        Field("b", "SAd", sums=True),
        Field("theta_hat", "SAd"),
    ),
    scratch=(*COMMON, Field("variance", "K"), Field("z", "d"), Field("L", "dd"), Field("L_inv", "dd")),
    state=StagedState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_staged,
    late=late_staged,
    choose_once=choose_staged,
    learn_once=learn_staged,
    seen=seen,
    knobs=(),
    tidy=rebuild,
    tidy_run=tidy_run,
    every=linear.REBUILD,
    on_gpu=False,
)
