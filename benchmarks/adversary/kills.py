"""Processes that are killed while they save an agent: the file must be one of those that were saved, and whole."""

import hashlib
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import armspan
from armspan.agents import Agent
from benchmarks.adversary import Report, demand

DIGEST = 32


def made(rng: Any) -> Agent:
    """A small or a large agent."""
    K, d = ((2, 2), (20, 10), (100, 60))[rng.integers(3)]
    return armspan.LinUCBd(feature_bound=10.0, alpha=1.0).agent(K, d, memory=64)


def save_for_ever(agent: Agent, path: Path, pipe: int) -> None:
    """Learn, tell what will be saved, save; until killed."""
    d = agent.settings.n_features
    rng = np.random.default_rng(os.getpid())
    while True:
        x = rng.uniform(-1, 1, size=d)
        agent.update(agent.choose(x), x, 1.0)
        os.write(pipe, hashlib.sha256(agent.to_bytes()).digest())
        agent.save(path)


def attack(folder: Path, seed: int, report: Report) -> None:
    """Kill one process at a moment by chance, look at the file, and save once more."""
    rng = np.random.default_rng(seed)
    agent, path = made(rng), folder / f"{seed}.agent"
    agent.save(path)
    first = hashlib.sha256(path.read_bytes()).digest()
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(ours)
            save_for_ever(agent, path, theirs)
        finally:
            os._exit(1)
    os.close(theirs)
    time.sleep(float(rng.uniform(0, 0.08)))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(ours, "rb") as pipe:
        told = pipe.read()
    demand(os.WIFSIGNALED(status), f"the child ended by itself with {status}")
    announced = [first] + [told[k : k + DIGEST] for k in range(0, len(told), DIGEST)]
    report.count("saves", len(announced) - 1)
    found = hashlib.sha256(path.read_bytes()).digest()
    demand(found in announced, "the file is none of those that were saved")
    demand(found in announced[-2:], "the file is older than the last save that ended")
    loaded = armspan.load_agent(path)
    demand(loaded.rewards == announced.index(found), f"{loaded.rewards} rewards in save {announced.index(found)}")
    report.count("temporary files left", len(list(folder.iterdir())) - 1)
    loaded.save(path)
    rest = sorted(one.name for one in folder.iterdir() if one != path)
    demand(not rest, f"the next save has left {rest}")
    path.unlink()


def run(n: int, seed: int) -> Report:
    """Kills with these seeds."""
    report = Report("kills")
    warm = made(np.random.default_rng(0))
    x = np.zeros(warm.settings.n_features)
    warm.update(warm.choose(x), x, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        for one in range(seed, seed + n):
            report.attack(one, attack, Path(folder), one, report)
    return report
