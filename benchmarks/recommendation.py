"""How good is the recommendation? Its regret against the best policy's, in hindsight, of each of many problems.

    python -m benchmarks.recommendation [--runs 30] [--problems arena fresh second third logged drifting]
                                        [--propensities]
    python -m benchmarks.recommendation --only dominated "twin suppliers" --runs 60
    python -m benchmarks.recommendation --foretold --problems third logged --runs 100

The problems are those of the arena and ninety that were drawn by people who had read neither rules nor candidates.
The first forty of these were seen when the candidates of the rehearsal were chosen; the third twenty were not. The last
sixteen come with logs that some earlier system wrote, and were drawn after the rehearsal for logs was fixed; in the
drifting ones, which came after those, nine half-lives compete too. Everyone of the arena competes, with theory's
parameters and practice's; with --propensities, everyone who draws decisions. Beside the recommendation stand what the
rules say without a rehearsal, LinUCB with practical α_t, LinUCB-d and LinUCB with α = 1. With --foretold, only the
regret that rehearsals foretold is compared with what came true, in other runs. Every pair of a problem and a policy is
a piece of work for one core. What is recommended if nobody says how long it will run is called plain.
"""

import argparse
import multiprocessing
import time
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from armspan import LinTS, LinUCB, recommend, simulate
from armspan._cores import available_cores
from armspan.diversity import audit_log
from armspan.diversity.scales import UNEQUAL
from armspan.environments import Environment, RewardTable
from armspan.environments.table import TableEnvironment
from armspan.errors import ArmspanError
from armspan.experiments.arena import PROBLEMS
from armspan.experiments.competitors import entries
from armspan.policies import Policy
from armspan.policies.optimistic import apart
from armspan.policies.rules import Foretold, by_rules
from armspan.policies.yardstick import Yardstick
from armspan.report.policies import is_random
from benchmarks.drifting_problems import ENVIRONMENTS
from benchmarks.fresh_problems import RECOMMENDATION
from benchmarks.logged_problems import LOGGED
from benchmarks.second_problems import SECOND
from benchmarks.third_problems import THIRD

BLIND: dict[str, Any] = {"fresh": RECOMMENDATION, "second": SECOND, "third": THIRD, "drifting": ENVIRONMENTS}
BLIND["logged"] = {key: LOGGED[key][:2] for key in LOGGED}
RECOMMENDED, PLAIN, LOG, RULES, USUAL = "recommended", "plain", "from its log", "by the rules", "practical"
SHOWN = (RECOMMENDED, PLAIN, LOG, RULES, USUAL, "LinUCB-d", "LinUCB, α = 1")
LOGS = 3
"""Logs of each problem that has one; each gets a recommendation of its own."""
SEED = 7
HALF_LIVES = (15.0, 30.0, 60.0, 120.0, 250.0, 1000.0, 2000.0, 4000.0)
"""Of those who compete where parameters change, beside the arena's 500."""

Key = tuple[str, str]


@cache
def problem(where: str, key: str) -> tuple[Any, int]:
    """The environment and the horizon of a problem."""
    if where in BLIND:
        make, horizon = BLIND[where][key]
        return (_at_one_scale(make()) if where == "logged" else make()), horizon
    found = next(one for one in PROBLEMS if one.key == key)
    return found.make(), found.horizon


def _at_one_scale(env: Environment) -> Environment:
    """With each feature divided by its largest size, where the advice for a log begins with that."""
    if apart(env) <= UNEQUAL or not isinstance(env, TableEnvironment):
        return env
    x = env.features / np.abs(env.features).max(axis=(0, 1))
    return RewardTable(x, env.reward_table, env.probabilities, env.noise, name=env.name)


