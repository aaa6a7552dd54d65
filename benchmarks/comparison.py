"""How often is `Result.compare` wrong? Its answers and intervals for few runs, drawn from many whose mean is the truth.

    python -m benchmarks.comparison [--runs 2000] [--draws 4000]

On eight problems that were drawn by someone who had not read the code (`third_problems.py`), six pairs each.
"""

import argparse
import itertools

import numpy as np

from armspan import Greedy, LinTS, LinUCB, LinUCBd, simulate
from armspan.simulation.comparison import compared
from benchmarks.third_problems import THIRD

HORIZON = 2_000
SIZES = (5, 10, 20, 50, 100)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2_000, help="runs that stand for the truth (default 2,000)")
    parser.add_argument("--draws", type=int, default=1_000, help="draws of each size and pair (default 1,000)")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    counts = {n: np.zeros(4) for n in SIZES}  # draws, inside, answered, answered wrongly
    worst = dict.fromkeys(SIZES, (1.0, ""))
    small = sorted(THIRD, key=lambda key: _size(key))[:8]
    for key in small:
        env = THIRD[key][0]()
        policies = [LinUCBd(), LinUCB(alpha="practical"), LinTS(scale=env.noise_scale or 0.1), Greedy()]
        result = simulate(env, policies, horizon=HORIZON, runs=args.runs, checkpoints=[HORIZON], seed=3)
        final = result.pseudo_regret[:, :, -1]
        for a, b in itertools.combinations(range(4), 2):
            truth = float((final[b] - final[a]).mean())
            for n in SIZES:
                inside = 0
                for _ in range(args.draws):
                    some = rng.integers(args.runs, size=n)
                    found = compared(("a", "b"), HORIZON, final[a, some], final[b, some])
                    right = "a" if truth > 0 else "b"
                    inside += found.low <= truth <= found.high
                    counts[n] += [1, found.low <= truth <= found.high, found.better is not None, 0]
                    counts[n][3] += found.better not in (None, right)
                share = inside / args.draws
                worst[n] = min(worst[n], (share, f"{key}: {result.policies[a]}, {result.policies[b]}"))
        print(f"{key} done", flush=True)
    print(f"\n{len(small)} problems, {HORIZON:,} steps, {args.draws} draws of each pair from {args.runs:,} runs")
    print("runs  interval holds the truth  answered  wrongly   worst pair")
    for n, (draws, held, answered, wrong) in counts.items():
        shares = f"{held / draws:>24.1%}  {answered / draws:>8.0%}  {wrong / draws:>7.2%}"
        print(f"{n:4}  {shares}   {worst[n][0]:.0%} {worst[n][1]}")


def _size(key: str) -> int:
    env = THIRD[key][0]()
    return 10**9 if env.late or not env.compiled else int(env.n_arms * env.n_features**2)


if __name__ == "__main__":
    main()
