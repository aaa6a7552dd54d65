"""The work of one simulation: what is to be done, where the results go, and how far it has got."""

import threading
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from armspan._typing import IntArray, Progress
from armspan.environments import Environment
from armspan.events import Events, Regions
from armspan.simulation import octaves


class Job:
    """What an engine is given.

    It fills pseudo_regret (P, R, C), noise_sums (P, R, C), or (1, R, C) where all policies meet the same noise,
    suboptimal_pulls (P, R, bins, K), events and switched_at (R,) by the policy's number, and finished (R,).
    """

    def __init__(
        self,
        env: Environment,
        policies: list[Any],
        *,
        horizon: int,
        runs: IntArray,
        seed: int,
        checkpoints: IntArray,
        precision: str = "float64",
        regions: Regions | None = None,
        explained: tuple[int, ...] = (),
        progress: Progress | None = None,
    ) -> None:
        self.env, self.policies, self.horizon, self.runs, self.seed = env, policies, horizon, runs, seed
        self.checkpoints, self.precision, self.regions = checkpoints, precision, regions
        P, R, C, K = len(policies), runs.size, checkpoints.size, env.n_arms
        self.pseudo_regret = np.zeros((P, R, C))
        self.noise_sums = np.zeros((P if env.noise.clicks else 1, R, C))
        self.suboptimal_pulls = np.zeros((P, R, octaves.count(horizon), K), np.uint32)
        self.finished = np.zeros(R, dtype=bool)
        n = 0 if regions is None else regions.basis.shape[1]
        self.events = {p: Events.empty(R, horizon, n, K, C) for p in explained}
        switching = [p for p, policy in enumerate(policies) if getattr(policy, "can_switch", False)]
        self.switched_at = {p: np.zeros(R, np.int64) for p in switching}
        self._progress = progress
        self._done, self._lock, self._stop = 0, threading.Lock(), threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether the work is to stop."""
        return self._stop.is_set()

    def advanced(self, steps: int) -> None:
        """Count this many more steps as done."""
        with self._lock:
            self._done += steps

    def follow(self, pool: ThreadPoolExecutor, futures: set[Future[None]]) -> None:
        """Wait for the threads and report progress; Ctrl-C and errors stop them all."""
        total = len(self.policies) * self.runs.size * self.horizon
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
