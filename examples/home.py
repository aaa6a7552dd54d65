"""Home: one process that adds up what several servers have learnt, and tells them what all of them know.

    HOME_KEY=secret python -m examples.home offers.socket offers.agent

Servers are `examples.worker`. Whoever knows the key can run code here, because deltas travel as pickles: keep it, and
the socket, to processes of your own.
"""

import logging
import os
import sys
from collections.abc import Sequence
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener
from pathlib import Path
from typing import Any

import armspan
from examples.server import new_agent

log = logging.getLogger(__name__)


def serve(agent: Any, path: Path, listener: Listener) -> None:
    """Answer workers, one after the other, for ever.

    What they report is on the disk before they hear that it arrived, so home may be killed at any time.
    """
    agent.save(path)
    while True:
        try:
            with listener.accept() as line:
                line.send(_answer(agent, path, line.recv()))
        except (EOFError, OSError, AuthenticationError) as error:
            log.warning("a worker was lost, and will report again: %r", error)


def _answer(agent: Any, path: Path, deltas: Sequence[Any]) -> tuple[bytes, str]:
    """The agent with these deltas, or why one of them was refused."""
    try:
        for delta in deltas:
            agent.merge(delta)
        agent.save(path)
    except armspan.ArmspanError as error:
        return b"", str(error)
    return agent.to_bytes(), ""


def exchange(address: str, key: bytes, deltas: Sequence[Any]) -> bytes:
    """What a worker calls: report these deltas, and get the agent that all workers have taught, as bytes."""
    with Client(address, authkey=key) as line:
        line.send(deltas)
        content, refused = line.recv()
    if refused:
        raise armspan.ArmspanError(refused)
    return bytes(content)


def main(address: str, file: str) -> None:
    """Serve with the agent in the file, if there is one."""
    path = Path(file)
    Path(address).unlink(missing_ok=True)  # what a process that was killed has left
    with Listener(address, authkey=os.environ["HOME_KEY"].encode()) as listener:
        serve(armspan.load_agent(path) if path.exists() else new_agent(), path, listener)


if __name__ == "__main__":
    main(*sys.argv[1:])
