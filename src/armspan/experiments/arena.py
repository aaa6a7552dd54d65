"""The arena: all policies on a fixed set of problems, of which only some are the paper's."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armspan._typing import FloatArray, Progress
from armspan.environments import (
    BoxContexts,
    DriftingContexts,
    Environment,
    FiniteContexts,
    MarkovContexts,
    RewardTable,
    diversity_dial,
    labelled,
    paper_1a,
    paper_1b,
    paper_1c,
)
from armspan.errors import BadFile, NotApplicable
from armspan.policies import (
    EXP4,
    FALCON,
    OFUL,
    PEGE,
    UCB1,
    BestFixedArm,
    ConfidenceBall,
    ContextUCB,
    EpochGreedy,
    EpsilonGreedy,
    ExploreThenCommit,
    Greedy,
    GreedyFirst,
    HybridLinUCB,
    LassoBandit,
    LinMED,
    LinRel,
    LinTS,
    LinUCB,
    LinUCBd,
    OLSBandit,
    Policy,
    RandomChoice,
    Softmax,
    SquareCB,
    SupLinUCB,
    TruncatedLinUCB,
)
from armspan.simulation import Result, load_result, simulate
from armspan.simulation.fingerprint import fingerprint

MOST_FOR_LASSO = 200
"""Parameters up to which the LASSO, which is refitted all the time, takes part."""


@dataclass(frozen=True)
class Problem:
    """A problem of the arena: its key, what makes it, its horizon, and what it asks of a policy."""

    key: str
    make: Callable[[], Environment]
    horizon: int
    words: str


def _dominated() -> FiniteContexts:
    """Figure 1a with a third arm that is never best."""
    env = paper_1a()
    features = np.concatenate([env.features, np.full((1, 4, 2), 0.5)])
    return FiniteContexts(features, [*env.theta, (-0.5, -0.5)], name="dominated arm")


def _sparse() -> BoxContexts:
    """60 features, of which 4 count."""
    rng = np.random.default_rng(11)
    theta = np.zeros((3, 60))
    for arm in theta:
        arm[rng.choice(60, size=4, replace=False)] = rng.normal(size=4)
    return BoxContexts(theta, -1.0, 1.0, name="sparse")


def _many_arms() -> BoxContexts:
    """40 arms that share one θ."""
    theta = np.random.default_rng(12).normal(size=8) / np.sqrt(8)
    return BoxContexts(np.tile(theta, (40, 1)), -1.0, 1.0, noise=0.5, name="many arms, one θ")


def _markov() -> MarkovContexts:
    rng = np.random.default_rng(13)
    features, theta = rng.normal(size=(3, 8, 3)), rng.normal(size=(3, 3))
    return MarkovContexts(features, theta, 0.9 * np.eye(8) + 0.1 / 8, name="Markov contexts")


def _bent() -> RewardTable:
    """Rewards that bend away from linear ones by up to about 0.3."""
    rng = np.random.default_rng(14)
    x, theta = rng.normal(size=(400, 4)) / 2, rng.normal(size=(4, 4)) / 2
    rewards = theta @ x.T + 0.3 * np.sin(2 * rng.normal(size=(4, 4)) @ x.T)
    return RewardTable(np.broadcast_to(x, (4, 400, 4)), rewards, noise=0.5, name="misspecified")


def _drifting() -> DriftingContexts:
    theta = np.random.default_rng(15).normal(size=(4, 3, 3))
    return DriftingContexts(theta, 5000, low=-1.0, high=1.0, name="drifting")


def _tiny_gaps() -> FiniteContexts:
    """Arms that differ by a hundredth of the noise."""
    rng = np.random.default_rng(16)
    features = rng.normal(size=(3, 10, 3))
    theta = rng.normal(size=3)
    return FiniteContexts(
        np.broadcast_to(features[:1], features.shape), theta + 0.01 * rng.normal(size=(3, 3)), name="tiny gaps"
    )


def _real(name: str) -> RewardTable:
    """A table of scikit-learn, with labels as arms."""
    try:
        from sklearn import datasets
    except ImportError:
        raise NotApplicable(f"the problem {name} needs scikit-learn: pip install scikit-learn") from None
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return labelled(X, y, name=name.replace("_", " "))


PROBLEMS: tuple[Problem, ...] = (
    Problem("1a", paper_1a, 50_000, "The paper's Figure 1a: diverse, but barely."),
    Problem("1b", paper_1b, 50_000, "The paper's Figure 1b: diverse."),
    Problem("1c", lambda: paper_1c(0), 10_000, "The paper's Figure 1c: continuous contexts, five arms."),
    Problem("flat", lambda: diversity_dial(0.0), 50_000, "Not diverse: the best arm's contexts do not span."),
    Problem("dominated", _dominated, 50_000, "Figure 1a with a third arm that is never best."),
    Problem("sparse", _sparse, 5_000, "60 features, of which 4 count."),
    Problem("many", _many_arms, 5_000, "40 arms that differ by their features alone."),
    Problem("markov", _markov, 20_000, "Contexts that stay for a while."),
    Problem("bent", _bent, 20_000, "Rewards that are not linear, by up to 0.3."),
    Problem("drifting", _drifting, 20_000, "Parameters that move all the time."),
    Problem("tiny", _tiny_gaps, 20_000, "Arms that differ by a hundredth of the noise."),
    Problem("digits", lambda: _real("digits"), 3_000, "Handwritten digits, a real table: 10 arms, 62 features."),
    Problem("wine", lambda: _real("wine"), 5_000, "Wines, a real table: 3 arms, 14 features."),
    Problem("cancer", lambda: _real("breast_cancer"), 5_000, "Tumours, a real table: 2 arms, 31 features."),
)
"""What every entry meets; the seeds in them are fixed."""


def entries(env: Environment, horizon: int) -> list[Policy]:
    """Who competes in this environment: theory's parameters, and practice's beside them."""
    R = env.noise_scale or 0.1
    l, s = env.feature_bound, env.parameter_bound
    rewards: Any = {"low": -l * s, "high": l * s}
    everyone: list[Policy] = [
        LinUCBd(),
        LinUCB(alpha=R, label="LinUCB, α = R"),
        LinUCB(alpha="practical"),
        LinUCB(alpha="practical", shared=True, label="LinUCB, practical, shared"),
        HybridLinUCB(),
        OFUL(),
        TruncatedLinUCB(),
        ConfidenceBall(),
        LinRel(),
        SupLinUCB(),
        Greedy(),
        Greedy(pulls=env.n_features, label="greedy, d pulls first"),
        GreedyFirst(),
        LinTS(),
        LinTS(scale=R, label="LinTS, v = R"),
        LinMED(),
        EpsilonGreedy(),
        Softmax(),
        SquareCB(**rewards),
        SquareCB(**rewards, scale=10.0, label="SquareCB, c = 10"),
        FALCON(**rewards, scale=10.0, label="FALCON, c = 10"),
        ExploreThenCommit(),
        PEGE(),
        OLSBandit(),
        EpochGreedy(),
        EXP4(reward_range=(-l * s, l * s)),
        ContextUCB(),
        UCB1(),
        BestFixedArm(),
        RandomChoice(),
    ]
    if env.n_arms * env.n_features <= MOST_FOR_LASSO:
        everyone.append(LassoBandit())
    return [policy for policy in everyone if _fits(policy, env, horizon)]


def _fits(policy: Policy, env: Environment, horizon: int) -> bool:
    try:
        policy.within(horizon).check(env, horizon)
    except NotApplicable:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Bout:
    """One problem of the arena, and what came out."""

    problem: Problem
    env: Environment
    result: Result

    def relative(self) -> dict[str, float]:
        """Final mean regret of each policy, in units of the best one's."""
        final = self.result.mean()[:, -1]
        best = max(float(final.min()), 1e-9)
        return {name: float(value) / best for name, value in zip(self.result.policies, final, strict=True)}


