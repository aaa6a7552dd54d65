"""How much do the learnt kinds of exploration save, and what do they risk?

    python -m benchmarks.exploration [--runs 60] [--stuck-runs 10000] [--covered-runs 200] [--lost-runs 20]
    python -m benchmarks.exploration --problems logged --stuck-runs 0 --lost-runs 0

alpha="practical" and alpha="estimated" against the paper's α_t, and against the best of thirty pairs of a constant α
and a ridge, in hindsight. On four problems of the arena, on ten that were drawn by someone who had not read the code
(`fresh_problems.py`), on twelve that another one drew when the rule was made (`blind_problems.py`), and on sixteen that
came later still, for the recommendation (`logged_problems.py`, with features at one scale). A run is stuck if in its
last quarter it loses more than a fifth of what random choices would; that is also tried where half of all rewards are
lost. Covered is a run in which every θ is inside the ellipsoid whose radius is α_t, after each of its first 1,000 steps
and after every fiftieth up to 20,000; that is not asked where rewards are not linear.
"""

import argparse
import math
import multiprocessing
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from armspan import LinUCB, LinUCBd, RandomChoice, simulate
from armspan._cores import available_cores
from armspan.environments import DelayedRewards
from armspan.experiments.arena import PROBLEMS
from armspan.kernels.block import Tally
from armspan.kernels.families.estimated import radii
from armspan.kernels.families.practical import scales_of
from armspan.policies import Policy
from benchmarks.blind_problems import BLIND
from benchmarks.fresh_problems import EXPLORATION, far_from_zero
from benchmarks.logged_problems import LOGGED
from benchmarks.recommendation import problem as recommended_for

