"""Linear knowledge used an epoch late: choices follow the fit of the last epoch's rows; each is twice as long.

V and b are sums over the present epoch, V⁻¹ and θ̂ are of the last. Epochs are counted in rewards that were learnt, so
that an agent whose rewards come late waits for them. Choices are by inverse gaps, see `mixed`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.kernels import linear as one
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.families import linear
from armspan.kernels.families.linear import scratch_of
from armspan.kernels.families.mixed import INVERSE_GAP, clipped, seen_by, share_out, shares_once
from armspan.kernels.family import Field, Seen, derived
from armspan.kernels.late import live_late
from armspan.kernels.life import choose_once, learn_once, live, nothing
from armspan.kernels.philox import real
from armspan.kernels.sampling import drawn, uniform_of

LEARNT, NUMBER, START = 0, 1, 2
"""Where in `epoch` are: rewards learnt, the epoch's number m from 1, and τ_{m-1}, when it began (1 in the first)."""


class EpochState(NamedTuple):
    """What was learnt in each of R runs: that of `LinearState`, epoch (R, 3) and ridge (R, 1)."""

    V: FloatArray
    V_inv: FloatArray
    b: FloatArray
    theta_hat: FloatArray
    epoch: IntArray
    ridge: FloatArray


def fresh(state: Any, numbers: Mapping[str, float]) -> None:
    """As of `linear`, in the first epoch."""
    linear.fresh(state, numbers)
    state.epoch[:] = 0, 1, 1
    state.ridge[:] = numbers["ridge"]


@inlined
def of_run(state, r):
    return state.V[r], state.V_inv[r], state.b[r], state.theta_hat[r], state.epoch[r], state.ridge[r]


@part
def chances(own, scratch, block, c, knobs, i, K, d):
    """Every arm's probability, with γ = c√(Kτ/(D log τ + log(m²/δ))). Changes the first of scratch (K,)."""
    scale, parameters, delta, low, high = knobs
    tau, m = real(own[4][START]), real(own[4][NUMBER])
    gamma = scale[i] * math.sqrt(real(K) * tau / (parameters[i] * math.log(tau) + math.log(m * m / delta[i])))
    clipped(own[3], block.x, c, low[i], high[i], scratch[0], K, d)
    share_out(INVERSE_GAP, gamma, scratch[0], block.unit, K)


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    chances(own, scratch, block, c, knobs, i, K, d)
    return drawn(scratch[0], uniform_of(block.seed, run, step), K)


@part
def learn(own, scratch, a, x, c, y, d):
    """Add up; where that was the last reward of an epoch, fit what it has seen, and begin the next."""
    V, V_inv, b, theta_hat, epoch, ridge = own
    one.record(V, b, one.row_of(a, V), x, c, a, 1.0, y, d)
    epoch[LEARNT] += 1
    if epoch[LEARNT] == 2 * epoch[START]:
        epoch[NUMBER] += 1
        epoch[START] *= 2
        for m in range(V.shape[0]):
            one.rebuild_arm(V, V_inv, b, theta_hat, m, scratch[4], scratch[5], d)
            for i in range(d):
                b[m, i] = 0.0
                for j in range(i + 1):
                    V[m, i, j] = ridge[0] if i == j else 0.0


@kernel
def advance_epochs(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@kernel
def late_epochs(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_late(block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, nothing, learn)


@kernel
def choose_epochs(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_epochs(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, nothing, learn)


@kernel
def shares_epochs(block, knobs, state, share):
    shares_once(block, knobs, state, share, scratch_of, of_run, chances)


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """Estimates of the last epoch, and probabilities; the index is the mean."""
    return seen_by(shares_epochs, state, block, knobs)


FAMILY = derived(
    linear.FAMILY,
    name="epochs",
    # no sums: they end with the epoch, so that agents cannot be merged by adding them
    fields=(
        *(replace(field, sums=False) for field in linear.FIELDS),
        Field("epoch", "e", dtype=np.int64),
        Field("ridge", "o"),
    ),
    state=EpochState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_epochs,
    late=late_epochs,
    choose_once=choose_epochs,
    learn_once=learn_epochs,
    seen=seen,
    knobs=("scale", "parameters", "delta", "low", "high"),
    tidy=None,
    tidy_run=None,
    every=1,
)