@dataclass(frozen=True, eq=False)
class Arena:
    """All problems, in order."""

    bouts: tuple[Bout, ...]

    def standing(self) -> list[tuple[str, float, float, float, int]]:
        """Each policy's name, geometric mean of its relative regret, worst, mean rank, and number of problems.

        The best first, among those that took part in all problems; then the others.
        """
        rows = []
        for name in dict.fromkeys(name for bout in self.bouts for name in bout.result.policies):
            ratios = [bout.relative()[name] for bout in self.bouts if name in bout.result.policies]
            ranks = [_rank(bout, name) for bout in self.bouts if name in bout.result.policies]
            mean = float(np.exp(np.mean(np.log(np.maximum(ratios, 1.0)))))
            rows.append((name, mean, max(ratios), float(np.mean(ranks)), len(ratios)))
        return sorted(rows, key=lambda row: (-row[4], row[1]))

    def table(self) -> tuple[list[str], list[str], FloatArray]:
        """Names of policies, of problems, and relative regret (policies, problems), nan where one did not take part."""
        names = [row[0] for row in self.standing()]
        values = np.array([[bout.relative().get(name, np.nan) for bout in self.bouts] for name in names])
        return names, [bout.problem.key for bout in self.bouts], values


def _rank(bout: Bout, name: str) -> int:
    relative = bout.relative()
    return 1 + sum(value < relative[name] for value in relative.values())


def run_arena(
    *, runs: int, seed: int, announce: Callable[[str], Progress], folder: Path | None = None, horizon: int | None = None
) -> Iterator[Bout]:
    """All bouts, one after the other. folder : where finished ones are kept; a second start takes them from there.

    horizon : steps of every bout at most, where less than the arena's are wanted.
    """
    for problem in PROBLEMS:
        env, steps = problem.make(), min(problem.horizon, horizon or problem.horizon)
        policies = [policy.within(steps) for policy in entries(env, steps)]
        wanted: dict[str, Any] = {"horizon": steps, "runs": runs, "seed": seed}
        result = None if folder is None else _kept(folder / f"{problem.key}.npz", fingerprint(env, policies), wanted)
        if result is None:
            result = simulate(env, policies, **wanted, engine="cpu", progress=announce(problem.key))
            if folder is not None:
                result.save(folder / f"{problem.key}.npz")
        yield Bout(problem, env, result)


def _kept(path: Path, print_: str, wanted: dict[str, Any]) -> Result | None:
    """The result of an earlier start, if it is of the same bout."""
    try:
        result = load_result(path)
    except BadFile:
        return None
    same = (result.horizon, result.runs.size, result.seed) == (wanted["horizon"], wanted["runs"], wanted["seed"])
    return result if same and result.fingerprint == print_ else None
