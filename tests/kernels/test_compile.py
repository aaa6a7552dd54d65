"""Compiled kernels are cached on disk, and behave the same uncompiled and with bounds checked."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tolerance import assert_close

SIMULATE = """
import json, sys
import armspan
from armspan.kernels import counts, draws, linear

table, box = armspan.environments.paper_1a(), armspan.environments.paper_1c(3)
features = [[[1.0, 0.2, 0.1, 0.3, 0.5]], [[0.4, 0.1, 0.9, 0.2, 0.3]]]
wide = armspan.environments.FiniteContexts(features, [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
policies = [armspan.LinUCBd(), armspan.Greedy()]
ends = []
for env, extra in ((table, [armspan.ContextUCB()]), (box, []), (wide, [])):
    ends.append(armspan.simulate(env, policies + extra, horizon=203, runs=2).pseudo_regret[:, :, -1].tolist())
kernels = [linear.advance_linear, linear.advance_linear_2, linear.advance_linear_4, linear.rebuild,
           counts.advance_counts, draws.draw_table, draws.draw_noise, draws.draw_box]
stats = [getattr(kernel, "stats", None) for kernel in kernels]
misses = sum(sum(entry.cache_misses.values()) for entry in stats if entry)
print(json.dumps({"ends": ends, "misses": misses}))
"""


def run(**variables: str) -> Any:
    command = [sys.executable, "-c", SIMULATE]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def compiled() -> Any:
    return run()


def test_a_second_process_does_not_compile_again(compiled: Any) -> None:
    assert run()["misses"] == 0


def test_uncompiled_kernels_give_the_same(compiled: Any) -> None:
    plain = run(NUMBA_DISABLE_JIT="1")
    for ours, theirs in zip(plain["ends"], compiled["ends"], strict=True):
        assert_close(ours, theirs, operations=203)


def test_no_index_is_out_of_bounds(compiled: Any, tmp_path: Path) -> None:
    checked = run(NUMBA_BOUNDSCHECK="1", XDG_CACHE_HOME=str(tmp_path))
    for ours, theirs in zip(checked["ends"], compiled["ends"], strict=True):  # compiled anew, with other vectors
        assert_close(ours, theirs, operations=203)


def test_a_read_only_home_is_no_obstacle(tmp_path: Path) -> None:
    script = "from armspan.kernels import _compile; print(_compile._FOLDER)"
    env = os.environ | {"XDG_CACHE_HOME": "/proc/nowhere", "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path))
