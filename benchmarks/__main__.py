"""Run every benchmark, or those that are named: python -m benchmarks agents. Options are those of `policies`."""

import os
import sys
from collections.abc import Callable
from functools import partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread for all; read when NumPy is loaded

from benchmarks import agents, cluster, policies, simulation

OPTIONS = [word for word in sys.argv[1:] if word.startswith("-")]
BENCHMARKS: dict[str, Callable[[], None]] = {
    "simulation": simulation.main,
    "agents": agents.main,
    "cluster": cluster.main,
    "policies": partial(policies.main, OPTIONS),
}
if {"-h", "--help"} & set(OPTIONS):
    print(f"{__doc__}\nBenchmarks: {', '.join(BENCHMARKS)}.")
    sys.exit()
for name in [word for word in sys.argv[1:] if word not in OPTIONS] or BENCHMARKS:
    if name not in BENCHMARKS:
        sys.exit(f"benchmark must be one of {', '.join(BENCHMARKS)}, got {name!r}")
    BENCHMARKS[name]()
