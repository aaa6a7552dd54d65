"""How long a call takes, and how long a new process takes that has its kernels to compile first."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable


def seconds(action: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def start_up(words: str, script: str) -> None:
    """Print how long a process takes to run a script, with an empty cache of compiled kernels and again, best of two.

    Beside them stands what importing numba takes by itself, which is in both.
    """

    def process(command: str, cache: str) -> float:
        environment = os.environ | {"XDG_CACHE_HOME": cache, "NUMBA_CACHE_DIR": ""}
        return seconds(lambda: subprocess.run([sys.executable, "-c", command], env=environment, check=True))

    rounds = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as cache:
            rounds.append([process(command, cache) for command in (script, script, "import numba")])
    first, second, bare = (min(times) for times in zip(*rounds, strict=True))
    print(f"\nA process that {words}: {first:.1f} s compiling, {second:.1f} s from the cache on disk")
    print(f"(importing numba alone takes {bare:.1f} s)")
