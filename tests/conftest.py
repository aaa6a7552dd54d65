"""Settings for all tests: the same examples every time, no clock, no windows, and no picture left open.

While numba compiles, in tests marked `long`, in most cases of a test with many, and after the first examples of
hypothesis, coverage looks away: it would take longer, and see nothing new.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator
from functools import wraps
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings
from numba.core import event

settings.register_profile("armspan", derandomize=True, deadline=None, max_examples=40, print_blob=True)
settings.load_profile("armspan")
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def no_open_pictures() -> Iterator[None]:
    """Matplotlib warns of too many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


class _Compiling(event.Listener):
    """Switches tracing off while numba compiles, in the thread that does it, and adds up how long that takes."""

    def __init__(self) -> None:
        self.depth, self.seconds, self.began = 0, 0.0, 0.0
        self.tracer: Any = None

    def on_start(self, happening: Any) -> None:
        if self.depth == 0:
            self.began, self.tracer = time.perf_counter(), sys.gettrace()
            sys.settrace(None)
        self.depth += 1

    def on_end(self, happening: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.perf_counter() - self.began
            sys.settrace(self.tracer)


_compiling = _Compiling()
event.register("numba:compile", _compiling)  # type: ignore[no-untyped-call]


MANY, ONE_OF, EXAMPLES = 8, 3, 8
"""Of a test with more than so many cases, one of three is traced; of hypothesis' examples, so many."""
_cases: Counter[str] = Counter()


def _is_repeated(test: pytest.Function) -> bool:
    """Whether this case shows nothing new. Which cases do differs by test, so that every policy has its turn."""
    name = test.nodeid.split("[")[0]
    _cases[name] += 1
    return _cases[name] > MANY and (_cases[name] + crc32(name.encode())) % ONE_OF != 0


def _only_first_examples(test: pytest.Function) -> None:
    """Trace so many examples of a test by hypothesis, and then no more."""
    handle = getattr(test.obj, "hypothesis", None)
    if handle is None or sys.gettrace() is None:
        return
    inner, done = handle.inner_test, iter(range(EXAMPLES))

    @wraps(inner)
    def counted(*args: Any, **kwargs: Any) -> Any:
        if next(done, None) is None:
            sys.settrace(None)
        return inner(*args, **kwargs)

    handle.inner_test = counted


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """A test that repeats the same many times is not traced."""
    tracer: Any = sys.gettrace()
    if pyfuncitem.get_closest_marker("long") or _is_repeated(pyfuncitem):
        sys.settrace(None)
    _only_first_examples(pyfuncitem)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"numba compiled for {_compiling.seconds:.0f} s of this")
