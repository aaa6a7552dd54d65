"""The cells of a sweep: one environment with one policy; what is computed of it, and the key it is kept under."""

import hashlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment
from armspan.errors import ArmspanError, NotApplicable
from armspan.policies import Policy
from armspan.simulation.content import NoContentError, code_of
from armspan.simulation.engines import ENGINES, USUAL, best_engine
from armspan.simulation.engines.base import Engine
from armspan.simulation.fingerprint import fingerprint
from armspan.simulation.growth import growth
from armspan.simulation.runner import simulate
from armspan.simulation.student import half_width
from armspan.sweeps.source import OWN_SOURCE

QUANTILES = {"q05": 0.05, "q50": 0.5, "q95": 0.95, "q99": 0.99}
SETTING_UP = 2e-3
"""Seconds that a cell takes whatever its size, about."""
SUMMING_UP = 2e-7
"""Seconds that the measures of a run take, about."""
SMALL = 0.02
"""Seconds up to which a cell is not worth a second thread."""

Measures = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """What all cells of a sweep have in common."""

    horizon: int
    seed: int
    engine: str
    precision: str
    checkpoints: IntArray

    @property
    def usual(self) -> Engine:
        """The engine that was named, or what "auto" means where no GPU is looked for."""
        return ENGINES[USUAL if self.engine == "auto" else self.engine]


@dataclass(frozen=True)
class Cell:
    """One environment with one policy, and their names."""

    environment: str
    policy_name: str
    env: Environment
    policy: Any

    def __str__(self) -> str:
        return f"{self.policy_name} in {self.environment}"

    def engine(self, size: Size, n_runs: int, *, here: bool) -> str:
        """What runs it; here : whether this process does."""
        if size.engine != "auto" or not here:
            return size.usual.name
        return best_engine(self.env, [self.policy], n_runs * size.horizon)

    def seconds(self, size: Size, n_runs: int) -> float:
        """How long it takes on one core, by a rough estimate: the steps, and the measures."""
        step = size.usual.step_seconds(self.env, [self.policy], n_runs)
        return SETTING_UP + n_runs * (size.horizon * step + SUMMING_UP)

    def check(self, size: Size, runs: IntArray, *, here: bool) -> None:
        """Refuse what cannot run, before anything runs; here : whether this process is to run it."""
        try:
            if isinstance(self.policy, type) and issubclass(self.policy, Policy):
                raise NotApplicable(f"a policy must be an object, got the class; write {self.policy.__name__}()")
            size.usual.refuse(self.env, [self.policy], here=here)
            size.usual.check(self.env, self.policy, size.seed, int(runs[0]))
            if isinstance(self.policy, Policy):
                self.policy.check(self.env, size.horizon)
        except ArmspanError as error:
            raise type(error)(f"{self}: {error}") from None

    def key(self, size: Size, runs: IntArray) -> str:
        """Hexadecimal digits that change with all that can change the numbers, a user's code and armspan's too."""
        try:
            code = code_of(self.env, self.policy)
        except NoContentError as hidden:
            raise NotApplicable(
                f"{self}: it holds a {hidden}, and a folder could not tell when that changes; give what holds it an "
                'attribute fingerprint (a text such as "1", another one whenever it changes), or leave folder out'
            ) from None
        engine = size.usual.forms if size.precision == "float64" else size.precision
        words = OWN_SOURCE, fingerprint(self.env, [self.policy]), code, size.horizon, size.seed, engine
        digest = hashlib.sha256(repr(words).encode())
        digest.update(size.checkpoints.tobytes() + b"\0" + runs.tobytes())
        return digest.hexdigest()[:32]


@dataclass(frozen=True)
class Job:
    """Some runs of one cell: its number, the engine, where they begin among its runs, and whether they are all."""

    number: int
    cell: Cell
    runs: Sequence[int]
    engine: str = "auto"
    first: int = 0
    whole: bool = True


class Runs(NamedTuple):
    """What some runs of a cell gave: pseudo-regret (R, C), and suboptimal pulls (R, B, K)."""

    regret: FloatArray
    pulls: NDArray[np.uint32]


@dataclass(frozen=True)
class Done:
    """A finished job: the runs where they are wanted, and measures where the job was a whole cell."""

    number: int
    first: int
    n_runs: int
    runs: "Runs | None"
    measures: Measures | None


def compute(size: Size, threads: int | None, keep: bool, jobs: Sequence[Job]) -> list[Done]:
    """The jobs of one part, on a worker; keep is whether the runs of a whole cell are wanted too.

    Neighbours in the same environment are simulated at once: they share its contexts and noise.
    """
    done = []
    for _, group in itertools.groupby(jobs, key=_alike):
        together = list(group)
        cells, runs = [job.cell for job in together], together[0].runs
        small = sum(cell.seconds(size, len(runs)) for cell in cells) < SMALL
        options: Any = vars(size) | {"runs": runs, "engine": together[0].engine, "workers": 1 if small else threads}
        result = simulate(cells[0].env, [cell.policy for cell in cells], **options)
        assert result.suboptimal_pulls is not None
        for job, regret, pulls in zip(together, result.pseudo_regret, result.suboptimal_pulls, strict=True):
            some = Runs(regret, pulls)
            measures = measures_of(size.checkpoints, some) if job.whole else None
            done.append(Done(job.number, job.first, len(runs), None if job.whole and not keep else some, measures))
    return done


def _alike(job: Job) -> tuple[object, ...]:
    """What jobs must have in common to be simulated at once."""
    ours = isinstance(job.cell.policy, Policy)  # beside what a user has written, others would run on one thread
    return id(job.cell.env), ours, job.engine, job.first, job.whole


def measures_of(checkpoints: IntArray, runs: Runs) -> Measures:
    """Of the final pseudo-regret over the runs: mean, sd, 95 % interval of the mean, quantiles; the growth verdict."""
    final = np.ascontiguousarray(runs.regret[:, -1])
    mean, sd = float(final.mean()), float(final.std(ddof=1)) if final.size > 1 else math.nan
    half = half_width(sd, final.size)
    quantiles = np.quantile(final, list(QUANTILES.values())).tolist()
    row = {"mean": mean, "sd": sd, "low": mean - half, "high": mean + half} | dict(
        zip(QUANTILES, quantiles, strict=True)
    )
    return row | {"growth": growth(checkpoints, runs.regret, runs.pulls).verdict}
