"""Settings for all tests: the same examples every time, no clock, no windows, and no picture left open.

While numba compiles, and in tests marked `long`, coverage looks away: it would take twice as long, and see nothing new.
"""

import os
import sys
import time
from collections.abc import Generator, Iterator
from typing import Any

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


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """A test that repeats the same many times is not traced."""
    tracer: Any = sys.gettrace()
    if pyfuncitem.get_closest_marker("long"):
        sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"numba compiled for {_compiling.seconds:.0f} s of this")
