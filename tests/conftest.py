"""Settings for all tests: the same examples every time, no clock, no windows, and no picture left open."""

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("armspan", derandomize=True, deadline=None, max_examples=40, print_blob=True)
settings.load_profile("armspan")
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def no_open_pictures() -> Iterator[None]:
    """Matplotlib warns of too many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
