"""Run every benchmark, or those that are named: python -m benchmarks agents."""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread for all; read when NumPy is loaded

from benchmarks import agents, cluster, simulation

BENCHMARKS = {"simulation": simulation.main, "agents": agents.main, "cluster": cluster.main}
for name in sys.argv[1:] or BENCHMARKS:
    if name not in BENCHMARKS:
        sys.exit(f"benchmark must be one of {', '.join(BENCHMARKS)}, got {name!r}")
    BENCHMARKS[name]()
