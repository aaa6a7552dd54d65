"""Real simulations whose growth is known, for the growth verdict."""

from collections import Counter
from dataclasses import dataclass

from armspan import ContextUCB, Greedy, LinUCBd, simulate
from armspan.environments import Environment, FiniteContexts, diversity_dial, paper_1a, paper_1b
from armspan.environments.figure_1 import FEATURES_1A, THETA
from armspan.policies import Policy
from armspan.simulation.growth import growth

RUNS = 100


@dataclass(frozen=True, eq=False)
class Case:
    """A problem, a policy, how long it runs, and how its regret grows."""

    words: str
    truth: str
    env: Environment
    policy: Policy
    horizon: int = 500_000


DOMINATED = FiniteContexts([*FEATURES_1A, [[0.5, 0.5]] * 4], [*THETA, [-0.5, -0.5]], name="paper 1a, a dominated arm")
CASES = (
    Case("Figure 1a, LinUCB-d", "constant", paper_1a(), LinUCBd()),
    Case("Figure 1a, LinUCB-d, 150,000 steps", "constant", paper_1a(), LinUCBd(), 150_000),
    Case("Figure 1a, LinUCB-d, 50,000 steps", "constant", paper_1a(), LinUCBd(), 50_000),
    Case("Figure 1a, LinUCB-d, 5,000 steps", "constant", paper_1a(), LinUCBd(), 5_000),
    Case("Figure 1a, greedy", "linear", paper_1a(), Greedy()),
    Case("Figure 1a, UCB per context", "logarithmic", paper_1a(), ContextUCB()),
    Case("Figure 1b, LinUCB-d", "constant", paper_1b(), LinUCBd()),
    Case("Figure 1b, greedy", "linear", paper_1b(), Greedy()),
    Case("Figure 1b, UCB per context", "logarithmic", paper_1b(), ContextUCB()),
    Case("No diversity (dial at 0), LinUCB-d", "logarithmic", diversity_dial(0.0), LinUCBd()),
    Case("Figure 1a with an arm that is never best, 2¹⁹ steps", "logarithmic", DOMINATED, LinUCBd(), 2**19),
    Case("Figure 1a with an arm that is never best, 2¹⁷ steps", "logarithmic", DOMINATED, LinUCBd(), 2**17),
)


def examine(case: Case, samples: int, seed: int = 7) -> Counter[str]:
    """Verdicts on samples of 100 runs."""
    verdicts = Counter[str]()
    for first in range(0, samples, 10):
        some = min(10, samples - first)
        runs = range(first * RUNS, (first + some) * RUNS)
        result = simulate(case.env, case.policy, horizon=case.horizon, runs=runs, seed=seed)
        assert result.suboptimal_pulls is not None
        for rows in (slice(i * RUNS, (i + 1) * RUNS) for i in range(some)):
            found = growth(result.checkpoints, result.pseudo_regret[0, rows], result.suboptimal_pulls[0, rows])
            verdicts[found.verdict] += 1
    return verdicts
