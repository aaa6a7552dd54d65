"""Agents in forked processes: no agent is forked in the middle of a change, and a child's lock is nobody's.

Nor does a process fork while another thread compiles: the child would wait for it for ever.
"""

import os
from typing import Any, Protocol
from weakref import WeakSet

from armspan.kernels._compile import global_compiler_lock


class Forkable(Protocol):
    """An agent whose lock is held while the process forks."""

    _lock: Any

    def _after_fork(self) -> None:
        """In the child: a lock of its own, and whatever else must not be shared."""
        ...


_agents: WeakSet[Forkable] = WeakSet()
_held: list[Forkable] = []


def remember(agent: Forkable) -> None:
    """Take care of this agent whenever the process forks."""
    _agents.add(agent)


def _before() -> None:
    _held[:] = sorted(_agents, key=id)  # in the order of `merge`, which holds two
    for agent in _held:
        agent._lock.acquire()
    global_compiler_lock.acquire()  # whoever has it waits for no agent


def _in_parent() -> None:
    global_compiler_lock.release()
    for agent in _held:
        agent._lock.release()
    _held.clear()


def _in_child() -> None:
    global_compiler_lock.release()
    for agent in _held:
        agent._after_fork()
    _held.clear()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
