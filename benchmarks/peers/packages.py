"""The packages, pinned, and how each gets an environment of its own and is measured there."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / ".venv-peers"
INSTALL_SECONDS, MEASURE_SECONDS = 1200, 600


class NotMeasured(Exception):
    """A package that could not be installed or run; says why in one line."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A package.

    needs : what else must be installed. bare : install the package without its dependencies and whatever Python it asks
    for. remark : how what it does differs from the task.
    """

    name: str
    version: str
    needs: tuple[str, ...] = ()
    bare: bool = False
    remark: str = ""

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}" + (f", {self.remark}" if self.remark else "")

    @property
    def python(self) -> Path:
        return ENVIRONMENTS / self.name / "bin" / "python"

    def install(self) -> None:
        """Make its environment, unless it is there: with the NumPy that armspan has here, so that ratios compare."""
        own = f"{self.name}=={self.version}"
        needs = (f"numpy=={version('numpy')}", *self.needs)
        ready, contents = ENVIRONMENTS / self.name / "ready", "\n".join((sys.version, *needs, own))
        if ready.exists() and ready.read_text() == contents:
            return
        ENVIRONMENTS.mkdir(exist_ok=True)
        (ENVIRONMENTS / ".gitignore").write_text("*\n")
        shutil.rmtree(ENVIRONMENTS / self.name, ignore_errors=True)
        self.run([sys.executable, "-m", "venv", str(ENVIRONMENTS / self.name)], INSTALL_SECONDS)
        pip = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if self.bare:
            self.run([*pip, *needs], INSTALL_SECONDS)
            self.run([*pip, "--no-deps", "--ignore-requires-python", own], INSTALL_SECONDS)
        else:
            self.run([*pip, *needs, own], INSTALL_SECONDS)
        ready.write_text(contents)

    def measure(self) -> list[tuple[float, float]]:
        """Microseconds per step in every cell: (the package's, NumPy's in the same process)."""
        command = [str(self.python), "-m", "benchmarks.peers.runner", self.name]
        return [(theirs, numpys) for theirs, numpys in json.loads(self.run(command, MEASURE_SECONDS).splitlines()[-1])]

    def race(self, courses: list[Path]) -> list[dict[str, Any]]:
        """Regret of each run, and microseconds per step, in each of the arena's problems; see `race`."""
        command = [str(self.python), "-m", "benchmarks.peers.runner", self.name, *map(str, courses)]
        return list(json.loads(self.run(command, MEASURE_SECONDS).splitlines()[-1]))

    def run(self, command: list[str], seconds: int) -> str:
        """Output of a command; if it fails, its last word on why."""
        what = "measured" if "benchmarks.peers.runner" in command else "installed"
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=os.environ | ONE_THREAD, timeout=seconds, capture_output=True, text=True
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise NotMeasured(f"could not be {what}: {type(problem).__name__}") from None
        if done.returncode:
            lines = [line.strip() for line in done.stderr.splitlines() if "error" in line.lower()]
            raise NotMeasured(f"could not be {what}: {(lines or [f'exit status {done.returncode}'])[-1]:.160}")
        return done.stdout


PEERS = (
    Peer(name="mabwiser", version="2.7.4"),
    Peer(name="contextualbandits", version="0.3.30", remark="in float32"),
    Peer(name="river", version="0.26.1"),
    Peer(name="pymab", version="2.0.1"),
    Peer(name="obp", version="0.5.7", needs=("scikit-learn==1.9.1", "pandas==3.1.1"), bare=True),
    Peer(name="coba", version="8.1.0", remark="one θ for all arms, so less work"),
    Peer(name="bayesianbandits", version="1.5.0", remark="a sampled quantile"),
    Peer(name="vowpalwabbit", version="9.11.9", remark="SquareCB: first-order, keeps no covariance"),
)
