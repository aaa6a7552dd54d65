"""The arena: all policies on a fixed set of problems, only some of which are the paper's."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from armspan._cores import available_cores
from armspan._typing import Progress
from armspan.environments import (
    DelayedRewards,
    DriftingContexts,
    Environment,
    FiniteContexts,
    MarkovContexts,
    PerturbedContexts,
    RewardTable,
    bent_problem,
    diversity_dial,
    labelled,
    paper_1a,
    paper_1b,
    paper_1c,
    shared_problem,
    sparse_problem,
)
from armspan.errors import BadFile, NotApplicable
from armspan.experiments.ahead import compile_ahead
from armspan.experiments.competitors import entries
from armspan.experiments.standing import Bout, Problem
from armspan.policies import Policy
from armspan.simulation import Result, load_result, simulate
from armspan.simulation.fingerprint import fingerprint

WORTH_PROCESSES = 1_000_000
"""Steps from which on processes share the problem in which some policies need Python, which threads do not speed up."""
WORTH_COMPILING = 1000
"""Steps from which on kernels are compiled ahead, in several processes."""
TIMED_ON = "bent"
"""The problem in which steps are timed, not the smallest. Those that sit it out are timed where they first compete."""
TIMED_STEPS, TIMED_RUNS, TIMED_ROUNDS = 2000, 16, 3
"""Steps, and runs side by side, that are timed; the best round counts, for other work can only add to a time."""


def _dominated() -> FiniteContexts:
    """Figure 1a with a third arm that is never best."""
    env = paper_1a()
    features = np.concatenate([env.features, np.full((1, 4, 2), 0.5)])
    return FiniteContexts(features, [*env.theta, (-0.5, -0.5)], name="dominated arm")


def _markov() -> MarkovContexts:
    rng = np.random.default_rng(13)
    features, theta = rng.normal(size=(3, 8, 3)), rng.normal(size=(3, 3))
    return MarkovContexts(features, theta, 0.9 * np.eye(8) + 0.1 / 8, name="Markov contexts")


def _drifting() -> DriftingContexts:
    theta = np.random.default_rng(15).normal(size=(4, 3, 3))
    return DriftingContexts(theta, 5000, low=-1.0, high=1.0, name="a drifting problem")


def _perturbed() -> PerturbedContexts:
    """An adversary that starves arms, whose contexts chance moves by 0.2."""
    theta = np.random.default_rng(17).normal(size=(3, 3))
    return PerturbedContexts(theta, 0.2, noise=0.5, name="a perturbed adversary")


def _delayed() -> DelayedRewards:
    """12 diverse contexts (λ₀ = 0.5), whose rewards come 50 steps late or more; a tenth never comes."""
    rng = np.random.default_rng(34)
    features, theta = rng.normal(size=(3, 12, 3)), rng.normal(size=(3, 3))
    env = FiniteContexts(features, theta)
    return DelayedRewards(env, steps=50, mean=50, lost=0.1, name="a diverse problem")


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
    Problem("sparse", partial(sparse_problem, seed=11), 5_000, "60 features, of which 4 count."),
    Problem("many", partial(shared_problem, seed=12), 5_000, "40 arms that differ by their features alone."),
    Problem("markov", _markov, 20_000, "Contexts that stay for a while."),
    Problem("perturbed", _perturbed, 3_000, "Contexts picked by an adversary, and moved a little by chance."),
    Problem("bent", partial(bent_problem, seed=14), 20_000, "Rewards that bend away from linear ones."),
    Problem("drifting", _drifting, 20_000, "Parameters that change all the time."),
    Problem("delayed", _delayed, 3_000, "Rewards that come about 100 steps late; a tenth never comes."),
    Problem("tiny", _tiny_gaps, 20_000, "Arms that differ by a hundredth of the noise."),
    Problem("digits", lambda: _real("digits"), 3_000, "Handwritten digits, a real table: 10 arms, 62 features."),
    Problem("wine", lambda: _real("wine"), 5_000, "Wines, a real table: 3 arms, 14 features."),
    Problem("cancer", lambda: _real("breast_cancer"), 5_000, "Tumours, a real table: 2 arms, 31 features."),
)
"""What every entry meets; the seeds in them are fixed."""


def run_arena(
    *, runs: int, seed: int, announce: Callable[[str], Progress], folder: Path | None = None, horizon: int | None = None
) -> Iterator[Bout]:
    """All bouts, one after the other. folder : where finished ones are kept; running it again takes them from there.

    horizon : the most steps of every bout, if fewer than the arena's are wanted.
    """
    plan, kept = [], dict[str, Result]()
    for problem in PROBLEMS:
        env, steps = problem.make(), min(problem.horizon, horizon or problem.horizon)
        policies = [policy.within(steps) for policy in entries(env, steps)]
        wanted: dict[str, Any] = {"horizon": steps, "runs": runs, "seed": seed}
        plan.append((problem, env, policies, wanted))
        found = None if folder is None else _kept(folder / f"{problem.key}.npz", fingerprint(env, policies), wanted)
        if found is not None:
            kept[problem.key] = found
    left = [(env, policies) for problem, env, policies, _ in plan if problem.key not in kept]
    if left and available_cores() > 1 and (horizon or WORTH_COMPILING) >= WORTH_COMPILING:
        compile_ahead(left, runs=runs, progress=announce("compiling"))
    for problem, env, policies, wanted in plan:
        result = kept.pop(problem.key, None)
        if result is None:
            shared_out = env.late and runs * wanted["horizon"] * len(policies) >= WORTH_PROCESSES
            options: dict[str, Any] = {"backend": "processes", "workers": available_cores()} if shared_out else {}
            result = simulate(env, policies, **wanted, **options, engine="cpu", progress=announce(problem.key))
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


def step_times(progress: Progress, *, steps: int = TIMED_STEPS, runs: int = TIMED_RUNS) -> dict[str, float]:
    """Microseconds of one core that a step of each policy takes in the problem `TIMED_ON`, contexts and noise included.

    Each runs alone and is compiled beforehand; the time of other processes does not count. In Python, one run will do.
    """
    places = sorted(PROBLEMS, key=lambda problem: problem.key != TIMED_ON)
    timed: dict[str, tuple[Environment, Policy]] = {}
    for problem in places:
        env = problem.make()
        timed = {policy.name: (env, policy.within(steps)) for policy in entries(env, steps)} | timed
    best = dict.fromkeys(timed, float("inf"))
    for env, policy in timed.values():
        _seconds(env, policy, 64, runs if policy.compiled else 1)
    for turn in range(TIMED_ROUNDS):
        for i, (name, (env, policy)) in enumerate(timed.items()):
            T, R = (steps, runs) if policy.compiled else (max(steps // 10, 1), 1)
            best[name] = min(best[name], _seconds(env, policy, T, R) / (T * R) * 1e6)
            progress(turn * len(timed) + i + 1, TIMED_ROUNDS * len(timed))
    return best


def _seconds(env: Environment, policy: Policy, steps: int, runs: int) -> float:
    start = time.process_time()
    simulate(env, policy, horizon=steps, runs=runs, checkpoints=[steps], workers=1, engine="cpu")
    return time.process_time() - start
