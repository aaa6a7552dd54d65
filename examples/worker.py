"""One of several servers that share what they learn: `examples.server`, which reports to `examples.home`.

    HOME_SOCKET=offers.socket HOME_KEY=secret WORKER=w1 uvicorn --factory examples.worker:app --port 8001

Each has a port and a name of its own: a reward must come to the worker that decided, and decisions begin with its name.
"""

import asyncio
import os
from typing import Any

from starlette.applications import Starlette

from armspan.agents import Agent
from examples.home import exchange
from examples.server import Desk, application

REPORT_EVERY = 10.0
"""Seconds between two reports."""
REFRESH_EVERY = 360
"""Reports from one refresh to the next: an hour."""


class Worker:
    """Reports home what a desk's agent has learnt, and every so many reports takes over what home knows.

    unsent : deltas that home has not confirmed, the oldest first. One that arrives twice changes nothing.
    """

    def __init__(self, desk: Desk, address: str, key: bytes, *, refresh_every: int = REFRESH_EVERY) -> None:
        self.desk, self.address, self.key, self.refresh_every = desk, address, key, refresh_every
        self.unsent: list[Any] = []
        self.reports = 0

    async def report(self) -> None:
        """Send home what is new; what cannot be sent now is sent with the next report."""
        self.unsent.append(self.desk.agent.delta())
        sent = len(self.unsent)
        content = await asyncio.to_thread(exchange, self.address, self.key, self.unsent[:])
        del self.unsent[:sent]
        self.reports += 1
        if self.reports % self.refresh_every == 0:
            fresh = await asyncio.to_thread(Agent.from_bytes, content)
            self.unsent.append(self.desk.agent.delta())  # what was learnt since it was sent
            self.desk.agent = fresh


def app() -> Starlette:
    """What an ASGI server is given."""
    address, key = os.environ["HOME_SOCKET"], os.environ["HOME_KEY"].encode()
    desk = Desk(Agent.from_bytes(exchange(address, key, [])), name=os.environ["WORKER"])
    return application(desk, Worker(desk, address, key).report, every=REPORT_EVERY)
