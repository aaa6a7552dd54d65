"""Other processors seen from this one: the numeric tests, once for each kind that this machine can pretend to be.

Kernels are compiled for this processor or for any of its family (NUMBA_CPU_NAME=generic; numba keeps the two apart in
its cache). NumPy's products of matrices are those of several processors (OPENBLAS_CORETYPE), on one thread and on two.
Run by `make processors`; `make test` runs the most different one (--short).
"""

import argparse
import ctypes
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
NUMERIC = [
    "tests/kernels/test_choice.py",
    "tests/kernels/test_draws.py",
    "tests/kernels/test_lanes.py",
    "tests/kernels/test_lanes_of_counts.py",
    "tests/kernels/test_linear.py",
    "tests/kernels/test_philox.py",
    "tests/kernels/test_vectors.py",
    "tests/agents/test_numerics.py",
    "tests/agents/test_sketch.py::test_a_form_is_never_wrong_by_more_than_it_says",
    "tests/agents/test_oracle.py",
    "tests/propositions/test_proposition_1.py",
    "tests/propositions/test_appendix_b.py",
    "tests/diversity/test_directions.py",
    "tests/diversity/test_plausible.py",
    "tests/diversity/test_quantiles.py",
]
ALL_POLICIES = ["tests/policies"]
"""Beside those, unless it must be short: every family has kernels, which are compiled for every processor."""
UNROLLED = "test_lanes_and_runs_alone_agree or test_however_runs_are_grouped or test_unrolled_kernels"
FEWER = ["-k", f"not ({UNROLLED}) or 2-2- or [6-2] or (lanes_of_counts and 16-2-)"]
"""If it must be short: kernels for other numbers of features are the same code, compiled once more for each."""
BLAS = {
    "x86_64": {"Prescott": "sse3", "Haswell": "avx2", "SkylakeX": "avx512f"},
    "aarch64": {"ARMV8": "neon", "NEOVERSEN1": "lse"},
}
"""Kernels of OpenBLAS by what a processor must have to run them, from the oldest on."""
NAMES = {"AMD64": "x86_64", "amd64": "x86_64", "arm64": "aarch64"}


class Target(NamedTuple):
    """A processor to be: what kernels are compiled for, whose BLAS; empty for this one's. And threads of the BLAS."""

    kernels: str
    blas: str
    threads: int

    def __str__(self) -> str:
        kernels, blas = self.kernels or "this processor's", self.blas or "this processor's"
        return f"kernels: {kernels}; BLAS: {blas}; threads: {self.threads}"

    def environment(self, simd: Iterable[str] = ()) -> dict[str, str]:
        """The settings of numba and OpenBLAS; NumPy does without simd, its own code for newer processors."""
        settings = {"OPENBLAS_NUM_THREADS": str(self.threads)}
        if self.kernels:
            settings |= {"NUMBA_CPU_NAME": self.kernels, "NPY_DISABLE_CPU_FEATURES": " ".join(simd)}
        return settings | ({"OPENBLAS_CORETYPE": self.blas} if self.blas else {})


def targets(machine: str, features: set[str], *, blas_has_a_choice: bool = True) -> list[Target]:
    """Those that a processor with these features can be, first the one most unlike that of the other tests."""
    kinds = BLAS.get(NAMES.get(machine, machine), {}) if blas_has_a_choice else {}
    blas = [name for name, needed in kinds.items() if needed in features] or [""]
    return [Target(kernels, name, threads) for kernels in ("generic", "") for name in blas for threads in (2, 1)]


def has_a_choice(config: dict[str, Any]) -> bool:
    """Whether NumPy's BLAS is an OpenBLAS with the kernels of several processors."""
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return "DYNAMIC_ARCH" in str(blas.get("openblas configuration", ""))


def core() -> str:
    """Whose kernels NumPy's own OpenBLAS uses in this process, by its own account; empty if it does not say."""
    for path in sorted(Path(np.__file__).parents[1].glob("numpy.libs/*openblas*")):
        library = ctypes.CDLL(str(path))
        for name in ("scipy_openblas_get_corename64_", "openblas_get_corename64_", "openblas_get_corename"):
            if function := getattr(library, name, None):
                function.restype = ctypes.c_char_p
                return str(function().decode())
    return ""


def run(target: Target, simd: Iterable[str], tests: list[str]) -> bool:
    """Run these tests as that processor, print a line and, where they fail, what pytest says."""
    env = os.environ | target.environment(simd)
    found = subprocess.run([sys.executable, "-m", "tests.processors", "--core"], cwd=ROOT, env=env, capture_output=True)
    said = found.stdout.decode().strip()
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout + done.stderr)
    summary = (done.stdout.splitlines() or ["nothing was said"])[-1].strip("= ")
    print(f"{target} (OpenBLAS says {said or 'nothing'}): {summary}", flush=True)
    return done.returncode == 0


def main() -> int:
    """All targets, or the first alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="only the most different processor")
    parser.add_argument("--list", action="store_true", help="say which there are, and run nothing")
    parser.add_argument("--core", action="store_true", help="say whose kernels OpenBLAS uses in this process")
    args = parser.parse_args()
    if args.core:
        print(core())
        return 0
    from llvmlite import binding

    config: Any = np.show_config(mode="dicts")
    choice = has_a_choice(config)
    if not choice:
        print("NumPy's BLAS has no DYNAMIC_ARCH: it is always the same, and only kernels and threads differ")
    features = {name for name, there in binding.get_host_cpu_features().items() if there}
    chosen = targets(platform.machine(), features, blas_has_a_choice=choice)
    if args.list:
        print("\n".join(map(str, chosen)))
        return 0
    simd = config.get("SIMD Extensions", {}).get("found", [])
    tests = [*NUMERIC, *(FEWER if args.short else ALL_POLICIES)]
    passed = [run(target, simd, tests) for target in (chosen[:1] if args.short else chosen)]
    print(f"{sum(passed)} of {len(passed)} processors passed")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
