"""Launches of the CUDA engine: some runs of one policy to the horizon on one GPU, with results copied meanwhile."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armspan._typing import FloatArray
from armspan.environments import Environment
from armspan.events.learner import nothing_counted, smallest
from armspan.kernels.families import family
from armspan.kernels.gpu import Problem, form_of
from armspan.kernels.gpu.arguments import Box, Carried, Table, Told, Watched, Written
from armspan.kernels.gpu.steps import BOX, CHAIN, TABLE
from armspan.policies import Policy
from armspan.simulation import octaves
from armspan.simulation.job import Job

LAUNCH_SECONDS = 0.25
"""How long a launch should take: that is how often progress moves, and Ctrl-C is looked for."""
FIRST_LAUNCH, MOST_GROWTH = 1 << 28, 8
"""Multiply-adds of the first launch, and how many times longer than the one before it a launch may be."""
FEWEST = 4096
"""Runs below which a launch takes no less time."""
STAGE = 1 << 22
"""Numbers that are copied from a GPU at a time."""


def problem_of(env: Environment, policy: Any, *, single: bool = False, watching: bool = False) -> Problem | None:
    """What kernels are made for, or None where no GPU can run the policy; a chain is a table here, like in layout."""
    compiled = policy.compiled if isinstance(policy, Policy) else None
    if compiled is None or not family(compiled).on_gpu:
        return None
    sizes, source = (env.n_arms, env.n_features, env.n_contexts or 0), BOX if env.drawn_from == "box" else TABLE
    unusual = tuple(policy.sizes(env).items())
    return Problem(family(compiled), *sizes, source, env.noise.code, single, watching, unusual)


def world_of(env: Any, real: Any) -> Table | Box:
    """Where contexts come from, in arrays of this precision; regret is always added up in doubles."""
    if env.drawn_from == "table":
        threshold, alias, x, means, losses = env.tables()
        return Table(threshold, alias, x.astype(real), means.astype(real), losses)
    low, high, theta = (array.astype(real) for array in (env.low, env.high, env.theta))
    rounding = env.n_features * env.feature_bound * env.parameter_bound * 4 * float(np.finfo(real).eps)
    return Box(low, high, theta, real(env.gap - rounding if real is np.float32 else env.gap))


def numba_cuda() -> Any:
    """The module, imported when first needed, because that is slow."""
    from numba import cuda

    return cuda


class Launch(NamedTuple):
    """Steps that one launch advances: the first, how many, and which checkpoints are in it."""

    first: int
    steps: int
    columns: slice


class Chunk:
    """One policy's runs of a chunk on the present GPU; number : which of the work's policies it is."""

    def __init__(self, work: Job, rows: slice, policy: Policy, gpu: int, *, single: bool, number: int) -> None:
        from armspan.kernels.gpu import device

        self.work, self.rows, self.gpu, self.number = work, rows, gpu, number
        self.keeps_noise = number < len(work.noise_sums)
        self.events = work.events.get(number)
        self.counted: Any = None if self.events is None else self._nothing_counted()
        self.taken = LAUNCH_SECONDS
        self.stage: Any = None
        env, self.runs = work.env, work.runs[rows]
        R, K = self.runs.size, env.n_arms
        heavy = max(R, FEWEST) * K * env.n_features**2
        self.first_steps = max(FIRST_LAUNCH // heavy // 4 * 4, 4)
        problem = problem_of(env, policy, single=single, watching=self.events is not None)
        assert problem is not None
        self.real, world = problem.real, world_of(env, problem.real)
        rows_of_chain = len(world.threshold) if isinstance(world, Table) else 1
        if rows_of_chain > 1:
            problem = problem._replace(source=CHAIN)
        form, knobs = form_of(problem), policy.knobs(env)
        self.schedules: list[Any] = [knobs[name] for name in problem.family.knobs]
        state = problem.family.empty(1, **problem.sizes)
        problem.family.fresh(state, {name: knob for name, knob in knobs.items() if not callable(knob)})
        names = [field.name for field in problem.family.fields]
        self.switch = names.index("switched_at") if policy.can_switch else -1
        self.kernel, self.grid = form.kernel(R), form.grid(R)
        start = np.full(R, rows_of_chain - 1)  # the last row of the tables is the start's
        self.carried = there(Carried(np.zeros(R), np.zeros(R), start, device.knowledge(form, state, R)))
        self.world = there(world._replace(x=world.x.ravel()) if isinstance(world, Table) and form.flat else world)
        self.told = there(
            Told(
                seed=np.uint64(work.seed),
                runs=np.ascontiguousarray(self.runs),
                scale=self.real(env.noise.scale),
                unit=self.real(env.reward_scale),
                ends=octaves.edges(work.horizon).copy(),
            )
        )
        self.suboptimal = device.nothing_lost(octaves.count(work.horizon), K, R)

    def _nothing_counted(self) -> Watched:
        """What is counted, on the GPU; V and the rarest pulls come with each launch."""
        regions, env = self.work.regions, self.work.env
        assert regions is not None
        counted = nothing_counted(regions, self.work.runs[self.rows].size, self.work.horizon)
        return there(Watched(counted, *regions.balls(env.n_features)))

    def launches(self) -> Iterator[Launch]:
        """One after the other; the length of each follows from the time that the last one took."""
        first, steps, checkpoints = 0, self.first_steps, self.work.checkpoints
        while first < self.work.horizon:
            size = min(steps, self.work.horizon - first)
            start, stop = np.searchsorted(checkpoints, [first, first + size], side="right")
            yield Launch(first, size, slice(int(start), int(stop)))
            first += size
            steps = max(int(steps * min(max(LAUNCH_SECONDS / max(self.taken, 1e-6), 0.25), MOST_GROWTH)) // 4 * 4, 4)

    def run(self, curves: FloatArray, suboptimal: NDArray[np.uint32]) -> None:
        """Go to the horizon, copying and thinking ahead while a launch runs. Changes curves (R, C) and suboptimal."""
        from armspan.kernels.gpu import device

        stream, copies = numba_cuda().stream(), []
        with ThreadPoolExecutor(1) as copier, ThreadPoolExecutor(1) as thinker:
            ahead = thinker.submit(self._knobs, np.empty((len(self.schedules), 0)), 0, self.first_steps)
            for launch in self.launches():
                began, knobs = time.perf_counter(), ahead.result()
                results = self._launch(launch, knobs[:, : launch.steps], stream)
                rest, end = knobs[:, launch.steps :], launch.first + launch.steps
                ahead = thinker.submit(self._knobs, rest, end, MOST_GROWTH * launch.steps)
                stream.synchronize()
                self.taken = time.perf_counter() - began
                if self.work.stopped:
                    break
                copies.append(copier.submit(self._fetch, launch, *results, curves))
                self.work.advanced(launch.steps * self.runs.size)
            for copy in copies:
                copy.result()
        device.fetch(self.suboptimal, suboptimal[self.rows])
        if self.number in self.work.switched_at:
            self.work.switched_at[self.number][self.rows] = self.carried.knowledge[0][self.switch].copy_to_host()[0]
        if self.events is not None and not self.work.stopped:
            self.events.take(self.rows, here(self.counted.counted))

    def _knobs(self, known: FloatArray, first: int, steps: int) -> FloatArray:
        """The knobs of so many steps, one row each, of which the first ones are known; fewer at the horizon."""
        steps = min(steps, self.work.horizon - first)
        if steps <= known.shape[1]:
            return known
        new = np.arange(first + known.shape[1] + 1, first + steps + 1)
        rows = [np.append(row, schedule(new)) for row, schedule in zip(known, self.schedules, strict=True)]
        return np.array(rows).reshape(len(rows), steps)

    def _launch(self, launch: Launch, knobs: FloatArray, stream: Any) -> tuple[Written, Any]:
        """Start a launch; returns where it writes."""
        from armspan.kernels.gpu import device

        cuda, checkpoints, R = numba_cuda(), self.work.checkpoints[launch.columns], self.runs.size
        shape, watched = (R, max(checkpoints.size, 1)), False
        noise = cuda.device_array(shape if self.keeps_noise else (1, 1))
        written = Written(cuda.device_array(shape), noise, self.keeps_noise, self.suboptimal)
        if self.counted is not None:
            K, d = self.work.env.n_arms, self.work.env.n_features
            grams, rarest = cuda.device_array((*shape, K, d, d)), cuda.device_array((*shape, K), np.int64)
            watched = self.counted._replace(grams=grams, rarest=rarest)
        told = self.told._replace(
            first=np.int64(launch.first),
            steps=np.int64(launch.steps),
            knobs=tuple(cuda.to_device(knob, stream) for knob in knobs.astype(self.real)),
            marks=cuda.to_device(marks_of(checkpoints, launch), stream),
        )
        device.quietly(self.kernel, *self.grid, stream)(told, self.world, self.carried, written, watched)
        return written, watched

    def _fetch(self, launch: Launch, written: Written, watched: Any, curves: FloatArray) -> None:
        """Copy what a launch has written. Changes curves, and the work's sums of noise; in a thread of its own."""
        cuda = numba_cuda()
        with cuda.gpus[self.gpu]:
            if self.stage is None:
                columns = self.work.checkpoints.size  # pinning memory makes a GPU wait: no more of it than is used
                self.stage = cuda.pinned_array(max(min(STAGE, self.runs.size * columns), columns))
            _copy(written.curve, curves[self.rows, launch.columns], self.stage, cuda.stream())
            if self.keeps_noise:
                sums = self.work.noise_sums[self.number, self.rows, launch.columns]
                _copy(written.noise_curve, sums, self.stage, cuda.stream())
            if self.events is not None and launch.columns.stop > launch.columns.start:
                self.events.eigenvalues[self.rows, launch.columns] = smallest(watched.grams.copy_to_host())
                self.events.basis_pulls[self.rows, launch.columns] = watched.rarest.copy_to_host()


def marks_of(checkpoints: Any, launch: Launch) -> NDArray[np.int32]:
    """The checkpoints as steps of the launch, from 0, and one that is never reached."""
    return np.append(checkpoints - launch.first - 1, launch.steps).astype(np.int32)


def there(part: Any) -> Any:
    """An array, or those of a NamedTuple, on the GPU."""
    if isinstance(part, np.ndarray):
        return numba_cuda().to_device(part)
    return type(part)(*map(there, part)) if hasattr(part, "_fields") else part


def here(part: Any) -> Any:
    """The same, copied from there."""
    if hasattr(part, "copy_to_host"):
        return part.copy_to_host()
    return type(part)(*map(here, part)) if hasattr(part, "_fields") else part


def _copy(there: Any, here: FloatArray, stage: Any, stream: Any) -> None:
    """Copy an array (R, M) from the GPU, through memory that it reaches without the processor. Changes here, stage."""
    if here.size == 0:
        return
    rows = max(stage.size // here.shape[1], 1)
    for first in range(0, len(here), rows):
        part = here[first : first + rows]
        between = stage[: part.size].reshape(part.shape)
        there[first : first + rows].copy_to_host(between, stream=stream)
        stream.synchronize()
        part[:] = between
