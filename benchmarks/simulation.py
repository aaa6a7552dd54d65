"""How fast simulate is: beside NumPy, beside its own random numbers, and how its cost grows."""

from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np

from armspan._cores import available_cores
from armspan.environments import BoxContexts, Environment, FiniteContexts, paper_1a, paper_1c
from armspan.kernels import lanes
from armspan.kernels.block import Tally
from armspan.kernels.grouped import Grouped
from armspan.policies import ContextUCB, LinUCBd
from armspan.simulation import simulate
from benchmarks import numpy_rivals
from benchmarks.timing import seconds, start_up

RUNS, HORIZON = 100, 500_000
ROUNDS = 3


def best_side_by_side(actions: dict[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """Nanoseconds per step of each action, given as (call, steps in it): the best of a few rounds, taken in turns."""
    best = dict.fromkeys(actions, np.inf)
    for _ in range(ROUNDS):
        for name, (action, steps) in actions.items():
            best[name] = min(best[name], seconds(action) / steps * 1e9)
    return best


def beside_numpy() -> None:
    """Figure 1a, LinUCB-d: nanoseconds per run and step."""
    env = paper_1a()

    def draw_alone(first_run: int, last_run: int) -> None:
        stream = env.stream(0, np.arange(first_run, last_run))
        for first in range(0, HORIZON, 2048):
            stream.draw(first, min(2048, HORIZON - first))

    def ours(workers: int, horizon: int = HORIZON) -> None:
        simulate(env, LinUCBd(), horizon=horizon, runs=RUNS, workers=workers)

    cores = available_cores()
    ours(1, 1000)
    times = best_side_by_side(
        {
            "ours": (lambda: ours(cores), RUNS * HORIZON),
            "one core": (lambda: ours(1, HORIZON // 5), RUNS * HORIZON // 5),
            "draws": (lambda: draw_alone(0, 8), 8 * HORIZON),
            "together": (lambda: numpy_rivals.all_runs(env, 4096, RUNS), 4096 * RUNS),
            "unrolled": (lambda: numpy_rivals.all_runs_unrolled(env, 4096, RUNS), 4096 * RUNS),
            "loop": (lambda: numpy_rivals.one_run(env, 20_000), 20_000),
        }
    )
    row = "  {:<58}{:>12,.1f}{:>12}"
    print(
        f"Figure 1a, LinUCB-d: nanoseconds per run and step (armspan on {cores} cores: {RUNS} runs x {HORIZON:,} steps)"
    )
    print("  {:<58}{:>12}{:>12}".format("", "ns", "ratio"))
    print(row.format(f"armspan, {cores} cores", times["ours"], ""))
    for name, text, goal in (
        ("together", "NumPy, 100 runs together", "30x"),
        ("unrolled", "NumPy, 100 runs together, by hand for d = 2 alone", "none"),
        ("loop", "NumPy, a loop over single steps", "400x"),
    ):
        print(row.format(f"{text} (goal {goal})", times[name], f"{times[name] / times['ours']:.0f}x"))
    print(row.format("armspan, one core", times["one core"], ""))
    ratio = times["one core"] / times["draws"]
    print(row.format("the floor, one core: its random numbers alone (goal <= 4x)", times["draws"], f"{ratio:.1f}x"))


def in_lanes() -> None:
    """Runs in lockstep beside the same runs one by one, and beside their random numbers alone; then beside NumPy."""
    rng = np.random.default_rng(0)
    problems: dict[tuple[int, int], FiniteContexts] = {(2, 2): paper_1a()}
    for K, d in ((3, 3), (5, 4), (5, 5)):
        problems[K, d] = FiniteContexts(rng.random((K, 8, d)), rng.random((K, d)))
    runs, cores = 128, available_cores()
    print(f"\nRuns in lanes: nanoseconds per run and step, LinUCB-d, {runs} runs, one core (goal 3x, then 1.5x)")
    print(f"  {'K, d':<8}{'one by one':>12}{'in lanes':>12}{'ratio':>8}{'draws alone':>14}{'lanes / draws':>16}")

    def simulated(env: Environment, most_arms: int, horizon: int, n_runs: int = runs, workers: int = 1) -> None:
        with patch.object(lanes, "MOST_ARMS", most_arms):
            simulate(env, LinUCBd(), horizon=horizon, runs=n_runs, workers=workers, checkpoints=[horizon], engine="cpu")

    def drawn(env: Environment, horizon: int) -> None:
        stream = env.stream(0, np.arange(runs // 2))  # as many together as in a chunk
        for first in range(0, horizon, 1024):
            stream.draw(first, min(1024, horizon - first))

    for (K, d), env in problems.items():
        if d not in lanes.LANES:
            print(f"  {f'{K}, {d}':<8} has no lanes on this processor")
            continue
        steps = 400_000 // (K * d * d)
        for most in (0, lanes.MOST_ARMS):
            simulated(env, most, 64)  # compiled
        times = best_side_by_side(
            {
                "alone": (partial(simulated, env, 0, steps), steps * runs),
                "lanes": (partial(simulated, env, lanes.MOST_ARMS, steps), steps * runs),
                "draws": (partial(drawn, env, steps), steps * runs // 2),
            }
        )
        alone, together, draws = times["alone"], times["lanes"], times["draws"]
        row = f"  {f'{K}, {d}':<8}{alone:>12.1f}{together:>12.1f}{alone / together:>7.1f}x"
        print(f"{row}{draws:>14.1f}{together / draws:>15.1f}x")
    env, steps = problems[2, 2], 50_000
    simulate(env, ContextUCB(), horizon=64, runs=runs, workers=1, engine="cpu")

    def by_context(*, together: bool) -> None:
        with patch.object(Grouped, "fits", Grouped.fits if together else lambda *_: False):
            simulate(env, ContextUCB(), horizon=steps, runs=runs, workers=1, checkpoints=[steps], engine="cpu")

    times = best_side_by_side(
        {
            "alone": (partial(by_context, together=False), steps * runs),
            "lanes": (partial(by_context, together=True), steps * runs),
        }
    )
    alone, together = times["alone"], times["lanes"]
    print(f"  2 arms, UCB per context: one by one {alone:.1f}, in lanes {together:.1f}: {alone / together:.1f}x")
    steps = 100_000
    times = best_side_by_side(
        {
            "ours": (partial(simulated, env, lanes.MOST_ARMS, steps, RUNS, cores), steps * RUNS),
            "numpy": (partial(numpy_rivals.all_runs, env, 4096, RUNS), 4096 * RUNS),
        }
    )
    ours, numpy = times["ours"], times["numpy"]
    print(
        f"  2, 2 on {cores} cores, {RUNS} runs: {ours:.1f}; NumPy, all runs together: {numpy:.0f}: {numpy / ours:.0f}x"
    )


def on_many_cores() -> None:
    """How much more cores help: few runs and many, contexts that recur and contexts that do not."""
    cores = available_cores()
    counts = [count for count in (1, 2, 4, 8, 16, 32, 64) if count < cores] + [cores]
    box = BoxContexts(np.random.default_rng(0).normal(size=(10, 10)), -1, 1)
    print("\nNanoseconds per run and step, LinUCB-d, by the number of cores")
    print(f"  {'':<32}" + "".join(f"{count:>9}" for count in counts))
    for env, name, horizon in ((paper_1a(), "figure 1a", 200_000), (box, "box, 10 arms, 10 features", 4_000)):
        for runs in (RUNS, 512):

            def run(workers: int, horizon: int = horizon, env: Environment = env, runs: int = runs) -> None:
                simulate(env, LinUCBd(), horizon=horizon, runs=runs, workers=workers, engine="cpu")

            for workers in counts:
                run(workers, 64)  # compiled
            times = best_side_by_side({str(count): (partial(run, count), runs * horizon) for count in counts})
            print(f"  {f'{name}, {runs} runs':<32}" + "".join(f"{times[str(count)]:>9.2f}" for count in counts))


def flat_in_t() -> None:
    """Cost of a step early and late in a run."""
    env = paper_1a()

    def cost_at(start: int) -> float:
        runs = np.arange(8)
        policy = LinUCBd()
        learner = policy.learner(env, runs)
        assert learner is not None
        stream, marks, curve = env.stream(0, runs), np.array([2048]), np.empty((8, 1))
        tally = Tally(np.zeros(2048, dtype=np.int64), np.zeros((8, 1, env.n_arms), dtype=np.uint32))
        taken = np.inf
        for first in range(0, start + 20 * 2048, 2048):
            block = stream.draw(first, 2048)
            spent = seconds(lambda block=block: learner.advance(block, marks, curve, tally))  # type: ignore[misc]
            if first >= start:
                taken = min(taken, spent)
        return taken / (8 * 2048) * 1e9

    early, late = cost_at(0), cost_at(500_000)
    print(f"\nA step near t = 10^3 takes {early:.1f} ns, near t = 5*10^5 {late:.1f} ns: ratio {late / early:.2f}")


def watching() -> None:
    """Cost of counting the proof's events, and of the audit before it, beside the plain simulation."""
    print()
    for env, horizon in ((paper_1a(), 100_000), (paper_1c(1988), 200_000)):

        def run(events: bool, env: Environment = env, horizon: int = horizon) -> None:
            simulate(env, LinUCBd(), horizon=horizon, runs=RUNS, events=events)

        run(True)
        steps = horizon * RUNS
        times = best_side_by_side({"plain": (lambda: run(False), steps), "events": (lambda: run(True), steps)})
        ratio = times["events"] / times["plain"]
        cost = f"{times['events']:.1f} ns per step against {times['plain']:.1f}"
        print(f"Counting events in {env.name}: {cost}: {ratio:.1f}x (goal <= 3x)")


def growth_with_size() -> None:
    """Cost of a step against the number of arms and features: continuous contexts, one core."""

    def cost(n_arms: int, n_features: int) -> float:
        env = BoxContexts(np.random.default_rng(0).normal(size=(n_arms, n_features)), -1, 1)
        horizon = max(256, 40_000_000 // (20 + n_arms * n_features**2) // 64)
        simulate(env, LinUCBd(), horizon=64, runs=1, workers=1)
        action = lambda: simulate(env, LinUCBd(), horizon=horizon, runs=4, workers=1, checkpoints=[horizon])  # noqa: E731
        return min(seconds(action) for _ in range(ROUNDS)) / (4 * horizon) * 1e6

    print("\nMicroseconds per step, continuous contexts, one core")
    arms, features = (10, 20, 40, 80, 160), (16, 32, 64, 128, 256)
    by_arms, by_features = [cost(K, 16) for K in arms], [cost(10, d) for d in features]
    print("  arms (d = 16)     " + "".join(f"{K:>9}" for K in arms) + "    exponent")
    print("  us per step       " + "".join(f"{value:>9.2f}" for value in by_arms) + f"{slope(arms, by_arms):>12.2f}")
    print("  features (K = 10) " + "".join(f"{d:>9}" for d in features))
    values = "".join(f"{value:>9.2f}" for value in by_features)
    print("  us per step       " + values + f"{slope(features, by_features):>12.2f}")


def slope(sizes: tuple[int, ...], costs: list[float]) -> float:
    """The exponent of growth over the larger half of the sizes."""
    return float(np.polyfit(np.log(sizes[2:]), np.log(costs[2:]), 1)[0])


def main() -> None:
    """All of it."""
    beside_numpy()
    in_lanes()
    on_many_cores()
    flat_in_t()
    watching()
    growth_with_size()
    start_up(
        "simulates 10 steps",
        "import armspan; armspan.simulate(armspan.environments.paper_1a(), armspan.LinUCBd(), horizon=10, runs=1)",
    )
