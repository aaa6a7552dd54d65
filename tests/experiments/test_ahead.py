"""Kernels that are compiled ahead are those that the experiment uses, each once."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from armspan import UCB1, ContextUCB, LinUCB, LinUCBd, Oracle
from armspan.environments import DelayedRewards, paper_1a, paper_1b, paper_1c
from armspan.experiments.ahead import _begin, _by_kernel, _steps
from armspan.kernels.families import counts, family
from armspan.kernels.grouped import Grouped

SCRIPT = """
import json
from armspan import UCB1, simulate
from armspan.environments import paper_1a
from armspan.experiments.ahead import compile_ahead
from armspan.kernels._compile import recorded

if __name__ == "__main__":
    seen = []
    compile_ahead([(paper_1a(), [UCB1()])], runs=2, progress=lambda done, total: seen.append([done, total]))
    with recorded() as compiled:
        simulate(paper_1a(), UCB1(), horizon=50, runs=2, engine="cpu")
    print(json.dumps([seen, [kernel.name for kernel in compiled]]))
"""


def test_what_other_processes_have_compiled_is_not_compiled_again(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    run: Any = {"capture_output": True, "text": True, "check": True}
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}, **run
    )
    assert json.loads(done.stdout) == [[[1, 1]], []]


def test_every_kernel_is_compiled_once() -> None:
    late, policies = DelayedRewards(paper_1a(), steps=3), [LinUCBd(), LinUCB(alpha=1.0), UCB1(), Oracle()]
    work = _by_kernel([(env, policies) for env in (paper_1a(), paper_1b(), paper_1c(0), late)])
    names = [[policy.name for policy in own] for _, own in work]
    linear = ["LinUCB-d", "LinUCB"]
    assert sorted(names) == sorted([linear, linear, linear, ["UCB1"], ["UCB1"], ["oracle"]])
    assert [env.late for env, own in work if own[0].name == "UCB1"] == [False, True]
    shapes = {(env.n_features, env.late) for env, own in work if own[0].name == "LinUCB-d"}
    assert shapes == {(2, False), (paper_1c(0).n_features, False), (2, True)}
    assert family("linear").late is not None


def test_blocks_are_long_enough_for_the_kernel_that_is_compiled() -> None:
    env, kernel = paper_1a(), counts.advance(2, 2)
    block = env.stream(0, np.arange(8)).draw(0, _steps(env, [ContextUCB()]))
    assert isinstance(kernel, Grouped)
    assert kernel.fits(block, (np.zeros((8, 8, 2)),))
    assert _steps(env, [LinUCBd()]) == 2


def test_only_compiling_is_silent() -> None:
    _begin((paper_1a(), [UCB1()], 1, 2))
    assert not logging.getLogger("armspan").disabled
