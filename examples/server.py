"""A server that chooses an offer for every visitor: a Starlette application around one agent.

Any ASGI server runs it: `uvicorn --factory examples.server:app`. docs/server.md explains it line by line.
"""

import asyncio
import gc
import logging
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import armspan

Chore = Callable[[], Awaitable[None]]
log = logging.getLogger(__name__)

# LinTS would spread its choices while rewards are late, but it has no deltas: examples/worker.py needs them
POLICY = armspan.LinUCB(alpha="practical", feature_bound=1.3)
ARMS, FEATURES = ["books", "games", "travel"], ["age", "spending"]
PATIENCE = 1800.0
"""Seconds to wait for a reward; then it counts as 0."""
OVERDUE_AT_ONCE = 2
"""How many overdue decisions a request may close: two, so that they never pile up, and no more, so that it is quick."""


class Decision(NamedTuple):
    """What was chosen, for whom, and until when its reward may come."""

    arm: Any
    features: Any
    until: float


class Desk:
    """An agent and its open decisions. Nothing here waits: each method takes a fraction of a millisecond.

    agent : may be replaced by another one at any time. name : begins the number of each decision, so that a proxy
    can send its reward to the process that made it. patience : seconds to wait for a reward. clock : gives seconds.
    """

    def __init__(
        self, agent: Any, *, name: str = "a", patience: float = PATIENCE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.agent, self.name, self.patience, self.clock = agent, name, patience, clock
        self.open: dict[str, Decision] = {}  # the oldest first: dictionaries keep their order

    def choose(self, features: Any, only: Any = None) -> tuple[str, Any]:
        """The number of a new decision, and the arm."""
        arm = self.agent.choose(features, only=only)
        number = f"{self.name}-{secrets.token_urlsafe(12)}"
        self.open[number] = Decision(arm, features, self.clock() + self.patience)
        return number, arm

    def learn(self, number: str, reward: Any) -> None:
        """The reward of an open decision; KeyError if there is none. What the agent refuses stays open."""
        decision = self.open[number]
        self.agent.update(decision.arm, decision.features, reward)
        del self.open[number]

    def close_overdue(self) -> None:
        """Learn that no reward came, for the oldest decisions that have waited long enough."""
        for number in list(self._overdue()):
            decision = self.open.pop(number)
            if decision.arm in self.agent.arms:  # it may have been removed since
                self.agent.update(decision.arm, decision.features, 0.0)

    def _overdue(self) -> Iterator[str]:
        now = self.clock()
        for number, _ in zip(self.open, range(OVERDUE_AT_ONCE), strict=False):
            if self.open[number].until <= now:
                yield number


async def choose(request: Request) -> Response:
    """POST /decisions with {"features": {...}}, and {"only": [...]} if not all arms are eligible."""
    body = await body_of(request, "features")
    desk: Desk = request.app.state.desk
    desk.close_overdue()
    number, arm = desk.choose(body["features"], body.get("only"))
    return JSONResponse({"decision": number, "arm": arm}, status_code=201)


async def reward(request: Request) -> Response:
    """POST /decisions/{number}/reward with {"reward": 1.0}."""
    value = (await body_of(request, "reward"))["reward"]
    if isinstance(value, list | dict):  # which the agent would take for the rewards of many decisions
        raise armspan.ArmspanError(f"reward must be one number, got {value!r:.60}")
    desk: Desk = request.app.state.desk
    number = request.path_params["number"]
    if number not in desk.open:
        return refusal(404, f"decision must be open, got {number!r:.60}: it is unknown, too old or has its reward")
    desk.learn(number, value)
    return Response(status_code=204)


async def status(request: Request) -> Response:
    """GET /status: how far it has come."""
    desk: Desk = request.app.state.desk
    agent = desk.agent
    return JSONResponse({"decisions": agent.decisions, "rewards": agent.rewards, "open": len(desk.open)})


async def body_of(request: Request, key: str) -> dict[str, Any]:
    """The JSON object that was sent, which must have this key."""
    try:
        body = await request.json()
    except (ValueError, RecursionError):  # no JSON, or brackets in brackets without an end
        raise armspan.ArmspanError("body must be JSON, got something else") from None
    if not isinstance(body, dict) or key not in body:
        raise armspan.ArmspanError(f"body must be an object with the key {key!r}, got {body!r:.60}")
    return body


async def refused(request: Request, error: Exception) -> Response:
    """What the library refuses is the client's mistake, and the library has a sentence for it."""
    return refusal(400, str(error))


def refusal(code: int, sentence: str) -> Response:
    """An answer that says what is wrong."""
    return JSONResponse({"error": sentence}, status_code=code)


def warm_up(agent: Any) -> None:
    """Do now what would make the first requests slow: compile, and look at all objects that stay."""
    armspan.warm_up()
    agent.to_bytes()
    gc.collect()
    gc.freeze()  # the collector does not look at these again
    sys.setswitchinterval(0.0005)  # seconds until a thread that saves gives way to the event loop; usually 0.005


def saving(desk: Desk, path: Path) -> Chore:
    """Saves the agent. In a thread: the loop goes on while the disk is written."""

    async def save() -> None:
        await asyncio.to_thread(desk.agent.save, path)

    return save


async def again_and_again(chore: Chore, seconds: float, stop: asyncio.Event) -> None:
    """Do a chore every so many seconds, and a last time when it is to stop. A failure is logged, and tried again."""
    ending = False
    while not ending:
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)
        ending = stop.is_set()
        try:
            await chore()
        except Exception:
            log.exception("not done; it is tried again every %g s until the server ends", seconds)


def application(desk: Desk, chore: Chore, *, every: float = 60.0) -> Starlette:
    """The application around a desk, with a chore that is done every so many seconds and when it ends."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        warm_up(desk.agent)
        stop = asyncio.Event()
        task = asyncio.create_task(again_and_again(chore, every, stop))
        yield
        stop.set()
        await task

    routes = [
        Route("/decisions", choose, methods=["POST"]),
        Route("/decisions/{number}/reward", reward, methods=["POST"]),
        Route("/status", status),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={armspan.ArmspanError: refused})
    app.state.desk = desk
    return app


def new_agent() -> Any:
    """An agent that knows nothing yet. It explains nothing, so it need not remember contexts."""
    return POLICY.agent(arms=ARMS, feature_names=FEATURES, intercept=True, memory=0)


def app() -> Starlette:
    """What an ASGI server is given. It goes on with the agent in the file AGENT, if there is one."""
    path = Path(os.environ.get("AGENT", "offers.agent"))
    desk = Desk(armspan.load_agent(path) if path.exists() else new_agent())
    return application(desk, saving(desk, path))
