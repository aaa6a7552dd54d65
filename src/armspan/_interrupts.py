"""Ctrl-C that waits: a change in several steps is made whole, and the interrupt comes after it."""

import signal
import threading
from importlib import import_module
from types import FrameType, TracebackType
from typing import Any

_signal: Any = import_module("_signal")
set_handler, get_handler = (
    _signal.signal,
    _signal.getsignal,
)  # without Python code, which is slow and could be broken into
SOON = 0.02
"""Seconds after which an interrupt that was held back comes: by then the call that it must not break has returned."""


class Uninterrupted:
    """A block that Ctrl-C does not break into. It comes soon after the block, when its call has returned.

    So whoever sees the interrupt come out of a call knows that nothing was changed, and may call again. A block that
    sees `pending` before it has changed anything may set `abandoned`; then the interrupt comes at its end.
    Python interrupts the main thread alone, so in others this does nothing. Blocks may be nested.
    """

    def __init__(self) -> None:
        self.pending = self.abandoned = False
        self._handler: Any = None

    def __enter__(self) -> "Uninterrupted":
        handler = get_handler(signal.SIGINT)
        nested = isinstance(getattr(handler, "__self__", None), Uninterrupted)
        if callable(handler) and not nested and threading.current_thread() is threading.main_thread():
            try:
                set_handler(signal.SIGINT, self._note)
            except ValueError:  # the main thread of another interpreter
                return self
            self._handler = handler
        return self

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.pending = True

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if self._handler is None:
            return
        set_handler(signal.SIGINT, self._handler)
        if self.pending and (self.abandoned or kind is not None):
            self._handler(signal.SIGINT, None)
        elif self.pending:
            main = threading.main_thread().ident
            threading.Timer(SOON, lambda: signal.pthread_kill(main or 0, signal.SIGINT)).start()