def competitors(where: str, key: str, *, propensities: bool) -> dict[str, Policy]:
    """Who competes there, without those who are told the truth."""
    env, horizon = problem(where, key)
    here = entries(env, horizon)  # those in Python would take minutes, and are far from the best
    everyone: list[Policy] = [one for one in here if one.compiled and not isinstance(one, Yardstick)]
    everyone.append(LinUCB(alpha=1.0, label="LinUCB, α = 1"))
    if env.changes_within is not None:
        everyone += [LinUCB(alpha="practical", half_life=h) for h in HALF_LIVES]
    if propensities:
        R = env.noise_scale or 0.1
        everyone = [one for one in everyone if is_random(type(one))]
        everyone += [LinTS(scale=R / 2, label="LinTS, v = R/2"), LinTS(scale=R, shared=True, label="LinTS, shared")]
    return {one.name: one for one in everyone}


def advise(task: tuple[str, str, bool]) -> tuple[Key, dict[str, Policy], dict[str, Foretold]]:
    """What is recommended there, in several ways, and what regret was foretold in rehearsals."""
    where, key, propensities = task
    env, horizon = problem(where, key)
    rules = by_rules(env, propensities=propensities).policy
    usual: Policy = LinTS(scale=env.noise_scale or 0.1) if propensities else LinUCB(alpha="practical")
    advice = {RECOMMENDED: recommend(env, horizon=horizon, propensities=propensities)}
    for i in range(LOGS if where == "logged" else 0):
        X, arms, rewards = LOGGED[key][2](i)
        log = audit_log(X, arms.tolist(), rewards, arm_names=list(range(env.n_arms)))
        advice[f"{LOG} {i}"] = recommend(log, horizon=horizon, propensities=propensities)
    plain = recommend(env, propensities=propensities).policy
    found = {PLAIN: plain, RULES: rules, USUAL: usual} | {name: one.policy for name, one in advice.items()}
    return (where, key), found, {name: one.regret for name, one in advice.items() if one.regret}


def final(task: tuple[Key, str, Policy, int]) -> tuple[Key, str, float]:
    """Mean final regret of one policy in one problem."""
    key, name, policy, runs = task
    env, horizon = problem(*key)
    result = simulate(env, policy, horizon=horizon, runs=runs, seed=SEED, engine="cpu", workers=1)
    return key, name, float(result.mean()[0, -1])


def compile_one(policy: Policy) -> None:
    """Let a policy be compiled, and kept for the others."""
    simulate(problem("arena", "1a")[0], policy, horizon=20, runs=1, engine="cpu", workers=1)


def measure(
    keys: list[Key], runs: int, *, propensities: bool, foretold_alone: bool
) -> tuple[dict[Key, dict[str, float]], dict[Key, str], dict[Key, dict[str, Foretold]]]:
    """Mean final regret of everyone in all problems, the names of those recommended, and what was foretold."""
    found: dict[Key, dict[str, float]] = {key: {} for key in keys}
    with multiprocessing.get_context("spawn").Pool(available_cores()) as pool:
        pool.map(compile_one, list(competitors("arena", "1a", propensities=propensities).values()), chunksize=1)
        began = time.time()
        advice = list(pool.imap_unordered(advise, [(*key, propensities) for key in keys]))
        advised, foretold = {key: policies for key, policies, _ in advice}, {key: told for key, _, told in advice}
        print(f"{len(keys)} problems were given a recommendation in {time.time() - began:.0f} s", flush=True)
        if foretold_alone:
            everyone = {key: {name: advised[key][name] for name in foretold[key]} for key in keys}
        else:
            everyone = {key: competitors(*key, propensities=propensities) | advised[key] for key in keys}
        tasks = [(key, name, policy, runs) for key in keys for name, policy in everyone[key].items()]
        try:
            for done, (key, name, regret) in enumerate(pool.imap_unordered(final, tasks), 1):
                found[key][name] = regret
                if done % 100 == 0:
                    print(f"{done} of {len(tasks)} after {time.time() - began:.0f} s", flush=True)
        except KeyboardInterrupt:
            print("stopped; these problems were finished:")
    found = {key: regrets for key, regrets in found.items() if len(regrets) == len(everyone[key])}
    for regrets in found.values():
        of_logs = [regrets[name] for name in regrets if name.startswith(LOG)]
        if of_logs:
            regrets[LOG] = float(np.mean(of_logs))
    return found, {key: policies[RECOMMENDED].name for key, policies in advised.items()}, foretold


