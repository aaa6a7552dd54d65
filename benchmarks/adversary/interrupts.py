"""Ctrl-C at moments by chance: an agent has learnt all or nothing, and whoever sees it come out may call again."""

import signal
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import armspan
from armspan.agents import Agent
from benchmarks.adversary import Report, demand

LATE = 0.05
"""Seconds within which an interrupt that was held back must have come."""
K, D = 4, 3
Operation = Callable[[Agent], None]


def made(rng: Any, **options: Any) -> Agent:
    """An agent that knows something; sums of small whole numbers are exact, so that states can be compared."""
    agent = armspan.LinUCBd(feature_bound=20.0, alpha=1.0).agent(K, D, **options)
    agent.update(rng.integers(K, size=40), whole(rng, (40, D)), whole(rng, 40))
    return agent


def whole(rng: Any, shape: Any) -> Any:
    """Small whole numbers."""
    return rng.integers(-5, 6, size=shape).astype(np.float64)


def operations(rng: Any) -> dict[str, tuple[dict[str, Any], Operation]]:
    """By name: options of the agent, and what is done with it."""
    x, y, arm = whole(rng, D), float(rng.integers(5)), int(rng.integers(K))
    n = int(rng.integers(100, 4000))
    X, ys, arms = whole(rng, (n, D)), whole(rng, n), rng.integers(K, size=n)
    other = made(rng)

    def batch(size: int) -> Operation:
        return lambda agent: agent.update(arms[:size], X[:size], ys[:size])

    return {
        "update": ({}, lambda agent: agent.update(arm, x, y)),
        "update with a list": ({}, lambda agent: agent.update(arm, x.tolist(), y)),
        "update with a half-life": ({"half_life": 30.0}, lambda agent: agent.update(arm, x, y)),
        "update with a window": ({"window": 30}, lambda agent: agent.update(arm, x, y)),
        "small batch": ({}, batch(10)),
        "large batch": ({}, batch(n)),
        "batch with a window": ({"window": 30}, batch(60)),
        "batch with a half-life": ({"half_life": 30.0}, batch(60)),
        "merge": ({}, lambda agent: agent.merge(other)),
        "add_arm": ({}, lambda agent: agent.add_arm("new", like=arm)),
    }


def state(agent: Agent) -> list[Any]:
    """What an agent knows, to compare: counters, arms, pulls, Σxxᵀ and Σyx."""
    seen = [agent.statistics(name) for name in agent.arms]
    sums = [[float(one.pulls), *one.gram.ravel().tolist(), *one.moment.tolist()] for one in seen]
    return [agent.rewards, agent.decisions, agent.arms, sums]


def interrupted(call: Callable[[], None], delay: float) -> tuple[bool, str]:
    """Whether Ctrl-C came out of the call before it returned, and from which line. It comes after `delay` seconds.

    A timer's signal is turned into SIGINT in its handler: Python runs either between the same two instructions.
    """
    returned, where, came = False, "", []

    def ring(_: int, __: FrameType | None) -> None:
        came.append(1)
        signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        call()
        returned = True
        until = time.perf_counter() + LATE + delay
        while time.perf_counter() < until:
            time.sleep(0.001)
    except KeyboardInterrupt as error:
        frames = [one for one in traceback.extract_tb(error.__traceback__) if "/armspan/" in one.filename]
        where = f"{frames[-1].filename.split('/')[-1]}:{frames[-1].lineno}" if frames else ""
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    demand(came, "the timer did not ring")
    demand(returned is False or where == "", f"Ctrl-C came late, and out of armspan: {where}")
    return not returned and bool(where), where


def attack(seed: int, report: Report) -> None:
    """Interrupt one operation; compare with the same on a twin that nobody interrupts."""
    rng = np.random.default_rng(seed)
    kinds = operations(rng)
    name = list(kinds)[rng.integers(len(kinds))]
    options, operation = kinds[name]
    agent = made(rng, **options)
    twin, rehearsal = agent.copy(), agent.copy()
    before = state(agent)
    operation(rehearsal)  # compiled, and in the cache
    start = time.perf_counter()
    operation(twin)
    delay = max(float(rng.uniform(0, 1.2)) * (time.perf_counter() - start), 1e-6)
    after = state(twin)
    out, where = interrupted(lambda: operation(agent), delay)
    found = state(agent)
    demand(found in (before, after), f"{name} was done in part, interrupted at {where or 'the end'}")
    report.count("came out of the call", out)
    if out:
        demand(found == before, f"{name} was done, and Ctrl-C came out of it at {where}: a retry counts twice")
        operation(agent)
        demand(state(agent) == after, f"{name} once more after Ctrl-C is not as once")
    else:
        demand(found in (before, after), f"{name} returned, and is neither done nor not")
    x = whole(rng, D)
    demand(np.isfinite(agent.scores(x).index).all() and agent.choose(x) in agent.arms, f"{name} left a broken agent")
    demand(signal.getsignal(signal.SIGINT) is signal.default_int_handler, f"{name} has left another handler of Ctrl-C")


def run(n: int, seed: int) -> Report:
    """Interrupts with these seeds."""
    report = Report("interrupts")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for operation in operations(np.random.default_rng(0)).values():
        operation[1](made(np.random.default_rng(0), **operation[0]))
    for one in range(seed, seed + n):
        try:
            report.attack(one, attack, one, report)
        except KeyboardInterrupt:
            report.fault(one, "Ctrl-C came too late")
    return report
