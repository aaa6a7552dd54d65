"""sweep(): every policy in every environment, as one table; finished cells are kept, and not computed again."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from armspan._typing import IntArray, Progress
from armspan.backends import check_backend
from armspan.environments import as_environment
from armspan.errors import Interrupted, InvalidParameter
from armspan.policies import Policy
from armspan.simulation import octaves, plan
from armspan.simulation.engines import engine_for
from armspan.simulation.engines.interpreted import policy_name
from armspan.simulation.runner import check_sizes, unique
from armspan.sweeps.cells import Cell, Size
from armspan.sweeps.job import SweepJob
from armspan.sweeps.table import need_pandas, table_of

if TYPE_CHECKING:
    import pandas as pd


def sweep(
    environments: Any,
    policies: Any,
    *,
    horizon: int,
    runs: int | Sequence[int] = 100,
    seed: int = 0,
    engine: str = "auto",
    precision: str = "float64",
    checkpoints: Sequence[int] | None = None,
    folder: str | os.PathLike[str] | None = None,
    backend: Any = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> "pd.DataFrame":
    """Run every policy in every environment and return one table.

    A cell is one environment with one policy, and each cell is one row. Columns: environment, policy; parameters that
    vary, as environment.… and policy.…; gap and lambda_0 where known; horizon, runs; for the final pseudo-regret, mean,
    sd, low and high (95 % interval of the mean), q05, q50, q95, q99; and the growth verdict. Ctrl-C raises
    `Interrupted`, whose `partial` is the table of the finished cells.

    Parameters
    ----------
    environments : list or dict
        Environments; the keys of a dictionary are their names in the table. `armspan.grid` makes such dictionaries.
    policies : list, dict or function
        Policies, likewise; or a function that takes an environment and returns either. All policies meet the same
        contexts and noise.
    horizon : int
        Steps per run.
    runs : int or list of int, default 100
        How many runs, or their numbers, as in `simulate`.
    seed : int, default 0
        As in `simulate`.
    engine : str, default "auto"
        As in `simulate`.
    precision : str, default "float64"
        As in `simulate`.
    checkpoints : list of int, optional
        Steps at which regret is kept in the folder, besides the last; those of the growth verdict if left out.
    folder : str or path, optional
        Where finished cells are kept, one Parquet file each. Running it again computes only what is missing or has
        changed, be it a number or code. A damaged file is computed again, with a `DamagedCell` warning.
    backend : str or Dask client, optional
        Where to run, as in `simulate`.
    workers : int, optional
        How many threads, or local processes; one per core if left out.
    progress : function, optional
        Called as progress(done, total), over the whole sweep.

    Returns
    -------
    pandas.DataFrame
        One row per cell.
    """
    need_pandas()
    check_sizes(horizon=horizon, runs=runs, seed=seed, engine=engine)
    engine = engine_for(engine, precision)
    check_backend(backend, workers)
    marks = growth_marks(int(horizon)) if checkpoints is None else plan.as_checkpoints(checkpoints, int(horizon))
    marks = np.union1d(marks, [int(horizon)])
    size, numbers = Size(int(horizon), int(seed), engine, precision, marks), plan.as_runs(runs)
    cells = _cells(environments, policies)
    for cell in cells:
        cell.check(size, numbers, here=backend is None)
    job = SweepJob(cells, size, numbers, folder, progress)
    known = [getattr(given, "parameters", {}) for given in (environments, policies)]
    table = partial(table_of, cells, known[0], known[1], size, numbers.size)
    try:
        job.run(backend, workers)
    except KeyboardInterrupt:
        done = len(job.finished)
        kept = table(job.finished) if done else None
        raise Interrupted(f"stopped with {done} of {len(cells)} cells finished", kept) from None
    return table(job.finished)


def growth_marks(horizon: int) -> IntArray:
    """The steps at which the growth verdict looks."""
    return octaves.edges(horizon)[-2::-1]


def _cells(environments: Any, policies: Any) -> list[Cell]:
    """Every environment with every policy, in the order given."""
    envs = {name: as_environment(env) for name, env in named("environments", environments, _environment_name).items()}
    cells = []
    for name, env in envs.items():
        function = callable(policies) and not isinstance(policies, type | Policy)
        theirs = policies(env) if function else policies
        for word, policy in named("policies", theirs, _policy_name).items():
            cells.append(Cell(name, word, env, policy))
    return cells


def named(what: str, objects: Any, name_of: Callable[[Any], str]) -> dict[str, Any]:
    """The objects by their names: a dictionary's keys, or else their own, numbered where they are the same."""
    if isinstance(objects, Mapping):
        wrong = [name for name in objects if not isinstance(name, str)]
        if wrong:
            raise InvalidParameter(f"{what} must have names that are text, got {wrong[0]!r:.60}")
        result = dict(objects)
    else:
        entries = list(objects) if isinstance(objects, list | tuple) else [objects]
        result = dict(zip(unique([name_of(entry) for entry in entries]), entries, strict=True))
    if not result:
        raise InvalidParameter(f"{what} must hold at least one, got none")
    return result


def _policy_name(policy: Any) -> str:
    return policy.__name__ if isinstance(policy, type) and issubclass(policy, Policy) else policy_name(policy)


def _environment_name(env: Any) -> str:
    return str(getattr(env, "name", type(env).__name__))
