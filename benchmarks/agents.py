"""How fast agents are: a step beside a hand-written NumPy agent, batches beside BLAS, memory, and growth with arms."""

import time
from functools import partial
from typing import Any

import numpy as np

from armspan import LinUCB, LinUCBd
from armspan._typing import FloatArray
from armspan.agents import Statistics
from armspan.kernels import agent_layout as layout
from benchmarks.numpy_rivals import NumPyAgent
from benchmarks.timing import seconds, start_up

CELLS = {(2, 2): 10, (10, 10): 10, (10, 100): 4, (100, 32): 4, (20, 500): 2.5}
"""(K, d), and how many times faster than NumPy the step is to be."""
FIRST_STEP = """
import time, numpy as np, armspan
agent, x = armspan.LinUCBd(feature_bound=2.0, parameter_bound=1.0).agent(10, 10), np.ones(10) / 4
start = time.perf_counter()
agent.update(agent.choose(x), x, 0.5)
print(f"a first choose and update: {time.perf_counter() - start:.1f} s")
"""
LEAST, MOST, SECONDS = 5, 40, 8.0
"""Rounds in which rivals take turns: the more, the less a busy machine shows; at most so many, or so long."""


def main() -> None:
    """All of it."""
    steps()
    long_run()
    fitting()
    scoring()
    memory()
    many_arms()
    one_theta()
    print("\nWith an empty cache of compiled kernels and again, twice (goal 8 s, then 1 s):")
    start_up("makes an agent, its first choice and its first update", FIRST_STEP)


def steps() -> None:
    """A step = choose + update: the best of many rounds, rivals in turns; after a warm-up, on the same contexts."""
    print("\nA step of an agent (choose + update), microseconds, and how many times NumPy by hand takes that")
    columns = f"{'NumPy':>10}{'armspan':>10}{'ratio':>8}"
    print(f"{'K, d':>10}{'pulls per arm':>14}{columns}{columns}  (shared x, then a row per arm)")
    for (K, d), goal in CELLS.items():
        for pulls in (0, 2 * d):
            times = _step_times(K, d, pulls)
            shared, own = (times[0] / times[1], times[2] / times[3])
            print(
                f"{f'{K}, {d}':>10}{f'{pulls}+':>14}{times[0]:>10.2f}{times[1]:>10.2f}{shared:>8.1f}"
                f"{times[2]:>10.2f}{times[3]:>10.2f}{own:>8.1f}  (goal {goal}x)"
            )


