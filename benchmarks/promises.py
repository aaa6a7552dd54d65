"""Do policies keep what their papers promise? How fast regret grows, where the promise's assumptions hold.

    python -m benchmarks.promises [--runs 20] [--horizon 1048576] [--only SupLinUCB EpochGreedy]

Each policy meets five problems that are drawn at random and satisfy what its proof assumes: contexts that never recur,
with one θ per arm, or with one θ for all arms and rewards in [0, 1]; and for those that need it, few contexts with a
gap, or none. Growth is the exponent e of regret ~ Tᵉ from T/16 to T, with a 95 % interval over resampled runs. Beside
it stands the exponent that the promised law itself has there: 0.08 for log T at this horizon, 0.16 for log² T. A
promise with a root or a power leaves logarithms out, and log T times it adds 0.08. A policy
may be better than promised; where the whole interval lies above, the promise is broken, or does not show yet. The noise
is not cut off for SquareCB and FALCON, so about 2 % of the rewards lie outside the range that they are told. Left out
are those whose promise is against experts or other policies (EXP4, EXP4P, ILTCB, RandomizedUCB; tested for themselves),
PEGE, whose promise is for arms that fill a ball, and those without one.
"""

import argparse
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from armspan import policies as all_policies
from armspan import simulate
from armspan._typing import FloatArray
from armspan.environments import Bernoulli, BoxContexts, Environment, FiniteContexts
from armspan.policies import Policy

DRAWS = 5
OCTAVES = 4
SEED = 11


def own_parameters(seed: int) -> Environment:
    """Two arms with parameters of their own, each best in about half of the contexts, which never recur."""
    theta = np.random.default_rng(seed).normal(size=(2, 3))
    return BoxContexts(theta / np.linalg.norm(theta, axis=1).max(), -1 / math.sqrt(3), 1 / math.sqrt(3), noise=0.3)


def one_parameter(seed: int) -> Environment:
    """Six arms that share θ, as clicks; lengths are at most 1."""
    theta = np.random.default_rng(seed).uniform(0.2, 1.0, size=3)
    theta /= np.linalg.norm(theta)
    return BoxContexts(np.tile(theta, (6, 1)), 0.0, 1 / math.sqrt(3), noise=Bernoulli())


def few_contexts(seed: int) -> Environment:
    """Three arms in eight contexts, with a gap, where each arm's own contexts span."""
    rng = np.random.default_rng(seed)
    for _ in range(1000):
        env = FiniteContexts(rng.uniform(-1, 1, size=(3, 8, 2)), rng.normal(size=(3, 2)), noise=0.3)
        if env.gap > 0.1 and env.lambda_0() > 0.05:
            return env
    raise RuntimeError("no such problem was drawn")


def no_contexts(seed: int) -> Environment:
    """Four arms that are always the same; the best one leads by 0.1."""
    means = np.random.default_rng(seed).uniform(0.2, 0.7, size=4)
    means[0] = means[1:].max() + 0.1
    return FiniteContexts(np.ones((4, 1, 1)), means[:, None], noise=Bernoulli())


class Promise(NamedTuple):
    """A policy, problems that satisfy its assumptions, and how regret may grow there."""

    policy: Callable[[int], Policy]
    problems: Callable[[int], Environment]
    law: str


