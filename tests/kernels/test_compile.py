"""Compiled kernels are cached on disk, and behave the same uncompiled and with bounds checked."""

import errno
import gc
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.types import functions
from numba.extending import overload

from armspan.kernels import _compile
from tests.tolerance import assert_close

SIMULATE = """
import json, sys
import armspan
from armspan.kernels import draws, linear
from armspan.kernels.families import counts as of_counts
from armspan.kernels.families import linear as of_linear

table, box = armspan.environments.paper_1a(), armspan.environments.paper_1c(3)
features = [[[1.0, 0.2, 0.1, 0.3, 0.5]], [[0.4, 0.1, 0.9, 0.2, 0.3]]]
wide = armspan.environments.FiniteContexts(features, [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
policies = [armspan.LinUCBd(), armspan.Greedy()]
ends = []
for env, extra in ((table, [armspan.ContextUCB()]), (box, []), (wide, [])):
    ends.append(armspan.simulate(env, policies + extra, horizon=203, runs=2).pseudo_regret[:, :, -1].tolist())
kernels = [of_linear.advance_linear, of_linear.advance_linear_2, of_linear.advance_alone_4,
           of_linear.advance_linear_4, of_linear.advance_linear_5, of_linear.advance_alone_5,
           linear.rebuild, of_counts.advance_counts, draws.draw_table, draws.draw_noise, draws.draw_box]
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


KEPT = """
import numpy as np
from armspan.kernels.choice import break_tie
print(break_tie(np.ones(3), 1.0, 1.0, np.uint64(0), 0, 0))
"""
MET = """
import armspan
armspan.simulate(armspan.environments.paper_1a(), armspan.ExploreThenCommit(pulls=1), horizon=9, runs=1, engine="cpu")
"""


def test_a_kernel_that_is_read_while_a_part_is_compiled_can_be_called(tmp_path: Path) -> None:
    """A part calls `break_tie`, whose file is there; that was read like a part, which has no address to call."""
    said = []
    for script in (KEPT, MET + KEPT):
        command, variables = [sys.executable, "-c", script], os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(command, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1]


def test_uncompiled_kernels_give_the_same(compiled: Any) -> None:
    plain = run(NUMBA_DISABLE_JIT="1")
    for ours, theirs in zip(plain["ends"], compiled["ends"], strict=True):
        assert_close(ours, theirs, operations=203)


@pytest.mark.slow
def test_no_index_is_out_of_bounds(compiled: Any, tmp_path: Path) -> None:
    """`make test` sees this in plain Python, where `tests.plain` runs every kind of kernel."""
    checked = run(NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))  # it comes before the home folder
    for ours, theirs in zip(checked["ends"], compiled["ends"], strict=True):  # compiled anew, with other vectors
        assert_close(ours, theirs, operations=203)


def test_a_read_only_home_is_no_obstacle(tmp_path: Path) -> None:
    script = "from armspan.kernels import _compile; print(_compile._FOLDER)"
    env = os.environ | {"XDG_CACHE_HOME": "/proc/nowhere", "TMPDIR": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path))


FIRST_AGENT = """
import json, logging
import numpy as np
import armspan
from armspan.kernels import _compile

_compile.SLOW, lines = 0.0, []
handler = logging.Handler()
handler.emit = lambda record: lines.append(record.getMessage())
logging.getLogger("armspan").addHandler(handler)
logging.getLogger("armspan").setLevel(logging.INFO)
x, new = np.array([0.5, 1.0, 0.2, 0.1, 0.3, 0.9, 0.4]), []
y = np.append(x, 0.2)
with _compile.recorded() as compiled:
    policy = armspan.LinUCBd(feature_bound=2.0, parameter_bound=1.0)
    agent, larger = (policy.agent(n_arms=9, n_features=d, seed=0) for d in (7, 8))
    for step in (lambda: None, lambda: agent.choose(x), lambda: agent.update(1, x, 1), lambda: agent.update(1, x, 1.0),
                 lambda: agent.choose(x), lambda: agent.update(1, x.astype(np.float32), 1.0),
                 lambda: larger.choose(y), lambda: larger.update(1, y, 1)):
        step()
        new.append([one.name for one in compiled])
        compiled.clear()
