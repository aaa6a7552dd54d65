"""Progress on the terminal: one line per stage, as wide as the terminal and no wider."""

import os
import sys
from types import TracebackType
from typing import Any

from armspan._text import WIDTH
from armspan._typing import Progress
from armspan.cli.output import is_there

WIDEST = 100
"""Columns that a bar takes at most; a longer one is harder to read, not easier."""
WITH_BOTH_TIMES = 60
"""Columns from which there is room for the time elapsed beside the time left."""


class Bars:
    """A progress bar for each stage, with the time left; silent if stderr is not a terminal or tqdm is missing."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, stage: str) -> Progress:
        """Begin a stage and return its progress callback."""
        self.close()
        if not sys.stderr.isatty() or not is_there("tqdm"):
            return lambda done, total: None
        from tqdm import tqdm

        self._bar = bar = tqdm(desc=stage, total=100, nrows=24, **_layout())  # some terminals do not tell their height

        def progress(done: int, total: int) -> None:
            for name, value in _layout().items():  # the window may have been resized
                setattr(bar, name, value)
            bar.update(100 * done / total - bar.n)

        return progress

    def close(self) -> None:
        """End the stage."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __enter__(self) -> "Bars":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _layout() -> dict[str, Any]:
    """How wide the line is, and what it says: one column less than there are, as some terminals wrap at the last."""
    room = min(_columns() - 1, WIDEST)
    name = min(28, room // 3)
    times = "{elapsed} elapsed, {remaining} left" if room >= WITH_BOTH_TIMES else "{remaining} left"
    return {"ncols": room, "bar_format": f"{{desc:<{name}.{name}}} {{percentage:3.0f}}% |{{bar}}| {times}"}


def _columns() -> int:
    """How many columns the terminal has; 80 if it does not tell."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or WIDTH
    except (OSError, ValueError):
        return WIDTH
