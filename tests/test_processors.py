"""Which processors `make processors` can be on a machine, by its kind and features."""

import os
import subprocess
import sys

import pytest

from tests.processors import NUMERIC, ROOT, Target, has_a_choice, targets


def blas(machine: str, features: set[str]) -> list[str]:
    return list(dict.fromkeys(target.blas for target in targets(machine, features)))


@pytest.mark.parametrize(
    ("machine", "features", "names"),
    [
        ("x86_64", {"sse3"}, ["Prescott"]),
        ("AMD64", {"sse3", "avx2"}, ["Prescott", "Haswell"]),
        ("x86_64", {"sse3", "avx2", "avx512f"}, ["Prescott", "Haswell", "SkylakeX"]),
        ("aarch64", {"neon"}, ["ARMV8"]),
        ("arm64", {"neon", "lse"}, ["ARMV8", "NEOVERSEN1"]),
        ("riscv64", {"v"}, [""]),
    ],
)
def test_kernels_that_a_processor_cannot_run_are_left_out(machine: str, features: set[str], names: list[str]) -> None:
    assert blas(machine, features) == names
    assert targets(machine, features)[0] == Target("generic", names[0], 2)
    assert len(targets(machine, features)) == 4 * len(names)


def test_a_blas_without_a_choice_is_taken_as_it_is() -> None:
    chosen = targets("x86_64", {"sse3", "avx2"}, blas_has_a_choice=False)
    assert [(target.kernels, target.blas, target.threads) for target in chosen] == [
        ("generic", "", 2),
        ("generic", "", 1),
        ("", "", 2),
        ("", "", 1),
    ]
    assert not has_a_choice({"Build Dependencies": {"blas": {"name": "accelerate"}}})
    assert has_a_choice({"Build Dependencies": {"blas": {"openblas configuration": "OpenBLAS DYNAMIC_ARCH"}}})


def test_a_process_is_the_processor_that_it_is_told_to_be() -> None:
    """What numba compiles for, and what it keeps compiled kernels apart by."""
    script = "from numba.core.registry import cpu_target as t; print(t.target_context.codegen().magic_tuple()[1:])"
    env = os.environ | Target("generic", "", 1).environment()
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env).stdout
    assert said.strip() == "('generic', '')"


def test_the_numeric_tests_are_there() -> None:
    assert all((ROOT / name.partition("::")[0]).exists() for name in NUMERIC)