def _step_times(K: int, d: int, pulls: int) -> list[float]:
    """Microseconds per step: NumPy and armspan with a shared context, NumPy and armspan with one row per arm."""
    rng = np.random.default_rng(0)
    n = max(60, min(2000, 400_000 // (K * d)))
    shared, own = rng.normal(size=(n, d)) / np.sqrt(d), rng.normal(size=(n, K, d)) / np.sqrt(d)
    theta, noise = rng.normal(size=(K, d)) / np.sqrt(d), 0.1 * rng.normal(size=n)
    result = []
    for X in (shared, own):
        spare: Any = LinUCB(ridge=1.0, alpha=1.0).agent(K, d)
        for x in X[: 2 * d]:  # kernels are read from their cache, or compiled, when they are first used
            spare.update(spare.choose(x), x, 0.0)
        rivals: list[Any] = [NumPyAgent(K, d, ridge=1.0, alpha=1.0), LinUCB(ridge=1.0, alpha=1.0).agent(K, d)]
        for rival in rivals:
            if pulls:
                log = rng.normal(size=(pulls * K, d)) / np.sqrt(d)
                arms = np.arange(pulls * K) % K
                rewards = np.einsum("nd,nd->n", log, theta[arms])
                rival.fit(arms, log, rewards) if isinstance(rival, NumPyAgent) else rival.update(
                    list(arms), log, rewards
                )
        best = [np.inf, np.inf]
        rewards = (X if X.ndim == 3 else X[:, None]) * theta
        means = rewards.sum(axis=2) + noise[:, None]
        rows, means = list(X), means.tolist()
        began = time.perf_counter()
        for turn in range(MOST):
            if turn >= LEAST and time.perf_counter() - began > SECONDS:
                break
            for number, rival in enumerate(rivals):
                start = time.perf_counter()
                for x, mean in zip(rows, means, strict=True):
                    arm = rival.choose(x)
                    rival.update(arm, x, mean[arm])
                best[number] = min(best[number], (time.perf_counter() - start) / n * 1e6)
        result += best
    return result


def long_run() -> None:
    """A step's cost does not grow with t."""
    agent = LinUCBd(feature_bound=2.0, parameter_bound=1.0).agent(10, 10)
    X = list(np.random.default_rng(1).normal(size=(1000, 10)) / 4)

    def pass_over() -> float:
        start = time.perf_counter()
        for x in X:
            agent.update(agent.choose(x), x, 0.5)
        return (time.perf_counter() - start) / len(X) * 1e6

    early = min(pass_over() for _ in range(20))
    while agent.rewards < 3_000_000:
        pass_over()
    late = min(pass_over() for _ in range(20))
    print(f"\nA step at K=10, d=10 takes {early:.2f} µs at first, {late:.2f} µs after {agent.rewards:,} rewards")


def fitting(n: int = 1_000_000, K: int = 10, d: int = 100) -> None:
    """Learning a log, against one product XᵀX an arm over the same rows, already sorted by arm."""
    rng = np.random.default_rng(2)
    X, arms, y = rng.normal(size=(n, d)), rng.integers(K, size=n), rng.normal(size=n)
    parts = [np.ascontiguousarray(X[arms == k]) for k in range(K)]
    ours, blas = np.inf, np.inf
    for _ in range(3):
        agent = LinUCB(ridge=1.0, alpha=1.0).agent(K, d)
        ours = min(ours, seconds(partial(agent.update, arms, X, y)))
        blas = min(blas, seconds(lambda: [part.T @ part for part in parts]))
    print(f"\nFitting {n:,} rows at K={K}, d={d}: {ours:.2f} s; BLAS alone, rows sorted before: {blas:.2f} s; "
          f"ratio {ours / blas:.2f} (goal <= 1.5)")  # fmt: skip


def scoring(n: int = 100_000) -> None:
    """Scoring many contexts, against the best NumPy that we know."""
    print()
    for K, d in ((10, 10), (10, 100), (20, 32)):
        rng = np.random.default_rng(3)
        agent: Any = LinUCB(ridge=1.0, alpha=1.0).agent(K, d)
        log = rng.normal(size=(50 * K, d))
        agent.update((np.arange(50 * K) % K).tolist(), log, np.ones(50 * K))
        X = rng.normal(size=(n, d))
        inverses = np.array([agent._state.inverse(k) for k in range(K)])
        theta = agent._state.arms[:, layout.THETA :].copy()
        ours, numpy = np.inf, np.inf
        for _ in range(3):
            ours = min(ours, seconds(partial(agent.scores_many, X)))
            numpy = min(numpy, seconds(partial(_numpy_scores, X, inverses, theta)))
        print(f"Scoring {n:,} contexts at K={K}, d={d}: {ours:.3f} s, NumPy {numpy:.3f} s: {numpy / ours:.2f}x")


def _numpy_scores(X: FloatArray, inverses: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Chunked, so that products stay in the cache."""
    mean, width = X @ theta.T, np.empty((len(X), len(theta)))
    for start in range(0, len(X), 4096):
        part = X[start : start + 4096]
        for k, V_inv in enumerate(inverses):
            width[start : start + 4096, k] = np.einsum("nd,nd->n", part @ V_inv, part)
    return mean, mean + np.sqrt(width)


def memory(K: int = 1000, d: int = 200) -> None:
    """Bytes of an agent whose arms all have V and V⁻¹."""
    agent = LinUCB(ridge=1.0, alpha=1.0).agent(K, d)
    print(f"\nMemory at K={K}, d={d}: {agent.nbytes / 1e6:.0f} MB; K·d² doubles are {K * d * d * 8 / 1e6:.0f} MB")


def many_arms(d: int = 32) -> None:
    """A decision among many arms as exploration ends: how many arms are looked at closely, and how long it takes."""
    print(f"\n{'arms':>8}{'pulls per arm':>14}{'looked at':>12}{'µs a decision':>15}")
    for K in (100, 1000, 10_000, 100_000):
        rng = np.random.default_rng(4)
        theta = rng.normal(size=(K, d)) / np.sqrt(d)
        agent: Any = LinUCBd(feature_bound=2.0, parameter_bound=1.0, noise_scale=0.1).agent(K, d, memory=0)
        for pulls in (0, 100, 1000, 10_000):
            if pulls:
                _train(agent, theta, pulls - int(agent._state.arms[0, layout.PULLS]), rng)
            X = rng.normal(size=(100, d)) / np.sqrt(d)
            before, decided = float(agent._state.head[layout.EVALUATED]), agent.decisions
            taken = min(seconds(partial(_choose_all, agent, list(X))) for _ in range(3)) / 100 * 1e6
            looked = (float(agent._state.head[layout.EVALUATED]) - before) / (agent.decisions - decided)
            print(f"{K:>8}{pulls:>14}{looked:>12.1f}{taken:>15.1f}")


def one_theta(K: int = 5000, d: int = 50) -> None:
    """Thousands of arms that share one θ: a decision, a reward, an arm that comes and one that goes; and the bytes."""
    rng = np.random.default_rng(6)
    print(f"\nOne θ for {K:,} arms, {d} features of each arm; the NumPy rival scores all arms by one product")
    agent = LinUCB(feature_bound=2.0, alpha=0.3, shared=True).agent(K, d)
    contexts = [rng.normal(size=(K, d)) / np.sqrt(d) for _ in range(8)]
    theta, V_inv, theta_hat = rng.normal(size=d), np.eye(d), np.zeros(d)
    for x in contexts:
        arm = agent.choose(x)
        agent.update(arm, x, float(x[arm] @ theta))

    def rival(x: FloatArray) -> int:
        return int((x @ theta_hat + 0.3 * np.sqrt(((x @ V_inv) * x).sum(axis=1))).argmax())

    times: dict[str, list[float]] = {"decision": [], "NumPy's decision": [], "reward": []}
    for _ in range(5):
        for x in contexts:
            times["decision"].append(seconds(partial(agent.choose, x)))
            times["NumPy's decision"].append(seconds(partial(rival, x)))
            times["reward"].append(seconds(partial(agent.update, 17, x, 0.5)))
    times["arm that comes"] = [seconds(partial(agent.add_arm, f"new {i}")) for i in range(5)]
    times["arm that goes"] = [seconds(partial(agent.remove_arm, f"new {i}")) for i in range(5)]
    for name, taken in times.items():
        print(f"{name:>18}: {1e3 * float(np.median(taken)):.3f} ms")
    apart = K * 8 * (2 * d * d + 2 * d)
    print(f"{'knowledge':>18}: {agent.nbytes:,} bytes; with a θ for each arm it would be {apart:,}")


def _choose_all(agent: Any, rows: list[FloatArray]) -> None:
    for x in rows:
        agent.choose(x)


def _train(agent: Any, theta: FloatArray, pulls: int, rng: np.random.Generator) -> None:
    """So many more pulls of every arm, in 64 contexts each, learnt as sums."""
    d = theta.shape[1]
    for k, own in enumerate(theta):
        X = rng.normal(size=(64, d)) / np.sqrt(d)
        weight = pulls / 64
        noise = 0.1 * rng.normal(size=64) / np.sqrt(weight)
        agent._state.add(k, Statistics(weight * X.T @ X, weight * X.T @ (X @ own + noise), float(pulls)))
    agent._state.head[layout.REWARDS] += pulls * len(theta)
