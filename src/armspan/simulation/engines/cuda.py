"""The CUDA engine: what it can run, what is missing if it cannot run, and which runs go to which GPU."""

import importlib.util
import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np

from armspan.environments import Environment
from armspan.errors import NotApplicable
from armspan.kernels.gpu import form_of
from armspan.kernels.gpu.forms import FULL
from armspan.simulation import octaves
from armspan.simulation.engines.base import Engine
from armspan.simulation.engines.cuda_launch import Chunk, numba_cuda, problem_of
from armspan.simulation.engines.interpreted import policy_name
from armspan.simulation.job import Job

MOST_TOGETHER = 1 << 20
"""Runs of a chunk, where the memory has room for them."""
LEAST_TOGETHER, CHUNK_SECONDS = 1 << 17, 30.0
"""Runs that fill a GPU, and how long a chunk of more may take, about: then its runs are finished, and kept."""
MOST_OF_A_RUN = 1 << 28
"""Bytes that a run may carry: with more, a GPU would hold too few of them to be of use."""
WORTH_IT = 1_000_000_000
"""Steps of all runs and policies from which on engine "auto" takes a GPU, which must first compile for seconds."""


def why_not(env: Environment, policies: list[Any]) -> str | None:
    """A sentence on why this cannot run on a GPU, or None."""
    if env.drawn_from is None:
        return f"the environment {env.name} is not compiled for it"
    for policy in policies:
        problem = problem_of(env, policy)
        if problem is None:
            return f"the policy {policy_name(policy)} is not compiled for it"
        if form_of(problem).bytes_per_run > MOST_OF_A_RUN:
            return f"what {policy_name(policy)} learns of {env.n_arms} arms in {env.name} does not fit into its memory"
    return None


def missing() -> str | None:
    """A sentence on what is missing on this machine, or None."""
    if numba_cuda().is_available():
        return None
    if importlib.util.find_spec("numba_cuda") is None:
        return "it needs an NVIDIA GPU, its driver, and `pip install armspan[cuda]`"
    return "no NVIDIA GPU with a working driver was found"


class CudaEngine(Engine):
    """All GPUs of this machine, each with some of the runs."""

    name: ClassVar[str] = "cuda"
    precisions: ClassVar[tuple[str, ...]] = ("float64", "float32")
    counts_events: ClassVar[bool] = True
    least_together: ClassVar[int] = LEAST_TOGETHER
    alone: ClassVar[bool] = True  # it takes its time for a small piece too

    def why_not(self, env: Environment, policies: list[Any], *, here: bool) -> str | None:
        return why_not(env, policies) or (missing() if here else None)

    def is_worth_it(self, env: Environment, policies: list[Any], steps: int) -> bool:
        return steps >= WORTH_IT and self.why_not(env, policies, here=True) is None

    def step_seconds(self, env: Environment, policies: list[Any], n_runs: int) -> float:
        return _step_seconds(env) * max(FULL / n_runs, 1)  # fewer runs take no less

    def check(self, env: Environment, policy: Any, seed: int, run: int) -> None:
        policy.learner(env, np.array([run]))

    def run(self, job: Job, workers: int) -> None:
        with ThreadPoolExecutor(1) as pool:
            job.follow(pool, {pool.submit(run_on_gpus, job)})


def _step_seconds(env: Environment) -> float:
    """How long a step of one run takes on a full GPU, by a rough estimate."""
    return 2.5e-12 * env.n_arms * env.n_features**2


def chunks(n_runs: int, gpus: int, most: int) -> list[slice]:
    """Equal parts of the runs: at least one per GPU, none with more than `most` runs."""
    count = min(max(-(-n_runs // most), gpus), n_runs)
    edges = [n_runs * i // count for i in range(count + 1)]
    return [slice(start, stop) for start, stop in itertools.pairwise(edges)]


def run_on_gpus(work: Job) -> None:
    """Do the work on all GPUs that are present; a stop is noticed after the present launch. Changes its results."""
    cuda, policies, single = numba_cuda(), work.policies, work.precision == "float32"
    gpus = len(cuda.gpus)
    each = work.horizon * len(policies) * _step_seconds(work.env)
    soon = max(int(CHUNK_SECONDS / each), LEAST_TOGETHER)
    most = min(soon, MOST_TOGETHER, max(_runs_that_fit(work, cuda), 1))
    waiting, lock = chunks(work.runs.size, gpus, most), threading.Lock()

    def serve(gpu: int) -> None:
        with cuda.gpus[gpu]:
            while True:
                with lock:
                    chunk = waiting.pop(0) if waiting else None
                if chunk is None:
                    return
                for number, policy in enumerate(policies):
                    if work.stopped:
                        return
                    part = Chunk(work, chunk, policy, gpu, single=single, number=number)
                    part.run(work.pseudo_regret[number], work.suboptimal_pulls[number])
                work.finished[chunk] = not work.stopped

    def served(gpu: int) -> None:
        try:
            serve(gpu)
        except Exception as error:
            waiting.clear()  # the others need not go on
            if type(error).__module__.partition(".")[0] in ("numba", "cuda"):
                reason = str(error).partition("\n")[0]
                raise NotApplicable(f'engine "cuda" failed: {reason:.200}; engine "cpu" uses all cores') from error
            raise

    with ThreadPoolExecutor(gpus) as pool:
        for future in [pool.submit(served, gpu) for gpu in range(gpus)]:
            future.result()


def _runs_that_fit(work: Job, cuda: Any) -> int:
    """How many runs half of the GPUs' free memory holds: what they learn, and their curves."""
    K, d, single = work.env.n_arms, work.env.n_features, work.precision == "float32"
    carried = 0
    for number, policy in enumerate(work.policies):
        problem = problem_of(work.env, policy, single=single, watching=number in work.events)
        assert problem is not None
        carried = max(carried, form_of(problem).bytes_per_run)
    each = carried + 8 * (2 * work.checkpoints.size + 8) + 8 * octaves.count(work.horizon) * K
    if work.regions is not None:
        n, frames = work.regions.basis.shape[1], work.horizon.bit_length()
        each += 8 * ((frames + 2) * (n * K + 10) + work.checkpoints.size * K * (d * d + 1))
    free = []
    for gpu in range(len(cuda.gpus)):
        with cuda.gpus[gpu]:
            free.append(float(cuda.current_context().get_memory_info()[0]))
    return int(min(min(free) / 2 / each, MOST_TOGETHER))
