"""A Dask cluster on this machine as others have it on many: a scheduler and workers, each a process of its own."""

import json
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).parents[2]
QUIET = ["--dashboard-address", "127.0.0.1:0", "--no-dashboard"]


class Cluster:
    """Starts them, and ends those that are left."""

    def __init__(self, folder: Path, n_workers: int) -> None:
        self._folder, self._file = folder, folder / "scheduler.json"
        self._scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        while not self._file.exists() or not self._file.read_text().rstrip().endswith("}"):  # or still being written
            assert self._scheduler.poll() is None
            time.sleep(0.05)
        self.address: str = json.loads(self._file.read_text())["address"]
        self.workers: list[subprocess.Popen[bytes]] = []
        for _ in range(n_workers):
            self.add_worker()

    def add_worker(self) -> None:
        """One more, with one thread."""
        options = ["--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", "--local-directory", str(self._folder)]
        self.workers.append(self._start("worker", *options))

    def kill_a_worker(self) -> None:
        """As a machine that loses its power."""
        worker = self.workers.pop(0)
        worker.kill()
        worker.wait()

    def _start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", str(self._file)]
        quiet = subprocess.DEVNULL
        return subprocess.Popen([*command, *QUIET, *options], cwd=ROOT, stdout=quiet, stderr=quiet)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()
