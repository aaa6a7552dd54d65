"""simulate(): plan the runs, spread them over the cores, collect a Result."""

import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import IntArray, Progress
from armspan.backends import check_backend
from armspan.environments import Environment, as_environment
from armspan.environments.custom import CustomEnvironment
from armspan.errors import Interrupted, InvalidParameter, NotApplicable
from armspan.kernels.block import Tally
from armspan.kernels.draws import sum_noise
from armspan.policies import Learner, Policy
from armspan.policies.cells import Cells, cells_of
from armspan.policies.watched import WatchedLearner
from armspan.simulation import cuda, octaves, plan
from armspan.simulation.events import Events
from armspan.simulation.fingerprint import fingerprint
from armspan.simulation.interpreted import InterpretedLearner, actor_factory, policy_name
from armspan.simulation.result import Result
from armspan.simulation.spread import part, spread

log = logging.getLogger("armspan")
ENGINES = ("auto", "cpu", "cuda", "python")
PRECISIONS = ("float64", "float32")

MakeLearner = Callable[[IntArray], Learner]


def simulate(
    env: Any,
    policies: Any,
    *,
    horizon: int,
    runs: int | Sequence[int] = 100,
    seed: int = 0,
    engine: str = "auto",
    precision: str = "float64",
    checkpoints: Sequence[int] | None = None,
    events: bool = False,
    backend: Any = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run policies in an environment and return their regret.

    env : an environment, or any object with n_arms, n_features, context(step, rng) and mean_rewards(x).
    policies : one or several. A user's own is a class whose objects have choose(x) and update(arm, x, reward); it is
        made afresh for every run with n_arms, n_features and seed.
    horizon : steps of a run. runs : how many, numbered from 0, or their own numbers, such as range(100, 200).
    seed : from 0 to 2⁶⁴ - 1. Contexts and noise are a function of (seed, run, step): every policy meets the same ones,
        on any engine and any number of workers.
    engine : "cpu" (compiled, all cores), "cuda" (all GPUs), "python" (the naive readable form, same choices), or
        "auto": a GPU where there is one and the work is large, else the CPU, and on a backend always that; the
        result's engine says which it was.
    precision : "float64", or on a GPU "float32", which is faster and takes a few other choices; see docs/cuda.md.
    checkpoints : steps at which regret is taken down; about 200 on a log scale if left out.
    events : count the proof's frames and error events for the linear policies, into result.events; the engine must be
        "cpu", which "auto" then takes, or "cuda" in float64, and the environment not a user's own.
    backend : where: None for this process, "processes" for local ones, or a Dask cluster, by its scheduler's address
        ("tcp://host:8786") or a Dask client. Results are the same, bit for bit on like processors; on unlike ones up to
        rounding, and the logger "armspan" says so.
    workers : threads, or local processes; as many as there are cores if left out.
    progress : called as progress(done, total).
    """
    env = as_environment(env)
    policies = list(policies) if isinstance(policies, list | tuple) else [policies]
    for policy in policies:
        if isinstance(policy, type) and issubclass(policy, Policy):
            raise NotApplicable(f"a policy must be an object, got the class; write {policy.__name__}()")
    if not policies:
        raise InvalidParameter("policies must name at least one policy, got none")
    check_sizes(horizon=horizon, runs=runs, seed=seed, engine=engine)
    engine = engine_for(engine, precision)
    horizon, numbers, seed = int(horizon), plan.as_runs(runs), int(seed)
    if events and (engine == "python" or precision != "float64"):
        raise NotApplicable(f'events need the engine "cpu" or "cuda" in float64, got {engine!r} in {precision}')
    if engine == "auto":
        steps = len(policies) * horizon * numbers.size
        engine = "cpu" if backend is not None or events else best_engine(env, policies, steps)
    if engine == "cuda":
        cuda.refuse_unless_possible(env, policies, here=backend is None)
    marks = plan.as_checkpoints(checkpoints, horizon)
    check_backend(backend, workers)
    processes = workers
    workers = available_cores() if workers is None else _validate.whole("workers", workers, at_least=1)

    makers = [_maker(policy, env, seed, engine) for policy in policies]
    cells = cells_of(env) if events else None
    explained = [events and isinstance(policy, Policy) and policy.explains for policy in policies]
    watched = [number for number, wanted in enumerate(explained) if wanted]
    for number in watched:
        makers[number] = partial(policies[number].watched, env, cells=cells, horizon=horizon)
    for policy, make in zip(policies, makers, strict=True):  # refuse what cannot run before anything runs
        make(numbers[:1])
        if isinstance(policy, Policy):
            policy.check(env, horizon)
    theirs = isinstance(env, CustomEnvironment) or not all(has_compiled_form(policy, env) for policy in policies)
    interpreted = theirs or engine == "python"
    if backend is not None:
        options = {"horizon": horizon, "seed": seed, "engine": engine, "precision": precision}
        options |= {"checkpoints": marks, "events": events}
        each = plan.step_seconds(env.n_arms, env.n_features, interpreted=interpreted)
        each, least = (cuda.step_seconds(env), cuda.LEAST_TOGETHER) if engine == "cuda" else (each, 1)
        work = partial(part, simulate, env, policies, options)
        size = horizon * len(policies) * each, least
        return spread(work, numbers, *size, backend=backend, workers=processes, progress=progress)
    if interpreted:
        workers = 1  # Python code runs on one core, and a user's own need not be thread-safe
    job = _Job(env, makers, horizon, numbers, seed, marks, progress, watched, cells)
    try:
        if engine == "cuda":
            job.run_on_gpus(policies, single=precision == "float32")
            engine = "cuda" if precision == "float64" else f"cuda, {precision}"
        else:
            job.run(workers, interpreted=interpreted)
    except KeyboardInterrupt:
        done = job.finished
        kept = _result(job, policies, engine, np.flatnonzero(done)) if done.any() else None
        raise Interrupted(f"stopped with {done.sum()} of {done.size} runs finished", kept) from None
    return _result(job, policies, engine, slice(None))


def check_sizes(*, horizon: Any, runs: Any, seed: Any, engine: Any) -> None:
    """Refuse what no simulation can be run with."""
    _validate.whole("horizon", horizon, at_least=1, at_most=plan.MOST_STEPS)
    plan.check_runs(runs)
    _validate.whole("seed", seed, at_least=0, at_most=2**64 - 1)
    _validate.one_of("engine", engine, ENGINES)


def engine_for(engine: str, precision: str) -> str:
    """The engine asked for, or the one that a precision needs."""
    _validate.one_of("precision", precision, PRECISIONS)
    if precision == "float64" or engine == "cuda":
        return engine
    if engine != "auto":
        raise NotApplicable(f'precision must be "float64" on the engine {engine!r}, got {precision!r}')
    return "cuda"


def best_engine(env: Environment, policies: list[Any], steps: int) -> str:
    """The fastest engine that is present and can do this."""
    if steps < cuda.WORTH_IT or cuda.why_not(env, policies) or cuda.missing():
        return "cpu"
    return "cuda"


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def has_compiled_form(policy: Any, env: Environment) -> bool:
    """Whether it runs without Python code; a policy of armspan's kind that does not is run by its reference."""
    return isinstance(policy, Policy) and policy.learner(env, np.zeros(1, dtype=np.int64)) is not None


def _maker(policy: Any, env: Environment, seed: int, engine: str) -> MakeLearner:
    """A function from run numbers to what advances this policy through them."""
    if engine in ("cpu", "cuda") and has_compiled_form(policy, env):
        return lambda runs: policy.learner(env, runs)
    if engine != "python" and isinstance(policy, Policy):
        log.warning("%s has no compiled form: its reference runs, one step of one run at a time", policy.name)
    fresh = actor_factory(policy, env, seed)
    recurring = env.n_contexts is not None
    return lambda runs: InterpretedLearner([fresh(int(run)) for run in runs], recurring=recurring)


class _Job:
    """The work of one call: chunks of runs, each advanced through all its blocks by one thread."""

    def __init__(
        self,
        env: Environment,
        makers: list[MakeLearner],
        horizon: int,
        runs: IntArray,
        seed: int,
        checkpoints: IntArray,
        progress: Progress | None,
        watched: Sequence[int] = (),
        cells: Cells | None = None,
    ) -> None:
        self.env, self.makers, self.horizon, self.runs, self.seed = env, makers, horizon, runs, seed
        self.checkpoints, self.cells = checkpoints, cells
        self.pseudo_regret = np.zeros((len(makers), runs.size, checkpoints.size))
        self.noise_sums = np.zeros((runs.size, checkpoints.size))
        self.suboptimal_pulls = np.zeros((len(makers), runs.size, octaves.count(horizon), env.n_arms), np.uint32)
        self.finished = np.zeros(runs.size, dtype=bool)
        room = runs.size, horizon, 0 if cells is None else cells.basis.shape[1], env.n_arms, checkpoints.size
        self.events = {p: Events.empty(*room) for p in watched}
        self._progress = progress
        self._done, self._lock, self._stop = 0, threading.Lock(), threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether to give up."""
        return self._stop.is_set()

    def advanced(self, steps: int) -> None:
        """So many steps more are done."""
        with self._lock:
            self._done += steps

    def run_on_gpus(self, policies: list[Policy], *, single: bool) -> None:
        """Run all on GPUs; Ctrl-C stops them after the present launch."""
        with ThreadPoolExecutor(1) as pool:
            self._follow(pool, {pool.submit(cuda.run, self, policies, single=single)})

    def run(self, workers: int, *, interpreted: bool) -> None:
        """Run all chunks; Ctrl-C stops every thread after its present block."""
        if interpreted:
            block, chunks = plan.python_pieces(self.runs.size)
        else:
            shape = self.env.n_arms, self.env.n_features, len(self.makers)
            block, chunks = plan.pieces(self.runs.size, self.horizon, *shape, workers)
        with ThreadPoolExecutor(workers) as pool:
            self._follow(pool, {pool.submit(self._run_chunk, chunk, block) for chunk in chunks})

    def _follow(self, pool: ThreadPoolExecutor, futures: set[Future[None]]) -> None:
        """Wait for the threads and tell the progress."""
        total = len(self.makers) * self.runs.size * self.horizon
        try:
            while futures:
                finished, futures = wait(futures, timeout=0.1, return_when=FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                if self._progress is not None:
                    self._progress(self._done, total)
        except BaseException:
            self._stop.set()
            pool.shutdown(cancel_futures=True)
            raise

    def _run_chunk(self, chunk: slice, block_steps: int) -> None:
        """Advance some runs to the horizon, a block at a time. Changes the results and finished there."""
        runs = np.ascontiguousarray(self.runs[chunk])
        stream = self.env.stream(self.seed, runs)
        learners = [make(runs) for make in self.makers]
        noise_so_far = np.zeros((runs.size, 4))
        for first, size, marks, columns in plan.segments(self.horizon, self.checkpoints, block_steps):
            block = stream.draw(first, size)
            width = columns.stop - columns.start  # the last mark need not be a checkpoint
            curve = np.empty((runs.size, marks.size))
            bins = octaves.bins_of(first, size, self.horizon)
            for p, learner in enumerate(learners):
                if self.stopped:
                    return
                learner.advance(block, marks, curve, Tally(bins, self.suboptimal_pulls[p, chunk]))
                self.pseudo_regret[p, chunk, columns] = curve[:, :width]
                if isinstance(learner, WatchedLearner):
                    self.events[p].eigenvalues[chunk, columns] = learner.eigenvalues[:, :width]
                    self.events[p].basis_pulls[chunk, columns] = learner.rarest[:, :width]
                self.advanced(runs.size * size)
            sum_noise(block.noise, marks, noise_so_far, curve)
            self.noise_sums[chunk, columns] = curve[:, :width]
        for p, learner in enumerate(learners):
            if isinstance(learner, WatchedLearner):
                self.events[p].take(chunk, learner.watch)
        self.finished[chunk] = True


def _result(job: _Job, policies: list[Any], engine: str, rows: IntArray | slice) -> Result:
    names = unique([policy_name(policy) for policy in policies])
    return Result(
        policies=names,
        runs=job.runs[rows],
        checkpoints=job.checkpoints,
        pseudo_regret=job.pseudo_regret[:, rows],
        noise=job.noise_sums[rows],
        suboptimal_pulls=job.suboptimal_pulls[:, rows],
        environment=job.env.name,
        fingerprint=fingerprint(job.env, policies),
        horizon=job.horizon,
        seed=job.seed,
        engine=engine,
        events={names[p]: entry.rows(rows) for p, entry in job.events.items()},
    )


def unique(names: list[str]) -> tuple[str, ...]:
    """Number the names that occur before: "greedy", "greedy (2)"."""
    result: list[str] = []
    for name in names:
        free, number = name, 1
        while free in result:
            number += 1
            free = f"{name} ({number})"
        result.append(free)
    return tuple(result)
