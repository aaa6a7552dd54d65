"""The generic kernel: a thread lives through a run of any family, by the family's own functions, as `life.live` does.

What is learnt, scratch and a box's features lie in the GPU's main memory, in arrays whose last axis is the run, so that
neighbouring threads read neighbouring addresses. A run's own are views of those.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from armspan.errors import InvalidParameter
from armspan.kernels import draws
from armspan.kernels._compile import inlined
from armspan.kernels.draws import BERNOULLI
from armspan.kernels.gpu import steps
from armspan.kernels.gpu.arguments import Drawn, Here
from armspan.kernels.gpu.forms import DRAWN, Problem
from armspan.kernels.gpu.steps import BOX, count_pull, take_down
from armspan.kernels.philox import LOW
from armspan.kernels.single import in_precision


@cache
def kernel(problem: Problem) -> Any:
    """The kernel of a family for a problem; `arguments` says what it takes."""
    family, K, d, _, source, noise, single, *_ = problem
    choose, learn, tidy, two_steps, arrive, click = in_precision(
        single, family.choose, family.learn, family.tidy_run or nothing, steps.two_steps, steps.arrive, draws.click
    )
    own_of, scratch_of, drawn_of = (views(fields) for fields in (family.fields, family.scratch, DRAWN))
    every = family.every

    @cuda.jit(fastmath=single)
    def advance(told, world, carried, written, watched):
        r = cuda.grid(1)
        if r >= told.runs.size:
            return
        own, scratch, here = own_of(carried.knowledge[0], r), scratch_of(carried.knowledge[1], r), world
        if source == BOX:
            x, means, losses, u = drawn_of(carried.knowledge[2], r)
            here = Drawn(x, means, losses, u)
        block = Here(here.x, told.unit, told.seed)
        run, row, total, noise_sum = told.runs[r], carried.at[r], carried.regret[r], carried.noise_sums[r]
        m, mark, bin_ = 0, told.marks[0], np.int32(told.ends.size - 2)
        w, next_w, e, next_e = LOW, LOW, told.scale, told.scale
        for i in range(told.steps):
            step = told.first + i
            if i & 1:
                w, e = next_w, next_e
            else:
                w, next_w, e, next_e = two_steps(noise, told.scale, told.seed, run, step)
            c, row = arrive(source, w, row, told.seed, run, step, world, here, K, d)
            a = choose(own, scratch, block, c, told.knobs, i, run, step, K, d)
            if noise == BERNOULLI:
                e = click(e, here.means[c, a])
            learn(own, scratch, a, here.x, c, here.means[c, a] + e, d)
            bin_ = count_pull(here.losses[c, a], step, a, r, bin_, told.ends, written.suboptimal)
            total += here.losses[c, a]
            noise_sum += e
            if i == mark:
                take_down(total, noise_sum, r, m, written)
                m += 1
                mark = told.marks[m]
            if (step + 1) % every == 0:
                tidy(own, scratch, K, d)
        carried.regret[r], carried.noise_sums[r], carried.at[r] = total, noise_sum, row

    return advance


@inlined
def nothing(own, scratch, K, d):
    """What a family does that has nothing to tidy."""


@inlined
def view_1(array, r):
    return array[:, r]


@inlined
def view_2(array, r):
    return array[:, :, r]


@inlined
def view_3(array, r):
    return array[:, :, :, r]


VIEWS = {1: view_1, 2: view_2, 3: view_3}
"""Run r's part of an array, by how many axes that has."""


def views(fields: tuple[Any, ...]) -> Any:
    """An inlined function of arrays, one per field, and r: the views of that run, as a tuple."""
    if not fields:
        return none_of
    name, shape = fields[0].name, fields[0].shape
    if len(shape) not in VIEWS:
        raise InvalidParameter(f"a field must have 1 to 3 axes where GPUs run its family, got {name} with {shape!r}")
    view, rest_of = VIEWS[len(shape)], views(fields[1:])

    @inlined
    def views_of(arrays, r):
        return (view(arrays[0], r), *rest_of(arrays[1:], r))

    return views_of


@inlined
def none_of(arrays, r):
    return ()
