"""How long a server with an agent holds up its event loop: `examples.server` and `examples.worker`, under requests.

    python -m benchmarks.server                      # 20,000 requests to agents of several sizes
    python -m benchmarks.server --requests 100000 --sizes 10x10

One request follows the other without a pause: decisions, and in turn with them rewards of earlier ones. Again and again
the agent is saved, in a thread; or it reports home, which is another process, and is replaced by what home knows.
Measured is the time from one request to the next, for that is how long anything else must wait for the loop, and the
time of each call of the agent. It is measured as it comes, which includes whatever else the machine does; and once more
as the least of several rounds of the same requests, for what the program does itself comes back in every round.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Listener
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded

import numpy as np
from examples.home import serve
from examples.server import Chore, Desk, application, saving
from examples.worker import Worker
from starlette.types import Message, Receive, Scope, Send

from armspan import LinUCBd
from armspan.agents import Agent
from benchmarks.machine import processor

SIZES = "3x2,10x10,50x20,20x100"
ROUNDS = 5
LATE = 500
"""How many decisions later a reward comes; so many are made before anything is measured."""
BLOCK = 20
"""Requests of which the longest is noted: a thread disturbs one or another of them, not always the same."""
CHORE_EVERY = 200
"""Requests from one save or report to the next: far more often than in earnest."""
REFRESH_EVERY = 5
"""Reports from one refresh to the next, likewise."""
KEY = b"benchmark"
BETWEEN = "from one request to the next"
Times = dict[str, list[float]]


class Timed:
    """An agent whose calls are timed."""

    def __init__(self, agent: Any, times: Times) -> None:
        self.agent, self.times = agent, times

    def _timed(self, name: str, *args: Any, **options: Any) -> Any:
        start = time.perf_counter()
        result = getattr(self.agent, name)(*args, **options)
        self.times[f"agent.{name}"].append(time.perf_counter() - start)
        return result

    def choose(self, x: Any, only: Any = None) -> Any:
        return self._timed("choose", x, only=only)

    def update(self, arm: Any, x: Any, reward: Any) -> None:
        self._timed("update", arm, x, reward)

    def delta(self) -> Any:
        return self._timed("delta")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.agent, name)


class TimedDesk(Desk):
    """A desk that times whichever agent it is given."""

    def __init__(self, agent: Any) -> None:
        self.times: Times = defaultdict(list)
        super().__init__(agent)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, Timed(value, self.times) if name == "agent" else value)


async def post(app: Any, path: str, body: Any) -> Any:
    """The answer to one request; no client's own work is in the way."""
    sent: list[Message] = []
    scope: Scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b""}

    async def receive() -> Message:
        return {"type": "http.request", "body": json.dumps(body).encode()}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    assert sent[0]["status"] < 300, sent
    return json.loads(sent[1]["body"] or b"{}")


class Client:
    """Sends decisions, and the rewards of those that were made a while ago."""

    def __init__(self, app: Any, contexts: Any) -> None:
        self.app, self.contexts, self.late = app, contexts, deque[str]()

    async def decide(self, number: int) -> None:
        """The next decision."""
        answer = await post(self.app, "/decisions", {"features": self.contexts[number % len(self.contexts)]})
        self.late.append(answer.get("decision", ""))

    async def reward(self, number: int) -> None:
        """The reward of the oldest one."""
        await post(self.app, f"/decisions/{self.late.popleft()}/reward", {"reward": number % 2})


async def requests(app: Any, contexts: Any, n: int, chore: Chore, begin: Callable[[], object]) -> list[float]:
    """Seconds from one request to the next; begin is called when the warm-up is over, a chore is begun now and then."""
    client = Client(app, contexts)
    for number in range(2 * LATE):
        await client.decide(number)
        if number >= LATE:
            await client.reward(number)
    await chore()
    begin()
    seconds, busy = [], asyncio.ensure_future(asyncio.sleep(0))
    last = time.perf_counter()
    for number in range(n):
        if number % CHORE_EVERY == 0 and busy.done():
            busy = asyncio.ensure_future(chore())
        await (client.reward(number) if number % 2 else client.decide(number))
        await asyncio.sleep(0)  # a turn of the loop: everyone else has waited since the last one
        now = time.perf_counter()
        seconds.append(now - last)
        last = now
    await busy
    return seconds


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """A server that does no more than to count to some thousands."""
    for _ in range(4000):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def no_chore() -> None:
    """What such a server does now and then."""


