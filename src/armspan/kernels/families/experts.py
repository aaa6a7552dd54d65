"""Weights of experts that each advise a distribution over the arms: EXP4 and EXP4.P.

An expert scores the arms by bias + θᵀx, and advises those with its largest score, equally. So a fixed arm is a bias
of 1 there, a given θ acts greedily, and the uniform expert is 0 throughout. With p = (1 - K·floor)·mean advice + floor
and r̂ the reward of the pulled arm over its p, a weight is multiplied by exp(rate·(ξ·r̂ + bonus·Σ_a ξ_a/p_a)).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import FloatArray
from armspan.kernels._compile import inlined, kernel, part
from armspan.kernels.block import Block
from armspan.kernels.choice import ROUNDING
from armspan.kernels.family import Family, Field, Seen
from armspan.kernels.late import live_marked
from armspan.kernels.life import choose_once, learn_once, live
from armspan.kernels.marked import Marked
from armspan.kernels.sampling import drawn, uniform_of

TOLD = ("floor", "rate", "bonus", "low", "high")
"""What a run is told once and for all; rewards from low to high are taken to [0, 1]."""
NEVER = -1e30
"""The bias of an arm that came later than the experts: none of them advises it, but the uniform one."""


class ExpertState(NamedTuple):
    """What was learnt in each of R runs, log_w (R, N), and the experts themselves.

    bias : (R, N, K). theta : (R, N, K, d). advice : (R, N, K) of the last step. told : (R, 5), see `TOLD`.
    """

    log_w: FloatArray
    bias: FloatArray
    theta: FloatArray
    advice: FloatArray
    told: FloatArray


def fresh(state: Any, numbers: Any) -> None:
    """Equal weights. numbers : those of TOLD, bias (N, K) and theta (N, K, d)."""
    known = min(state.bias.shape[2], numbers["bias"].shape[1])
    state.bias[:, :-1, known:] = NEVER
    state.bias[:, :, :known] = numbers["bias"][:, :known]
    state.theta[:, :, :known] = numbers["theta"][:, :known]
    state.told[:] = [numbers[name] for name in TOLD]


@inlined
def scratch_of(K, d):
    """The probabilities p (K,) of the present context."""
    return (np.empty(K),)


@inlined
def of_run(state, r):
    return state.log_w[r], state.bias[r], state.theta[r], state.advice[r], state.told[r]


@part
def advise(own, j, x, c, K, d):
    """Expert j's distribution for context c. Changes its row of advice."""
    _, bias, theta, advice, _ = own
    best, size, tied = -math.inf, 0.0, 0
    for k in range(K):
        total = bias[j, k]
        for i in range(d):
            total += theta[j, k, i] * x[c, k, i]
        advice[j, k] = total
        best, size = max(best, total), max(size, abs(total))
    for k in range(K):
        tied += best - advice[j, k] <= ROUNDING * size
    for k in range(K):
        advice[j, k] = 1.0 / tied if best - advice[j, k] <= ROUNDING * size else 0.0


@part
def mix(own, p, x, c, K, d):
    """The probabilities p (K,) of the arms for context c. Changes p and advice."""
    log_w, _, _, advice, told = own
    largest, total = -math.inf, 0.0
    for j in range(log_w.size):
        largest = max(largest, log_w[j])
    for k in range(K):
        p[k] = 0.0
    for j in range(log_w.size):
        advise(own, j, x, c, K, d)
        w = math.exp(log_w[j] - largest)
        total += w
        for k in range(K):
            p[k] += w * advice[j, k]
    floor = min(told[0], 1.0 / K)
    for k in range(K):
        p[k] = (1.0 - K * floor) * p[k] / total + floor


@part
def choose(own, scratch, block, c, knobs, i, run, step, K, d):
    mix(own, scratch[0], block.x, c, K, d)
    return drawn(scratch[0], uniform_of(block.seed, run, step), K)


@part
def learn(own, scratch, a, x, c, y, d):
    log_w, _, _, advice, told = own
    p = scratch[0]
    gain = (y - told[3]) / (told[4] - told[3]) / p[a]
    for j in range(log_w.size):
        spread = 0.0
        if told[2] > 0.0:
            for k in range(p.size):
                spread += advice[j, k] / p[k]
        log_w[j] += told[1] * (advice[j, a] * gain + told[2] * spread)


@part
def recall(own, scratch, a, x, c, d):
    """The probabilities, as they are now, where nobody has kept those of the choice."""
    mix(own, scratch[0], x, c, scratch[0].size, d)


@kernel
def advance_experts(block, knobs, marks, state, regret, curve, tally):
    """`live` for any number of features."""
    d = block.x.shape[2]
    live(block, knobs, marks, state, regret, curve, tally, d, scratch_of, of_run, choose, learn)


@part
def note(own, scratch, a, mark):
    """The probabilities of the arms."""
    for k in range(mark.size):
        mark[k] = scratch[0][k]


@part
def admit(own, scratch, a, x, c, mark, d):
    for j in range(own[0].size):
        advise(own, j, x, c, mark.size, d)
    for k in range(mark.size):
        scratch[0][k] = mark[k]
    return True


@kernel
def late_experts(block, knobs, marks, state, regret, curve, tally, post):
    d = block.x.shape[2]
    live_marked(
        block, knobs, marks, state, regret, curve, tally, post, d, scratch_of, of_run, choose, note, admit, learn
    )


@kernel
def choose_experts(block, knobs, state):
    return choose_once(block, knobs, state, block.x.shape[2], scratch_of, of_run, choose)


@kernel
def learn_experts(block, state, a, y):
    learn_once(block, state, a, y, block.x.shape[2], scratch_of, of_run, recall, learn)


@kernel
def learn_marked(block, state, a, y, p):
    """Learn a reward by the probabilities p (K,) that the arms had when it was chosen. Changes state."""
    own, c, K, d = of_run(state, 0), block.contexts[0, 0], p.size, block.x.shape[2]
    for j in range(own[0].size):
        advise(own, j, block.x, c, K, d)
    learn(own, (p,), a, block.x, c, y, d)


def choose_marked(block: Block, knobs: Any, state: Any) -> tuple[int, FloatArray]:
    """The arm, and the probabilities of all."""
    p = np.empty(block.x.shape[1])
    mix_experts(block, state, p)
    return choose_experts(block, knobs, state), p


@kernel
def mix_experts(block, state, p):
    """`mix`, for Python. Changes p and advice."""
    mix(of_run(state, 0), p, block.x, block.contexts[0, 0], p.size, block.x.shape[2])


def seen(state: Any, block: Block, knobs: Sequence[float]) -> Seen:
    """An arm is drawn by its probability. Experts estimate no rewards: mean and index are that probability, too."""
    p = np.empty(block.x.shape[1])
    mix_experts(block, state, p)
    return Seen(p, np.zeros(p.size), p, p)


FAMILY = Family(
    name="experts",
    fields=(
        Field("log_w", "N", sums=True),
        Field("bias", "NK"),
        Field("theta", "NKd"),
        Field("advice", "NK"),
        Field("told", "t"),
    ),
    scratch=(Field("p", "K"),),
    state=ExpertState,
    fresh=fresh,
    choose=choose,
    learn=learn,
    advance=lambda K, d: advance_experts,
    late=late_experts,
    choose_once=choose_experts,
    learn_once=learn_experts,
    seen=seen,
    knobs=(),
    marks=lambda _: Marked(choose_marked, learn_marked),
)
