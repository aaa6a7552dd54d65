"""python -m benchmarks.versions COMMIT: how fast this version is beside an older one, here or on a GPU.

Both do the same work by the public names that both have, in processes of their own that take turns; what is printed is
the best of some rounds. COMMIT may also be a folder with the older version, where there is no git.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
SHORTEST = 0.3
"""Seconds that a timing takes at least."""


Action = Callable[[], object]


def works() -> Iterator[tuple[str, Action]]:
    """What is timed: a name, and a call that was made once before."""
    import numpy as np

    import armspan
    from armspan.diversity.logged import audit_log
    from armspan.environments import BoxContexts, FiniteContexts, MarkovContexts, paper_1a, paper_1c

    rng, optimist = np.random.default_rng(0), armspan.LinUCB(alpha=1.0, feature_bound=1.0)

    def box(n_arms: int, n_features: int) -> Any:
        return BoxContexts(rng.normal(size=(n_arms, n_features)), -1, 1)

    def simulated(
        env: Any, policy: str, horizon: int, runs: int = 32, late: int = 0, events: bool = False, **knobs: Any
    ) -> Action:
        def action() -> object:  # names that the older version may lack are looked up here, where that is noticed
            world = armspan.environments.DelayedRewards(env, steps=late) if late else env
            options: Any = {"horizon": horizon, "runs": runs, "workers": 1, "engine": "cpu", "events": events}
            return armspan.simulate(world, getattr(armspan, policy)(**knobs), **options)

        return action

    first = paper_1a()
    chain = MarkovContexts(rng.random((2, 4, 2)), rng.random((2, 2)), np.full((4, 4), 0.25))
    finite = FiniteContexts(rng.random((10, 50, 20)), rng.random((10, 20)))
    yield "figure 1a, LinUCB-d", simulated(first, "LinUCBd", 10_000)
    yield "figure 1a, LinUCB-d, 128 runs", simulated(first, "LinUCBd", 40_000, runs=128)
    for policy in ("Greedy", "ContextUCB", "LinTS", "LinMED", "SupLinUCB", "EXP4", "OLSBandit"):
        yield f"figure 1a, {policy}", simulated(first, policy, 10_000)
    yield "figure 1a, forgetful", simulated(first, "LinUCB", 10_000, alpha="practical", half_life=100.0)
    yield "figure 1a, rewards three steps late", simulated(first, "LinUCBd", 10_000, late=3)
    yield "figure 1a, with events", simulated(first, "LinUCBd", 10_000, events=True)
    yield "figure 1c, LinUCB-d", simulated(paper_1c(1988), "LinUCBd", 10_000)
    yield "a chain of contexts, LinUCB-d", simulated(chain, "LinUCBd", 10_000)
    yield "10 arms, 20 features, finite", simulated(finite, "LinUCBd", 1_000)
    for K, d in ((5, 8), (10, 20), (40, 16), (10, 64)):
        yield f"{K} arms, {d} features, box", simulated(box(K, d), "LinUCB", 80_000 // (K * d), alpha=1.0)
    for K, d in ((2, 2), (10, 10), (10, 100), (100, 32)):
        yield f"agent, {K} arms, {d} features", _stepping(optimist.agent(K, d), rng, K, d)
    X = rng.uniform(-1, 1, (20_000, 32)) / 6
    agent = optimist.agent(10, 32)
    agent.update(rng.integers(0, 10, 5_000), X[:5_000], rng.random(5_000))
    yield "agent, scores of 20,000 contexts", lambda: agent.scores_many(X)
    chosen, rewards = rng.integers(0, 5, 20_000), rng.random(20_000)
    yield "audit of a log of 20,000 rows", lambda: audit_log(X[:, :8], chosen.tolist(), rewards)


def works_on_a_gpu() -> Iterator[tuple[str, Action]]:
    """The same for a GPU: whole calls of `simulate`, of as many runs as fill one."""
    import armspan
    from armspan.environments import Environment, paper_1a, paper_1c
    from benchmarks.cuda import FULL, PRECISIONS, larger_problem

    problems: list[tuple[str, Environment, int, int]] = [
        ("figure 1a", paper_1a(), FULL, 500_000),
        ("figure 1c", paper_1c(0), 100_000, 50_000),
    ]
    for K, d in ((5, 12), (10, 20), (40, 6)):
        for boxed, words in ((False, "40 contexts"), (True, "box")):
            problems.append((f"{K} arms, {d} features, {words}", larger_problem(K, d, boxed=boxed), 65_536, 5_000))
    for name, env, runs, horizon in problems:
        for precision in PRECISIONS:

            def action(env: Environment = env, runs: int = runs, horizon: int = horizon, to: str = precision) -> object:
                options: Any = {"engine": "cuda", "precision": to, "checkpoints": [horizon]}
                return armspan.simulate(env, armspan.LinUCBd(), horizon=horizon, runs=runs, **options)

            yield f"{name}, {precision}", action


def _stepping(agent: Any, rng: Any, n_arms: int, n_features: int) -> Action:
    """A thousand steps of an agent that has seen some."""
    X = rng.uniform(-1, 1, (1000, n_features)) / n_features**0.5
    for arm in range(n_arms):
        agent.update([arm] * (2 * n_features), X[rng.integers(0, 1000, 2 * n_features)], [0.5] * (2 * n_features))

    def action() -> None:
        for x in X:
            agent.update(agent.choose(x), x, 0.5)

    return action


def timed(*, gpu: bool) -> dict[str, float]:
    """Seconds of each call, the best of several."""
    found = {}
    for name, action in works_on_a_gpu() if gpu else works():
        try:
            action()
        except Exception as error:
            print(f"{name}: {error!r}", file=sys.stderr)
            continue
        best, spent = float("inf"), 0.0
        while spent < SHORTEST:
            start = time.perf_counter()
            action()
            taken = time.perf_counter() - start
            best, spent = min(best, taken), spent + taken
        found[name] = best
    return found


def main() -> None:
    """Time this tree and a commit in turns, and print the ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commit", help="the older version, or a folder that has it")
    parser.add_argument("--gpu", action="store_true", help="simulations on a GPU instead")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    given = Path(args.commit).resolve()
    with tempfile.TemporaryDirectory() as folder:
        old = given if given.is_dir() else Path(folder) / "old"
        if old != given:
            subprocess.run(["git", "worktree", "add", "--detach", "--quiet", old, args.commit], cwd=HERE, check=True)
        try:
            best: dict[Path, dict[str, float]] = {old: {}, HERE: {}}
            for turn in range(args.rounds):
                for tree, times in best.items():
                    print(f"round {turn + 1} of {args.rounds}: {tree.name}", file=sys.stderr)
                    paths = [str(tree / "src"), str(HERE), os.environ.get("PYTHONPATH", "")]
                    settings = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
                    settings |= {"NUMBA_CACHE_DIR": str(Path(folder) / f"cache-{tree.name}")}
                    command = [sys.executable, "-m", "benchmarks.versions", "--here", *["--gpu"] * args.gpu]
                    done = subprocess.run(
                        command, cwd=HERE, env=settings, check=True, stdout=subprocess.PIPE, text=True
                    )
                    for name, taken in json.loads(done.stdout).items():
                        times[name] = min(taken, times.get(name, float("inf")))
        finally:
            if old != given:
                subprocess.run(["git", "worktree", "remove", "--force", old], cwd=HERE, check=True)
    print(f"{'':<36}{args.commit[:10]:>12}{'now':>12}{'now / then':>12}   (milliseconds)")
    for name, now in best[HERE].items():
        then = best[old].get(name, float("nan"))
        print(f"{name:<36}{then * 1e3:>12.2f}{now * 1e3:>12.2f}{now / then:>12.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        print(json.dumps(timed(gpu="--gpu" in sys.argv)))
    else:
        main()
