"""How often the 95 % interval of a mean over the runs holds the true mean.

    python -m benchmarks.intervals

Normal and exponential regret, whose means are known; and the final regret of policies on problems of the paper, where
20,000 runs tell the mean and samples of them are what a user has. Beside it, what 1.96 standard errors would hold.
"""

import numpy as np

from armspan import EpsilonGreedy, Greedy, LinUCBd, simulate
from armspan._typing import FloatArray
from armspan.environments import paper_1a, paper_1b
from armspan.simulation.student import half_width

RUNS = (2, 3, 5, 10, 30, 100)
SAMPLES, POOL, HORIZON = 20_000, 20_000, 2_000


def kinds(rng: np.random.Generator) -> dict[str, FloatArray]:
    """Final regret of very many runs, by what it comes from."""
    found = {"normal": rng.normal(10.0, 3.0, size=POOL), "exponential": rng.exponential(10.0, size=POOL)}
    for name, env in (("1a", paper_1a()), ("1b", paper_1b())):
        result = simulate(
            env, [LinUCBd(), Greedy(), EpsilonGreedy()], horizon=HORIZON, runs=POOL, checkpoints=[HORIZON]
        )
        found |= {f"{policy}, Figure {name}": result.curves(policy)[:, -1] for policy in result.policies}
    return found


def covered(pool: FloatArray, runs: int, rng: np.random.Generator) -> tuple[float, float]:
    """How often the mean is within Student's interval of so many runs, and within 1.96 standard errors."""
    taken = pool[rng.integers(pool.size, size=(SAMPLES, runs))]
    off, sd = np.abs(taken.mean(axis=1) - pool.mean()), taken.std(axis=1, ddof=1)
    return float((off <= half_width(sd, runs)).mean()), float((off <= 1.96 * sd / np.sqrt(runs)).mean())


def main() -> None:
    """Print a table."""
    rng = np.random.default_rng(11)
    print(f"Share of {SAMPLES:,} samples whose 95 % interval holds the mean; in brackets by 1.96 standard errors")
    print(f"{'runs':<26}" + "".join(f"{runs:>14}" for runs in RUNS))
    for name, pool in kinds(rng).items():
        shares = [covered(pool, runs, rng) for runs in RUNS]
        print(f"{name:<26}" + "".join(f"{f'{ours:.1%} ({plain:.0%})':>14}" for ours, plain in shares))


if __name__ == "__main__":
    main()
