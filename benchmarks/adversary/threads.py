"""Rewards from several threads: whole numbers, whose sums must be exact whatever the order."""

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import armspan
from armspan.agents import Agent
from benchmarks.adversary import Report, demand

THREADS, EACH = 6, 500
"""Threads that learn at a time, and rewards of each."""


class Totals:
    """What one thread has learnt and decided."""

    def __init__(self, K: int, d: int) -> None:
        self.grams, self.moments, self.pulls = np.zeros((K, d, d)), np.zeros((K, d)), np.zeros(K)
        self.decisions = 0

    def learn(self, k: int, x: Any, y: float) -> None:
        """One reward."""
        self.grams[k] += np.outer(x, x)
        self.moments[k] += y * x
        self.pulls[k] += 1


def learner(agent: Agent, totals: Totals, seed: int, K: int, d: int) -> Callable[[], None]:
    """What a thread does: single rewards, batches and decisions, as they come."""
    rng = np.random.default_rng(seed)

    def work() -> None:
        left = EACH
        while left:
            n = int(min(rng.choice([1, 1, 1, 3, 40]), left))
            X, y = rng.integers(-3, 4, size=(n, d)).astype(np.float64), rng.integers(-5, 6, size=n).astype(np.float64)
            arms = rng.integers(K, size=n)
            if n > 1:
                agent.update(arms, X, y)
            elif rng.random() < 0.2:
                agent.update(int(arms[0]), X[0].tolist(), float(y[0]))
            else:
                chosen = agent.choose(X[0])
                totals.decisions += 1
                arms[0] = chosen if isinstance(chosen, int) else arms[0]
                agent.update(int(arms[0]), X[0], float(y[0]))
            for one in zip(arms, X, y, strict=True):
                totals.learn(*one)
            left -= n

    return work


def attack(seed: int, report: Report) -> None:
    """Several threads learn, while one adds arms, removes them, saves, copies and looks."""
    rng = np.random.default_rng(seed)
    K, d = int(rng.integers(1, 6)), int(rng.choice([1, 3, 9, 17]))
    dtype = str(rng.choice(["float64", "float32"]))
    agent = armspan.LinUCBd(feature_bound=20.0, alpha=1.0).agent(K, d, dtype=dtype, memory=int(rng.choice([0, 32])))
    totals = [Totals(K, d) for _ in range(THREADS)]
    broken: list[BaseException] = []
    done = threading.Event()

    def guarded(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                work()
            except BaseException as error:
                broken.append(error)

        return run

    def meddle() -> None:
        x, seen, name = np.ones(d), 0, 0
        while not done.is_set():
            copied = Agent.from_bytes(agent.to_bytes()) if name % 2 else agent.copy()
            pulls = sum(copied.statistics(arm).pulls for arm in copied.arms)
            demand(pulls == copied.rewards >= seen, f"a copy has {pulls} pulls and {copied.rewards} rewards")
            seen, name = copied.rewards, name + 1
            agent.add_arm(f"extra {name}")
            agent.scores(x)
            agent.scores_many(x[None])
            agent.explain(x, 0)
            agent.remove_arm(f"extra {name}")

    workers = [learner(agent, one, seed * 1000 + k, K, d) for k, one in enumerate(totals)]
    threads = [threading.Thread(target=guarded(work)) for work in workers]
    meddler = threading.Thread(target=guarded(meddle))
    for thread in (*threads, meddler):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    meddler.join()
    demand(not broken, f"a thread ended with {broken[:1]!r}")
    demand(agent.rewards == THREADS * EACH, f"{agent.rewards} rewards, not {THREADS * EACH}")
    decisions = sum(one.decisions for one in totals)
    demand(agent.decisions == decisions, f"{agent.decisions} decisions, not {decisions}")
    ridge = 400.0  # V and b are sums of whole numbers that even single precision holds
    for k in range(K):
        seen = agent.statistics(k)
        demand(seen.pulls == sum(one.pulls[k] for one in totals), f"arm {k}: {seen.pulls} pulls")
        demand(np.array_equal(seen.gram, sum(one.grams[k] for one in totals)), f"arm {k}: Σxxᵀ is wrong")
        demand(np.array_equal(seen.moment, sum(one.moments[k] for one in totals)), f"arm {k}: Σyx is wrong")
        x = rng.integers(-3, 4, size=d).astype(np.float64)
        V = seen.gram + ridge * np.eye(d)
        near = 1e-9 if dtype == "float64" else 1e-3
        width, right = float(agent.scores(x).width[k]), float(np.sqrt(x @ np.linalg.solve(V, x)))
        demand(abs(width - right) <= near * right, f"arm {k}: width {width}, not {right}")
    report.count("rewards", THREADS * EACH)


def run(n: int, seed: int) -> Report:
    """As many rounds as n rewards need, with threads that change as often as they can."""
    report, interval = Report("threads"), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for one in range(seed, seed + -(-n // (THREADS * EACH))):
            report.attack(one, attack, one, report)
    finally:
        sys.setswitchinterval(interval)
    return report