print(json.dumps({"new": new, "lines": lines, "folder": _compile._FOLDER}))
"""


def test_what_an_agent_needs_is_compiled_when_it_is_first_used(tmp_path: Path) -> None:
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    outcome = subprocess.run([sys.executable, "-c", FIRST_AGENT], env=env, capture_output=True, text=True, check=True)
    seen = json.loads(outcome.stdout)
    assert seen["new"] == [
        [],
        ["agent_choice.choose"],
        ["agent_learning.learn"],
        [],
        [],
        [],
        ["agent_choice.choose_by_fours"],
        [],
    ]
    assert len(seen["lines"]) == 3
    assert "agent_choice.choose" in seen["lines"][0]
    assert all(seen["folder"] in line and "`armspan warm-up`" in line for line in seen["lines"])


def double(x: Any) -> Any:
    """Twice the sum."""
    return 2.0 * x.sum()


def listed() -> _compile.Listed:
    signatures = ("float64(float64[::1], float64)", "float64(float64[:, ::1], float64)")
    return _compile.Listed(_compile._compile(lambda x, y: x.size + y, nogil=False), signatures)


def test_a_listed_kernel_is_compiled_for_what_it_meets_and_nothing_else() -> None:
    kernel = listed()
    assert not kernel.compiled.overloads
    for code in kernel.codes[:3] + kernel.codes[-1:]:
        with pytest.raises(TypeError):
            code(np.ones(3), 1.0)
    assert kernel(np.ones(3), 1) == 4.0
    assert kernel.codes[1](np.ones(3), 2) == 5.0
    assert len(kernel.compiled.overloads) == 1
    for other in (np.ones(6)[::2], np.ones(3, dtype=np.float32), np.ones(3, dtype=np.int64), np.ones((1, 1, 1))):
        with pytest.raises(TypeError):
            kernel(other, 1.0)
        assert kernel.late("no", other, 1.0) == "no"
    with pytest.raises(TypeError):
        kernel(np.ones(3), "one")
    with pytest.raises(TypeError):
        kernel.codes[2](np.ones((2, 2)), 1.0)
    assert len(kernel.compiled.overloads) == 1
    assert kernel.late("no", np.ones((2, 2)), 1.0) == 5.0
    assert kernel.codes[2](np.ones((2, 2)), 1.0) == 5.0
    assert len(kernel.compiled.overloads) == 2


def test_threads_that_meet_a_listed_kernel_together_all_get_their_answer() -> None:
    kernel, start, answers = listed(), threading.Barrier(4), []

    def call(x: Any) -> None:
        start.wait()
        answers.append(kernel(x, 0.0))

    threads = [threading.Thread(target=call, args=(x,)) for x in (np.ones(4), np.ones((2, 2))) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [4.0] * 4
    assert len(kernel.compiled.overloads) == 2


@pytest.mark.parametrize("collecting", [True, False])
def test_the_collector_of_garbage_is_left_as_it_was(collecting: bool) -> None:
    def failing(x: Any) -> Any:
        return x.no_such_thing

    try:
        (gc.enable if collecting else gc.disable)()
        _compile.kernel(double)(np.ones(3))
        assert gc.isenabled() == collecting
        with pytest.raises(Exception, match="no_such_thing"):
            _compile.kernel(failing)(1.0)
        assert gc.isenabled() == collecting
    finally:
        gc.enable()


def ours(function: Any) -> Any:
    """A function that is compiled like those of the package."""
    function.__module__ = "armspan.kernels.hints"
    return function


def test_numba_is_left_as_it_was() -> None:
    def failing(x: Any) -> Any:
        return x.no_such_thing

    before = functions.BaseFunction.get_call_type
    assert _compile.kernel(ours(lambda x: 2.0 * x))(1.0) == 2.0
    with pytest.raises(Exception, match="no_such_thing"):
        _compile.kernel(ours(failing))(1.0)
    assert functions.BaseFunction.get_call_type is before
    assert not any("__deepcopy__" in vars(kind) for kind in _compile.NEVER_COPIED)


def cancelled(a: Any, b: Any) -> Any:
    """(a + b) - a, which is b where sums may be reordered."""
    return (a + b) - a


@overload(cancelled)
def _cancelled(a: Any, b: Any) -> Any:
    return cancelled


def test_what_is_known_of_a_function_holds_for_the_options_that_it_was_compiled_with() -> None:
    """A part in strict arithmetic and one without, in one kernel, which both call a function that inherits this."""
    strict = _compile.exact_kernel(ours(lambda a, b: cancelled(a, b)))
    loose = _compile.kernel(ours(lambda a, b: cancelled(a, b)))
    both = _compile.exact_kernel(ours(lambda a, b: (strict(a, b), loose(a, b))))
    assert both(1e17, 1.0) == (0.0, 1.0)


@pytest.mark.parametrize("fault", ["a full disk", "a folder that is gone"])
def test_where_the_cache_cannot_be_written_kernels_are_compiled_in_memory(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = tmp_path / "cache"
    monkeypatch.setattr(_compile, "_FOLDER", str(folder))
    if fault == "a full disk":
        monkeypatch.setattr(Path, "write_bytes", full)
    else:
        folder.touch()  # a file where the folder was: not even root can write into it
    kernels = [_compile.kernel(double), _compile.exact_kernel(double)]
    assert [kernel(np.ones(3)) for kernel in kernels] == [6.0, 6.0]
    assert [record.levelno for record in caplog.records if "cannot be kept" in record.getMessage()] == [logging.WARNING]
    assert str(folder) in caplog.text


def test_a_damaged_cache_is_compiled_again_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_compile, "_FOLDER", str(tmp_path))
    hits = []
    for damage in (None, b"", b"not a pickle", None, None):
        for path in tmp_path.iterdir() if damage is not None else ():
            path.write_bytes(damage or b"")
        kernel: Any = _compile.kernel(double)
        assert kernel(np.ones(3)) == 6.0
        hits.append(sum(kernel.stats.cache_hits.values()))
    assert hits == [0, 0, 0, 1, 1]
    assert len(list(tmp_path.iterdir())) == 1
    assert caplog.text.count("cannot be read") == 2


FORK = """
import os, threading, time
import numpy as np
import armspan
from armspan.kernels import _compile

one, other = (armspan.LinUCB(alpha=1.0, feature_bound=9.0).agent(2, 3) for _ in range(2))
thread = threading.Thread(target=lambda: one.choose(np.ones(3)))
thread.start()
while not _compile._clock.began:
    time.sleep(0.001)
child = os.fork()
if child == 0:
    other.choose(np.ones(3))
    os._exit(7)
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_fork_waits_until_a_kernel_is_compiled(tmp_path: Path) -> None:
    """The child would wait for ever for the thread that compiles, which it does not have."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", "-c", FORK]
    outcome = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=300)
    assert outcome.stdout == "7\n"
