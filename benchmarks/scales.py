"""What do unequal scales of features cost the learnt kinds of exploration, and who warns of them?

    python -m benchmarks.scales [--runs 20]

The problems of `benchmarks.exploration` with contexts that are finite or fill a box, most of them drawn by people who
had not read the code: with features as they are, and with features multiplied by numbers from 1 to r, in a random
order. Parameters are divided by the same, so that mean rewards stay what they were. Simulations warn by the contexts of
the environment, agents by those that they have seen: here 500, with arms chosen at random.
"""

import argparse
import logging
from typing import Any

import numpy as np

from armspan import LinUCB, simulate
from armspan._typing import FloatArray
from armspan.diversity.scales import UNEQUAL
from armspan.environments import BoxContexts, FiniteContexts
from armspan.policies.optimistic import apart
from benchmarks.blind_problems import BLIND
from benchmarks.exploration import ESTIMATED, OF_THE_ARENA, PRACTICAL, problem
from benchmarks.fresh_problems import EXPLORATION

FACTORS = (1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
MOST_STEPS, MOST_FEATURES, DECISIONS = 5_000, 40, 500
DEAR = 1.5
"""Times as much regret as with equal scales, from which on a warning was right."""


def scaled(env: Any, factors: FloatArray) -> Any:
    """The same problem with features multiplied by these."""
    if isinstance(env, FiniteContexts):
        told: Any = {"probabilities": env.probabilities, "noise": env.noise}
        return FiniteContexts(env.features * factors, env.theta / factors, **told)
    return BoxContexts(env.theta / factors, env.low * factors, env.high * factors, gap=env.gap, noise=env.noise)


class Count(logging.Handler):
    """How many warnings there were."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


def agent_warns(env: Any) -> bool:
    """Whether an agent warns of these features."""
    rng, logger, counted = np.random.default_rng(1), logging.getLogger("armspan"), Count()
    contexts, means = env.sample(DECISIONS, seed=1)
    agent = LinUCB(alpha="practical", feature_bound=env.feature_bound * 1.01).agent(env.n_arms, env.n_features)
    logger.addHandler(counted)
    for x, mean in zip(contexts, means, strict=True):
        arm = int(rng.integers(env.n_arms))
        agent.update(arm, x[arm], float(mean[arm] + env.noise_scale * rng.normal()))
    logger.removeHandler(counted)
    return counted.count > 0


def costs(env: Any, horizon: int, runs: int) -> tuple[FloatArray, list[tuple[bool, bool]]]:
    """Regret (factors, 2) of the practical and the estimated kind, relative to equal scales; and who warned of each."""
    rng, found, warned = np.random.default_rng(env.n_features), [], []
    for factor in FACTORS:
        changed = scaled(env, factor ** rng.permutation(np.linspace(0, 1, env.n_features)))
        result = simulate(changed, [PRACTICAL, ESTIMATED], horizon=horizon, runs=runs)
        found.append(result.mean()[:, -1])
        warned.append((apart(changed) > UNEQUAL, agent_warns(changed)))
    return np.array(found) / found[0], warned


def main() -> None:
    parser = argparse.ArgumentParser(description="What unequal scales of features cost.")
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    logging.getLogger("armspan").propagate = False  # the warnings are counted here
    logging.getLogger("armspan").addHandler(logging.NullHandler())
    problems = [problem(key) for key in (*EXPLORATION, *BLIND, *OF_THE_ARENA)]
    problems = [(env, T) for env, T in problems if type(env) in (FiniteContexts, BoxContexts)]
    problems = [(env, min(T, MOST_STEPS)) for env, T in problems if 1 < env.n_features <= MOST_FEATURES]
    measured = [costs(env, T, runs) for env, T in problems]
    found, warned = np.array([one for one, _ in measured]), np.array([one for _, one in measured])
    print(f"{len(problems)} problems, {runs} runs\n")
    print(
        "| largest feature / smallest | practical | estimated | simulations warn | agents warn |\n|---|---|---|---|---|"
    )
    for factor, ratios, told in zip(FACTORS, found.swapaxes(0, 1), warned.mean(axis=0), strict=True):
        cells = [
            f"{np.exp(np.log(own).mean()):.1f} (worst {own.max():.0f}; {(own > DEAR).mean():.0%})" for own in ratios.T
        ]
        print(f"| {factor:,g} | {' | '.join(cells)} | {told[0]:.0%} | {told[1]:.0%} |")


if __name__ == "__main__":
    main()
