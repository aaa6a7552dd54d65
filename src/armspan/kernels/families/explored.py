"""Linear knowledge of what forced pulls have shown, and of nothing else: between them, the largest θ̂ᵀx wins.

An agent need not be told which choice a reward belongs to. While forced pulls of the arm wait for theirs, it is taken
for one of these; while only others wait, it teaches nothing. Where no choice of the arm waits, it comes from elsewhere,
such as a log, and is learnt like that of a forced pull. Where arms have a fixed number of forced pulls, an agent learns
the first so many rewards of each, and nothing else.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.families import forced, linear
from armspan.kernels.families.forced import FREE, forced_arm, greedy, learn_row
from armspan.kernels.families.linear import scratch_of
from armspan.kernels.family import Family, Field, derived
from armspan.kernels.late import live_marked
from armspan.kernels.life import choose_once, learn_once, live, nothing
from armspan.kernels.marked import Marked, forced_marks


class ExploredState(NamedTuple):
    """What was learnt in each of R runs: that of `LinearState`, and due, asked and room (R, K).

    due : forced pulls whose reward has not come yet. asked : pulls of any kind whose reward has not come yet.
    room : how many more rewards of an arm are learnt; OPEN if that is not known beforehand.
    """

    V: FloatArray
    V_inv: FloatArray
    b: FloatArray
    theta_hat: FloatArray
    due: IntArray
    asked: IntArray
    room: IntArray


OPEN = -1
"""As many as forced pulls there are."""


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """As of `linear`, and where every arm has so many forced pulls, how many these are."""
    linear.fresh(state, numbers)
    state.room[:] = int(numbers.get("pulls", OPEN))


@inlined
def of_run(state, r):
    known = state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r]
    return *known, state.due[r], state.asked[r], state.room[r]


@part
def pull(forced, theta_hat, due, index, x, c, unit, seed, run, step, K, d):
    """The forced arm, whose reward is due then, or else greedy's. Changes due and index (K,)."""
    a = forced_arm(forced, seed, run, step, K)
    if a == FREE:
        return greedy(theta_hat, index, x, c, unit, seed, run, step, K, d)
    due[a] += 1
    return a


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    a = pull(knobs[0][i], own[3], own[4], scratch[0], block.x, c, block.unit, block.seed, run, step, K, d)
    own[5][a] += 1
    return a


@part
def learn_due(V, V_inv, b, theta_hat, due, asked, room, a, x, c, y, z, d):
    """`learn_row`, if there is room; where that is OPEN, if a forced pull's is due, or none is. Changes the first 7."""
    explored = due[a] > 0 or asked[a] == 0
    if room[a] != OPEN:
        explored = room[a] > 0
        room[a] = max(room[a] - 1, 0)
    due[a], asked[a] = max(due[a] - 1, 0), max(asked[a] - 1, 0)
    if explored:
        learn_row(V, V_inv, b, theta_hat, a, x, c, y, z, d)


@part
def learn(own, scratch, a, x, c, y, d):
    V, V_inv, b, theta_hat, due, asked, room = own
    learn_due(V, V_inv, b, theta_hat, due, asked, room, a, x, c, y, scratch[3], d)


@part
def tidy_run(own, scratch, K, d):
    linear.tidy_run((own[0], own[1], own[2], own[3]), scratch, K, d)


@kernel
def advance_explored(block, knobs, marks, state, regret, curve, tally):
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@part
def note(own, scratch, a, mark):
    """Whether the pull was forced. Nothing is due meanwhile."""
    due = own[4]
    mark[0], due[a] = due[a], 0


@part
def admit(own, scratch, a, x, c, mark, d):
    """Rewards of forced pulls; others teach nothing."""
    due, asked, forced = own[4], own[5], mark[0] > 0.0
    due[a], asked[a] = int(mark[0]), asked[a] if forced else max(asked[a] - 1, 0)
    return forced


@kernel
def late_explored(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_marked(
        block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, note, admit, learn
    )


@kernel
def choose_explored(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_explored(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, nothing, learn)


def marks(family: Family) -> Marked:
    """As of `forced_marks`; other rewards teach nothing."""
    forced = forced_marks(family)

    def learn(block: Any, state: Any, a: int, y: float, mark: int) -> None:
        if mark:
            forced.learn(block, state, a, y, mark)
        else:
            state.asked[0, a] = max(state.asked[0, a] - 1, 0)

    return forced._replace(learn=learn)


FAMILY = derived(
    forced.FAMILY,
    name="explored",
    marks=marks,
    fields=(
        *linear.FIELDS,
        Field("due", "K", sums=True, dtype=np.int64),
        Field("asked", "K", sums=True, dtype=np.int64),
        Field("room", "K", dtype=np.int64),
    ),
    state=ExploredState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_explored,
    late=late_explored,
    choose_once=choose_explored,
    learn_once=learn_explored,
    seen=forced.seen,
    tidy=linear.FAMILY.tidy,
    tidy_run=tidy_run,
)
