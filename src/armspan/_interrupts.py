"""Ctrl-C that waits: a change in several steps is made whole, and the interrupt comes after it."""

import os
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
_due: list[threading.Timer] = []
"""What sends each interrupt that was held back. Taking one out is one step, and whoever does that delivers it alone."""

if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_due.clear)  # they are the parent's


class Uninterrupted:
    """A block that Ctrl-C does not break into. It comes soon after the block, when its call has returned.

    So whoever sees the interrupt come out of a call knows that nothing was changed, and may call again. A block that
    sees `pending` before it has changed anything may set `abandoned`; then the interrupt comes at its end. Otherwise it
    comes 20 ms later, or where the next block begins, if that is sooner: a loop may do nothing but call.
    Python interrupts the main thread alone, so in others this does nothing. Blocks may be nested.

    Parameters
    ----------
    changed : bool, default False
        Whether its call has changed something already, so that no interrupt may come where the block begins.
    """

    def __init__(self, *, changed: bool = False) -> None:
        self.pending = self.abandoned = False
        self._changed = changed
        self._handler: Any = None

    def __enter__(self) -> "Uninterrupted":
        handler = get_handler(signal.SIGINT)
        nested = isinstance(getattr(handler, "__self__", None), Uninterrupted)
        if callable(handler) and not nested and threading.current_thread() is threading.main_thread():
            if _due and not self._changed:
                _deliver(handler)
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
            timer = threading.Timer(SOON, lambda: _send(timer))
            _due.append(timer)
            timer.start()


def _send(timer: threading.Timer) -> None:
    """Send the interrupt of this timer to the main thread, unless it has been delivered."""
    try:
        _due.remove(timer)
    except ValueError:
        return
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _deliver(handler: Any) -> None:
    """Let the handler have an interrupt that is due, unless its timer has just sent it."""
    try:
        timer = _due.pop()
    except IndexError:
        return
    timer.cancel()
    handler(signal.SIGINT, None)
