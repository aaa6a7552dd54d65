"""Linear knowledge of each arm, V, V⁻¹, b and θ̂, used with optimism: the largest θ̂ᵀx + α_t √(xᵀV⁻¹x) wins."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels import lanes, linear
from armspan.kernels._compile import exact_kernel, exact_part, inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import winners
from armspan.kernels.family import Family, Field, Seen
from armspan.kernels.grouped import Grouped
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live
from armspan.kernels.linear import choose as optimism


class LinearState(NamedTuple):
    """What was learnt in each of R runs; of V and V⁻¹ the lower triangle counts.

    V, V_inv : (R, A, d, d). b, theta_hat : (R, A, d). A is K, or 1 where all arms share them.
    """

    V: FloatArray
    V_inv: FloatArray
    b: FloatArray
    theta_hat: FloatArray


FIELDS = (
    Field("V", "Add", sums=True),
    Field("V_inv", "Add"),
    Field("b", "Ad", sums=True),
    Field("theta_hat", "Ad"),
)
SCRATCH = (
    Field("index", "K"),
    Field("mean", "K"),
    Field("variance", "K"),
    Field("z", "d"),
    Field("L", "dd"),
    Field("L_inv", "dd"),
)


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """V = ridge·I, b = 0, θ̂ = 0."""
    eye = np.eye(state.b.shape[2])
    state.V[:] = numbers["ridge"] * eye
    state.V_inv[:] = eye / numbers["ridge"]


@inlined
def scratch_of(K, d):
    """Index, mean and variance (K,) of the present context, z (d,), and L and L⁻¹ (d, d) for `tidy_run`."""
    return np.empty(K), np.empty(K), np.empty(K), np.empty(d), np.empty((d, d)), np.empty((d, d))


@inlined
def of_run(state, r):
    return state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r]


@inlined
def choose_by(rule, own, scratch, block, c, alpha, run, step, K, d):
    """The arm by a rule such as `linear.choose`."""
    _, V_inv, _, theta_hat = own
    index, mean, variance, _, _, _ = scratch
    return rule(V_inv, theta_hat, block.x, c, alpha, index, mean, variance, block.unit, block.seed, run, step, K, d)


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    return choose_by(optimism, own, scratch, block, c, knobs[0][i], run, step, K, d)


@part
def learn(own, scratch, a, x, c, y, d):
    V, V_inv, b, theta_hat = own
    _, mean, variance, z, _, _ = scratch
    linear.learn(V, V_inv, b, theta_hat, a, x, c, y, mean[a], variance[a], z, d)


@part
def learn_two(own, scratch, a, x, c, y, d):
    V, V_inv, b, theta_hat = own
    _, mean, variance, _, _, _ = scratch
    linear.learn_two(V, V_inv, b, theta_hat, a, x, c, y, mean[a], variance[a])


choose_exactly, learn_exactly, learn_two_exactly = exact_part(choose), exact_part(learn), exact_part(learn_two)


@part
def tidy_run(own, scratch, K, d):
    """V⁻¹ and θ̂ of every arm afresh; `linear.rebuild` does that for all runs."""
    V, V_inv, b, theta_hat = own
    _, _, _, _, L, L_inv = scratch
    for a in range(V.shape[0]):
        linear.rebuild_arm(V, V_inv, b, theta_hat, a, L, L_inv, d)


@kernel
def advance_linear(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@exact_kernel
def advance_linear_2(block, knobs, marks, state, regret, curve, tally):
    """`live` with its loops unrolled for d = 2, in strict arithmetic as in `lanes`; so the next ones for 3, 4 and 5."""
    live(block, knobs, marks, state, regret, curve, tally, 2, scratch_of, of_run, choose_exactly, learn_two_exactly)


@exact_kernel
def advance_linear_3(block, knobs, marks, state, regret, curve, tally):
    live(block, knobs, marks, state, regret, curve, tally, 3, scratch_of, of_run, choose_exactly, learn_exactly)


@exact_kernel
def advance_linear_4(block, knobs, marks, state, regret, curve, tally):
    live(block, knobs, marks, state, regret, curve, tally, 4, scratch_of, of_run, choose_exactly, learn_exactly)


@exact_kernel
def advance_linear_5(block, knobs, marks, state, regret, curve, tally):
    live(block, knobs, marks, state, regret, curve, tally, 5, scratch_of, of_run, choose_exactly, learn_exactly)


@kernel
def advance_alone_2(block, knobs, marks, state, regret, curve, tally):
    """`advance_linear_2` where there are no lanes that it must agree with; so the next ones for 3, 4 and 5."""
    live(block, knobs, marks, state, regret, curve, tally, 2, scratch_of, of_run, choose, learn_two)


@kernel
def advance_alone_3(block, knobs, marks, state, regret, curve, tally):
    live(block, knobs, marks, state, regret, curve, tally, 3, scratch_of, of_run, choose, learn)


@kernel
def advance_alone_4(block, knobs, marks, state, regret, curve, tally):
    live(block, knobs, marks, state, regret, curve, tally, 4, scratch_of, of_run, choose, learn)


@kernel
def advance_alone_5(block, knobs, marks, state, regret, curve, tally):
    live(block, knobs, marks, state, regret, curve, tally, 5, scratch_of, of_run, choose, learn)


@part
def recall(own, scratch, a, x, c, d):
    """The estimate of an arm, and its variance."""
    scratch[1][a], scratch[2][a] = linear.score(own[1], own[3], a, x, c, d)


@kernel
def late_linear(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, recall, learn)


@kernel
def choose_linear(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def choose_largest(block, index):
    """The arm with the largest index (K,), for the one step of a block of one run."""
    return linear.best_of(index, block.unit, block.seed, block.runs[0], block.first, index.size)


def for_many_arms(
    choose_once: Callable[..., int], seen: Callable[..., Seen], must_try: Callable[..., int] | None = None
) -> Callable[..., int]:
    """`choose_once` of a family whose largest index wins; by what is `seen` where very many arms share one model.

    must_try(state, step, K, d) : the arm that is pulled whatever its index is, or K.
    """

    def choose(block: Block, knobs: Any, state: Any) -> int:
        if not is_large(state, block):
            return choose_once(block, knobs, state)
        K, d = block.x.shape[1:]
        forced = K if must_try is None else must_try(state, block.first, K, d)
        if forced < K:
            return forced
        return choose_largest(block, seen(state, block, [float(knob[0]) for knob in knobs]).index)

    return choose


@kernel
def score_linear(x, V_inv, theta_hat, mean, width):
    """The estimate and its width of every arm in the first context of x. Changes both (K,)."""
    for k in range(mean.size):
        mean[k], variance = linear.score(V_inv[0], theta_hat[0], k, x, 0, x.shape[2])
        width[k] = math.sqrt(abs(variance))


@kernel
def learn_linear(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, recall, learn)


def is_large(state: Any, block: Block) -> bool:
    """Whether there are so many arms, which share one model, that matrix products pay."""
    return state.b.shape[1] == 1 and block.x[0].size * block.x.shape[2] >= MANY_PRODUCTS


def estimates(state: Any, block: Block) -> tuple[FloatArray, FloatArray]:
    """The estimate (K,) and its width (K,) of every arm."""
    if is_large(state, block):
        x, lower, variance = block.x[0], np.tril(state.V_inv[0, 0], -1), np.empty(block.x.shape[1])
        together = max(TOGETHER // x.shape[1] ** 2, 16)
        V_inv, product = lower + lower.T + np.diag(np.diag(state.V_inv[0, 0])), np.empty((together, x.shape[1]))
        for k in range(0, len(x), together):
            rows = x[k : k + together]
            times = np.matmul(rows, V_inv, out=product[: len(rows)])
            np.einsum("kd,kd->k", times, rows, out=variance[k : k + together])
        mean = np.einsum("kd,d->k", x, state.theta_hat[0, 0])  # not by BLAS: equal rows have equal means
        return mean, np.sqrt(np.abs(variance, out=variance), out=variance)
    mean, width = np.empty(block.x.shape[1]), np.empty(block.x.shape[1])
    score_linear(block.x, state.V_inv, state.theta_hat, mean, width)
    return mean, width


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """The largest mean + α_t·width wins."""
    mean, width = estimates(state, block)
    index = mean + knobs[0] * width
    return Seen(mean, width, index, winners(index, block.unit))


MANY_PRODUCTS, TOGETHER = 200_000, 1 << 18
"""K·d² from which on BLAS scores arms that share one model faster, and for how many of them at a time: with more BLAS
uses several threads, and where other programs are busy these wait for each other twenty times as long as they work."""
UNROLLED: dict[int, Callable[..., None]] = {
    2: advance_linear_2,
    3: advance_linear_3,
    4: advance_linear_4,
    5: advance_linear_5,
}
"""By the number of features, for runs beside lanes: in strict arithmetic, as these are."""
ALONE: dict[int, Callable[..., None]] = {
    2: advance_alone_2,
    3: advance_alone_3,
    4: advance_alone_4,
    5: advance_alone_5,
}
"""The same where there are no lanes: sums may be reordered, which is faster."""


def advance(K: int, d: int) -> Callable[..., None]:
    """The fastest kernel for this size. Lanes are for arms that each have their own knowledge."""
    if d in lanes.LANES and K <= lanes.MOST_ARMS:
        return Grouped(UNROLLED[d], lanes.LANES[d], lanes.least(K), models=K)
    return ALONE.get(d, advance_linear)


FAMILY = Family(
    name="linear",
    fields=FIELDS,
    scratch=SCRATCH,
    state=LinearState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=advance,
    late=late_linear,
    choose_once=for_many_arms(choose_linear, seen),
    learn_once=learn_linear,
    seen=seen,
    tidy=linear.rebuild,
    tidy_run=tidy_run,
    every=linear.REBUILD,
    explains=True,
)