LAWS: dict[str, Callable[[float], float]] = {
    "constant": lambda t: 1.0,
    "log T": math.log,
    "log² T": lambda t: math.log(t) ** 2,
    "√T": math.sqrt,
    "T^⅔": lambda t: t ** (2 / 3),
    "T": lambda t: t,
}
P: Any = all_policies
PROMISES: dict[str, Promise] = {
    "LinUCBd": Promise(lambda T: P.LinUCBd(), few_contexts, "constant"),
    "LinUCBd, no gap": Promise(lambda T: P.LinUCBd(), own_parameters, "√T"),
    "ContextUCB": Promise(lambda T: P.ContextUCB(), few_contexts, "log T"),
    "UCB1": Promise(lambda T: P.UCB1(), no_contexts, "log T"),
    "Greedy": Promise(lambda T: P.Greedy(), own_parameters, "log T"),
    "GreedyFirst": Promise(lambda T: P.GreedyFirst(), own_parameters, "log T"),
    "OLSBandit, q = 1": Promise(lambda T: P.OLSBandit(q=1, h=0.5), own_parameters, "log T"),
    "OLSBandit, q = 20": Promise(lambda T: P.OLSBandit(q=20, h=0.5), own_parameters, "log T"),
    "LassoBandit, q = 20": Promise(lambda T: P.LassoBandit(q=20, h=0.5), own_parameters, "log² T"),
    "TruncatedLinUCB": Promise(lambda T: P.TruncatedLinUCB(), own_parameters, "log T"),
    "ExploreThenCommit": Promise(
        lambda T: P.ExploreThenCommit(pulls=math.ceil((T / 2) ** (2 / 3) / 10)), own_parameters, "T^⅔"
    ),
    "EpochGreedy": Promise(lambda T: P.EpochGreedy(), own_parameters, "T^⅔"),
    "FALCON": Promise(lambda T: P.FALCON(low=-1.0, high=1.0), own_parameters, "√T"),
    "SquareCB": Promise(lambda T: P.SquareCB(low=-1.0, high=1.0), own_parameters, "√T"),
    "OFUL": Promise(lambda T: P.OFUL(shared=True), one_parameter, "√T"),
    "ConfidenceBall": Promise(lambda T: P.ConfidenceBall(shared=True), one_parameter, "√T"),
    "LinTS": Promise(lambda T: P.LinTS(shared=True), one_parameter, "√T"),
    "LinMED": Promise(lambda T: P.LinMED(shared=True), one_parameter, "√T"),
    "SupLinUCB": Promise(lambda T: P.SupLinUCB(shared=True), one_parameter, "√T"),
    "SupLinRel": Promise(lambda T: P.SupLinRel(shared=True), one_parameter, "√T"),
}


def exponent(early: FloatArray, late: FloatArray, rng: np.random.Generator) -> tuple[float, float, float]:
    """From the regret of runs (R,) up to T/2⁴ and of others up to T: the estimate and a 95 % interval."""
    chosen = rng.integers(len(early), size=(2, 1000, len(early)))
    means = [np.append(runs[rows].mean(axis=1), runs.mean()) for runs, rows in zip((early, late), chosen, strict=True)]
    drawn = np.log2(np.maximum(means[1], 1e-12) / np.maximum(means[0], 1e-12)) / OCTAVES
    low, high = np.quantile(drawn[:-1], [0.025, 0.975])
    return float(drawn[-1]), float(low), float(high)


def measure(promise: Promise, horizon: int, runs: int) -> list[tuple[float, float, float]]:
    """The exponent in each problem; each horizon has runs of its own, for some policies are told how long they are."""

    def lost(env: Environment, steps: int) -> FloatArray:
        result = simulate(env, promise.policy(steps), horizon=steps, runs=runs, seed=SEED, checkpoints=[steps])
        return np.asarray(result.pseudo_regret[0, :, -1])

    places = [promise.problems(draw) for draw in range(DRAWS)]
    rng = np.random.default_rng(SEED)
    return [exponent(lost(env, horizon // 2**OCTAVES), lost(env, horizon), rng) for env in places]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="runs in each problem (default 20)")
    parser.add_argument("--horizon", type=int, default=2**20, help="steps of the longer runs (default 1,048,576)")
    parser.add_argument("--only", nargs="+", choices=tuple(PROMISES), default=tuple(PROMISES), metavar="POLICY")
    args = parser.parse_args()
    print(f"{'policy':20}{'problems':>16}{'promise':>10}{'its e':>7}   measured e in five problems, 95 % intervals")
    for name in args.only:
        promise = PROMISES[name]
        law = LAWS[promise.law]
        promised = math.log2(law(args.horizon) / law(args.horizon / 2**OCTAVES)) / OCTAVES
        found = measure(promise, args.horizon, args.runs)
        shown = "  ".join(f"{e:.2f} [{low:.2f}, {high:.2f}]" for e, low, high in found)
        places = promise.problems.__name__.replace("_", " ")
        print(f"{name:20}{places:>16}{promise.law:>10}{promised:>7.2f}   {shown}", flush=True)


if __name__ == "__main__":
    main()
