"""How good is the recommendation? Its regret against the best policy's, in hindsight, of each of many problems.

    python -m benchmarks.recommendation [--runs 30] [--problems arena fresh second]

The problems are those of the arena, which the rules rest on, and twice twenty that were drawn by people who had not
read them (`fresh_problems.py`, `second_problems.py`). Everyone of the arena competes, with theory's parameters and
practice's. Every pair of a problem and a policy is a piece of work for one core.
"""

import argparse
import multiprocessing
import time
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from armspan import LinUCB, recommend, simulate
from armspan.errors import ArmspanError
from armspan.experiments.arena import PROBLEMS, entries
from armspan.policies import Policy
from armspan.policies.yardstick import Yardstick
from armspan.simulation.runner import available_cores
from benchmarks.fresh_problems import RECOMMENDATION
from benchmarks.second_problems import SECOND

BLIND = {"fresh": RECOMMENDATION, "second": SECOND}
RECOMMENDED = "recommended"
SEED = 7


@cache
def problem(where: str, key: str) -> tuple[Any, int]:
    """The environment and the horizon of a problem."""
    if where in BLIND:
        make, horizon = BLIND[where][key]
        return make(), horizon
    found = next(one for one in PROBLEMS if one.key == key)
    return found.make(), found.horizon


@cache
def competitors(where: str, key: str) -> dict[str, Policy]:
    """Who competes there, without those who are told the truth."""
    env, horizon = problem(where, key)
    everyone: list[Policy] = [one for one in entries(env, horizon) if not isinstance(one, Yardstick)]
    everyone.append(LinUCB(alpha=1.0, label="LinUCB, α = 1"))
    return {RECOMMENDED: recommend(env).policy, **{one.name: one for one in everyone}}


def final(task: tuple[str, str, str, int]) -> tuple[str, str, str, float]:
    """Mean final regret of one policy in one problem."""
    where, key, name, runs = task
    env, horizon = problem(where, key)
    result = simulate(
        env, competitors(where, key)[name], horizon=horizon, runs=runs, seed=SEED, engine="cpu", workers=1
    )
    return where, key, name, float(result.mean()[0, -1])


def compile_one(name: str) -> None:
    """Let a policy be compiled, and kept for the others."""
    env, _ = problem("arena", "1a")
    simulate(env, competitors("arena", "1a")[name], horizon=20, runs=1, engine="cpu", workers=1)


def measure(keys: list[tuple[str, str]], runs: int) -> dict[tuple[str, str], dict[str, float]]:
    """Mean final regret of everyone in all problems."""
    found: dict[tuple[str, str], dict[str, float]] = {key: {} for key in keys}
    with multiprocessing.get_context("spawn").Pool(available_cores()) as pool:
        pool.map(compile_one, list(competitors("arena", "1a")), chunksize=1)
        tasks = [(where, key, name, runs) for where, key in keys for name in competitors(where, key)]
        began = time.time()
        for done, (where, key, name, regret) in enumerate(pool.imap_unordered(final, tasks), 1):
            found[where, key][name] = regret
            if done % 100 == 0:
                print(f"{done} of {len(tasks)} after {time.time() - began:.0f} s", flush=True)
    return found


def summary(ratios: Iterable[float]) -> str:
    """Geometric mean, share within 50 %, and worst."""
    values = np.array(list(ratios))
    mean = float(np.exp(np.log(values).mean()))
    return f"geometric mean {mean:.2f}, within 50 % in {np.mean(values <= 1.5):.0%}, worst {values.max():.2f}"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30, help="runs of each pair (default 30)")
    parser.add_argument("--problems", nargs="+", choices=("arena", *BLIND), default=("arena", *BLIND))
    args = parser.parse_args()
    wanted = {"arena": [one.key for one in PROBLEMS], **{where: list(found) for where, found in BLIND.items()}}
    keys = []
    for where, key in [(place, one) for place in args.problems for one in wanted[place]]:
        try:
            problem(where, key)
            keys.append((where, key))
        except ArmspanError as error:
            print(f"without {key}: {error}")
    found = measure(keys, args.runs)
    for where in args.problems:
        print(f"\n{where}: mean final regret over {args.runs} runs, relative to the best policy's")
        print(f"{'problem':24}{'recommended':>12}{'LinUCB-d':>10}{'α = 1':>8}  {'best policy':34}recommended policy")
        ratios: dict[str, list[float]] = {RECOMMENDED: [], "LinUCB-d": [], "LinUCB, α = 1": []}
        for place, key in keys:
            if place != where:
                continue
            regret = found[where, key]
            best = min(regret, key=lambda name: regret[name])
            for name, values in ratios.items():
                values.append(regret[name] / max(regret[best], 1e-9))
            rec, paper, one = (values[-1] for values in ratios.values())
            advised = competitors(where, key)[RECOMMENDED]
            print(f"{key:24}{rec:>12.2f}{paper:>10.2f}{one:>8.2f}  {best:34}{advised.name}")
        for name, values in ratios.items():
            print(f"{name}: {summary(values)}")


if __name__ == "__main__":
    main()