async def served(desk: TimedDesk, chore: Chore, contexts: Any, n: int) -> Times:
    """One round of the server, from its start to its end."""
    app = application(desk, no_chore)  # the chore comes by the number of requests, not by the clock
    async with app.router.lifespan_context(app):
        seconds = await requests(app, contexts, n, chore, desk.times.clear)
        return {BETWEEN: seconds, **desk.times}


def show(title: str, rounds: list[Times]) -> None:
    """Print a table of what all rounds have in common."""
    heads = "".join(f"{head:>9}" for head in ("median", "99 %", "99.9 %", "largest", "> 1 ms"))
    print(f"\n{title}\n{'milliseconds':<32}{heads}")
    for name in rounds[0]:
        shortest = min(len(times[name]) for times in rounds)
        table = 1e3 * np.array([times[name][:shortest] for times in rounds])
        print(f"{name:<32}{_marks(table.ravel())}")
        print(f"{f'  least of {len(rounds)} rounds':<32}{_marks(_least(table, BLOCK if name == BETWEEN else 1))}")


def _least(table: Any, block: int) -> Any:
    """The least of all rounds of the longest in every block, (rounds, n) → (n / block,)."""
    whole = table.shape[1] // block * block
    return table[:, :whole].reshape(len(table), -1, block).max(axis=2).min(axis=0)


def _marks(values: Any) -> str:
    marks = "".join(f"{value:>9.3f}" for value in np.quantile(values, [0.5, 0.99, 0.999, 1]))
    return f"{marks}{int((values > 1).sum()):>9,}"


def home(agent: Agent, folder: str) -> None:
    """The process that adds up what is reported."""
    with Listener(f"{folder}/socket", authkey=KEY) as listener:
        serve(agent, Path(folder, "home.agent"), listener)


@contextmanager
def home_process(agent: Agent, folder: str) -> Iterator[str]:
    """The address of a home in another process."""
    process = multiprocessing.get_context("spawn").Process(target=home, args=(agent, folder), daemon=True)
    process.start()
    while not Path(folder, "home.agent").exists():
        time.sleep(0.05)
    try:
        yield f"{folder}/socket"
    finally:
        process.terminate()
        process.join()


def measure(arms: int, features: int, n: int, repeats: int) -> None:
    """The tables of one size."""
    contexts = (np.random.default_rng(0).uniform(-1, 1, size=(5000, features)) / np.sqrt(features)).tolist()
    agent = LinUCBd(feature_bound=1.0, parameter_bound=1.0, noise_scale=0.5).agent(arms, features, memory=0)
    size = f"{arms} arms, {features} features"
    with tempfile.TemporaryDirectory() as folder:
        rounds = []
        for _ in range(repeats):
            desk = TimedDesk(agent.copy())
            rounds.append(asyncio.run(served(desk, saving(desk, Path(folder, "agent")), contexts, n)))
        show(f"{size}: saved every {CHORE_EVERY} requests", rounds)
        rounds = []
        with home_process(agent, folder) as address:
            for _ in range(repeats):
                desk = TimedDesk(agent.copy())
                worker = Worker(desk, address, KEY, refresh_every=REFRESH_EVERY)
                rounds.append(asyncio.run(served(desk, worker.report, contexts, n)))
        show(f"{size}: reports home every {CHORE_EVERY} requests, refreshed with every {REFRESH_EVERY}th", rounds)


def main() -> None:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000, help="how many in each round (20000)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often the same requests come ({ROUNDS})")
    parser.add_argument("--sizes", default=SIZES, help=f"arms x features, several with commas between them ({SIZES})")
    args = parser.parse_args()
    print(f"{processor()}; {args.rounds} rounds of {args.requests:,} requests each")
    rounds = [asyncio.run(requests(nothing, [[0.0]], args.requests, no_chore, int)) for _ in range(args.rounds)]
    show("a server that only counts: what the machine adds", [{BETWEEN: one} for one in rounds])
    for size in args.sizes.split(","):
        arms, features = (int(part) for part in size.split("x"))
        measure(arms, features, args.requests, args.rounds)


if __name__ == "__main__":
    main()
