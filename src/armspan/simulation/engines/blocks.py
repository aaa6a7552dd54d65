"""Chunks of runs, advanced by threads through their blocks of steps."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from armspan._typing import IntArray
from armspan.kernels.block import Tally
from armspan.kernels.draws import sum_noise
from armspan.policies import Learner
from armspan.simulation import octaves, plan
from armspan.simulation.job import Job

MakeLearner = Callable[[IntArray], Learner]
"""From run numbers to what advances a policy through them."""


def run_in_blocks(job: Job, makers: list[MakeLearner], pieces: plan.Pieces, workers: int) -> None:
    """Run all chunks; Ctrl-C stops every thread after its present block. Changes the job's results."""
    waiting = deque(_advanced(job, makers, pieces.block, chunk) for chunk in pieces.chunks)
    last = workers if pieces.in_turns else 0
    with ThreadPoolExecutor(workers) as pool:
        job.follow(pool, {pool.submit(advance_all, job, waiting, last) for _ in range(workers)})


def advance_all(job: Job, waiting: deque[Iterator[None]], last: int) -> None:
    """Advance chunks until none is waiting: each to its end, but so many last ones in turns, a block at a time.

    Then all threads end together; otherwise some would idle while others advance the last chunk.
    """
    while not job.stopped:
        try:
            chunk = waiting.popleft()
        except IndexError:
            return  # what is left is in the hands of other threads
        for _ in chunk:
            if 0 < len(waiting) <= last:
                waiting.append(chunk)
                break


def _advanced(job: Job, makers: list[MakeLearner], block_steps: int, chunk: slice) -> Iterator[None]:
    """Advance some runs to the horizon, a block at a time. Changes the results and finished there."""
    runs = np.ascontiguousarray(job.runs[chunk])
    stream = job.env.stream(job.seed, runs)
    own: list[Any] = [make(runs) for make in makers]
    learners = [job.env.facing(learner, runs) for learner in own]
    noise_so_far = np.zeros((len(job.noise_sums), runs.size, 4))
    for first, size, marks, columns in plan.segments(job.horizon, job.checkpoints, block_steps):
        block = stream.draw(first, size)
        width = columns.stop - columns.start  # the last mark need not be a checkpoint
        curve = np.empty((runs.size, marks.size))
        bins = octaves.bins_of(first, size, job.horizon)
        for p, learner in enumerate(learners):
            if job.stopped:
                return
            met = block._replace(noise=block.noise.copy()) if block.clicks else block
            learner.advance(met, marks, curve, Tally(bins, job.suboptimal_pulls[p, chunk]))
            job.pseudo_regret[p, chunk, columns] = curve[:, :width]
            if p in job.events:
                job.events[p].mark(chunk, columns, learner)
            if p < len(job.noise_sums):
                sum_noise(met.noise, marks, noise_so_far[p], curve)
                job.noise_sums[p, chunk, columns] = curve[:, :width]
            job.advanced(runs.size * size)
        yield
    for p, events in job.events.items():
        counting: Any = learners[p]
        events.take(chunk, counting.counted)
    for p, switched_at in job.switched_at.items():
        switched_at[chunk] = own[p].switched_at
    job.finished[chunk] = True
