"""What a step of every policy costs, and what a run of it keeps: python -m benchmarks policies --write."""

import argparse
import json
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from armspan import simulate
from armspan.environments import BoxContexts, Environment, FiniteContexts
from armspan.policies import POLICIES, Policy
from armspan.report.policies import CONTEXTS, HORIZON, SIZES, bytes_per_run, needs_recurring_contexts
from benchmarks.machine import processor

RESULTS = Path(__file__).parents[1] / "docs" / "policies.json"
RUNS = {(5, 5): 64, (10, 20): 16}
"""Runs together: enough to fill the lanes, where there are any."""
PYTHON_STEPS = 200
"""Steps of the one run of a policy that has no compiled form."""
ROUNDS = 5
"""Taken in turns, and the best counts: what else the machine does can only add to a time."""


def problem(kind: type[Policy], n_arms: int, n_features: int) -> Environment:
    """Continuous contexts, or recurring ones where it must have them; features and parameters are at most 1 long."""
    rng = np.random.default_rng(0)
    longest = n_features**-0.5
    theta = longest * rng.random((n_arms, n_features))
    if needs_recurring_contexts(kind):
        return FiniteContexts(longest * rng.random((n_arms, CONTEXTS, n_features)), theta, noise=0.5)
    return BoxContexts(theta, 0, longest, noise=0.5)


def clock(kind: type[Policy], n_arms: int, n_features: int) -> Callable[[], float]:
    """What measures nanoseconds of one core per step and run; all is compiled."""
    env, policy, compiled = problem(kind, n_arms, n_features), kind(), kind().compiled is not None
    steps, runs = (HORIZON, RUNS[n_arms, n_features]) if compiled else (PYTHON_STEPS, 1)

    def seconds(horizon: int, runs: int) -> float:
        start = time.process_time()  # not the clock's: other processes may be busy
        simulate(env, policy.within(steps), horizon=horizon, runs=runs, workers=1, checkpoints=[horizon], engine="cpu")
        return time.process_time() - start

    seconds(64, runs)
    if compiled and seconds(steps // 20, runs) > 1:  # so slow that one run will do
        runs = 1
    return lambda: seconds(steps, runs) / (steps * runs) * 1e9


def measured(names: list[str]) -> dict[str, dict[str, int]]:
    """Nanoseconds of each policy by size, to two digits that count."""
    clocks = {(name, f"{K}, {d}"): clock(POLICIES[name], K, d) for name in names for K, d in SIZES}
    best = dict.fromkeys(clocks, np.inf)
    for _ in range(ROUNDS):
        for key, nanoseconds in clocks.items():
            best[key] = min(best[key], nanoseconds())
    times: dict[str, dict[str, int]] = {}
    for (name, size), value in best.items():
        times.setdefault(name, {})[size] = int(float(f"{value:.2g}"))
    return times


def main(options: list[str]) -> None:
    """Measure, print, and with --write keep it for docs/policies.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks policies")
    parser.add_argument("--write", action="store_true", help=f"keep the times in docs/{RESULTS.name}")
    parser.add_argument("--only", default="", help="names of policies, separated by commas; others keep their times")
    given = parser.parse_args(options)
    logging.getLogger("armspan").setLevel(logging.ERROR)  # it tells of every policy that runs in Python
    names = given.only.split(",") if given.only else sorted(POLICIES, key=str.lower)
    for name in names:
        if name not in POLICIES:
            parser.error(f"--only must name policies, got {name!r}")
    columns = [f"({K}, {d})" for K, d in SIZES]
    print(f"\nNanoseconds of one core per step and run, bytes per run, at (K, d): {processor()}")
    print(f"{'':<20}" + "".join(f"{f'ns {column}':>16}" for column in columns) + f"{f'bytes {columns[-1]}':>20}")
    times = measured(names)
    for name, row in times.items():
        kept = bytes_per_run(POLICIES[name], *SIZES[-1])
        cells = "".join(f"{value:>16,}" for value in row.values()) + f"{kept or 'grows':>20}"
        print(f"{name:<20}{cells}{'' if POLICIES[name]().compiled else '  in Python'}")
    if given.write:
        keep(times)


def keep(times: dict[str, dict[str, int]]) -> None:
    """Write the times beside those of other policies, where these were measured before in the same way."""
    how = {"processor": processor(), "steps": HORIZON, "python_steps": PYTHON_STEPS}
    before: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    same = {key: before.get(key) for key in how} == how
    known = {name: row for name, row in before["policies"].items() if name in POLICIES} if same else {}
    content = how | {"policies": dict(sorted((known | times).items(), key=lambda item: item[0].lower()))}
    RESULTS.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