def summary(ratios: Iterable[float]) -> str:
    """Geometric mean, share within 50 %, and worst."""
    values = np.array(list(ratios))
    mean = float(np.exp(np.log(values).mean()))
    many = f"above 3 in {np.sum(values > 3)} of {values.size}"
    return f"geometric mean {mean:.2f}, within 50 % in {np.mean(values <= 1.5):.0%}, {many}, worst {values.max():.2f}"


def kept(found: dict[Key, dict[str, float]], foretold: dict[Key, dict[str, Foretold]], where: str) -> list[str]:
    """How often the true regret lay in the range that was foretold, and how far it was from the mean of that."""
    lines = []
    for kind, around in ((RECOMMENDED, "two standard errors"), (LOG, "the worlds")):
        here = [(key, name) for key in found if key[0] == where for name in foretold[key] if name.startswith(kind)]
        pairs = [(found[key][name], foretold[key][name]) for key, name in here]
        if pairs:
            within, above = (sum(one) for one in zip(*((a <= t <= b, t > b) for t, (_, a, b) in pairs), strict=True))
            low, middle, high = np.quantile([true / told.mean for true, told in pairs], [0.1, 0.5, 0.9])
            lines.append(
                f"{where}, {kind}: true regret within {around} for {within} of {len(pairs)}, above for {above}; "
                f"{middle:.2f} times the foretold mean, {low:.2f} to {high:.2f} times in the middle 80 %"
            )
    return lines


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30, help="runs of each pair (default 30)")
    parser.add_argument("--problems", nargs="+", choices=("arena", *BLIND), default=("arena", *BLIND))
    parser.add_argument("--only", nargs="+", help="names of the problems, if not all")
    parser.add_argument("--propensities", action="store_true", help="among policies that draw their decisions")
    parser.add_argument("--foretold", action="store_true", help="only what rehearsals foretell, and what came true")
    args = parser.parse_args()
    wanted = {"arena": [one.key for one in PROBLEMS], **{where: list(found) for where, found in BLIND.items()}}
    keys = []
    for where, key in [(place, one) for place in args.problems for one in wanted[place] if one in (args.only or [one])]:
        try:
            problem(where, key)
            keys.append((where, key))
        except ArmspanError as error:
            print(f"without {key}: {error}")
    told: Any = {"propensities": args.propensities, "foretold_alone": args.foretold}
    found, advised, foretold = measure(keys, args.runs, **told)
    for where in args.problems:
        print("\n".join(kept(found, foretold, where)))
    if args.foretold:
        return
    for where in dict.fromkeys(place for place, _ in found):
        here = [key for key in found if key[0] == where]
        shown = [name for name in (SHOWN[:5] if args.propensities else SHOWN) if name in found[here[0]]]
        print(f"\n{where}: mean final regret over {args.runs} runs, relative to the best policy's")
        print(f"{'problem':22}" + "".join(f"{name:>15}" for name in shown) + "  best policy, recommended policy")
        least = {key: min(found[key], key=lambda name, key=key: found[key][name]) for key in here}  # type: ignore[misc]
        ratios = {name: [found[key][name] / max(found[key][least[key]], 1e-9) for key in here] for name in shown}
        for i, (place, key) in enumerate(here):
            numbers = "".join(f"{ratios[name][i]:>15.2f}" for name in shown)
            print(f"{key:22}{numbers}  {least[place, key]}, {advised[place, key]}")
        for name, values in ratios.items():
            print(f"{name}: {summary(values)}")


if __name__ == "__main__":
    main()
