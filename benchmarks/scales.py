"""What do unequal scales of features cost the learnt kinds of exploration, and is a simulation right to warn of them?

    python -m benchmarks.scales [--runs 20]

The problems of `benchmarks.exploration` with contexts that are finite or fill a box, most of them drawn by people who
had not read the code: with features as they are, and with features multiplied by numbers from 1 to r, in a random
order. Parameters are divided by the same, so that mean rewards stay what they were.
"""

import argparse
import logging
from typing import Any

import numpy as np

from armspan import simulate
from armspan._typing import FloatArray
from armspan.environments import BoxContexts, FiniteContexts
from armspan.policies.optimistic import UNEQUAL, apart
from benchmarks.blind_problems import BLIND
from benchmarks.exploration import ESTIMATED, OF_THE_ARENA, PRACTICAL, problem
from benchmarks.fresh_problems import EXPLORATION

FACTORS = (1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
MOST_STEPS, MOST_FEATURES = 5_000, 40
DEAR = 1.5
"""Times as much regret as with equal scales, from which on a warning was right."""


def scaled(env: Any, factors: FloatArray) -> Any:
    """The same problem with features multiplied by these."""
    if isinstance(env, FiniteContexts):
        told: Any = {"probabilities": env.probabilities, "noise": env.noise}
        return FiniteContexts(env.features * factors, env.theta / factors, **told)
    return BoxContexts(env.theta / factors, env.low * factors, env.high * factors, gap=env.gap, noise=env.noise)


def costs(env: Any, horizon: int, runs: int) -> FloatArray:
    """Regret (factors, 2) of the practical and the estimated kind, relative to equal scales."""
    rng, found = np.random.default_rng(env.n_features), []
    for factor in FACTORS:
        factors = factor ** rng.permutation(np.linspace(0, 1, env.n_features))
        result = simulate(scaled(env, factors), [PRACTICAL, ESTIMATED], horizon=horizon, runs=runs)
        found.append(result.mean()[:, -1])
    return np.array(found) / found[0]


def main() -> None:
    parser = argparse.ArgumentParser(description="What unequal scales of features cost.")
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    logging.getLogger("armspan").setLevel(logging.ERROR)  # the warnings are known here
    problems = [problem(key) for key in (*EXPLORATION, *BLIND, *OF_THE_ARENA)]
    problems = [(env, T) for env, T in problems if type(env) in (FiniteContexts, BoxContexts)]
    problems = [(env, min(T, MOST_STEPS)) for env, T in problems if 1 < env.n_features <= MOST_FEATURES]
    found = np.array([costs(env, T, runs) for env, T in problems])
    warned = sum(apart(env) > UNEQUAL for env, _ in problems)
    print(f"{len(problems)} problems, {runs} runs; as they are, a simulation warns of {warned}\n")
    print("| largest feature / smallest | practical | estimated |\n|---|---|---|")
    for factor, ratios in zip(FACTORS, found.swapaxes(0, 1), strict=True):
        cells = [
            f"{np.exp(np.log(own).mean()):.1f} (worst {own.max():.0f}; {(own > DEAR).mean():.0%})" for own in ratios.T
        ]
        print(f"| {factor:,g} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
