"""Agents in forked processes: no agent is forked in the middle of a change, and a child's lock is nobody's."""

import os
import threading
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from armspan.agents.agent import Agent

_agents: "WeakSet[Agent]" = WeakSet()
_held: "list[Agent]" = []


def remember(agent: "Agent") -> None:
    """Take care of this agent whenever the process forks."""
    _agents.add(agent)


def _before() -> None:
    _held[:] = sorted(_agents, key=id)  # in the order of `merge`, which holds two
    for agent in _held:
        agent._lock.acquire()


def _in_parent() -> None:
    for agent in _held:
        agent._lock.release()
    _held.clear()


def _in_child() -> None:
    for agent in _held:
        agent._lock = threading.RLock()
        agent._state.lineage = agent._state.lineage.branched(agent._state)
    _held.clear()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
