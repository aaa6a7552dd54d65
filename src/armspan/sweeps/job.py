"""The work of one sweep: the cells that are missing, cut into parts of like cost; what has come, and is kept."""

import os
from functools import partial
from typing import Any

import numpy as np

from armspan._typing import IntArray, Progress
from armspan.backends import map_reduce
from armspan.policies import Policy
from armspan.simulation.engines import ENGINES
from armspan.simulation.spread import MOST_PARTS, compact, cut, part_seconds
from armspan.sweeps.cell_files import CellFolder
from armspan.sweeps.cells import Cell, Done, Job, Measures, Runs, Size, compute, measures_of

HERE_SECONDS, TOGETHER_SECONDS = 1.0, 0.05
"""How long a piece of a cell, or small cells together, should take in this process, where they need not travel: then
progress is told, and what is finished is kept."""


class SweepJob:
    """Measures of cells by their numbers, in `finished`."""

    def __init__(
        self,
        cells: list[Cell],
        size: Size,
        runs: IntArray,
        folder: str | os.PathLike[str] | None,
        progress: Progress | None,
    ) -> None:
        self.cells, self.size, self.runs, self._progress = cells, size, runs, progress
        self.finished: dict[int, Measures] = {}
        self._pieces: dict[int, dict[int, Runs]] = {}
        self._done = 0
        self._keys = [] if folder is None else [cell.key(size, runs) for cell in cells]
        self._folder = None if folder is None else CellFolder(folder)

    def run(self, backend: Any, workers: int | None) -> None:
        """Take what the folder has, compute the rest."""
        if self._folder is not None:
            for number, key in enumerate(self._keys):
                kept = self._folder.read(key)
                if kept is not None:
                    self.finished[number] = kept
        self._tell(len(self.finished) * self.runs.size)
        threads = workers if backend is None else 1
        work = partial(compute, self.size, threads, self._folder is not None)
        parts = self._parts(here=backend is None)
        map_reduce(work, parts, list, backend=backend, workers=workers, arrived=self._arrived)

    def _parts(self, *, here: bool) -> list[list[Job]]:
        """Large cells in pieces, and small ones together."""
        missing = [number for number in range(len(self.cells)) if number not in self.finished]
        seconds = {number: self.cells[number].seconds(self.size, self.runs.size) for number in missing}
        wanted = HERE_SECONDS if here else part_seconds(sum(seconds.values()))
        few = len(missing) < MOST_PARTS  # with more, all workers have cells, and each finishes its own
        all_runs = compact(self.runs)
        parts: list[list[Job]] = []
        together: list[Job] = []
        for number in missing:
            cell = self.cells[number]
            engine = cell.engine(self.size, self.runs.size, here=here)
            least = ENGINES[engine].least_together
            if few and seconds[number] > 2 * wanted and self.runs.size > 1 and not (here and ENGINES[engine].alone):
                for piece in cut(self.runs.size, seconds[number], wanted, least):
                    some = compact(self.runs[piece.start : piece.stop])
                    parts.append([Job(number, cell, some, engine, piece.start, whole=False)])
                continue
            # a GPU takes its time for a small cell too, and what a user has written may fail
            alone = here and (ENGINES[engine].alone or not isinstance(cell.policy, Policy))
            if alone and together:
                parts.append(together)
                together = []
            together.append(Job(number, cell, all_runs, engine))
            if alone or sum(seconds[job.number] for job in together) >= (TOGETHER_SECONDS if here else wanted):
                parts.append(together)
                together = []
        return [*parts, together] if together else parts

    def _arrived(self, _: int, results: list[Done]) -> None:
        """Keep what a part has brought."""
        for done in results:
            self._take(done)
        self._tell(sum(done.n_runs for done in results))

    def _take(self, done: Done) -> None:
        """A whole cell, or a piece, which waits for the others of its cell."""
        runs, measures = done.runs, done.measures
        if measures is None:
            assert runs is not None
            pieces = self._pieces.setdefault(done.number, {})
            pieces[done.first] = runs
            if sum(len(piece.regret) for piece in pieces.values()) < self.runs.size:
                return
            del self._pieces[done.number]
            ordered = [pieces[first] for first in sorted(pieces)]
            runs = Runs(*(np.concatenate(parts) for parts in zip(*ordered, strict=True)))
            measures = measures_of(self.size.checkpoints, runs)
        if self._folder is not None:
            assert runs is not None
            cell, key = self.cells[done.number], self._keys[done.number]
            self._folder.write(key, cell, self.size, self.runs, runs.regret, measures)
        self.finished[done.number] = measures

    def _tell(self, n_runs: int) -> None:
        self._done += n_runs * self.size.horizon
        if self._progress is not None:
            self._progress(self._done, len(self.cells) * self.runs.size * self.size.horizon)
