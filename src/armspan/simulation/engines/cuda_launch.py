"""Launches of the CUDA engine: some runs of one policy to the horizon on one GPU, copied back meanwhile."""

import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armspan._typing import FloatArray
from armspan.events.learner import nothing_counted, smallest
from armspan.kernels.families import family
from armspan.policies import Policy
from armspan.simulation import octaves
from armspan.simulation.job import Job

LAUNCH_SECONDS = 0.25
"""How long a launch should take: so often progress moves, and a stop is heard."""
FIRST_LAUNCH, MOST_GROWTH = 1 << 28, 8
"""Multiply-adds of the first launch, and how many times longer than the one before it a launch may be."""
FEWEST = 4096
"""Runs below which a launch takes no less time."""
MOST_ALONE = 200
"""Numbers that a run learns up to which a thread lives through it alone; beyond, a team of threads does."""
STAGE = 1 << 22
"""Numbers that are copied from a GPU at a time."""
THREADS, FULL = 128, 1 << 14
"""Threads of a block, and runs from which on there are enough for all parts of a GPU."""

_ONE_AT_A_TIME = threading.Lock()


def form_of(policy: Any) -> str | None:
    """The form in which a policy's family runs on a GPU, or None."""
    compiled = policy.compiled if isinstance(policy, Policy) else None
    return None if compiled is None else family(compiled).on_gpu


def numba_cuda() -> Any:
    """The module, imported when first needed: it takes its time."""
    from numba import cuda

    return cuda


class Launch(NamedTuple):
    """Steps that one launch advances: the first, how many, and which checkpoints are in it."""

    first: int
    steps: int
    columns: slice


