"""simulate(): check the request, hand it to an engine, and collect a Result."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from armspan import _validate
from armspan._cores import available_cores
from armspan._typing import IntArray, Progress
from armspan.backends import check_backend
from armspan.environments import as_environment
from armspan.errors import Interrupted, InvalidParameter, NotApplicable
from armspan.events import regions_of
from armspan.policies import Policy
from armspan.simulation import plan
from armspan.simulation.engines import ENGINES, NAMES, USUAL, best_engine, check_events, engine_for
from armspan.simulation.engines.interpreted import policy_name
from armspan.simulation.fingerprint import fingerprint
from armspan.simulation.job import Job
from armspan.simulation.result import Result
from armspan.simulation.spread import part, spread


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

    Parameters
    ----------
    env : Environment or object
        An environment, or any object with n_arms, n_features, context(step, rng) and mean_rewards(x).
    policies : policy or list
        One or several. Your own policy is a class whose objects have choose(x) and update(arm, x, reward); for every
        run a new object is made, with n_arms, n_features and seed.
    horizon : int
        Steps per run.
    runs : int or list of int, default 100
        How many runs, numbered from 0; or the numbers of the runs, such as range(100, 200).
    seed : int, default 0
        From 0 to 2⁶⁴ - 1. Contexts and noise are a function of (seed, run, step): every policy meets the same ones, on
        any engine and with any number of workers.
    engine : str, default "auto"
        "cpu" (compiled, all cores), "cuda" (all GPUs), "python" (the naive readable form, with the same choices), or
        "auto": a GPU if there is one and the work is large, else the CPU, which is also what "auto" means on a backend.
        The result's `engine` says which one was used.
    precision : str, default "float64"
        "float64", or on a GPU "float32", which is faster and makes some choices differently; see the docs' page on
        GPUs.
    checkpoints : list of int, optional
        Steps at which regret is recorded; about 200 on a log scale if left out.
    events : bool, default False
        Whether to count the proof's frames and error events for the linear policies, into `result.events`. The engine
        must be "cpu", which "auto" then picks, or "cuda" in float64, and the environment must not be your own.
    backend : str or Dask client, optional
        Where to run: this process if left out, "processes" for local processes, or a Dask cluster, by its scheduler's
        address ("tcp://host:8786") or a Dask client. On processors of the same kind results are the same, bit
        for bit; on different ones they agree up to rounding, and the logger "armspan" says so.
    workers : int, optional
        How many threads, or local processes; one per core if left out.
    progress : function, optional
        Called as progress(done, total).

    Returns
    -------
    Result
        Regret curves at the checkpoints.
    """
    env = as_environment(env)
    policies = list(policies) if isinstance(policies, list | tuple) else [policies]
    for policy in policies:
        if isinstance(policy, type) and issubclass(policy, Policy):
            raise NotApplicable(f"a policy must be an object, got the class; write {policy.__name__}()")
    if not policies:
        raise InvalidParameter("policies must name at least one policy, got none")
    check_sizes(horizon=horizon, runs=runs, seed=seed, engine=engine)
    policies = [policy.within(int(horizon)) if isinstance(policy, Policy) else policy for policy in policies]
    engine = engine_for(engine, precision)
    horizon, numbers, seed = int(horizon), plan.as_runs(runs), int(seed)
    if events:
        check_events(engine, precision)
    if engine == "auto":
        steps = len(policies) * horizon * numbers.size
        engine = USUAL if backend is not None or events else best_engine(env, policies, steps)
    chosen = ENGINES[engine]
    chosen.refuse(env, policies, here=backend is None)
    marks = plan.as_checkpoints(checkpoints, horizon)
    check_backend(backend, workers)
    processes = workers
    workers = available_cores() if workers is None else _validate.whole("workers", workers, at_least=1)
    regions = regions_of(env) if events else None
    digits = fingerprint(env, policies)
    for policy in policies:  # refuse what cannot run before anything runs
        chosen.check(env, policy, seed, int(numbers[0]))
        if isinstance(policy, Policy):
            policy.check(env, horizon)
    if backend is not None:
        options = {"horizon": horizon, "seed": seed, "engine": engine, "precision": precision}
        options |= {"checkpoints": marks, "events": events}
        work = partial(part, simulate, digits, env, policies, options)
        least = chosen.least_together
        seconds = horizon * len(policies) * chosen.step_seconds(env, policies, max(numbers.size, least))
        return spread(work, numbers, seconds, least, backend=backend, workers=processes, progress=progress)
    explained = [events and isinstance(policy, Policy) and policy.explains for policy in policies]
    job = Job(
        env,
        policies,
        horizon=horizon,
        runs=numbers,
        seed=seed,
        checkpoints=marks,
        precision=precision,
        regions=regions,
        explained=tuple(np.flatnonzero(explained)),
        progress=progress,
    )
    engine = engine if precision == "float64" else f"{engine}, {precision}"
    try:
        chosen.run(job, workers)
    except KeyboardInterrupt:
        done = job.finished
        kept = _result(job, engine, digits, np.flatnonzero(done)) if done.any() else None
        raise Interrupted(f"stopped with {done.sum()} of {done.size} runs finished", kept) from None
    return _result(job, engine, digits, slice(None))


def check_sizes(*, horizon: Any, runs: Any, seed: Any, engine: Any) -> None:
    """Refuse sizes with which no simulation can be run."""
    _validate.whole("horizon", horizon, at_least=1, at_most=plan.MOST_STEPS)
    plan.check_runs(runs)
    _validate.whole("seed", seed, at_least=0, at_most=2**64 - 1)
    _validate.one_of("engine", engine, NAMES)


def _result(job: Job, engine: str, digits: str, rows: IntArray | slice) -> Result:
    names = unique([policy_name(policy) for policy in job.policies])
    return Result(
        policies=names,
        runs=job.runs[rows],
        checkpoints=job.checkpoints,
        pseudo_regret=job.pseudo_regret[:, rows],
        noise=job.noise_sums[0, rows] if len(job.noise_sums) == 1 else job.noise_sums[:, rows],
        suboptimal_pulls=job.suboptimal_pulls[:, rows],
        environment=job.env.name,
        fingerprint=digits,
        horizon=job.horizon,
        seed=job.seed,
        engine=engine,
        events={names[p]: entry.rows(rows) for p, entry in job.events.items()},
        switched_at={names[p]: entry[rows] for p, entry in job.switched_at.items()},
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