OF_THE_ARENA = ("1a", "1b", "1c", "markov")
STUCK_AT = ("1a", "1b", "markov")
PRACTICAL, ESTIMATED = LinUCB(alpha="practical"), LinUCB(alpha="estimated")
ALPHAS = (0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
RIDGES = (1.0, 0.1, 0.01)
SETS: dict[str, tuple[str, ...]] = {
    "arena": OF_THE_ARENA,
    "fresh": tuple(EXPLORATION),
    "blind": tuple(BLIND),
    "logged": tuple(LOGGED),
}
COVERED_STEPS, EACH_STEP, LATER = 20_000, 1_000, 50
"""Steps in which coverage is looked at, after how many of them every time, and after how many steps from then on."""
SEED = 13
FAR = "far from zero"


@cache
def problem(key: str) -> tuple[Any, int]:
    """The environment and the horizon of a problem."""
    if key == FAR:
        return far_from_zero(), 20_000
    if key in LOGGED:
        return recommended_for("logged", key)
    for drawn in (EXPLORATION, BLIND):
        if key in drawn:
            make, horizon = drawn[key]
            return make(), horizon
    found = next(one for one in PROBLEMS if one.key == key)
    return found.make(), min(found.horizon, 20_000)


def candidates(env: Any) -> list[Policy]:
    """Thirty others: a constant α in units of the noise, with a ridge in units of l²."""
    R, unit = env.noise_scale, env.feature_bound**2
    return [
        LinUCB(alpha=a * R, ridge=ridge * unit, label=f"α = {a:g}R, ridge {ridge:g}l²")
        for a in ALPHAS
        for ridge in RIDGES
    ]


def regrets(task: tuple[str, int]) -> tuple[str, list[float]]:
    """Mean final regret of the paper's α_t, practical, estimated, and the best other."""
    key, runs = task
    env, horizon = problem(key)
    policies = [LinUCBd(), PRACTICAL, ESTIMATED, *candidates(env)]
    options: dict[str, Any] = {"horizon": horizon, "runs": runs, "seed": SEED, "engine": "cpu", "workers": 1}
    found = simulate(env, policies, **options).mean()[:, -1]
    return key, [*found[:3], found[1:].min()]


def stuck(task: tuple[str, range], lost: float = 0.0) -> tuple[str, int]:
    """How many runs of the practical kind are stuck. lost : the share of rewards that never come."""
    key, runs = task
    env, _ = problem(key)
    env, horizon = DelayedRewards(env, lost=lost) if lost else env, 20_000
    options: dict[str, Any] = {"horizon": horizon, "seed": SEED, "engine": "cpu", "workers": 1}
    late = simulate(env, PRACTICAL, runs=runs, checkpoints=[3 * horizon // 4, horizon], **options).pseudo_regret[0]
    at_random = simulate(env, RandomChoice(), runs=10, **options).mean()[0, -1] / 4
    return key, int((late[:, 1] - late[:, 0] > at_random / 5).sum())


def covered(task: tuple[str, int, str]) -> tuple[str, str, float]:
    """The share of runs in which no θ ever leaves its ellipsoid, with "practical" or with "estimated" exploration.

    Asked after each of the first steps, and after every `LATER` of the others.
    """
    key, n_runs, kind = task
    env, _ = problem(key)
    if env.outside_theory is not None:
        return key, kind, float("nan")
    runs, policy = np.arange(n_runs), LinUCB(alpha=kind)
    learner: Any = policy.learner(env, runs)
    stream, inside = env.stream(SEED, runs), np.ones(n_runs, dtype=bool)
    tally = Tally(np.zeros(LATER, dtype=np.int64), np.zeros((n_runs, 1, env.n_arms), np.uint32))
    radius_of = _estimated_radius(policy, env) if kind == "estimated" else _practical_radius
    for first in range(0, COVERED_STEPS, LATER):
        block = stream.draw(first, LATER)
        for part in map(slice, range(LATER), range(1, LATER + 1)) if first < EACH_STEP else (slice(0, LATER),):
            contexts, noise = (np.ascontiguousarray(whole[:, part]) for whole in (block.contexts, block.noise))
            step = block._replace(first=first + part.start, contexts=contexts, noise=noise)
            learner.advance(step, np.array([contexts.shape[1]]), np.zeros((n_runs, 1)), tally)
            state, t = learner.state, first + part.stop
            V = np.tril(state.V) + np.swapaxes(np.tril(state.V, -1), 2, 3)  # the other half is not kept
            error = state.theta_hat - env.theta
            distance = np.sqrt(np.einsum("rki,rkij,rkj->rk", error, V, error))
            for r in np.flatnonzero(inside):
                radius = radius_of(type(state)(*(field[r : r + 1] for field in state)), t)
                inside[r] = bool((distance[r] <= radius).all())
    return key, kind, float(inside.mean())


def _estimated_radius(policy: Any, env: Any) -> Callable[[Any, int], Any]:
    told = [float(policy.knobs(env)[name](np.array([1]))[0]) for name in ("doubt", "noise")]

    def radius(state: Any, t: int) -> Any:
        found, known = radii(state, *told)
        return found if known else np.inf

    return radius


def _practical_radius(state: Any, t: int) -> float:
    sd, _ = scales_of(state, state.b.shape[2])
    return math.inf if state.parts.min() == 0 else sd * math.sqrt(math.log(t + 1))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--stuck-runs", type=int, default=10_000)
    parser.add_argument("--covered-runs", type=int, default=200)
    parser.add_argument("--lost-runs", type=int, default=20)
    parser.add_argument("--problems", nargs="+", choices=tuple(SETS), default=tuple(SETS))
    args = parser.parse_args()
    keys = [key for name in args.problems for key in SETS[name]]
    stuck_at = [key for key in STUCK_AT if key in keys]
    with multiprocessing.get_context("spawn").Pool(available_cores()) as pool:
        regrets(("1a", 1))  # compiled here, once for all
        found = dict(pool.imap_unordered(regrets, [(key, args.runs) for key in keys]))
        asked_of = [(key, args.covered_runs, kind) for key in keys for kind in ("practical", "estimated")]
        inside = {(key, kind): share for key, kind, share in pool.imap_unordered(covered, asked_of)}
        parts = [
            (key, range(n, min(n + 50, args.stuck_runs))) for key in stuck_at for n in range(0, args.stuck_runs, 50)
        ]
        in_the_end = pool.map(stuck, parts)
        asked = (*keys, FAR) if args.lost_runs else ()
        buried = pool.map(partial(stuck, lost=0.5), [(key, range(args.lost_runs)) for key in asked])
    head = f"{'problem':24}{'practical gains':>16}{'of the best':>12}{'covered':>9}"
    print(f"{head}{'estimated gains':>16}{'covered':>9}")
    gains: list[tuple[float, float, float]] = []
    for key in keys:
        paper, practical, estimated, best = found[key]
        gains.append((paper / practical, practical / max(best, 1e-9), paper / estimated))
        shares = inside[key, "practical"], inside[key, "estimated"]
        row = f"{key:24}{gains[-1][0]:>16.2f}{gains[-1][1]:>12.2f}{shares[0]:>9.1%}"
        print(f"{row}{gains[-1][2]:>16.2f}{shares[1]:>9.1%}")
    clicks = [key for key in keys if problem(key)[0].noise.clicks]
    groups = {
        "the first fourteen": (*SETS["arena"], *SETS["fresh"]),
        "ten of them": SETS["fresh"],
        "the twelve": SETS["blind"],
        "the sixteen with logs": SETS["logged"],
        f"those {len(clicks)} whose rewards are clicks": clicks,
    }
    for name, members in groups.items():
        if not set(members) <= set(keys) or not members:
            continue
        columns = np.array([gains[keys.index(key)] for key in members])
        practical, best, estimated = np.exp(np.log(columns).mean(axis=0))
        often = np.mean(columns[:, 0] >= 3)
        print(
            f"{name}: practical {practical:.2f} times less regret, 3 times or more in {often:.0%}, "
            f"{best:.2f} times the best, at most {columns[:, 1].max():.2f}; estimated {estimated:.2f} times less"
        )
    for kind in ("practical", "estimated"):
        known = np.array([share for (_, one), share in inside.items() if one == kind and not math.isnan(share)])
        print(f"covered, {kind}: {known.mean():.1%} of the runs, {known.min():.1%} to {known.max():.1%} by problem")
    for key in stuck_at:
        print(f"stuck at {key}: {sum(n for one, n in in_the_end if one == key)} of {args.stuck_runs} runs")
    if not buried:
        return
    where = ", ".join(f"{key} {n}" for key, n in buried if n)
    count = f"{sum(n for _, n in buried)} of {args.lost_runs * len(buried)} runs"
    print(f"stuck where half of the rewards are lost: {count} on {len(buried)} problems{f' ({where})' * bool(where)}")


if __name__ == "__main__":
    main()