class Chunk:
    """One policy's runs of a chunk on the present GPU; number : which of the work's policies it is."""

    def __init__(
        self,
        work: Job,
        rows: slice,
        policy: Policy,
        gpu: int,
        *,
        single: bool,
        number: int,
    ) -> None:
        from armspan.kernels import cuda as kernels
        from armspan.kernels import cuda_team as team

        cuda = numba_cuda()
        self.work, self.rows, self.gpu, self.number = work, rows, gpu, number
        self.keep_noise = number < len(work.noise_sums)
        self.taken = LAUNCH_SECONDS
        self.stage: Any = None
        self.events = events = work.events.get(number)
        self.counted: Any = None if events is None else self._watch()
        heavy = max(work.runs[rows].size, FEWEST) * work.env.n_arms * work.env.n_features**2
        self.first_steps = max(FIRST_LAUNCH // heavy // 4 * 4, 4)
        self.real: Any = np.float32 if single else np.float64
        env, R = work.env, work.runs[rows].size
        knobs: Any = policy.knobs(env)
        self.alpha = knobs["alpha"]
        source, world = self._world(env, kernels)
        K, d, n = env.n_arms, env.n_features, env.n_contexts or 0
        form = form_of(policy)
        counting, ridge = form == "counts", knobs.get("ridge", 0.0)
        learnt = n * K if counting else K * d * (d + 3) // 2
        kind = {"linear": kernels.LINEAR, "counts": kernels.COUNTS, "sampled": kernels.SAMPLED}[form or ""]
        totals, state = (learnt, R), (1 if counting else 2 * learnt, R)
        plan = team.layout(K, d)
        large = K * d * (d + 3) > MOST_ALONE and plan.bytes_shared(single) <= team.MOST_BYTES
        if counting or self.counted is not None or not large:
            watching = self.counted is not None
            self.kernel = kernels.kernel(K, d, n, kind, source, env.noise.code, single, R < FULL, watching)
            self.threads = THREADS if R >= FULL else 32  # few runs: a warp for each part of the GPU
            self.blocks = -(-R // self.threads)
        else:
            self.kernel = team.kernel(K, d, source, env.noise.code, single, form == "sampled")
            self.threads, self.blocks = team.TEAM, R
            totals, state = (R, learnt), (R, plan.state)
            world[2] = world[2].ravel()
        start = np.full(R, len(world[0]) - 1)  # the last row of the tables is the start's
        self.world = [cuda.to_device(array) if np.ndim(array) else array for array in world]
        self.carried = [cuda.to_device(array) for array in (np.zeros(R), np.zeros(R), start)]
        self.carried.append(cuda.device_array((learnt if counting else 1, R), np.int64))
        self.carried += [cuda.device_array(totals), cuda.device_array(state, self.real)]
        self.runs = cuda.to_device(np.ascontiguousarray(work.runs[rows]))
        self.numbers = self.real(env.noise.scale), self.real(ridge), self.real(env.reward_scale)
        self.ends = cuda.to_device(octaves.edges(work.horizon).copy())
        self.suboptimal = cuda.to_device(np.zeros((octaves.count(work.horizon), K, R), np.uint32))

    def _world(self, env: Any, kernels: Any) -> tuple[int, list[Any]]:
        """Where contexts come from, and its arrays in this precision; regret is always added up in doubles."""
        nothing = np.zeros((1, 1), self.real)
        if env.drawn_from == "table":
            threshold, alias, x, means, losses = env.tables()
            tables = [threshold, alias, x.astype(self.real), means.astype(self.real), losses]
            box = [nothing[0], nothing[0], nothing, self.real(0)]
            return kernels.CHAIN if len(threshold) > 1 else kernels.TABLE, [*tables, *box]
        tables = [np.zeros((1, 1), np.uint64), np.zeros((1, 1), np.int64), nothing[None], nothing, np.zeros((1, 1))]
        box = [array.astype(self.real) for array in (env.low, env.high, env.theta)]
        rounding = env.n_features * env.feature_bound * env.parameter_bound * 4 * float(np.finfo(self.real).eps)
        return kernels.BOX, [*tables, *box, self.real(env.gap - rounding if self.real is np.float32 else env.gap)]

    def _watch(self) -> Any:
        """What is counted, on the GPU: nothing yet."""
        cuda, regions = numba_cuda(), self.work.regions
        assert regions is not None
        counted = nothing_counted(regions, self.work.runs[self.rows].size, self.work.horizon)
        bases, units, radius = regions.balls(self.work.env.n_features)
        parts: Any = (cuda.to_device(part) if isinstance(part, np.ndarray) else part for part in counted)
        return type(counted)(*parts), cuda.to_device(bases), cuda.to_device(units), radius

    def launches(self) -> Iterator[Launch]:
        """One after the other, as long as the time that the last one has taken says."""
        first, steps, checkpoints = 0, self.first_steps, self.work.checkpoints
        while first < self.work.horizon:
            size = min(steps, self.work.horizon - first)
            start, stop = np.searchsorted(checkpoints, [first, first + size], side="right")
            yield Launch(first, size, slice(int(start), int(stop)))
            first += size
            steps = max(int(steps * min(max(LAUNCH_SECONDS / max(self.taken, 1e-6), 0.25), MOST_GROWTH)) // 4 * 4, 4)

    def run(self, curves: FloatArray, suboptimal: NDArray[np.uint32]) -> None:
        """Go to the horizon, copying and thinking ahead while a launch runs. Changes curves (R, C) and suboptimal."""
        stream, copies = numba_cuda().stream(), []
        with ThreadPoolExecutor(1) as copier, ThreadPoolExecutor(1) as thinker:
            ahead = thinker.submit(self._alphas, np.empty(0), 0, self.first_steps)
            for launch in self.launches():
                began, alphas = time.perf_counter(), ahead.result()
                written = self._launch(launch, alphas[: launch.steps], stream)
                rest, end = alphas[launch.steps :], launch.first + launch.steps
                ahead = thinker.submit(self._alphas, rest, end, MOST_GROWTH * launch.steps)
                stream.synchronize()
                self.taken = time.perf_counter() - began
                if self.work.stopped:
                    break
                copies.append(copier.submit(self._fetch, launch, *written, curves))
                self.work.advanced(launch.steps * self.runs.size)
            for copy in copies:
                copy.result()
        suboptimal[self.rows] = np.moveaxis(self.suboptimal.copy_to_host(), 2, 0)
        if self.events is not None and not self.work.stopped:
            counted = self.counted[0]
            here = (part.copy_to_host() if hasattr(part, "copy_to_host") else part for part in counted)
            self.events.take(self.rows, type(counted)(*here))

    def _alphas(self, known: FloatArray, first: int, steps: int) -> FloatArray:
        """α_t of so many steps, of which the first ones are known; fewer at the horizon."""
        steps = min(steps, self.work.horizon - first)
        if steps <= known.size:
            return known
        return np.concatenate([known, self.alpha(np.arange(first + known.size + 1, first + steps + 1))])

    def _launch(self, launch: Launch, alphas: FloatArray, stream: Any) -> tuple[Any, Any, Any]:
        """Start a launch; returns where it writes the curves."""
        cuda = numba_cuda()
        checkpoints, R = self.work.checkpoints[launch.columns], self.runs.size
        curve = cuda.device_array((R, max(checkpoints.size, 1)))
        noise = cuda.device_array((R, max(checkpoints.size, 1)) if self.keep_noise else (1, 1))
        counted: Any = False
        if self.counted is not None:
            K, d, M = self.work.env.n_arms, self.work.env.n_features, max(checkpoints.size, 1)
            counted = *self.counted, cuda.device_array((R, M, K, d, d)), cuda.device_array((R, M, K), np.int64)
        marks = np.append(checkpoints - launch.first - 1, launch.steps).astype(np.int32)  # the last is never reached
        _quietly(self.kernel, self.blocks, self.threads, stream)(
            np.uint64(self.work.seed), np.int64(launch.first), np.int64(launch.steps), self.runs, *self.numbers,
            cuda.to_device(alphas.astype(self.real), stream), cuda.to_device(marks, stream), *self.world,
            *self.carried, curve, noise, self.keep_noise, self.ends, self.suboptimal, counted,
        )  # fmt: skip
        return curve, noise, counted

    def _fetch(self, launch: Launch, curve: Any, noise: Any, counted: Any, curves: FloatArray) -> None:
        """Copy what a launch has written. Changes curves, and the work's sums of noise; in a thread of its own."""
        cuda = numba_cuda()
        with cuda.gpus[self.gpu]:
            if self.stage is None:
                self.stage = cuda.pinned_array(max(STAGE, self.work.checkpoints.size))
            _copy(curve, curves[self.rows, launch.columns], self.stage, cuda.stream())
            if self.keep_noise:
                _copy(noise, self.work.noise_sums[self.number, self.rows, launch.columns], self.stage, cuda.stream())
            if self.events is not None and launch.columns.stop > launch.columns.start:
                self.events.eigenvalues[self.rows, launch.columns] = smallest(counted[-2].copy_to_host())
                self.events.basis_pulls[self.rows, launch.columns] = counted[-1].copy_to_host()


def _quietly(kernel: Any, blocks: int, threads: int, stream: Any) -> Any:
    """The kernel with its sizes, without numba's advice that few runs leave a GPU idle."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():  # which are the whole process's
        warnings.simplefilter("ignore")
        return kernel[blocks, threads, stream]


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
